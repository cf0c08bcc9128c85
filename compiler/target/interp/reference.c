/* reference.c - compiler_reference: walks the decomposed graph as the interpreter does. */
#include "target/interp/reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "graph/passes.h"
#include "ops/control.h"
#include "target/interp/reference_enclosure.h"
#include "target/interp/reference_walk.h"
#include "tessera/promise.h"

/* Only f64 overflows: what compiler_references asks of the reference at hand. */
static _Thread_local bool unlimited;

bool reference_is_unlimited(void) {
    return unlimited;
}

/* ---- arithmetic of bounds ---- */

/* Narrow types compute in f32, then round; the reference itself rounds in f64. */
double reference_roundoff(dtype type) {
    double own = 1 / (double)(UINT64_C(2) << dtype_format_of(type)->mantissa_bits);
    return type == DTYPE_F64 ? 2 * own : type == DTYPE_F32 ? own + 0x1p-48 : own + 0x1p-23;
}

double reference_product(double x, double y) {
    return x == 0 || y == 0 ? 0 : x * y;
}

double reference_gamma(double n, double u) {
    return n * u < 0.5 ? n * u / (1 - n * u) : HUGE_VAL;
}

bool reference_is_nan(bounded x) {
    return isnan(x.value) && !isinf(x.bound);
}

bounded reference_settled(bounded x) {
    bool number = !isnan(x.value) && !isinf(x.value);
    if (isinf(x.bound) || (number && isnan(x.bound)))
        return (bounded){x.value, HUGE_VAL};
    return (bounded){x.value, number ? x.bound : 0};
}

bounded reference_saturated(bounded x, dtype type, double roundings) {
    const dtype_format *f = dtype_format_of(type);
    double nearest = fmin(fmax(x.value, -f->largest), f->largest);
    if (isnan(x.value))
        return (bounded){x.value, isinf(x.bound) ? HUGE_VAL : 0};
    if (isnan(x.bound) || isinf(x.bound))
        return (bounded){nearest, HUGE_VAL};
    if (x.value == 0 && x.bound == 0)
        return x;
    if (fabs(x.value) - x.bound >= f->largest)
        return (bounded){nearest, 0};
    double reach = fmin(fabs(x.value) + x.bound, f->largest);
    double rounding = roundings * (reference_roundoff(type) * reach + f->spacing);
    return (bounded){nearest, x.bound + rounding};
}

bounded reference_rounded(bounded x, dtype type, double roundings) {
    if (!dtype_format_of(type)->infinity)
        return reference_saturated(x, type, roundings);
    if (isnan(x.value) || isinf(x.value))
        return (bounded){x.value, isinf(x.bound) ? HUGE_VAL : 0};
    if (isnan(x.bound) || isinf(x.bound))
        return (bounded){x.value, HUGE_VAL};
    if (x.value == 0 && x.bound == 0)
        return x;
    const dtype_format *f = dtype_format_of(type);
    double reach = fabs(x.value) + x.bound,
           limit = type == DTYPE_F64 ? HUGE_VAL : f->largest; /* f64 itself overflows to infinity */
    double rounding = roundings * (reference_roundoff(type) * reach + f->spacing);
    if (!unlimited && fabs(x.value) - x.bound - rounding > limit * (1 + reference_roundoff(type)))
        return (bounded){copysign(HUGE_VAL, x.value), 0};
    return (bounded){x.value, reach + rounding > limit ? HUGE_VAL : x.bound + rounding};
}

/* ---- rooms of the interpreter, used for references ---- */

bool reference_run(const reference_step *s, interp_room room, status *st) {
    const tensor **in = base_malloc(sizeof *in * (s->in_count + 1));
    for (uint32_t i = 0; i < s->in_count; i++)
        in[i] = &s->in[i]->value;
    interp_step values = {s->m, s->op, s->opcode, in, s->in_count, &s->out->value};
    bool ok = room(&values, st);
    free(in);
    return ok;
}

