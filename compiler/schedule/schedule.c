/* schedule.c - Schedule IR's table, and the values of its steps. */
#include "schedule/schedule.h"

#include <string.h>

static const op_info schedule_ops[] = {
#define S(ENUM, name, operands, attrs, results, regions, summary)                                  \
    {"sched." #name, IR_LEVEL_SCHEDULE, operands, attrs, results, regions, summary, false},
#include "schedule/schedule.def"
};

int64_t schedule_step_value(const ir_module *m, ir_attr attr) {
    const ir_attr_data *d = ir_attr_get(m, attr);
    if (d->kind != IR_ATTR_STRING)
        return d->kind == IR_ATTR_INT ? d->integer : -1;
    const ir_attr_data *parameters =
        ir_attr_get(m, ir_op_attr(m, ir_module_kernel(m), "parameters"));
    for (uint32_t i = 0; i < parameters->count; i++)
        if (strcmp(parameters->keys[i], d->string) == 0)
            return ir_attr_get(m, parameters->items[i])->integer;
    return -1;
}

int64_t schedule_step(const ir_module *m, ir_op op, const char *attr, int64_t otherwise) {
    ir_attr a = ir_op_attr(m, op, attr);
    return a ? schedule_step_value(m, a) : otherwise;
}

const op_table *schedule_op_table(void) {
    static const op_table table = {IR_LEVEL_SCHEDULE, schedule_ops,
                                   sizeof schedule_ops / sizeof *schedule_ops, schedule_verify,
                                   schedule_verify_orders};
    return &table;
}
