/* run_states.c - see run_states.h. */
#include "cli/run_states.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "launch/ranks.h"
#include "state/index.h"
#include "state/part.h"
#include "state/part_file.h"

bool states_is_one(const compiler_signature *s, uint32_t input) {
    for (uint32_t o = 0; o < s->output_count; o++)
        if (s->outputs[o].replaces == (int)input)
            return true;
    return false;
}

static uint32_t rank_count(const kept_states *k) {
    return k->ranks ? launch_ranks_count(k->ranks->ranks) : 1;
}

static const shard_part *part_of(const kept_states *k, uint32_t rank, uint32_t input) {
    return k->ranks ? launch_ranks_part(k->ranks->ranks, rank, input) : NULL;
}

static state_grid grid_of(const kept_states *k, uint32_t input) {
    const struct compiler_buffer *b = &k->signature->inputs[input];
    state_grid g = {.type = b->type, .rank = b->rank};
    for (int d = 0; d < b->rank; d++) {
        g.dims[d] = b->dims[d];
        g.shards[d] = k->shards ? k->shards[input][d] : 1;
    }
    return g;
}

/* ---- orders (state/part_file.h), one for each rank ---- */

typedef struct orders {
    uint32_t count;
    json_t **items;
    char **words; /* what they are as text */
    text *hashes; /* that the ranks say */
} orders;

static orders orders_new(uint32_t count) {
    orders o = {count, base_calloc(count, sizeof *o.items), base_calloc(count, sizeof *o.words),
                base_calloc(count, sizeof *o.hashes)};
    return o;
}

static void orders_release(orders *o) {
    for (uint32_t i = 0; i < o->count; i++) {
        json_decref(o->items[i]);
        free(o->words[i]);
        text_release(&o->hashes[i]);
    }
    free(o->items);
    free(o->words);
    free(o->hashes);
}

/* The rank's tensor of an order; made where it has none yet. */
static json_t *tensor_of(json_t *order, uint32_t input, const state_grid *g) {
    json_t *list = json_object_get(order, "tensors"),
           *last = json_array_get(list, json_array_size(list) - 1);
    if (last && json_integer_value(json_object_get(last, "input")) == (json_int_t)input)
        return last;
    json_t *made = json_pack("{s:I, s:s, s:[]}", "input", (json_int_t)input, "type",
                             dtype_name(g->type), "shards");
    json_array_append_new(list, made);
    return made;
}

static json_t *add_shard(json_t *order, const char *name, const shard_part *place) {
    json_t *dims = json_array(), *at = json_array();
    for (uint32_t d = 0; d < place->rank; d++) {
        const shard_span *s = &place->spans[d][0];
        json_array_append_new(dims, json_integer(place->dims[d]));
        json_array_append_new(at, json_pack("[I,I]", (json_int_t)s->first, (json_int_t)s->total));
    }
    json_t *made = json_pack("{s:s, s:o, s:o}", "name", name, "dims", dims, "at", at);
    json_array_append_new(json_object_get(order, "shards"), made);
    return made;
}

static json_t *metadata_of(const kept_states *k, int64_t step) {
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, step);
    return json_pack("{s:s, s:s, s:s}", "step", number, "kernel", k->kernel, "program", k->program);
}

/* ---- carried out ---- */

static bool read_array(void *context, uint32_t input, void *to, status *st) {
    const tensor *t = &((const tensor *)context)[input];
    (void)st;
    memcpy(to, t->data, tensor_bytes(t));
    return true;
}

static bool write_array(void *context, uint32_t input, const void *from, status *st) {
    const tensor *t = &((const tensor *)context)[input];
    (void)st;
    memcpy(t->data, from, tensor_bytes(t));
    return true;
}