static bool is_exact(const reference_value *v) {
    int64_t count = tensor_count(&v->bound);
    for (int64_t i = 0; i < count; i++)
        if (((const double *)v->bound.data)[i] != 0)
            return false;
    return true;
}

static void fill_unknown(reference_value *v) {
    int64_t count = tensor_count(&v->bound);
    for (int64_t i = 0; i < count; i++)
        ((double *)v->bound.data)[i] = HUGE_VAL;
    free(v->limits);
    v->limits = NULL;
}

bool reference_exact(const reference_step *s, interp_room room, status *st) {
    bool exact = true;
    for (uint32_t i = 0; i < s->in_count; i++)
        exact = exact && is_exact(s->in[i]);
    if (!exact)
        fill_unknown(s->out);
    return reference_run(s, room, st);
}

/* The tensor of operand i that moves: a gather's indices stay what they are. */
static const tensor *moved(const reference_step *s, uint32_t i, const tensor *of) {
    return s->opcode == GRAPH_GATHER && i == 1 ? &s->in[i]->value : of;
}

static bool has_limits(const reference_step *s) {
    bool has = false;
    for (uint32_t i = 0; i < s->in_count; i++)
        has |= s->in[i]->limits != NULL;
    return has;
}

static bool move_limits(const reference_step *s, const tensor **in, status *st) {
    enum { PARTS = 3 };
    tensor(*parts)[PARTS] = base_malloc(sizeof *parts * (s->in_count + 1)), out[PARTS];
    double **rooms = base_malloc(sizeof *rooms * (s->in_count + 1)), *own;
    bool ok = true;
    for (uint32_t i = 0; i < s->in_count; i++)
        enclosure_views(s->in[i], parts[i], &rooms[i]);
    enclosure_allocate(s->out);
    enclosure_views(s->out, out, &own);
    for (int part = 0; part < PARTS && ok; part++) {
        for (uint32_t i = 0; i < s->in_count; i++)
            in[i] = moved(s, i, &parts[i][part]);
        interp_step step = {s->m, s->op, s->opcode, in, s->in_count, &out[part]};
        ok = interp_move(&step, st);
    }
    for (uint32_t i = 0; i < s->in_count; i++)
        free(rooms[i]);
    free(rooms);
    free(parts);
    return ok;
}

/* Bounds move as their values do. */
static bool move(const reference_step *s, status *st) {
    const tensor **in = base_malloc(sizeof *in * (s->in_count + 1));
    for (uint32_t i = 0; i < s->in_count; i++)
        in[i] = moved(s, i, &s->in[i]->bound);
    interp_step bounds = {s->m, s->op, s->opcode, in, s->in_count, &s->out->bound};
    bool ok = interp_move(&bounds, st) && reference_run(s, interp_move, st) &&
              (!has_limits(s) || move_limits(s, in, st));
    free(in);
    if (ok && s->opcode == GRAPH_GATHER && !is_exact(s->in[1]))
        fill_unknown(s->out);
    return ok;
}

static bool generate(const reference_step *s, status *st) {
    if (!dtype_is_float(s->type))
        return reference_run(s, interp_generate, st);
    tensor narrow;
    const tensor *value = &s->out->value;
    if (!tensor_init(&narrow, s->type, value->rank, value->dims, st))
        return false;
    interp_step constant = {s->m, s->op, s->opcode, NULL, 0, &narrow};
    bool ok = interp_generate(&constant, st);
    interp_load_f64(&narrow, 0, tensor_count(value), s->out->value.data);
    tensor_release(&narrow);
    return ok;
}

/* ---- the walk ---- */

static bool evaluate(const reference_step *s, status *st) {
    switch (graph_op_class(s->opcode)) {
    case GRAPH_CLASS_GENERATOR:
    case GRAPH_CLASS_STORED:
        return generate(s, st);
    case GRAPH_CLASS_ELEMENTWISE:
        return reference_elementwise(s, st);
    case GRAPH_CLASS_MOVE:
        return move(s, st);
    case GRAPH_CLASS_REDUCE:
        return reference_reduce(s, st);
    case GRAPH_CLASS_DOT:
        return reference_dot(s, st);
    case GRAPH_CLASS_SCAN:
        return reference_scan(s, st);
    default:
        return status_set(st, STATUS_INTERNAL, "'%s' is no primitive",
                          op_info_get(s->opcode)->name);
    }
}

