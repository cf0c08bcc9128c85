/* tile_elementwise.c - element-wise operations of tile_run: the interpreter's own, on tiles that
 * are repeated to one shape, and those that Graph IR lacks. */
#include <math.h>
#include <string.h>

#include "ops/reductions.h"
#include "target/interp/interp.h"
#include "target/interp/tile_walk.h"

bool tile_repeat(const tensor *x, const tensor *out, tensor *repeated, status *st) {
    if (!tensor_init(repeated, x->type, 2, out->dims, st))
        return false;
    const size_t size = dtype_size(x->type);
    for (int64_t r = 0; r < out->dims[0]; r++)
        for (int64_t c = 0; c < out->dims[1]; c++) {
            const int64_t row = x->dims[0] == 1 ? 0 : r, column = x->dims[1] == 1 ? 0 : c;
            memcpy((char *)repeated->data + (size_t)(r * out->dims[1] + c) * size,
                   (const char *)x->data + (size_t)(row * x->dims[1] + column) * size, size);
        }
    return true;
}

static bool evaluate(tile_walker *w, ir_op op, int opcode, const tensor *const *in, uint32_t count,
                     tensor *out) {
    const interp_step step = {w->m, op, opcode, in, count, out};
    return interp_elementwise(&step, w->st);
}

bool tile_together(tile_walker *w, ir_op op, const char *kind, const tensor *x, const tensor *y,
                   tensor *out) {
    const tensor *in[] = {x, y};
    const int opcode = reduction_graph_opcode(kind);
    return opcode < 0 ? tile_unavailable(w, op) : evaluate(w, op, opcode, in, 2, out);
}

static uint64_t bits_at(const tensor *t, int64_t i) {
    return dtype_load_bits(t->type, t->data, (size_t)i);
}

static void store_bits(tensor *t, int64_t i, uint64_t bits) {
    memcpy((char *)t->data + (size_t)i * dtype_size(t->type), &bits, dtype_size(t->type));
}

static uint64_t shifted(const tensor *x, const tensor *y, int64_t i) {
    const uint64_t by = bits_at(y, i), width = 8 * dtype_size(x->type);
    return by >= width ? 0 : bits_at(x, i) >> by;
}

/* x * 2^n, where t holds n in the last places of a large number. */
static uint64_t scaled(const tensor *x, const tensor *t, int64_t i) {
    const float number = f32_from_bits((uint32_t)bits_at(x, i)),
                holds = f32_from_bits((uint32_t)bits_at(t, i));
    const float result = isnan(number) || isnan(holds)
                             ? NAN
                             : ldexpf(number, (int)((double)holds - 12582912.0 - 254.0));
    return f32_bits(result);
}

static uint64_t cut(const tensor *x, int64_t i) {
    const uint32_t bits = (uint32_t)bits_at(x, i), high = bits >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u && (high & 0x7fu) == 0 ? high | 0x40u : high;
}

/* Those that Graph IR lacks. */
static bool own(tile_walker *w, ir_op op, const tensor *in, tensor *out) {
    const int opcode = ir_op_get(w->m, op)->opcode;
    for (int64_t i = 0; i < tensor_count(out); i++)
        switch (opcode) {
        case TILE_USHR:
            store_bits(out, i, shifted(&in[0], &in[1], i));
            break;
        case TILE_UMULH:
            store_bits(out, i,
                       (bits_at(&in[0], i) & UINT32_MAX) * (bits_at(&in[1], i) & UINT32_MAX) >> 32);
            break;
        case TILE_SCALE:
            store_bits(out, i, scaled(&in[0], &in[1], i));
            break;
        case TILE_CUT:
            store_bits(out, i, cut(&in[0], i));
            break;
        default:
            return tile_unavailable(w, op);
        }
    return true;
}

bool tile_elementwise_op(tile_walker *w, ir_op op) {
    enum { OPERANDS = 3 };
    const ir_op_data *d = ir_op_get(w->m, op);
    tensor *out = tile_result(w, d, 0), repeated[OPERANDS] = {{0}};
    const tensor *in[OPERANDS];
    bool ok = out != NULL;
    for (uint32_t i = 0; ok && i < d->operand_count && i < OPERANDS; i++) {
        ok = tile_repeat(&tile_operand(w, d, i)->tile, out, &repeated[i], w->st);
        in[i] = &repeated[i];
    }
    if (ok)
        ok = d->opcode <= TILE_FMA
                 ? evaluate(w, op, d->opcode - TILE_NEG + GRAPH_NEG, in, d->operand_count, out)
                 : own(w, op, repeated, out);
    tensor_release_all(repeated, OPERANDS);
    return ok;
}
