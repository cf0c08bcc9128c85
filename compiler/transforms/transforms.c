/* transforms.c - which transforms are expanded, and in which order. */
#include "transforms/partition.h"

#include <stdarg.h>
#include <stdio.h>

#include "ir/rename.h"
#include "ops/control.h"
#include "ops/tiles.h"

uint32_t value_table_get(const value_table *t, ir_value v) {
    return v < t->count ? t->items[v] : 0;
}

void value_table_set(value_table *t, ir_value v, uint32_t what) {
    while (t->count <= v)
        vec_push(t, 0);
    t->items[v] = what;
}

bool transform_refuse(transforming *t, transform_fault_kind kind, ir_op op, const char *why, ...) {
    va_list list;
    if (tiles_are_called(t->m, op)) /* it becomes operations where dimensions are numbers */
        kind = TRANSFORM_FAULT_SIZE;
    if (t->fault->kind != TRANSFORM_FAULT_NONE)
        return false;
    *t->fault = (transform_fault){.kind = kind, .at = ir_op_get(t->m, op)->location};
    va_start(list, why);
    vsnprintf(t->fault->why, sizeof t->fault->why, why, list);
    va_end(list);
    return false;
}

void transform_replace(ir_module *m, ir_op op, const ir_value *by) {
    const ir_op_data *o = ir_op_get(m, op);
    ir_renaming renaming = ir_renaming_new(m);
    for (uint32_t i = 0; i < o->result_count; i++)
        ir_rename(&renaming, o->results[i], by[i]);
    ir_renaming_end(&renaming, o->next);
    ir_op_erase(m, op);
}

/* ---- one, and all in it ---- */

static bool is_expanded(int opcode) {
    return opcode == GRAPH_JVP || opcode == GRAPH_VJP || opcode == GRAPH_VMAP ||
           opcode == GRAPH_SHARD;
}

static bool expand_one(transforming *t, ir_op op) {
    const int opcode = ir_op_get(t->m, op)->opcode;
    return opcode == GRAPH_JVP     ? expand_jvp(t, op)
           : opcode == GRAPH_VJP   ? expand_vjp(t, op)
           : opcode == GRAPH_SHARD ? expand_shard(t, op)
                                   : expand_vmap(t, op);
}

typedef VEC(ir_op) op_list;

/* Is it shards of a function that is derived around them? Then the derivative is one of shards. */
static bool is_derived(const ir_module *m, ir_op op) {
    ir_op around = op;
    do {
        const int opcode = ir_op_get(m, around)->opcode;
        if (opcode == GRAPH_VJP || opcode == GRAPH_JVP || opcode == GRAPH_VMAP)
            return opcode != GRAPH_VMAP;
        around = ir_block_parent(m, ir_op_get(m, around)->block);
    } while (around);
    return false;
}

/* Outer before inner. */
static void find_transforms(const ir_module *m, ir_op around, int opcode, op_list *out) {
    for (ir_walk w = ir_walk_op(m, around); ir_walk_next(&w);) {
        const int own = ir_op_get(m, w.op)->opcode;
        if (is_expanded(own) && (opcode < 0 || opcode == own) &&
            !(own == GRAPH_SHARD && is_derived(m, w.op)))
            vec_push(out, w.op);
    }
}

/* Derivatives of shards are shards, which a batch of them does not take. */
static bool expand_shards_in(transforming *t, ir_op op) {
    op_list list = {0};
    bool ok = true;
    if (ir_op_get(t->m, op)->opcode == GRAPH_VMAP)
        find_transforms(t->m, op, GRAPH_SHARD, &list);
    for (size_t i = list.count; i > 0 && ok; i--)
        ok = expand_shard(t, list.items[i - 1]) && !ir_failure(t->m);
    vec_release(&list);
    return ok;
}

/* Inner before outer, so that a list in the order of a walk is taken from its end. */
static bool expand_list(transforming *t, const op_list *list) {
    bool ok = true;
    for (size_t i = list->count; i > 0 && ok; i--)
        ok = expand_shards_in(t, list->items[i - 1]) && expand_one(t, list->items[i - 1]) &&
             !ir_failure(t->m);
    return ok;
}

bool expand_transform(transforming *t, ir_op op) {
    op_list list = {0};
    find_transforms(t->m, op, -1, &list);
    bool ok = expand_list(t, &list);
    vec_release(&list);
    return ok;
}

/* All that there are, and those that derivatives of shards are made of. */
static bool expand_all(transforming *t) {
    bool ok = true, any = true;
    while (any && ok) {
        op_list list = {0};
        find_transforms(t->m, ir_module_kernel(t->m), -1, &list);
        any = list.count > 0;
        ok = expand_list(t, &list);
        vec_release(&list);
    }
    return ok;
}

/* Those of one kind that are in no other one of it, each with what is in it. */
static void find_outermost(const ir_module *m, int opcode, op_list *out) {
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);) {
        w.skip = ir_op_get(m, w.op)->opcode == opcode;
        if (w.skip)
            vec_push(out, w.op);
    }
}

static bool transform(transforming *t, int opcode) {
    op_list list = {0};
    bool ok = true;
    *t->fault = (transform_fault){.kind = TRANSFORM_FAULT_NONE};
    if (opcode < 0)
        return expand_all(t);
    find_outermost(t->m, opcode, &list);
    for (size_t i = list.count; i > 0 && ok; i--)
        ok = expand_transform(t, list.items[i - 1]);
    vec_release(&list);
    return ok;
}

bool graph_transform(ir_module *m, int opcode, transform_fault *fault) {
    return transform(&(transforming){.m = m, .fault = fault}, opcode);
}

bool transforms_run(ir_module *m, int opcode, const shard_grid *grid, status *st) {
    transform_fault fault;
    transforming t = {.m = m, .fault = &fault, .grid = grid};
    if (grid)
        partition_run(&t);
    if (transform(&t, opcode))
        return !ir_failure(m) || status_set(st, STATUS_UNAVAILABLE, "%s", ir_failure(m));
    if (fault.kind == TRANSFORM_FAULT_NONE)
        return status_set(st, STATUS_UNAVAILABLE, "%s", ir_failure(m));
    return status_set(st, STATUS_UNAVAILABLE, "line %u: %s", fault.at.line, fault.why);
}

static bool run(ir_module *m, int opcode, status *st) {
    return transforms_run(m, opcode, NULL, st);
}

bool graph_vmap(ir_module *m, status *st) {
    return run(m, GRAPH_VMAP, st);
}

bool graph_jvp(ir_module *m, status *st) {
    return run(m, GRAPH_JVP, st);
}

bool graph_vjp(ir_module *m, status *st) {
    return run(m, GRAPH_VJP, st);
}
