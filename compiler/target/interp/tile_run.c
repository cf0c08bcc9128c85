/* tile_run.c - the walk of tile_run: phases, workgroups, loops, calls and indices. */
#include "target/interp/tile_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "target/interp/tile_walk.h"

/* Some seconds. */
static const int64_t work_most = INT64_C(1) << 31;
enum { WORK_OF_OP = 64 };

bool tile_unavailable(tile_walker *w, ir_op op) {
    return status_set(w->st, STATUS_UNAVAILABLE, "'%s' is not evaluated as it stands here",
                      op_info_get(ir_op_get(w->m, op)->opcode)->name);
}

tensor *tile_result(tile_walker *w, const ir_op_data *d, uint32_t i) {
    const ir_type_data *t = ir_type_of(w->m, d->results[i]);
    tensor *out = &w->values[d->results[i]].tile;
    const int64_t count = t->dims[0] * t->dims[1];
    w->work -= count;
    if (out->data && out->dims[0] == t->dims[0] && out->dims[1] == t->dims[1] &&
        out->type == t->element)
        return out;
    tensor_release(out);
    return tensor_init(out, t->element, 2, t->dims, w->st) ? out : NULL;
}

/* ---- indices ---- */

static int64_t affine(const tile_walker *w, ir_op op) {
    enum { INDICES = 64 };
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t coefficients[INDICES] = {0}, sum = ir_op_int(w->m, op, "constant", 0);
    ir_op_ints(w->m, op, "coefficients", coefficients, INDICES);
    for (uint32_t i = 0; i < d->operand_count && i < INDICES; i++)
        sum += coefficients[i] * tile_operand(w, d, i)->index;
    return sum;
}

static bool index_op(tile_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const int64_t x = d->operand_count ? tile_operand(w, d, 0)->index : 0,
                  y = d->operand_count > 1 ? tile_operand(w, d, 1)->index : 0,
                  by = ir_op_int(w->m, op, "by", 1);
    int64_t *out = &w->values[d->results[0]].index;
    switch (d->opcode) {
    case TILE_INDEX:
        *out = ir_op_int(w->m, op, "value", 0);
        return true;
    case TILE_AFFINE:
        *out = affine(w, op);
        return true;
    case TILE_INDEX_MIN:
        *out = x < y ? x : y;
        return true;
    case TILE_INDEX_MAX:
        *out = x > y ? x : y;
        return true;
    case TILE_INDEX_MUL:
        *out = x * y;
        return true;
    case TILE_INDEX_DIV:
    case TILE_INDEX_REM:
        if (by <= 0)
            return tile_unavailable(w, op);
        *out = d->opcode == TILE_INDEX_DIV ? x / by : x % by;
        return true;
    case TILE_INDEX_QUOTIENT:
        if (y <= 0)
            return tile_unavailable(w, op);
        *out = x / y;
        return true;
    default:
        *out = *(const int32_t *)tile_operand(w, d, 0)->tile.data;
        return true;
    }
}

/* ---- memory ---- */

static bool room_op(tile_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const tile_value *room = d->opcode == TILE_WORKSPACE  ? &w->workspace
                             : d->opcode == TILE_PREPARED ? &w->prepared
                                                          : &w->scratch;
    const int64_t at =
        ir_op_int(w->m, op, "offset", 0) + (d->operand_count ? tile_operand(w, d, 0)->index : 0);
    if (at < 0 || at > room->bytes)
        return status_set(w->st, STATUS_INVALID, "memory begins outside of its room");
    w->values[d->results[0]] =
        (tile_value){.memory = room->memory + at, .bytes = room->bytes - at, .begin = room->memory};
    return true;
}

static tile_value room_of(const ir_module *m, const char *bytes) {
    const int64_t size = ir_op_int(m, ir_module_kernel(m), bytes, 0);
    char *memory = base_malloc((size_t)(size > 0 ? size : 0) + 1);
    memset(memory, 0xA5, (size_t)(size > 0 ? size : 0)); /* what is not written shows */
    return (tile_value){.memory = memory, .bytes = size, .begin = memory};
}

