/* prefetch.c - prefetch(x, into="smem", overlap="compute") behind a `with`: contractions of its
 * statements that read x get a setting of their own, loads of tiles get hints. */
#include <stdlib.h>
#include <string.h>

#include "check/settings.h"

/* ---- what is fetched ---- */

static const struct {
    const char *word;
    fetch_memory into;
} memories[] = {
    {"smem", FETCH_SHARED}, {"shared", FETCH_SHARED}, {"l1", FETCH_L1}, {"l2", FETCH_L2}};
enum { MEMORIES = sizeof memories / sizeof *memories };

static bool refuse(checker *c, span at, const char *what, const char *help) {
    diagnose_error(c->report, ERROR_PREFETCH, at, "%s", what);
    diagnose_help(c->report, "%s", help);
    return false;
}

/* Tensors of a value, in memory or not. */
static void collect(const entity *e, fetched *out) {
    if (e->kind == ENTITY_TENSOR || e->kind == ENTITY_MEMORY)
        vec_push(&out->values, e->value);
    bool several = e->kind == ENTITY_TUPLE || e->kind == ENTITY_RECORD;
    for (uint32_t i = 0; several && i < e->count; i++)
        collect(&e->items[i], out);
}

static bool read_memory(checker *c, const entity *e, fetched *out) {
    for (int i = 0; e->kind == ENTITY_STRING && i < MEMORIES; i++)
        if (strcmp(e->text, memories[i].word) == 0) {
            out->what.into = memories[i].into;
            return true;
        }
    return e->kind != ENTITY_BROKEN &&
           refuse(c, e->at, "there is no memory of this name to fetch into",
                  "into is \"smem\" (or \"shared\"), a workgroup's memory, or \"l1\" or \"l2\", "
                  "caches of a CPU");
}

static bool read_overlap(checker *c, const entity *e, fetched *out) {
    bool compute = e->kind == ENTITY_NONE ||
                   (e->kind == ENTITY_STRING && strcmp(e->text, "compute") == 0),
         none = e->kind == ENTITY_STRING && strcmp(e->text, "none") == 0;
    out->what.overlaps = compute;
    return compute || none ||
           (e->kind != ENTITY_BROKEN && refuse(c, e->at, "overlap is no such word",
                                               "it is \"compute\": copies are on their way "
                                               "meanwhile; or \"none\""));
}

/* A name, and fields and items of it. */
static bool is_place(const node *n) {
    while (n->kind == NODE_ATTRIBUTE || (n->kind == NODE_SUBSCRIPT && n->count == 1))
        n = n->left;
    return n->kind == NODE_NAME;
}

/* The argument x, which is there. */
static const node *place_of(const node *call) {
    uint32_t i = 0;
    while (call->items[i]->kind == NODE_KEYWORD && strcmp(call->items[i]->text, "x") != 0)
        i++;
    return call->items[i]->kind == NODE_KEYWORD ? call->items[i]->left : call->items[i];
}

static bool read_place(checker *c, const node *call, const entity *e, fetched *out) {
    const node *n = place_of(call);
    collect(e, out);
    if (e->kind == ENTITY_BROKEN || (is_place(n) && out->values.count)) {
        out->what.word = arena_strndup(&c->memory, c->report->source->data + n->at.start,
                                       n->at.end - n->at.start);
        return e->kind != ENTITY_BROKEN;
    }
    return refuse(c, n->at, "what is fetched is a tensor, or a record of tensors, that has a name",
                  "give it a name before the with");
}

static bool read(checker *c, const node *call, fetched *out) {
    static const special_function form = {.name = "prefetch",
                                          .signature = "x, into, overlap=compute"};
    const call_arguments *a = call_bind(c, &form, call);
    return a && read_place(c, call, &a->values[0], out) && read_memory(c, &a->values[1], out) &&
           read_overlap(c, &a->values[2], out);
}

void prefetch_begin(checker *c, const node *call) {
    fetched one = {.mark = promise_begin(c), .errors = c->report->reported, .at = call->at};
    one.what = (setting){.kind = SETTING_PREFETCH, .start = call->at.start, .end = call->at.end};
    one.is_known = read(c, call, &one);
    vec_push(&c->settings.fetches, one);
}

/* ---- tiles ---- */

static bool is_of(const fetched *f, ir_value v) {
    for (size_t i = 0; i < f->values.count; i++)
        if (f->values.items[i] == v)
            return true;
    return false;
}

