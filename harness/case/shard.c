/* shard.c - estimates costs, and deals the units out. */
#include "case/shard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/sha256.h"
#include "common/json_text.h"

/* ---- names ---- */

static bool read_count(const char **at, uint32_t *out) {
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    unsigned long long number = strtoull(*at, &end, 10);
    *at = end;
    *out = number <= SHARDS_MAX ? (uint32_t)number : SHARDS_MAX + 1;
    return true;
}

static bool read_set(const char *at, shard_name *out) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strlen(at);
    if (length == 0 || length >= SHARD_SET_BYTES || at[strspn(at, allowed)])
        return false;
    memcpy(out->set, at, length + 1);
    return true;
}

bool shard_read(const char *words, shard_name *out, status *st) {
    const char *at = words;
    *out = (shard_name){0};
    bool sound = read_count(&at, &out->index) && *at++ == '/' && read_count(&at, &out->of) &&
                 (*at == '\0' || *at == ':');
    if (!sound)
        return status_set(st, STATUS_INVALID,
                          "--shard wants I/N or I/N:SET, the first of 16 is 1/16; not '%s'", words);
    if (out->index == 0 && out->of > 0 && out->of <= SHARDS_MAX)
        return status_set(st, STATUS_INVALID,
                          "--shard %s: shards are counted from 1; where a scheduler counts from 0, "
                          "add 1: the first is 1/%" PRIu32,
                          words, out->of);
    if (out->of == 0 || out->of > SHARDS_MAX)
        return status_set(st, STATUS_INVALID, "--shard %s: N goes from 1 to %d", words, SHARDS_MAX);
    if (out->index > out->of)
        return status_set(st, STATUS_INVALID,
                          "--shard %s: I goes from 1 to N; the last is %" PRIu32 "/%" PRIu32, words,
                          out->of, out->of);
    if (*at == ':' && !read_set(at + 1, out))
        return status_set(st, STATUS_INVALID,
                          "--shard %s: the name of a set has 1 to %d letters, digits, '.', '_' and "
                          "'-'",
                          words, SHARD_SET_BYTES - 1);
    return true;
}

void shard_words(const shard_name *name, text *out) {
    text_printf(out, "%" PRIu32 "/%" PRIu32 "%s%s", name->index, name->of, *name->set ? ":" : "",
                name->set);
}

/* ---- costs ---- */

typedef struct cost_row {
    backend_id backend;
    uint64_t fixed_us, flops_per_us, bytes_per_us;
} cost_row;

static const cost_row costs[] = {
#define COST(backend, fixed_us, flops_per_us, bytes_per_us)                                        \
    {BACKEND_##backend, fixed_us, flops_per_us, bytes_per_us},
#include "case/shard_costs.def"
#undef COST
};

/* A backend that the table does not have counts as the processor. */
static const cost_row *costs_of(int id) {
    const cost_row *usual = &costs[0];
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        if ((int)costs[i].backend == id)
            return &costs[i];
        usual = costs[i].backend == BACKEND_CPU ? &costs[i] : usual;
    }
    return usual;
}

static uint64_t cost_on(const cost_row *row, uint64_t flops, uint64_t bytes) {
    return (row->fixed_us + flops / row->flops_per_us + bytes / row->bytes_per_us) * 1000;
}

static uint64_t cost_of(const shard_request *request, uint64_t flops, uint64_t bytes) {
    uint64_t sum = 0;
    for (int i = 0; i < BACKEND_COUNT; i++)
        if (request->backends[i])
            sum += cost_on(costs_of(i), flops, bytes);
    return sum ? sum : cost_on(costs_of(BACKEND_CPU), flops, bytes);
}

/* ---- units ---- */

typedef struct unit {
    const char *name; /* of the case, or of the kernel */
    size_t first, count;
    uint64_t cost_ns;
    uint32_t shard;
    char graphs[65]; /* digest of the graphs of its cases */
} unit;

typedef VEC(unit) unit_list;

/* Adds a case's graph to the digest, and its cost. What has no graph that could be counted costs
 * what every case does. */
static void weigh(const corpus_case *item, const shard_request *request, sha256_stream *graphs,
                  uint64_t *cost_ns) {
    status st = STATUS_INIT;
    uint64_t flops = 0, bytes = 0;
    compiler_instance *instance = corpus_case_instance(item, &st);
    if (instance) {
        sha256_stream_update(graphs, compiler_instance_hash(instance)->bytes, sizeof(sha256));
        if (!compiler_cost(instance, &flops, &bytes, &st))
            flops = bytes = 0;
        compiler_instance_free(instance);
    }
    *cost_ns += cost_of(request, flops, bytes);
}