/* ---- blocks ---- */

static bool run_block(tile_walker *w, ir_block id);

/* A copy of it becomes the other's value. */
static bool set_value(tile_walker *w, ir_value to, const tile_value *from) {
    tile_value *v = &w->values[to];
    v->index = from->index;
    if (!from->tile.data)
        return true;
    tensor copy;
    if (!tile_repeat(&from->tile, &from->tile, &copy, w->st))
        return false;
    tensor_release(&v->tile);
    v->tile = copy;
    return true;
}

/* Takes the values that a block yields, held apart: it may be read while it is written. */
static bool take_yielded(tile_walker *w, ir_block id, const ir_value *to, uint32_t count) {
    const ir_op_data *end = ir_op_get(w->m, ir_block_get(w->m, id)->last);
    tile_value *held = base_calloc((size_t)count + 1, sizeof *held);
    bool ok = end->opcode == TILE_YIELD && end->operand_count == count;
    for (uint32_t i = 0; i < count && ok; i++) {
        const tile_value *v = tile_operand(w, end, i);
        held[i].index = v->index;
        ok = !v->tile.data || tile_repeat(&v->tile, &v->tile, &held[i].tile, w->st);
    }
    for (uint32_t i = 0; i < count; i++) {
        ok = ok && set_value(w, to[i], &held[i]);
        tensor_release(&held[i].tile);
    }
    free(held);
    return ok || (w->st->code == STATUS_OK &&
                  status_set(w->st, STATUS_INTERNAL, "a block yields other values"));
}

static bool run_for(tile_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const ir_block body = ir_op_block(w->m, op, 0);
    const ir_value *arguments = ir_block_get(w->m, body)->arguments;
    const int64_t low = tile_operand(w, d, 0)->index, high = tile_operand(w, d, 1)->index,
                  step = ir_op_int(w->m, op, "step", 1);
    bool ok = step > 0 || tile_unavailable(w, op);
    for (uint32_t i = 0; i < d->result_count && ok; i++)
        ok = set_value(w, arguments[1 + i], tile_operand(w, d, 2 + i));
    for (int64_t at = low; at < high && ok; at += step) {
        w->values[arguments[0]].index = at;
        ok = run_block(w, body) && take_yielded(w, body, arguments + 1, d->result_count);
    }
    for (uint32_t i = 0; i < d->result_count && ok; i++)
        ok = set_value(w, d->results[i], &w->values[arguments[1 + i]]);
    return ok;
}

static ir_op function_of(const tile_walker *w, int64_t number) {
    for (ir_op op = ir_kernel_body(w->m)->first; op; op = ir_op_get(w->m, op)->next)
        if (ir_op_get(w->m, op)->opcode == TILE_FUNCTION &&
            ir_op_int(w->m, op, "number", -1) == number)
            return op;
    return 0;
}

/* The function takes vectors of one row; a call has any tile, of which it makes one vector after
 * the other. */
static bool call_vector(tile_walker *w, ir_op op, ir_block body, int64_t first,
                        const tensor *operands, tensor *out) {
    const ir_block_data *block = ir_block_get(w->m, body);
    const ir_op_data *d = ir_op_get(w->m, op);
    const int64_t lanes = (int64_t)ir_type_of(w->m, block->arguments[0])->dims[1],
                  count = tensor_count(out) - first < lanes ? tensor_count(out) - first : lanes;
    bool ok = true;
    for (uint32_t i = 0; i < d->operand_count && ok; i++) {
        tensor *t = &w->values[block->arguments[i]].tile;
        const size_t size = dtype_size(operands[i].type);
        const int64_t dims[] = {1, lanes};
        tensor_release(t);
        ok = tensor_init(t, operands[i].type, 2, dims, w->st);
        if (ok)
            memcpy(t->data, (const char *)operands[i].data + (size_t)first * size,
                   (size_t)count * size);
    }
    ok = ok && run_block(w, body);
    const ir_op_data *end = ir_op_get(w->m, block->last);
    if (ok)
        memcpy((char *)out->data + (size_t)first * dtype_size(out->type),
               tile_operand(w, end, 0)->tile.data, (size_t)count * dtype_size(out->type));
    return ok;
}

