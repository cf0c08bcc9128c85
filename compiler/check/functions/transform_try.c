/* transform_try.c - derivatives and batches of a kernel, taken once while its source is at hand:
 * what has none is reported where it is written. */
#include "check/check.h"
#include "ops/control.h"
#include "ops/transforms.h"
#include "transforms/passes.h"

static bool has_transforms(const ir_module *m) {
    bool found = false;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); !found && ir_walk_next(&w);)
        found = transform_is_one(ir_op_get(m, w.op)->opcode);
    return found;
}

static void report(checker *c, const transform_fault *f) {
    const source_text *s = c->report->source;
    const uint32_t start = source_offset_of(s, f->at.line, f->at.column);
    const span at = {start, start + 1};
    if (f->kind == TRANSFORM_FAULT_INTEGER) {
        diagnose_error(c->report, ERROR_DERIVATIVE_THROUGH_INTEGERS, at, "%s", f->why);
        diagnose_help(c->report, "choose by where(condition, a, b), or say that it is a constant: "
                                 "stop_gradient(x)");
    } else if (f->kind == TRANSFORM_FAULT_SHARD) {
        diagnose_error(c->report, ERROR_COLLECTIVE, at, "%s", f->why);
    } else if (f->kind == TRANSFORM_FAULT_BATCH) {
        diagnose_error(c->report, ERROR_BATCH, at, "%s", f->why);
    } else {
        diagnose_error(c->report, ERROR_DERIVATIVE_MISSING, at, "%s", f->why);
        diagnose_help(c->report,
                      f->kind == TRANSFORM_FAULT_LOOP
                          ? "write for i in range(N), or scan(f, carry, xs); jvp() and jacfwd() go "
                            "through a while loop"
                          : "give a function around it a rule of its own, @f.vjp, or write "
                            "stop_gradient(x)");
    }
}

void transforms_try(checker *c) {
    transform_fault fault;
    if (!has_transforms(c->m))
        return;
    ir_module *m = ir_module_clone(c->m);
    bool good = graph_transform(m, -1, &fault);
    /* Dimensions are symbols here: what needs numbers is found for a case. */
    if (!good && fault.kind != TRANSFORM_FAULT_NONE && fault.kind != TRANSFORM_FAULT_SIZE)
        report(c, &fault);
    else if (good)
        transforms_donated(c);
    ir_module_free(m);
}
