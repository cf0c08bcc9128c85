/* from_tiles_room.c - sizes that a source asks for, and no chip has: tiles that fit no workgroup's
 * registers, stages that fit no memory, and products of which no matrix unit has an instruction.
 * What other chips have is no mistake: on this one it is computed in another way. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "tile/simt/from_tiles.h"

void tiles_forbid(tiles_lowering *t, ir_op op, simt_refusal kind, const char *help,
                  const char *format, ...) {
    va_list args;
    if (t->notes->refused[0])
        return;
    t->notes->kind = kind;
    t->notes->at = ir_op_get(t->g, op)->location;
    snprintf(t->notes->help, sizeof t->notes->help, "%s", help);
    va_start(args, format);
    vsnprintf(t->notes->refused, sizeof t->notes->refused, format, args);
    va_end(args);
}

/* ---- sizes that were chosen ---- */

static bool is_whole(const tiles_lowering *t, ir_op load, int axis) {
    int64_t size[IR_MAX_RANK], kept[IR_MAX_RANK];
    ir_op_ints(t->g, load, "size", size, IR_MAX_RANK);
    ir_op_ints(t->g, load, "kept", kept, IR_MAX_RANK);
    return size[kept[axis]] >=
           ir_type_of(t->g, ir_op_get(t->g, load)->operands[0])->dims[kept[axis]];
}

/* The operand whose axis becomes that of the result; 0: none is known. */
static ir_value along(const tiles_lowering *t, ir_op op, int *axis) {
    const ir_op_data *d = ir_op_get(t->g, op);
    const ir_type_data *to = ir_type_of(t->g, d->results[0]);
    if (d->opcode == GRAPH_MATMUL)
        return to->rank == 2 ? d->operands[*axis] : 0;
    if (d->opcode == GRAPH_TRANSPOSE) {
        int64_t from[IR_MAX_RANK];
        ir_op_ints(t->g, op, "permutation", from, IR_MAX_RANK);
        *axis = (int)from[*axis];
        return d->operands[0];
    }
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const ir_type_data *x = ir_type_of(t->g, d->operands[i]);
        if (x->rank == to->rank && x->dims[*axis] == to->dims[*axis])
            return d->operands[i];
    }
    return 0;
}

/* Is an axis of a tile shorter than the tensor's, or that of no tensor? Then its source chose it.
 */
static bool is_chosen(const tiles_lowering *t, ir_value v, int axis) {
    for (ir_op op = ir_value_get(t->g, v)->op; op; op = v ? ir_value_get(t->g, v)->op : 0) {
        if (ir_op_get(t->g, op)->opcode == GRAPH_LOAD)
            return !is_whole(t, op, axis);
        v = along(t, op, &axis);
    }
    return true;
}

/* ---- registers ---- */

static int64_t register_bytes(const simt_room *room, int64_t threads) {
    int64_t all = threads * room->thread_registers;
    return (all < room->registers ? all : room->registers) * (int64_t)sizeof(float);
}

/* Sizes that fit, which halve the longest chosen axis; false: there are none. */
static bool shorter(const tiles_lowering *t, ir_value v, int64_t most, int64_t sizes[2]) {
    const ir_type_data *d = ir_type_of(t->g, v);
    bool chosen[2] = {false};
    for (int i = 0; i < 2; i++) {
        sizes[i] = i < d->rank ? d->dims[i] : 1;
        chosen[i] = i < d->rank && is_chosen(t, v, i);
    }
    for (int i; sizes[0] * sizes[1] > most; sizes[i] = (sizes[i] + 1) / 2) {
        i = chosen[1] && (!chosen[0] || sizes[1] > sizes[0]);
        if (!chosen[i] || sizes[i] == 1)
            return false;
    }
    return true;
}

bool tiles_have_registers(tiles_lowering *t, ir_op op, ir_value v) {
    const ir_type_data *d = ir_type_of(t->g, v);
    int64_t size = (int64_t)dtype_size(d->element), sizes[2],
            here = register_bytes(&t->request->room, t->threads),
            any = register_bytes(&t->request->most, t->threads);
    const int64_t bytes =
        t->values[v].tile ? ir_type_count(t->g, ir_value_get(t->g, v)->type) * size : 0;
    char help[SIMT_TILES_WHY_BYTES];
    if (bytes < here)
        return true;
    if (bytes >= any && d->rank <= 2 && shorter(t, v, (here - 1) / size, sizes)) {
        snprintf(help, sizeof help, "take tiles of %" PRId64 " x %" PRId64 " or smaller ones%s",
                 sizes[0], sizes[1],
                 bytes < register_bytes(&t->request->most, t->request->most_threads)
                     ? ", or more warps"
                     : "");
        tiles_forbid(t, op, SIMT_REFUSES_ROOM, help,
                     "this tile has %" PRId64 " bytes, and the registers of %" PRId64
                     " threads of %s have %" PRId64 " for all that they hold",
                     bytes, t->threads, t->request->chip, here);
        return true;
    }
    return tiles_refuse(t, op,
                        "%" PRId64 " bytes are more than the registers of %" PRId64 " threads",
                        bytes, t->threads);
}

/* ---- memory ---- */

void tiles_check_stages(tiles_lowering *t, int64_t bytes) {
    char help[SIMT_TILES_WHY_BYTES];
    if (bytes <= t->request->most.shared_bytes || t->notes->refused[0])
        return;
    t->notes->by_stages = ir_op_get(t->g, t->fewer)->opcode == GRAPH_TILES;
    snprintf(help, sizeof help, "take smaller tiles, or fewer: there is room for stages=%" PRId64,
             t->used_stages);
    tiles_forbid(t, t->fewer, SIMT_REFUSES_ROOM, help,
                 "so many tiles at once need %" PRId64
                 " bytes of a workgroup's memory, and %s has %" PRId64,
                 bytes, t->request->chip, t->request->room.shared_bytes);
}

/* ---- products ---- */

static bool takes(const mma_unit *u, const int64_t sizes[3], const bool chosen[3]) {
    return (!chosen[0] || sizes[0] % u->m == 0) && (!chosen[1] || sizes[1] % u->n == 0) &&
           (!chosen[2] || sizes[2] % u->k == 0);
}

void tiles_check_unit(tiles_lowering *t, ir_op op, const int64_t sizes[3], const mma_unit *here) {
    const ir_op_data *d = ir_op_get(t->g, op);
    const bool chosen[] = {is_chosen(t, d->operands[0], 0), is_chosen(t, d->operands[1], 1),
                           is_chosen(t, d->operands[0], 1)};
    const mma_unit *list;
    const uint32_t count = mma_units(&list);
    char help[SIMT_TILES_WHY_BYTES];
    bool some = t->cut != 0;
    for (uint32_t i = 0; i < count; i++)
        some |= list[i].factor == here->factor && list[i].sum == here->sum &&
                takes(&list[i], sizes, chosen);
    if (some)
        return;
    snprintf(help, sizeof help, "take rows of a multiple of %d, columns of %d, steps of %d%s",
             here->m, here->n, here->k,
             mma_unit_is_chain(here) ? "" : ", or --profile strict, where threads multiply");
    tiles_forbid(t, op, SIMT_REFUSES_UNIT, help,
                 "no matrix unit multiplies %" PRId64 " x %" PRId64 " by %" PRId64 " steps of %s",
                 sizes[0], sizes[1], sizes[2], dtype_name(here->factor));
}