static bool run_call(tile_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const ir_op function = function_of(w, ir_op_int(w->m, op, "function", -1));
    tensor *out = tile_result(w, d, 0), operands[TILE_FUNCTION_OPERANDS] = {{0}};
    bool ok = out && function && d->operand_count <= TILE_FUNCTION_OPERANDS;
    for (uint32_t i = 0; ok && i < d->operand_count; i++)
        ok = tile_repeat(&tile_operand(w, d, i)->tile, out, &operands[i], w->st);
    if (!ok)
        return tile_unavailable(w, op);
    const ir_block body = ir_op_block(w->m, function, 0);
    const int64_t lanes =
        (int64_t)ir_type_of(w->m, ir_block_get(w->m, body)->arguments[0])->dims[1];
    for (int64_t i = 0; i < tensor_count(out) && ok; i += lanes)
        ok = call_vector(w, op, body, i, operands, out);
    tensor_release_all(operands, TILE_FUNCTION_OPERANDS);
    return ok;
}

static bool from_index(tile_walker *w, const ir_op_data *d) {
    tensor *out = tile_result(w, d, 0);
    if (out)
        *(int32_t *)out->data = (int32_t)tile_operand(w, d, 0)->index;
    return out != NULL;
}

static bool step(tile_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    switch ((tile_opcode)d->opcode) {
    case TILE_FOR:
        return run_for(w, op);
    case TILE_CALL:
        return run_call(w, op);
    case TILE_WORKSPACE:
    case TILE_PREPARED:
    case TILE_SCRATCH:
        return room_op(w, op);
    case TILE_INDEX:
    case TILE_AFFINE:
    case TILE_INDEX_MIN:
    case TILE_INDEX_MAX:
    case TILE_INDEX_DIV:
    case TILE_INDEX_REM:
    case TILE_INDEX_MUL:
    case TILE_INDEX_QUOTIENT:
    case TILE_TO_INDEX:
        return index_op(w, op);
    case TILE_FROM_INDEX:
        return from_index(w, d);
    case TILE_LOAD:
    case TILE_LOAD_GROUP:
    case TILE_GATHER:
    case TILE_STORE:
    case TILE_SCATTER:
        return tile_memory_op(w, op);
    case TILE_PREFETCH:
    case TILE_YIELD:
    case TILE_BARRIER:
        return true;
    case TILE_CONSTANT:
    case TILE_BROADCAST:
    case TILE_IOTA:
    case TILE_ROW:
    case TILE_COLUMNS:
    case TILE_PAD:
    case TILE_GROUP:
    case TILE_GROUP_DOT:
    case TILE_FOLD:
    case TILE_SCAN:
        return tile_shape_op(w, op);
    default:
        return tile_is_elementwise(d->opcode) ? tile_elementwise_op(w, op)
                                              : tile_unavailable(w, op);
    }
}

static bool run_block(tile_walker *w, ir_block id) {
    w->work--; /* an empty one is some work, too */
    for (ir_op op = ir_block_get(w->m, id)->first; op; op = ir_op_get(w->m, op)->next) {
        w->work -= WORK_OF_OP;
        if (w->work < 0 || !step(w, op))
            break;
    }
    return w->st->code == STATUS_OK &&
           (w->work >= 0 || status_set(w->st, STATUS_UNAVAILABLE,
                                       "it is more work than is evaluated behind a pass"));
}

/* ---- the kernel ---- */