static dtype element_of(const ir_module *m, ir_value v) {
    return ir_type_of(m, v)->element;
}

/* Room in the value's own shape, or a lane for each scalar. */
static bool allocate(reference_walker *w, ir_value v, reference_value *out) {
    dtype held = dtype_is_float(element_of(w->m, v)) ? DTYPE_F64 : DTYPE_NONE;
    const tensor like = {.type = held ? held : element_of(w->m, v)};
    if (w->lanes)
        return reference_allocate(&like, 1, &w->lanes, out, w->st);
    return interp_allocate(w->m, v, held, &out->value, w->st) &&
           interp_allocate(w->m, v, DTYPE_F64, &out->bound, w->st);
}

void reference_release(reference_value *v) {
    tensor_release(&v->value);
    tensor_release(&v->bound);
    free(v->limits);
    v->limits = NULL;
}

static void count_down(reference_walker *w, const ir_op_data *d) {
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (--w->uses[d->operands[i]] == 0)
            reference_release(&w->values[d->operands[i]]);
    for (uint32_t i = 0; i < d->result_count; i++)
        if (w->uses[d->results[i]] == 0)
            reference_release(&w->values[d->results[i]]);
}

static bool is_whole(const reference_value *v, dtype type) {
    double limit = type == DTYPE_F64 ? 0x1p53 : 0x1p24; /* narrow ones compute in f32 */
    int64_t count = tensor_count(&v->value);
    bool whole = true;
    for (int64_t i = 0; i < count && dtype_is_float(type) && whole; i++) {
        double value = ((const double *)v->value.data)[i];
        whole = value == trunc(value) && fabs(value) <= limit;
    }
    return whole;
}

static void look_for_escape(const reference_walker *w, const ir_op_data *d) {
    const tensor *own = &w->strict[d->results[0]];
    const double *references = w->values[d->results[0]].value.data;
    compiler_escape *e = w->escape;
    int64_t count = dtype_is_float(own->type) ? tensor_count(own) : 0;
    for (int64_t i = 0; i < count; i++) {
        double value = dtype_load(own->type, own->data, (size_t)i);
        if (isfinite(value) || !isfinite(references[i]))
            continue;
        if (!e->found)
            *e = (compiler_escape){.found = true,
                                   .operation = op_info_get(d->opcode)->name,
                                   .line = d->location.line,
                                   .count = count,
                                   .value = value,
                                   .reference = references[i]};
        e->elements++;
    }
}

static bool is_safe(const reference_value *v, dtype type) {
    bool safe = true;
    for (int64_t i = 0; dtype_is_float(type) && safe && i < tensor_count(&v->value); i++) {
        enclosure e = enclosure_at(v, i);
        safe = enclosure_is_finite(e) && !e.nan;
    }
    return safe;
}

static bool step(reference_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    if (control_has_blocks(d->opcode)) {
        bool done = reference_control(w, op);
        if (done)
            count_down(w, d);
        return done;
    }
    const reference_value **in = base_malloc(sizeof *in * (d->operand_count + 1));
    for (uint32_t i = 0; i < d->operand_count; i++)
        in[i] = &w->values[d->operands[i]];
    reference_step s = {.m = w->m,
                        .op = op,
                        .opcode = d->opcode,
                        .in = in,
                        .in_count = d->operand_count,
                        .in_type = d->operand_count ? element_of(w->m, d->operands[0]) : DTYPE_NONE,
                        .type = element_of(w->m, d->results[0]),
                        .out = &w->values[d->results[0]],
                        .whole = &w->whole};
    bool ok = allocate(w, d->results[0], s.out) && evaluate(&s, w->st);
    free(in);
    if (ok && w->lanes && d->operand_count == 0)
        interp_repeat(&s.out->value);
    if (ok && w->strict)
        look_for_escape(w, d);
    if (ok && w->safe)
        *w->safe = *w->safe && is_safe(s.out, s.type);
    if (ok) {
        w->whole = w->whole && is_whole(s.out, s.type);
        count_down(w, d);
    }
    return ok;
}

