/* interp_fold.c - folds on the interpreter's values: a turn is the block on parts of the operands.
 */
#include <stdlib.h>
#include <string.h>

#include "ops/fold.h"
#include "target/interp/interp_walk.h"

/* Copies what lies at `turn` of an axis, which the part does not have. */
static bool take_turn(const tensor *all, int64_t axis, int64_t turn, tensor *part, status *st) {
    int64_t dims[IR_MAX_RANK], outer = 1, inner = (int64_t)dtype_size(all->type);
    for (int k = 0; k < all->rank - 1; k++)
        dims[k] = all->dims[k + (k >= axis)];
    for (int k = 0; k < all->rank; k++) {
        outer *= k < axis ? all->dims[k] : 1;
        inner *= k > axis ? all->dims[k] : 1;
    }
    if (!tensor_init(part, all->type, all->rank - 1, dims, st))
        return false;
    for (int64_t i = 0; i < outer; i++)
        memcpy((char *)part->data + i * inner,
               (const char *)all->data + (i * all->dims[axis] + turn) * inner, (size_t)inner);
    return true;
}

/* Parameters: what goes from turn to turn, beside what all turns read. */
static bool run_turn(interpreter *in, ir_op op, const fold_shape *f, int64_t turn,
                     const tensor *operands, tensor *values, tensor *made) {
    const uint32_t count = f->carried + f->inputs;
    bool ok = true;
    for (uint32_t i = f->carried; i < count && ok; i++)
        ok = take_turn(&operands[i], f->axis[i], turn, &values[i], in->st);
    ok = ok && interp_run_block(in, ir_op_block(in->m, op, 0), values, made);
    tensor_release_all(values + f->carried, f->inputs);
    if (ok)
        interp_take_over(values, made, f->carried);
    return ok;
}

bool interp_fold(interpreter *in, ir_op op, const tensor *operands, tensor *results) {
    fold_shape f;
    if (!fold_read(in->m, op, &f, in->st))
        return false;
    const uint32_t count = f.carried + f.inputs;
    tensor *values = base_calloc((size_t)count + 1, sizeof *values);
    tensor *made = base_calloc((size_t)f.carried + 1, sizeof *made);
    bool ok = interp_copy_all(operands, values, f.carried, in->st);
    for (int64_t turn = 0; turn < f.turns && ok; turn++)
        ok = run_turn(in, op, &f, turn, operands, values, made);
    for (uint32_t i = 0; i < f.carried; i++) {
        results[i] = values[i]; /* released there where it is not ok */
        values[i] = (tensor){0};
    }
    free(made);
    free(values);
    return ok;
}
