/* pressure.c - see pressure.h.
 *
 * Operations are numbered in their order. A value is held from the number of its operation to that
 * of its last use; where a loop uses what was made before it, to the end of the loop, unless that
 * has one trip. What is made of another value without changing an element (a broadcast, a row)
 * holds the other one. */
#include "tile/simt/pressure.h"

#include <stdlib.h>

#include "base/vec.h"
#include "tile/simt/access.h"
#include "tile/simt/simt.h"
#include "tile/simt/touches.h"

typedef struct held {
    uint32_t from, to;
} held;

typedef struct pressure_count {
    const ir_module *m;
    held *of;        /* by value */
    ir_value *stand; /* by value: what holds its elements */
    uint32_t now;
    VEC(ir_op) ops; /* by number; the end of a loop is its operation once more */
} pressure_count;

static int64_t registers_of(const ir_module *m, ir_value v) {
    const ir_type_data *t = ir_type_of(m, v);
    if (t->kind != IR_TYPE_TILE || t->element == DTYPE_BOOL || !t->layout.row_threads)
        return 0;
    ir_op op = ir_value_get(m, v)->op;
    if (op && ir_op_get(m, op)->opcode == TILE_CONSTANT)
        return 0;
    int64_t words = (int64_t)dtype_size(t->element) > 4 ? 2 : 1;
    int64_t rows = t->dims[0] / ir_layout_row_groups(&t->layout),
            columns = t->dims[1] / ir_layout_column_groups(&t->layout),
            elements = touches_places(rows, t->layout.row_threads, t->layout.row_run) *
                       touches_places(columns, t->layout.column_threads, t->layout.column_run);
    bool factor = t->layout.fragment == IR_FRAGMENT_A || t->layout.fragment == IR_FRAGMENT_B;
    /* factors stay as they are in memory */
    return factor ? elements * (int64_t)dtype_size(t->element) / 4 : elements * words;
}

static bool stands_for_operand(int opcode) {
    return opcode == TILE_BROADCAST || opcode == TILE_ROW || opcode == TILE_COLUMNS ||
           opcode == TILE_BITCAST;
}

static void make(pressure_count *c, ir_value v, ir_value stand) {
    c->stand[v] = stand;
    if (stand == v)
        c->of[v] = (held){c->now, c->now};
}

static void use(pressure_count *c, ir_value v) {
    held *h = &c->of[c->stand[v]];
    h->to = c->now > h->to ? c->now : h->to;
}

static void go_through(pressure_count *c, ir_block block);

/* Keeps what was made before the loop and is used in it: each trip needs it. */
static void keep_to_end(pressure_count *c, uint32_t begin) {
    for (uint32_t v = 1; v <= ir_value_count(c->m); v++)
        if (c->stand[v] == v && c->of[v].from < begin && c->of[v].to > begin)
            c->of[v].to = c->now;
}

static void go_through_loop(pressure_count *c, ir_op op) {
    const ir_op_data *d = ir_op_get(c->m, op);
    const ir_block_data *body = ir_block_get(c->m, ir_op_block(c->m, op, 0));
    uint32_t begin = c->now;
    for (uint32_t i = 0; i < body->argument_count; i++)
        make(c, body->arguments[i], body->arguments[i]);
    go_through(c, ir_op_block(c->m, op, 0));
    c->now++;
    vec_push(&c->ops, op);
    if (!access_runs_once(c->m, op))
        keep_to_end(c, begin);
    for (uint32_t i = 0; i < d->result_count; i++)
        make(c, d->results[i], d->results[i]);
}

static void go_through(pressure_count *c, ir_block block) {
    for (ir_op op = ir_block_get(c->m, block)->first; op; op = ir_op_get(c->m, op)->next) {
        const ir_op_data *d = ir_op_get(c->m, op);
        c->now++;
        vec_push(&c->ops, op);
        for (uint32_t i = 0; i < d->operand_count; i++)
            use(c, d->operands[i]);
        if (d->opcode == TILE_FOR) {
            go_through_loop(c, op);
            continue;
        }
        for (uint32_t i = 0; i < d->result_count; i++)
            make(c, d->results[i],
                 stands_for_operand(d->opcode) ? c->stand[d->operands[0]] : d->results[i]);
    }
}

/* A value takes its registers from its operation on, and gives them back at its last use, which may
 * put its own result there. */
static pressure worst_of(const pressure_count *c) {
    int64_t *change = base_calloc(c->now + 2, sizeof *change), held_now = 0;
    pressure worst = {0, 0};
    for (ir_value v = 1; v <= ir_value_count(c->m); v++)
        if (c->stand[v] == v && c->of[v].to > c->of[v].from) {
            change[c->of[v].from] += registers_of(c->m, v);
            change[c->of[v].to] -= registers_of(c->m, v);
        }
    for (uint32_t i = 0; i <= c->now; i++) {
        held_now += change[i];
        if (held_now > worst.registers)
            worst = (pressure){held_now, i ? c->ops.items[i - 1] : 0};
    }
    free(change);
    return worst;
}

pressure simt_pressure_of(const ir_module *m, ir_op phase) {
    uint32_t count = ir_value_count(m) + 1;
    pressure_count c = {.m = m};
    c.of = base_calloc(count, sizeof *c.of);
    c.stand = base_calloc(count, sizeof *c.stand);
    go_through(&c, ir_op_block(m, phase, 0));
    pressure worst = worst_of(&c);
    free(c.of);
    free(c.stand);
    vec_release(&c.ops);
    return worst;
}

int64_t simt_most_registers(const ir_module *m) {
    int64_t most = 0;
    ir_block body = ir_op_block(m, ir_module_kernel(m), 0);
    for (ir_op op = ir_block_get(m, body)->first; op; op = ir_op_get(m, op)->next) {
        bool is_phase = ir_op_get(m, op)->opcode == TILE_PHASE;
        int64_t registers = is_phase ? simt_pressure_of(m, op).registers : 0;
        most = registers > most ? registers : most;
    }
    return most;
}