static bool run_phase(tile_walker *w, ir_op phase) {
    const ir_block body = ir_op_block(w->m, phase, 0);
    const int64_t grid = ir_op_int(w->m, phase, "grid", 0);
    bool ok = !ir_op_attr(w->m, phase, "workgroups") || tile_unavailable(w, phase);
    for (int64_t i = 0; i < grid && ok; i++) {
        w->values[ir_block_get(w->m, body)->arguments[0]].index = i;
        ok = run_block(w, body);
    }
    return ok;
}

static bool run_kernel(tile_walker *w) {
    bool ok = true;
    for (ir_op op = ir_kernel_body(w->m)->first; op && ok; op = ir_op_get(w->m, op)->next) {
        const int opcode = ir_op_get(w->m, op)->opcode;
        ok = opcode == TILE_PHASE ? run_phase(w, op) : opcode == TILE_FUNCTION ? true : step(w, op);
    }
    return ok;
}

/* Inputs, then outputs; the inputs are copied, as code of a pass that is wrong may write anywhere
 * in them. */
static bool set_arguments(tile_walker *w, const tensor *inputs, tensor *outputs, tensor *copies) {
    const ir_module *m = w->m;
    const ir_block_data *block = ir_kernel_body(m);
    const ir_attr_data *names = ir_attr_get(m, ir_op_attr(m, ir_module_kernel(m), "inputs")),
                       *shapes = ir_attr_get(m, ir_op_attr(m, ir_module_kernel(m), "shapes"));
    const uint32_t count = names->count;
    for (uint32_t i = 0; i < block->argument_count; i++) {
        const ir_attr_data *shape = ir_attr_get(m, shapes->items[i]);
        tensor *t = i < count ? &copies[i] : &outputs[i - count];
        int64_t dims[TENSOR_MAX_RANK];
        for (uint32_t k = 0; k < shape->count && k < TENSOR_MAX_RANK; k++)
            dims[k] = ir_attr_get(m, shape->items[k])->integer;
        if (!tensor_init(t, ir_type_of(m, block->arguments[i])->element, (int)shape->count, dims,
                         w->st))
            return false;
        if (i < count && tensor_bytes(t) != tensor_bytes(&inputs[i]))
            return status_set(w->st, STATUS_INVALID, "its inputs are others than the kernel's");
        if (i < count)
            memcpy(t->data, inputs[i].data, tensor_bytes(t));
        else
            memset(t->data, 0xA5, tensor_bytes(t)); /* what is not written shows */
        w->values[block->arguments[i]] =
            (tile_value){.memory = t->data, .bytes = (int64_t)tensor_bytes(t), .begin = t->data};
    }
    return true;
}

static void release(tile_walker *w) {
    for (uint32_t i = 0; i <= ir_value_count(w->m); i++)
        tensor_release(&w->values[i].tile);
    free(w->values);
    free(w->workspace.memory);
    free(w->prepared.memory);
    free(w->scratch.memory);
}

bool tile_run(const ir_module *m, const tensor *inputs, tensor *outputs, status *st) {
    const ir_op kernel = ir_module_kernel(m);
    const ir_attr shapes = ir_op_attr(m, kernel, "shapes");
    if (ir_op_attr(m, kernel, "rounding") || ir_op_attr(m, kernel, "dims") || !shapes ||
        ir_attr_get(m, shapes)->count != ir_kernel_body(m)->argument_count)
        return status_set(st, STATUS_UNAVAILABLE, "nothing evaluates such a kernel");
    tile_walker w = {.m = m,
                     .values = base_calloc((size_t)ir_value_count(m) + 1, sizeof *w.values),
                     .workspace = room_of(m, "workspace_bytes"),
                     .prepared = room_of(m, "prepared_bytes"),
                     .scratch = room_of(m, "scratch_bytes"),
                     .work = work_most,
                     .st = st};
    const uint32_t count = ir_attr_get(m, ir_op_attr(m, kernel, "inputs"))->count;
    tensor *copies = tensors_new(count);
    bool ok = set_arguments(&w, inputs, outputs, copies) && run_kernel(&w);
    tensors_free(copies);
    release(&w);
    return ok;
}