bool reference_walk(reference_walker *w, ir_op first) {
    for (ir_op op = first; ir_op_get(w->m, op)->next; op = ir_op_get(w->m, op)->next)
        if (!step(w, op) || (w->escape && w->escape->found))
            return false;
    return true;
}

static void load_any(reference_value *r, dtype type) {
    const dtype_format *f = dtype_format_of(type);
    const double largest = type == DTYPE_F64 ? DBL_MAX : f->largest;
    for (int64_t i = 0; i < tensor_count(&r->value); i++) {
        ((double *)r->value.data)[i] = 0;
        ((double *)r->bound.data)[i] = HUGE_VAL;
        enclosure_keep(r, i, (enclosure){-largest, largest, false});
    }
}

static bool load_input(reference_walker *w, ir_value v, const tensor *input) {
    reference_value *r = &w->values[v];
    int64_t count = tensor_count(input);
    if (!allocate(w, v, r))
        return false;
    if (dtype_is_float(input->type))
        interp_load_f64(input, 0, count, r->value.data);
    else
        memcpy(r->value.data, input->data, tensor_bytes(input));
    if (w->any_floats && dtype_is_float(input->type))
        load_any(r, input->type);
    return true;
}

static bool needs_limits(const reference_value *r) {
    int64_t count = tensor_count(&r->bound);
    bool needs = false;
    for (int64_t i = 0; i < count && !needs; i++)
        needs = isinf(((const double *)r->bound.data)[i]) ||
                (enclosure_kept(r, i) && enclosure_at(r, i).nan);
    return needs;
}

static bool give_limits(const reference_value *r, tensor *out, status *st) {
    int64_t count = tensor_count(&r->bound);
    if (!needs_limits(r))
        return true;
    if (!tensor_init(out, DTYPE_F64, 2, (int64_t[]){count, COMPILER_LIMITS}, st))
        return false;
    for (int64_t i = 0; i < count; i++) {
        double *limits = (double *)out->data + i * COMPILER_LIMITS;
        enclosure e = enclosure_at(r, i);
        limits[COMPILER_LIMIT_LOW] = e.low;
        limits[COMPILER_LIMIT_HIGH] = e.high;
        limits[COMPILER_LIMIT_NAN] = e.nan;
    }
    return true;
}

static bool give(reference_walker *w, ir_value v, const compiler_references *out, uint32_t i) {
    const reference_value *r = &w->values[v];
    tensor *reference = &out->values[i], *bound = &out->bounds[i];
    *bound = (tensor){0};
    if (!interp_allocate(w->m, v, DTYPE_F64, reference, w->st) ||
        !interp_allocate(w->m, v, DTYPE_F64, bound, w->st))
        return false;
    interp_load_f64(&r->value, 0, tensor_count(reference), reference->data);
    memcpy(bound->data, r->bound.data, tensor_bytes(bound));
    return !out->limits || give_limits(r, &out->limits[i], w->st);
}

static bool give_all(reference_walker *w, const ir_op_data *ret, const compiler_references *out) {
    bool ok = true;
    uint32_t given = 0;
    for (; ok && given < ret->operand_count; given++) {
        if (out->limits)
            out->limits[given] = (tensor){0};
        ok = give(w, ret->operands[given], out, given);
    }
    while (!ok && given > 0) {
        tensor_release(&out->values[--given]);
        tensor_release(&out->bounds[given]);
        if (out->limits)
            tensor_release(&out->limits[given]);
    }
    return ok;
}

