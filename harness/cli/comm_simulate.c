/* comm_simulate.c - tsr comm --simulate: operations over the ranks of a topology, and plans of
 * programs on them. */
#include "cli/comm_simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/kernel_choice.h"
#include "comm/collectives.h"
#include "comm/plan.h"
#include "common/json_text.h"
#include "common/say.h"
#include "exec/module_cache.h"
#include "report/document.h"

enum { SIZES_MAX = 32 };

typedef struct simulation {
    const options *o;
    topology t;
    uint64_t sizes[SIZES_MAX];
    uint32_t size_count;
    uint32_t ranks[SIZES_MAX]; /* of the topology's; none: all */
    uint32_t rank_count;
    json_t *document;
} simulation;

/* ---- options ---- */

static bool read_size(const char *word, uint64_t *out) {
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {{"", 1},
                 {"B", 1},
                 {"KiB", UINT64_C(1) << 10},
                 {"MiB", UINT64_C(1) << 20},
                 {"GiB", UINT64_C(1) << 30}};
    char *end;
    const unsigned long long number = strtoull(word, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (*word >= '0' && *word <= '9' && strcmp(end, units[i].name) == 0 && number > 0 &&
            number < (UINT64_C(1) << 40) / units[i].factor) {
            *out = number * units[i].factor;
            return true;
        }
    return false;
}

static int read_sizes(simulation *s, arena *memory) {
    string_list words = {0};
    int code = EXIT_DONE;
    options_split(options_text(s->o, OPTION_SIZES, "8B,4KiB,64KiB,1MiB,16MiB,256MiB,1GiB"), memory,
                  &words);
    for (size_t i = 0; i < words.count && code == EXIT_DONE; i++)
        if (s->size_count == SIZES_MAX || !read_size(words.items[i], &s->sizes[s->size_count++]))
            code = command_usage(s->o->command,
                                 "--sizes wants at most %d numbers of bytes, such as 8B, 64KiB or "
                                 "1GiB, not '%s'",
                                 SIZES_MAX, words.items[i]);
    vec_release(&words);
    return code;
}

static int read_ranks(simulation *s, arena *memory) {
    string_list words = {0};
    int code = EXIT_DONE;
    options_split(options_text(s->o, OPTION_RANKS, ""), memory, &words);
    for (size_t i = 0; i < words.count && code == EXIT_DONE; i++) {
        char *end = NULL;
        const unsigned long ranks = strtoul(words.items[i], &end, 10);
        if (*end || ranks < 2 || ranks > TOPOLOGY_RANKS_MAX || s->rank_count == SIZES_MAX)
            code = command_usage(s->o->command,
                                 "--ranks wants at most %d numbers from 2 to %d, not '%s'",
                                 SIZES_MAX, TOPOLOGY_RANKS_MAX, words.items[i]);
        else
            s->ranks[s->rank_count++] = (uint32_t)ranks;
    }
    vec_release(&words);
    return code;
}

/* ---- operations ---- */

static json_t *real_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *operation(const topology *t, collective c, uint64_t bytes) {
    const algorithm chosen = collective_choice(t, c, (double)bytes);
    json_t *ways = json_array();
    for (int a = 0; a < ALGORITHMS; a++) {
        const algorithm_info *info = &algorithm_table[a];
        if (info->of != c)
            continue;
        const double ns = collective_ns(t, (algorithm)a, (double)bytes);
        json_array_append_new(
            ways, json_pack("{s:s, s:b, s:o, s:o}", "name", info->name, "ours", info->ours, "ns",
                            real_or_null(ns), "bus_gbps",
                            real_or_null(collective_bus(c, t->ranks, (double)bytes, ns))));
    }
    return json_pack("{s:s, s:i, s:I, s:s, s:o}", "operation", collective_names[c], "ranks",
                     (int)t->ranks, "bytes", (json_int_t)bytes, "chosen",
                     algorithm_table[chosen].name, "ways", ways);
}

static void show_operation(const json_t *one) {
    size_t i;
    const json_t *way;
    const char *chosen = json_text_at(one, "chosen");
    say(stdout, "%-15s %5lld %11lld", json_text_at(one, "operation"),
        (long long)json_integer_value(json_object_get(one, "ranks")),
        (long long)json_integer_value(json_object_get(one, "bytes")));
    json_array_foreach(json_object_get(one, "ways"), i, way) {
        const json_t *ns = json_object_get(way, "ns");
        const char *name = json_text_at(way, "name");
        if (json_is_number(ns))
            say(stdout, "  %s%s %.2f us %.1f GB/s", strcmp(name, chosen) == 0 ? "*" : "", name,
                json_number_value(ns) / 1e3, json_number_value(json_object_get(way, "bus_gbps")));
    }
    say(stdout, "\n");
}

static void simulate_operations(simulation *s, const topology *t, json_t *out) {
    for (int c = 0; c < COLLECTIVES; c++)
        for (uint32_t i = 0; i < s->size_count; i++)
            json_array_append_new(out, operation(t, (collective)c, s->sizes[i]));
}

static int simulate_all(simulation *s) {
    status st = STATUS_INIT;
    size_t i;
    const json_t *one;
    json_t *all = json_array();
    json_object_set_new(s->document, "operations", all);
    for (uint32_t k = 0; k < (s->rank_count ? s->rank_count : 1); k++) {
        topology t = s->t;
        if (s->rank_count && !topology_cut(&t, s->ranks[k], &st))
            return command_usage(s->o->command, "--ranks: %s", st.message);
        simulate_operations(s, &t, all);
    }
    if (options_flag(s->o, OPTION_JSON))
        return EXIT_DONE;
    say(stdout, "%s%s%u ranks; * chosen of what is here; GB/s as NCCL tests' bus bandwidth\n",
        s->t.name, *s->t.name ? ": " : "", s->t.ranks);
    json_array_foreach(all, i, one) show_operation(one);
    return EXIT_DONE;
}

/* ---- plans ---- */

/* The ranks of a layout, multiplied; 0: it is none. */
static uint32_t ranks_of(const char *layout) {
    uint64_t all = 1;
    for (const char *at = layout; *at;) {
        char *end = NULL;
        const char *equals = strchr(at, '=');
        const unsigned long count = equals ? strtoul(equals + 1, &end, 10) : 0;
        if (count < 1 || count > TOPOLOGY_RANKS_MAX || (*end && *end != ','))
            return 0;
        all *= count;
        if (all > TOPOLOGY_RANKS_MAX)
            return 0;
        at = *end ? end + 1 : end;
    }
    return (uint32_t)all;
}

static uint32_t of_layout(const char *layout, const char *name, size_t length) {
    for (const char *at = layout; at && *at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return (uint32_t)strtoul(at + length + 1, NULL, 10);
    }
    return 1;
}

/* The axis whose ranks are so far apart: axes stand in the order in which the program has them, the
 * last one's ranks beside each other. */
static void name_of(const char *graph, const char *layout, const plan_axis *a, uint32_t ranks,
                    text *out) {
    static const char marker[] = "axis = \"";
    uint32_t outside = 1;
    char seen[512] = ",";
    for (const char *at = graph; (at = strstr(at, marker));) {
        at += strlen(marker);
        const size_t length = strcspn(at, "\"");
        char key[80];
        snprintf(key, sizeof key, ",%.*s,", (int)(length < 60 ? length : 60), at);
        if (strstr(seen, key) || strlen(seen) + length + 2 > sizeof seen)
            continue;
        strcat(seen, key + 1);
        const uint32_t count = of_layout(layout, at, length);
        outside *= count;
        if (count == a->ranks && ranks / outside == a->stride) {
            text_show(out, "%.*s", (int)length, at);
            return;
        }
    }
    text_append(out, "?");
}

static json_t *axis_document(const plan_axis *a, const char *name) {
    return json_pack("{s:s, s:i, s:I, s:f, s:f}", "axis", name, "ranks", (int)a->ranks, "exchanges",
                     (json_int_t)a->exchanges, "sent_bytes", a->bytes, "ns", a->ns);
}

static json_t *plan_document(const plan *p, const char *graph, const char *layout) {
    json_t *axes = json_array();
    double ns = 0;
    for (uint32_t i = 0; i < p->axis_count; i++) {
        text name;
        text_init(&name);
        name_of(graph, layout, &p->axes[i], p->ranks, &name);
        json_array_append_new(axes, axis_document(&p->axes[i], name.data));
        text_release(&name);
        ns += p->axes[i].ns;
    }
    return json_pack("{s:s, s:i, s:f, s:b, s:o, s:{s:f, s:f, s:f, s:f}}", "layout", layout, "ranks",
                     (int)p->ranks, "ns", ns, "bounded", p->bounded, "axes", axes, "memory",
                     "inputs_bytes", p->inputs, "outputs_bytes", p->outputs, "between_bytes",
                     p->arena, "constants_bytes", p->constants);
}

static void show_plan(const json_t *made) {
    size_t i;
    const json_t *a, *memory = json_object_get(made, "memory");
    const char *unit = "MiB";
    const double mib = 1 << 20;
    say(stdout, "%s, %lld ranks: exchanges take %.1f us in a launch%s\n",
        json_text_at(made, "layout"), (long long)json_integer_value(json_object_get(made, "ranks")),
        json_number_value(json_object_get(made, "ns")) / 1e3,
        json_is_true(json_object_get(made, "bounded"))
            ? " (each branch, and one turn of each while loop)"
            : "");
    json_array_foreach(json_object_get(made, "axes"), i, a)
        say(stdout, "  %-8s %4lld ranks  %6lld exchanges  %12.3f %s sent by a rank  %12.1f us\n",
            json_text_at(a, "axis"), (long long)json_integer_value(json_object_get(a, "ranks")),
            (long long)json_integer_value(json_object_get(a, "exchanges")),
            json_number_value(json_object_get(a, "sent_bytes")) / mib, unit,
            json_number_value(json_object_get(a, "ns")) / 1e3);
    say(stdout,
        "  memory of a rank: %.3f MiB of inputs, %.3f of outputs, %.3f between, %.3f of "
        "constants\n",
        json_number_value(json_object_get(memory, "inputs_bytes")) / mib,
        json_number_value(json_object_get(memory, "outputs_bytes")) / mib,
        json_number_value(json_object_get(memory, "between_bytes")) / mib,
        json_number_value(json_object_get(memory, "constants_bytes")) / mib);
}

static bool build(const kernel_choice *k, const shard_ranks *ranks, json_t **out, const topology *t,
                  status *st) {
    text words;
    plan p;
    bool cached;
    compiler_artifact artifact = {0};
    text_init(&words);
    compiler_instance *instance = compiler_instance_open(k->source, k->kernel, k->c, &words);
    say_diagnostics(stderr, words.data);
    const compiler_options build = {.threads = 1,
                                    .ranks = ranks->count > 1 ? ranks : NULL,
                                    .source_schedule = k->kernel->schedule};
    bool ok = instance ? module_cache_build(NULL, instance, &build, &artifact, &cached, st) &&
                             plan_of(t, artifact.image, artifact.image_size, &p, st)
                       : status_set(st, STATUS_INVALID, "the kernel does not check");
    if (ok) {
        const text *graph = compiler_instance_text(instance);
        *out = plan_document(&p, graph->data, ranks->layout);
    }
    compiler_artifact_release(&artifact);
    compiler_instance_free(instance);
    text_release(&words);
    return ok;
}

static int plan_program(simulation *s, const char *path, const char *layout, uint32_t ranks) {
    kernel_choice k;
    status st = STATUS_INIT;
    json_t *made = NULL;
    topology t = s->t;
    compiler_source *source = NULL;
    if (!topology_cut(&t, ranks, &st))
        return command_usage(s->o->command, "--layout: %s", st.message);
    int code = kernel_choice_source(s->o, NULL, path, &source);
    code = code ? code : kernel_choice_one(s->o, source, path, &k);
    const shard_ranks own = {.count = ranks, .layout = layout};
    if (code == EXIT_DONE && !build(&k, &own, &made, &t, &st))
        code = command_fail(&st);
    if (code == EXIT_DONE && !options_flag(s->o, OPTION_JSON))
        show_plan(made);
    if (made)
        json_object_set_new(s->document, "plan", made);
    compiler_close(source);
    return code;
}

static int plan_option(simulation *s) {
    const char *path = options_text(s->o, OPTION_PLAN, NULL),
               *layout = options_text(s->o, OPTION_LAYOUT, NULL);
    const uint32_t ranks = layout ? ranks_of(layout) : 0;
    int code = COMMAND_REFUSE(s->o, "has no say in a plan", OPTION_RANKS, OPTION_SIZES);
    if (code)
        return code;
    if (ranks < 2)
        return command_usage(s->o->command,
                             "--plan wants --layout AXIS=RANKS,... of 2 to %d ranks: \"dp=4,tp=2\"",
                             TOPOLOGY_RANKS_MAX);
    return plan_program(s, path, layout, ranks);
}

/* ---- the command ---- */

int comm_simulate(const options *o) {
    simulation s = {.o = o};
    arena memory;
    status st = STATUS_INIT;
    int code = COMMAND_REFUSE(o, "is of --probe", OPTION_TRANSPORT, OPTION_QUICK);
    if (code == EXIT_DONE && !options_flag(o, OPTION_PLAN))
        code = COMMAND_REFUSE(o, "is of --plan", OPTION_LAYOUT, OPTION_CASE, OPTION_DIMS);
    if (code)
        return code;
    arena_init(&memory);
    s.document = json_pack("{s:s}", "schema", "tsr.simulation/1");
    code = read_sizes(&s, &memory);
    code = code ? code : read_ranks(&s, &memory);
    if (code == EXIT_DONE && !topology_read(&s.t, options_text(o, OPTION_SIMULATE, NULL), &st))
        code = command_fail(&st);
    else if (code == EXIT_DONE) {
        json_object_set_new(s.document, "topology", json_text(s.t.name));
        code = options_flag(o, OPTION_PLAN) ? plan_option(&s) : simulate_all(&s);
    }
    if (code == EXIT_DONE && options_flag(o, OPTION_JSON))
        document_print(s.document, stdout);
    if (s.t.file.path)
        topology_release(&s.t);
    json_decref(s.document);
    arena_release(&memory);
    return code;
}