static bool continues(const corpus *c, const shard_request *request, size_t at) {
    return at > 0 && request->unit == SHARD_KERNELS &&
           c->cases.items[at].kernel == c->cases.items[at - 1].kernel;
}

static void list_units(const corpus *c, const shard_request *request, unit_list *units) {
    for (size_t i = 0, end; i < c->cases.count; i = end) {
        const corpus_case *item = &c->cases.items[i];
        unit u = {.name = request->unit == SHARD_KERNELS ? item->kernel->name : item->name,
                  .first = i};
        sha256_stream *graphs = sha256_stream_new();
        for (end = i; end == i || (end < c->cases.count && continues(c, request, end)); end++)
            weigh(&c->cases.items[end], request, graphs, &u.cost_ns);
        u.count = end - i;
        sha256 digest = sha256_stream_finish(graphs);
        sha256_hex(&digest, u.graphs);
        vec_push(units, u);
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const unit *)a)->name, ((const unit *)b)->name);
}

static int by_cost(const void *a, const void *b) {
    const unit *x = a, *y = b;
    return x->cost_ns != y->cost_ns ? (x->cost_ns < y->cost_ns) - (x->cost_ns > y->cost_ns)
                                    : by_name(a, b);
}

static int by_place(const void *a, const void *b) {
    const unit *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void sort(unit_list *units, int (*order)(const void *, const void *)) {
    if (units->count)
        qsort(units->items, units->count, sizeof *units->items, order);
}

/* Each to the shard with the least so far, of equal ones the first. */
static void deal(unit_list *units, uint32_t shards) {
    uint64_t *loads = base_calloc(shards, sizeof *loads);
    sort(units, by_cost);
    for (size_t i = 0; i < units->count; i++) {
        uint32_t least = 0;
        for (uint32_t k = 1; k < shards; k++)
            least = loads[k] < loads[least] ? k : least;
        loads[least] += units->items[i].cost_ns;
        units->items[i].shard = least + 1;
    }
    free(loads);
}

static void digest_of(unit_list *units, const shard_request *request, char hex_out[65]) {
    text list;
    text_init(&list);
    text_printf(&list, "tsr.shard/1 %s\n", request->unit == SHARD_KERNELS ? "kernels" : "cases");
    sort(units, by_name);
    for (size_t i = 0; i < units->count; i++) {
        const unit *u = &units->items[i];
        text_printf(&list, "%s %" PRIu64 " %s\n", u->name, u->cost_ns, u->graphs);
    }
    sha256 digest = sha256_of(list.data, list.length);
    sha256_hex(&digest, hex_out);
    text_release(&list);
}

/* Leaves the cases of one shard where they are, in their order, and lists its units. */
static json_t *keep(corpus *c, const unit_list *units, uint32_t shard) {
    json_t *mine = json_array();
    size_t kept = 0;
    for (size_t i = 0; i < units->count; i++) {
        const unit *u = &units->items[i];
        for (size_t k = 0; k < u->count; k++) {
            corpus_case item = c->cases.items[u->first + k];
            if (u->shard == shard)
                c->cases.items[kept++] = item;
            else
                vec_push(&c->elsewhere, item);
        }
        if (u->shard == shard)
            json_array_append_new(mine,
                                  json_pack("{s:s, s:I, s:I}", "case", u->name, "position",
                                            (json_int_t)i, "cost_ns", (json_int_t)u->cost_ns));
    }
    c->cases.count = kept;
    return mine;
}

void shard_take(corpus *c, const shard_request *request) {
    const shard_name *name = &request->name;
    unit_list units = {0};
    char digest[65];
    struct utsname names = {0};
    list_units(c, request, &units);
    deal(&units, name->of);
    digest_of(&units, request, digest);
    sort(&units, by_place);
    size_t total = units.count;
    json_t *mine = keep(c, &units, name->index);
    vec_release(&units);
    uname(&names);
    c->shard =
        json_pack("{s:I, s:I, s:s?, s:s, s:I, s:o, s:o}", "index", (json_int_t)name->index, "of",
                  (json_int_t)name->of, "set", *name->set ? name->set : NULL, "digest", digest,
                  "total", (json_int_t)total, "node", json_text(names.nodename), "cases", mine);
}

void shard_describe(const json_t *shard, text *out) {
    const char *set = json_text_at(shard, "set");
    text_show(out,
              "shard %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
              "%s%s: %zu of %" JSON_INTEGER_FORMAT " cases",
              json_integer_value(json_object_get(shard, "index")),
              json_integer_value(json_object_get(shard, "of")), *set ? ", set " : "", set,
              json_array_size(json_object_get(shard, "cases")),
              json_integer_value(json_object_get(shard, "total")));
}