static bool walk(reference_walker *w, const tensor *inputs, const compiler_references *out) {
    const ir_block_data *block = ir_kernel_body(w->m);
    if (!interp_check_inputs(w->m, inputs, w->st))
        return false;
    for (uint32_t i = 0; i < block->argument_count; i++)
        if (!load_input(w, block->arguments[i], &inputs[i]))
            return false;
    if (!reference_walk(w, block->first))
        return w->escape && w->escape->found;
    return !out || give_all(w, ir_op_get(w->m, block->last), out);
}

/* Walks with what `w` asks for; `out` NULL: outputs are not given. */
static bool walk_primitives(reference_walker *w, const tensor *inputs,
                            const compiler_references *out, bool as_f64) {
    uint32_t count = ir_value_count(w->m);
    uint32_t *counts = ir_count_uses(w->m);
    w->counts = counts;
    w->uses = ir_count_uses(w->m);
    w->whole = true;
    w->values = base_calloc(count + 1, sizeof *w->values);
    unlimited = as_f64;
    bool ok = walk(w, inputs, out);
    unlimited = false;
    for (uint32_t i = 1; i <= count; i++)
        reference_release(&w->values[i]);
    free(w->values);
    free(w->uses);
    free(counts);
    return ok;
}

bool compiler_reference(compiler_instance *instance, const tensor *inputs,
                        const compiler_references *out, status *st) {
    const ir_module *m = compiler_primitives(instance, st);
    if (!m || !graph_require_formula(m, st))
        return false;
    reference_walker w = {.m = m, .any_floats = out->any_floats, .safe = out->safe, .st = st};
    if (out->safe)
        *out->safe = true;
    bool ok = walk_primitives(&w, inputs, out, out->unlimited);
    if (out->whole)
        *out->whole = w.whole;
    return ok;
}

/* ---- promises ---- */

static bool is_within(const compiler_references *r, uint32_t output, const compiler_numerics *n) {
    const double *value = r->values[output].data, *bound = r->bounds[output].data,
                 *limits = r->limits[output].data;
    bool within = true;
    for (int64_t i = 0; within && i < tensor_count(&r->values[output]); i++) {
        const double *l = limits ? limits + i * COMPILER_LIMITS : NULL;
        double low = l ? l[COMPILER_LIMIT_LOW] : value[i] - bound[i],
               high = l ? l[COMPILER_LIMIT_HIGH] : value[i] + bound[i];
        within = low >= n->low && high <= n->high && !(l && l[COMPILER_LIMIT_NAN] != 0);
    }
    return within;
}

bool compiler_proves(const compiler_promise *promise, const tensor *inputs, bool *proved,
                     status *st) {
    compiler_signature s;
    bool safe;
    *proved = false;
    if (!compiler_signature_of(promise->body, &s, st))
        return false;
    const compiler_references out = {.values = tensors_new(s.output_count),
                                     .bounds = tensors_new(s.output_count),
                                     .limits = tensors_new(s.output_count),
                                     .any_floats = true,
                                     .safe = &safe};
    bool ok = compiler_reference(promise->body, inputs, &out, st);
    *proved = ok && (!promise->numerics->stable || safe);
    for (uint32_t i = 0; *proved && promise->numerics->bounded && i < s.output_count; i++)
        *proved = is_within(&out, i, promise->numerics);
    tensors_free(out.values);
    tensors_free(out.bounds);
    tensors_free(out.limits);
    return ok;
}

bool compiler_find_escape(compiler_instance *instance, const tensor *inputs, compiler_escape *out,
                          status *st) {
    const ir_module *m = compiler_primitives(instance, st);
    *out = (compiler_escape){.found = false};
    if (!m || !graph_require_formula(m, st))
        return false;
    tensor *strict = base_calloc(ir_value_count(m) + 1, sizeof *strict);
    reference_walker w = {.m = m, .strict = strict, .escape = out, .st = st};
    bool ok = interp_values(m, inputs, NULL, strict, st) && walk_primitives(&w, inputs, NULL, true);
    interp_values_release(m, strict);
    free(strict);
    return ok;
}
