/* plan_workspace.c - where the buffers of the workspace lie: those that no phase needs at the same
 * time share bytes.
 *
 * A buffer lives from the first phase that names it to the last; phases that are concurrent are one
 * time. The largest are placed first, each
 * at the lowest offset where nothing that lives with it lies (greedy by size: Y. Pisarchyk and J.
 * Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, section 5.2). Sizes that
 * a launch gives are not planned: one buffer lies behind the other.
 *
 * The plan is kept on the kernel ("workspace_plan"), for who wants to show what lives when. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "tile/lowering.h"

typedef struct planned {
    ir_value buffer;
    int64_t bytes, offset;
    uint32_t first, last; /* phases, by place in the kernel; first > last: none names it */
} planned;

typedef struct plan {
    lowering *l;
    uint32_t *place_of; /* by operation of the kernel's block: its place, from 1; 0: it is inside */
    VEC(uint32_t) phases; /* their places */
    VEC(uint32_t) begins; /* the place of the first that each is concurrent with, or its own */
    VEC(planned) buffers;
} plan;

static bool is_workspace(const lowering *l, ir_op op) {
    return ir_op_get(l->s, op)->opcode == SCHED_BUFFER &&
           strcmp(ir_op_string(l->s, op, "space", ""), "workspace") == 0;
}

static void number_block(plan *p, ir_block block) {
    uint32_t place = 0;
    for (ir_op op = ir_block_get(p->l->s, block)->first; op; op = ir_op_get(p->l->s, op)->next) {
        p->place_of[op] = ++place;
        if (ir_op_get(p->l->s, op)->opcode == SCHED_PHASE) {
            bool own = !ir_op_attr(p->l->s, op, "concurrent");
            uint32_t begin = own ? place : p->begins.items[p->begins.count - 1];
            vec_push(&p->phases, place);
            vec_push(&p->begins, begin);
        }
        if (!is_workspace(p->l, op))
            continue;
        ir_value v = ir_op_result(p->l->s, op, 0);
        int64_t bytes = lowering_count(p->l, v) * (int64_t)dtype_size(p->l->place_of[v].element);
        planned b = {.buffer = v, .bytes = (bytes + 63) / 64 * 64, .first = UINT32_MAX};
        vec_push(&p->buffers, b);
    }
}

/* The operation of the kernel's block that an operation is, or is inside of. */
static uint32_t place_of(const plan *p, ir_op op) {
    while (op && !p->place_of[op]) {
        ir_block block = ir_op_get(p->l->s, op)->block;
        op = ir_block_parent(p->l->s, block);
    }
    return op ? p->place_of[op] : 0;
}

/* The number of the phase that is at a place, or follows it. */
static size_t number_at(const plan *p, uint32_t place) {
    size_t number = 0;
    while (number < p->phases.count && p->phases.items[number] < place)
        number++;
    return number;
}

static planned *find(plan *p, ir_value v) {
    for (size_t i = 0; i < p->buffers.count; i++)
        if (p->buffers.items[i].buffer == v)
            return &p->buffers.items[i];
    return NULL;
}

/* Those of the phases that a place's is concurrent with. */
static uint32_t first_place(const plan *p, uint32_t place) {
    size_t number = number_at(p, place);
    return number < p->phases.count && p->phases.items[number] == place ? p->begins.items[number]
                                                                        : place;
}

static uint32_t last_place(const plan *p, uint32_t place) {
    size_t number = number_at(p, place);
    if (number == p->phases.count || p->phases.items[number] != place)
        return place;
    while (number + 1 < p->phases.count && p->begins.items[number + 1] == p->begins.items[number])
        number++;
    return p->phases.items[number];
}

static void note_uses(plan *p) {
    for (ir_op op = 1; op <= ir_op_count(p->l->s); op++) {
        const ir_op_data *o = ir_op_get(p->l->s, op);
        for (uint32_t i = 0; i < o->operand_count; i++) {
            planned *b = p->l->place_of[o->operands[i]].opcode ? find(p, o->operands[i]) : NULL;
            uint32_t place = b ? place_of(p, op) : 0;
            if (!place)
                continue;
            uint32_t first = first_place(p, place), last = last_place(p, place);
            b->first = first < b->first ? first : b->first;
            b->last = last > b->last ? last : b->last;
        }
    }
}

static int by_size(const void *x, const void *y) {
    const planned *a = x, *b = y;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return a->buffer < b->buffer ? -1 : 1;
}

/* The lowest offset, with no placed buffer of its time there: behind one of them, or 0. */
static int64_t lowest(const plan *p, size_t number) {
    const planned *b = &p->buffers.items[number];
    int64_t offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < number; i++) {
            const planned *o = &p->buffers.items[i];
            bool together = o->first <= b->last && b->first <= o->last;
            if (together && offset < o->offset + o->bytes && o->offset < offset + b->bytes) {
                offset = o->offset + o->bytes;
                moved = true;
            }
        }
    }
    return offset;
}

static void place_all(plan *p) {
    lowering *l = p->l;
    qsort(p->buffers.items, p->buffers.count, sizeof *p->buffers.items, by_size);
    for (size_t i = 0; i < p->buffers.count; i++) {
        planned *b = &p->buffers.items[i];
        b->offset = lowest(p, i);
        l->place_of[b->buffer].offset = b->offset;
        l->unplanned_bytes += b->bytes;
        if (b->offset + b->bytes > l->workspace_bytes)
            l->workspace_bytes = b->offset + b->bytes;
    }
}

static int by_offset(const void *x, const void *y) {
    const planned *a = x, *b = y;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->first != b->first ? (a->first < b->first ? -1 : 1) : by_size(x, y);
}

/* [offset, bytes, first phase, last phase] of each buffer that a phase names. */
static void keep_plan(plan *p, ir_op kernel) {
    ir_module *m = p->l->m;
    ir_attr *list = base_malloc(p->buffers.count * sizeof *list);
    uint32_t count = 0;
    qsort(p->buffers.items, p->buffers.count, sizeof *p->buffers.items, by_offset);
    for (size_t i = 0; i < p->buffers.count; i++) {
        const planned *b = &p->buffers.items[i];
        const ir_attr row[] = {ir_attr_int(m, b->offset), ir_attr_int(m, b->bytes),
                               ir_attr_int(m, (int64_t)number_at(p, b->first)),
                               ir_attr_int(m, (int64_t)number_at(p, b->last))};
        if (b->first <= b->last)
            list[count++] = ir_attr_array(m, row, 4);
    }
    if (count)
        ir_op_set_attr(m, kernel, "workspace_plan", ir_attr_array(m, list, count));
    free(list);
}

void lowering_plan_workspace(lowering *l, ir_block block, ir_op kernel) {
    plan p = {.l = l, .place_of = base_calloc(ir_op_count(l->s) + 1, sizeof *p.place_of)};
    for (ir_op op = ir_block_get(l->s, block)->first; op; op = ir_op_get(l->s, op)->next)
        if (is_workspace(l, op)) {
            ir_value v = ir_op_result(l->s, op, 0);
            l->place_of[v] = (memory_place){TILE_WORKSPACE, ir_type_of(l->s, v)->element, 0, 0};
        }
    number_block(&p, block);
    note_uses(&p);
    if (p.buffers.count) {
        place_all(&p);
        keep_plan(&p, kernel);
    }
    free(p.place_of);
    vec_release(&p.phases);
    vec_release(&p.begins);
    vec_release(&p.buffers);
}
