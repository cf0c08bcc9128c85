/* schedule.c - Schedule IR's table and verifier. */
#include "schedule/schedule.h"

#include <string.h>

static const op_info schedule_ops[] = {
#define S(ENUM, name, operands, attrs, results, regions, summary)                                  \
    {"sched." #name, IR_LEVEL_SCHEDULE, operands, attrs, results, regions, summary},
#include "schedule/schedule.def"
};

int64_t schedule_step(const ir_module *m, ir_op op, const char *attr, int64_t otherwise) {
    ir_attr a = ir_op_attr(m, op, attr);
    const ir_attr_data *d = a ? ir_attr_get(m, a) : NULL;
    if (!d || d->kind != IR_ATTR_STRING)
        return d ? d->integer : otherwise;
    const ir_attr_data *parameters =
        ir_attr_get(m, ir_op_attr(m, ir_module_kernel(m), "parameters"));
    for (uint32_t i = 0; i < parameters->count; i++)
        if (strcmp(parameters->keys[i], d->string) == 0)
            return ir_attr_get(m, parameters->items[i])->integer;
    return -1;
}

/* A computation: one access per buffer, each with a coefficient per index; a body with one argument
 * per input. */
static bool verify_computation(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    int64_t axes = ir_op_int(m, op, "axes", 0);
    const ir_attr_data *access = ir_attr_get(m, ir_op_attr(m, op, "access"));
    bool reduces =
        d->opcode == SCHED_REDUCE || d->opcode == SCHED_COLUMNS || d->opcode == SCHED_DOT;
    if (access->count + (uint64_t)axes != d->operand_count)
        return status_set(st, STATUS_INTERNAL, "needs an access for each buffer");
    for (uint32_t i = 0; i < access->count; i++)
        if (ir_attr_get(m, access->items[i])->count != (uint64_t)axes + 1 + reduces)
            return status_set(st, STATUS_INTERNAL, "an access needs a coefficient for each index");
    for (uint32_t i = 0; i < d->operand_count; i++) {
        ir_type_kind kind = ir_type_get(m, ir_value_get(m, d->operands[i])->type)->kind;
        if (kind != ((int64_t)i < axes ? IR_TYPE_INDEX : IR_TYPE_BUFFER))
            return status_set(st, STATUS_INTERNAL, "operands are indices, then buffers");
    }
    return true;
}

static bool verify_schedule(const ir_module *m, ir_op op, status *st) {
    switch (ir_op_get(m, op)->opcode) {
    case SCHED_REDUCE:
    case SCHED_COLUMNS:
    case SCHED_DOT:
    case SCHED_MAP:
        return verify_computation(m, op, st);
    case SCHED_FOR:
        return schedule_step(m, op, "step", 0) > 0 ||
               status_set(st, STATUS_INTERNAL, "the step is not known");
    default:
        return true;
    }
}

const op_table *schedule_op_table(void) {
    static const op_table table = {IR_LEVEL_SCHEDULE, schedule_ops,
                                   sizeof schedule_ops / sizeof *schedule_ops, verify_schedule,
                                   schedule_verify_orders};
    return &table;
}