static bool is_named(const char *const *names, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* At least one trip ahead, in the memory of a workgroup. Into a cache is a word that no chip has a
 * use for. */
uint32_t prefetch_hints(checker *c, ir_value memory, const char **names, ir_attr *values,
                        uint32_t count) {
    size_t i = c->settings.fetches.count;
    while (i > 0 && !(c->settings.fetches.items[i - 1].is_known &&
                      is_of(&c->settings.fetches.items[i - 1], memory)))
        i--;
    if (i == 0)
        return count;
    fetched *f = &c->settings.fetches.items[i - 1];
    bool shared = f->what.into == FETCH_SHARED;
    int64_t stages = tile_knob_value(c->kernel, c->given, TILE_KNOB_STAGES),
            ahead = stages > 2 ? stages - 1 : 1;
    const ir_named_attr hints[] = {
        {shared ? "space" : "into",
         ir_attr_string(c->m, shared ? "shared" : fetch_memory_names[f->what.into])},
        {"prefetch", shared ? ir_attr_int(c->m, f->what.overlaps ? ahead : 0) : 0}};
    f->readers++;
    for (size_t k = 0; k < sizeof hints / sizeof *hints; k++)
        if (hints[k].value && !is_named(names, count, hints[k].name)) {
            names[count] = hints[k].name;
            values[count++] = hints[k].value;
        }
    return count;
}

/* ---- whole tensors ---- */

/* Does it give the elements of its first operand, or hold them? */
static bool moves(const ir_op_data *d) {
    return graph_op_class(d->opcode) == GRAPH_CLASS_MOVE || d->opcode == GRAPH_CONVERT ||
           d->opcode == GRAPH_DEQUANTIZE || d->opcode == GRAPH_SCATTER;
}

static bool contracts(const ir_op_data *d) {
    static const int composites[] = {GRAPH_MATMUL, GRAPH_LINEAR, GRAPH_CONV2D, GRAPH_SCALED_MATMUL,
                                     GRAPH_ATTENTION};
    bool found = graph_op_class(d->opcode) == GRAPH_CLASS_DOT;
    for (size_t i = 0; i < sizeof composites / sizeof *composites; i++)
        found |= d->opcode == composites[i];
    return found;
}

/* Arguments of blocks are the last operands; results what the last block ends with. */
static void enter_blocks(const ir_module *m, const ir_op_data *d, bool *held) {
    for (uint32_t r = 0; r < d->region_count; r++) {
        const ir_block_data *b = ir_block_get(m, ir_region_get(m, d->regions[r])->block);
        for (uint32_t i = 1; i <= b->argument_count && i <= d->operand_count; i++)
            held[b->arguments[b->argument_count - i]] |= held[d->operands[d->operand_count - i]];
    }
}

static void leave_blocks(const ir_module *m, const ir_op_data *d, bool *held) {
    for (uint32_t r = 0; r < d->region_count; r++) {
        const ir_op last = ir_block_get(m, ir_region_get(m, d->regions[r])->block)->last;
        const ir_op_data *end = last ? ir_op_get(m, last) : NULL;
        for (uint32_t i = 0; end && i < end->operand_count && i < d->result_count; i++)
            held[d->results[i]] |= held[end->operands[i]];
    }
}

/* Tells of each value whether it holds elements of what is fetched. Owned by the caller. */
static bool *find_held(const ir_module *m, const fetched *f) {
    bool *held = base_calloc(ir_value_count(m) + 1, sizeof *held);
    for (size_t i = 0; i < f->values.count; i++)
        held[f->values.items[i]] = true;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ir_walk_step(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        if (w.leaving)
            leave_blocks(m, d, held);
        else if (moves(d) && d->operand_count)
            held[d->results[0]] |= held[d->operands[0]];
        else
            enter_blocks(m, d, held);
        for (uint32_t i = 1; d->opcode == GRAPH_CONCAT && i < d->operand_count; i++)
            held[d->results[0]] |= held[d->operands[i]];
    }
    return held;
}

/* Joins it with the other operands, or an inner `with`: one contraction has one way. False when
 * reported. */
static bool join_reader(checker *c, const fetched *f, uint32_t marked, setting *one) {
    const setting *other = marked ? &c->source->settings.items[marked - 1] : one;
    one->of_left |= other->of_left;
    one->of_right |= other->of_right;
    if (other->into == one->into && other->overlaps == one->overlaps)
        return true;
    refuse(c, f->at,
           "a contraction of the statements below reads this and what is fetched otherwise",
           "both sides of it go into one memory, with one overlap");
    diagnose_note(c->report, (span){other->start, other->end}, "the other is fetched here");
    return false;
}

static void mark_reader(checker *c, fetched *f, ir_op op, const bool *held) {
    ir_op_data *d = ir_op_get(c->m, op);
    const settings all = {.items = c->source->settings.items,
                          .count = (uint32_t)c->source->settings.count};
    setting one = f->what;
    for (uint32_t i = 0; contracts(d) && i < d->operand_count; i++) {
        one.of_left |= i == 0 && held[d->operands[i]];
        one.of_right |= i > 0 && held[d->operands[i]];
    }
    if (!one.of_left && !one.of_right)
        return;
    f->readers++;
    if (!join_reader(c, f, setting_find(&all, d->location.setting, SETTING_PREFETCH), &one))
        return;
    one.up = d->location.setting;
    d->location.setting = settings_number(c, one);
}

static void mark_readers(checker *c, fetched *f) {
    bool *held = find_held(c->m, f);
    ir_op op = f->mark.last ? ir_op_get(c->m, f->mark.last)->next
                            : ir_block_get(c->m, f->mark.block)->first;
    for (; op; op = ir_op_get(c->m, op)->next)
        for (ir_walk w = ir_walk_op(c->m, op); ir_walk_next(&w);)
            mark_reader(c, f, w.op, held);
    free(held);
}

void prefetch_end(checker *c) {
    fetched f = c->settings.fetches.items[--c->settings.fetches.count];
    bool good = f.is_known && c->report->reported == f.errors;
    if (good && !c->tiles)
        mark_readers(c, &f);
    if (good && !f.readers)
        refuse(c, f.at,
               c->tiles ? "no tile is loaded from this in the statements below"
                        : "no contraction of the statements below reads this",
               "fetched is what matmul(), attention and their like multiply");
    vec_release(&f.values);
}