static bool carry_out(const kept_states *k, orders *o, bool keep, status *st) {
    const part_buffers own = {read_array, write_array, k->inputs};
    for (uint32_t i = 0; i < o->count; i++)
        o->words[i] = json_dumps(o->items[i], JSON_COMPACT);
    if (k->ranks)
        return launch_ranks_states(k->ranks->ranks, keep, o->words, o->hashes, st);
    return keep ? part_file_keep(o->words[0], &own, o->hashes, st)
                : part_file_take(o->words[0], &own, st);
}

/* ---- kept ---- */

/* The rank that keeps a shard: of those that have it the one that has the least to keep. */
static uint32_t keeper_of(const kept_states *k, uint32_t input, const state_grid *g, int64_t shard,
                          uint64_t *bytes, shard_part *place) {
    uint32_t best = UINT32_MAX;
    shard_part own;
    for (uint32_t r = 0; r < rank_count(k); r++)
        if (grid_place(g, part_of(k, r, input), shard, &own) &&
            (best == UINT32_MAX || bytes[r] < bytes[best])) {
            best = r;
            *place = own;
        }
    if (best != UINT32_MAX)
        bytes[best] += part_bytes(place);
    return best;
}

/* Orders a tensor's shards, and says in the index which rank keeps each. */
static json_t *deal_out(const kept_states *k, uint32_t input, orders *o, uint64_t *bytes) {
    const state_grid g = grid_of(k, input);
    const char *name = k->signature->inputs[input].name;
    json_t *made = state_index_tensor(name, &g), *parts = json_object_get(made, "parts");
    for (int64_t shard = 0; shard < grid_count(&g); shard++) {
        shard_part place;
        text words;
        text_init(&words);
        grid_shard_name(&g, name, shard, &words);
        const uint32_t rank = keeper_of(k, input, &g, shard, bytes, &place);
        (void)add_shard(tensor_of(o->items[rank], input, &g), words.data, &place);
        json_array_append_new(parts, json_pack("{s:I}", "file", (json_int_t)rank));
        text_release(&words);
    }
    return made;
}

/* The ranks have said their hashes in the order of their shards. */
static void take_hashes(json_t *tensors, const orders *o) {
    const char **at = base_calloc(o->count, sizeof *at);
    size_t i, j;
    json_t *entry, *part;
    for (uint32_t r = 0; r < o->count; r++)
        at[r] = o->hashes[r].data;
    json_array_foreach(tensors, i, entry) {
        json_array_foreach(json_object_get(entry, "parts"), j, part) {
            const json_int_t r = json_integer_value(json_object_get(part, "file"));
            json_object_set_new(part, "sha256", json_stringn(at[r], strcspn(at[r], "\n")));
            at[r] += strcspn(at[r], "\n") + 1;
        }
    }
    free(at);
}

static bool open_orders(const kept_states *k, int64_t step, orders *o, json_t *files, status *st) {
    char *folder = realpath(k->folder, NULL);
    if (!folder)
        return status_set(st, STATUS_IO, "%s: it is no folder any more", k->folder);
    for (uint32_t r = 0; r < o->count; r++) {
        char name[80];
        text path;
        text_init(&path);
        snprintf(name, sizeof name, "state-%" PRId64 "-%uof%u.safetensors", step, r + 1, o->count);
        text_printf(&path, "%s/%s", folder, name);
        json_array_append_new(files, json_string(name));
        o->items[r] = json_pack("{s:s, s:o, s:[]}", "file", path.data, "metadata",
                                metadata_of(k, step), "tensors");
        text_release(&path);
    }
    free(folder);
    return true;
}

bool states_keep(const kept_states *k, int64_t step, status *st) {
    orders o = orders_new(rank_count(k));
    json_t *files = json_array(), *tensors = json_array();
    uint64_t *bytes = base_calloc(o.count, sizeof *bytes);
    bool ok = open_orders(k, step, &o, files, st);
    for (uint32_t i = 0; i < k->signature->input_count && ok; i++)
        if (states_is_one(k->signature, i))
            json_array_append_new(tensors, deal_out(k, i, &o, bytes));
    ok = ok && carry_out(k, &o, true, st);
    if (ok)
        take_hashes(tensors, &o);
    json_t *root = json_pack("{s:s, s:s, s:I, s:I, s:o, s:o}", "kernel", k->kernel, "program",
                             k->program, "step", (json_int_t)step, "ranks", (json_int_t)o.count,
                             "files", files, "tensors", tensors);
    if (json_array_size(k->retried))
        json_object_set(root, "retried", k->retried);
    ok = ok && state_index_write(k->folder, root, st);
    json_decref(root);
    free(bytes);
    orders_release(&o);
    return ok;
}

/* ---- taken ---- */

static int input_named(const compiler_signature *s, const char *name) {
    for (uint32_t i = 0; i < s->input_count; i++)
        if (strcmp(s->inputs[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool is_same(const state_grid *a, const state_grid *b) {
    bool same = a->type == b->type && a->rank == b->rank;
    for (int d = 0; d < a->rank && same; d++)
        same = a->dims[d] == b->dims[d] && a->shards[d] == b->shards[d];
    return same;
}

/* All states of the program, each as it is: then the index is of this run. */
static bool is_of_program(const kept_states *k, const state_index *x, status *st) {
    bool same = strcmp(x->program, k->program) == 0;
    size_t states = 0;
    for (uint32_t i = 0; i < k->signature->input_count; i++)
        states += states_is_one(k->signature, i);
    same = same && x->tensors.count == states;
    for (size_t i = 0; i < x->tensors.count && same; i++) {
        const int input = input_named(k->signature, x->tensors.items[i].name);
        const state_grid g = input < 0 ? (state_grid){0} : grid_of(k, (uint32_t)input);
        same = input >= 0 && states_is_one(k->signature, (uint32_t)input) &&
               is_same(&g, &x->tensors.items[i].grid);
    }
    return same || status_set(st, STATUS_INVALID,
                              "%s holds the state of another program, of kernel %.80s; choose "
                              "another folder, or remove it",
                              x->path, x->kernel);
}

static void ask_for(const kept_states *k, const state_index *x, const state_tensor *t, orders *o) {
    const uint32_t input = (uint32_t)input_named(k->signature, t->name);
    for (int64_t shard = 0; shard < grid_count(&t->grid); shard++) {
        text name, file;
        shard_part place;
        text_init(&name);
        text_init(&file);
        grid_shard_name(&t->grid, t->name, shard, &name);
        const char *hash = state_index_shard(x, t, shard, &file);
        char *path = realpath(file.data, NULL); /* a rank may stand elsewhere */
        for (uint32_t r = 0; r < o->count; r++) {
            if (!grid_place(&t->grid, part_of(k, r, input), shard, &place))
                continue;
            json_t *one = add_shard(tensor_of(o->items[r], input, &t->grid), name.data, &place);
            json_object_set_new(one, "file", json_string(path ? path : file.data));
            json_object_set_new(one, "sha256", json_string(hash));
        }
        free(path);
        text_release(&name);
        text_release(&file);
    }
}

static bool take(const kept_states *k, const state_index *x, status *st) {
    orders o = orders_new(rank_count(k));
    for (uint32_t r = 0; r < o.count; r++)
        o.items[r] = json_pack("{s:s, s:o, s:[]}", "index", x->path, "metadata",
                               metadata_of(k, x->step), "tensors");
    for (size_t i = 0; i < x->tensors.count; i++)
        ask_for(k, x, &x->tensors.items[i], &o);
    const bool ok = carry_out(k, &o, false, st);
    orders_release(&o);
    return ok;
}

bool states_take(const kept_states *k, int64_t *step, status *st) {
    state_index x;
    const bool ok =
        state_index_open(&x, k->folder, st) && is_of_program(k, &x, st) && take(k, &x, st);
    if (ok && x.retried && json_array_size(k->retried) == 0)
        (void)json_array_extend(k->retried, x.retried);
    *step = ok ? x.step : 0;
    state_index_close(&x);
    return ok;
}
