/* nonfinite.c - where the first NaN or infinity of a kernel's outputs comes from: the interpreter
 * runs again with all values kept, and those that the element is made from are looked through in
 * the order of the graph.
 *
 * An element is *spoiled* where something that it is made from is not finite. Is it not finite and
 * not spoiled, its operation made it. A reduction, a contraction or a scan tells by itself which of
 * its elements are spoiled: it is run on NaN for what is not finite and on 1 for all else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "graph/passes.h"
#include "ops/control.h"
#include "target/interp/needed.h"
#include "tessera/nonfinite.h"

/* A value spoils: first all that is not finite. Where an infinity is the kernel's own constant, it
 * is meant, and only a NaN spoils. */
typedef enum spoiler { SPOILED_BY_ANY, SPOILED_BY_NAN, SPOILERS } spoiler;

/* A branch, a loop or a combiner under way. */
typedef struct frame {
    ir_op op;
    int64_t turn; /* -1: it has no turns */
} frame;

/* Found in the blocks of an operation of the kernel. */
typedef struct finding {
    ir_op op;
    spoiler by;
    compiler_nonfinite found;
} finding;

typedef struct finder {
    const ir_module *m;
    const tensor *values; /* by value */
    VEC(frame) frames;    /* outer before inner */
    VEC(finding) findings;
    status *st;
} finder;

static bool spoils(double value, spoiler by) {
    return by == SPOILED_BY_ANY ? !isfinite(value) : isnan(value);
}

static double value_at(const tensor *t, int64_t i) {
    return dtype_load(t->type, t->data, (size_t)i);
}

/* ---- which elements of a result are spoiled ---- */

static void spoil_elementwise(const interp_step *s, spoiler by, bool *spoiled) {
    const bool select = s->opcode == GRAPH_SELECT;
    for (uint32_t i = 0; i < s->in_count; i++)
        for (int64_t e = 0; dtype_is_float(s->in[i]->type) && e < tensor_count(s->out); e++) {
            bool taken = !select || (value_at(s->in[0], e) != 0) == (i == 1);
            spoiled[e] |= taken && spoils(value_at(s->in[i], e), by);
        }
}

static bool spoil_copy(const tensor *from, spoiler by, tensor *to, status *st) {
    if (!tensor_init(to, from->type, from->rank, from->dims, st))
        return false;
    if (!dtype_is_float(from->type)) {
        memcpy(to->data, from->data, tensor_bytes(from));
        return true;
    }
    for (int64_t e = 0; e < tensor_count(from); e++)
        dtype_store(to->type, to->data, (size_t)e,
                    spoils(value_at(from, e), by) ? (double)NAN : 1.0);
    return true;
}

static bool spoil_by_itself(const interp_step *s, spoiler by, bool *spoiled, status *st) {
    tensor copies[LIMIT_OPERANDS] = {{0}}, out = {0};
    const tensor *in[LIMIT_OPERANDS];
    bool ok = tensor_init(&out, s->out->type, s->out->rank, s->out->dims, st);
    for (uint32_t i = 0; i < s->in_count && ok; i++) {
        in[i] = &copies[i];
        ok = spoil_copy(s->in[i], by, &copies[i], st);
    }
    interp_step step = *s;
    step.in = in;
    step.out = &out;
    ok = ok && interp_evaluate(&step, st);
    for (int64_t e = 0; ok && e < tensor_count(&out); e++)
        spoiled[e] = isnan(value_at(&out, e));
    tensor_release_all(copies, LIMIT_OPERANDS);
    tensor_release(&out);
    return ok;
}

/* The first marked element of a result that the operation itself made so; -1: none. False where
 * that could not be seen. */
static bool made_at(const finder *f, const interp_step *s, const unsigned char *marked, spoiler by,
                    int64_t *at) {
    const graph_class class = graph_op_class(s->opcode);
    const int64_t count = tensor_count(s->out);
    int64_t bad = 0;
    *at = -1;
    if (class == GRAPH_CLASS_MOVE || class == GRAPH_CLASS_GENERATOR || class == GRAPH_CLASS_STORED)
        return true;
    while (bad < count && !(marked[bad] && spoils(value_at(s->out, bad), by)))
        bad++;
    if (bad == count)
        return true;
    bool *spoiled = base_calloc((size_t)count, sizeof *spoiled), ok = true;
    if (class == GRAPH_CLASS_ELEMENTWISE)
        spoil_elementwise(s, by, spoiled);
    else
        ok = spoil_by_itself(s, by, spoiled, f->st);
    for (int64_t e = bad; ok && e < count && *at < 0; e++)
        if (marked[e] && !spoiled[e] && spoils(value_at(s->out, e), by))
            *at = e;
    free(spoiled);
    return ok;
}

/* ---- marks of a block ---- */

static unsigned char **marks_new(const finder *f, const ir_block_data *block) {
    unsigned char **marks = base_calloc(ir_value_count(f->m) + 1, sizeof *marks);
    for (uint32_t i = 0; i < block->argument_count; i++)
        marks[block->arguments[i]] =
            base_calloc((size_t)tensor_count(&f->values[block->arguments[i]]) + 1, 1);
    for (ir_op op = block->first; op; op = ir_op_get(f->m, op)->next) {
        const ir_op_data *d = ir_op_get(f->m, op);
        for (uint32_t i = 0; i < d->result_count; i++)
            marks[d->results[i]] =
                base_calloc((size_t)tensor_count(&f->values[d->results[i]]) + 1, 1);
    }
    return marks;
}

static void marks_free(const finder *f, unsigned char **marks) {
    for (uint32_t i = 0; i <= ir_value_count(f->m); i++)
        free(marks[i]);
    free(marks);
}

/* The first marked element that is not finite; -1: none. */
static int64_t first_bad(const finder *f, unsigned char *const *marks, ir_value v) {
    const tensor *t = &f->values[v];
    for (int64_t e = 0; dtype_is_float(t->type) && e < tensor_count(t); e++)
        if (marks[v][e] && !isfinite(value_at(t, e)))
            return e;
    return -1;
}

/* ---- what is told ---- */

static void put_operation(const finder *f, ir_op op, compiler_nonfinite *out) {
    const ir_op_data *d = ir_op_get(f->m, op);
    out->operation = op_info_get(d->opcode)->name;
    if (d->location.derived)
        out->derived = op_info_get(d->location.derived - 1)->name;
    out->line = d->location.line;
    out->column = d->location.column;
}

/* A range of the marked elements of an operand. */
static compiler_nonfinite_operand operand_of(const tensor *t, const unsigned char *marks) {
    compiler_nonfinite_operand o = {.low = HUGE_VAL, .high = -HUGE_VAL};
    for (int64_t e = 0; e < tensor_count(t); e++) {
        if (!marks[e])
            continue;
        o.count++;
        o.low = fmin(o.low, value_at(t, e));
        o.high = fmax(o.high, value_at(t, e));
    }
    return o;
}

static bool put_operands(const finder *f, ir_op op, int64_t at, compiler_nonfinite *out) {
    const ir_op_data *d = ir_op_get(f->m, op);
    unsigned char **marks = base_calloc(ir_value_count(f->m) + 1, sizeof *marks);
    const need_table n = {f->m, f->values, marks, f->st};
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (!marks[d->operands[i]])
            marks[d->operands[i]] =
                base_calloc((size_t)tensor_count(&f->values[d->operands[i]]) + 1, 1);
    marks[d->results[0]] = base_calloc((size_t)tensor_count(&f->values[d->results[0]]) + 1, 1);
    marks[d->results[0]][at] = 1;
    bool ok = needed_by(&n, op);
    for (uint32_t i = 0; ok && i < d->operand_count && i < COMPILER_NONFINITE_OPERANDS; i++)
        out->operands[out->operand_count++] =
            operand_of(&f->values[d->operands[i]], marks[d->operands[i]]);
    marks_free(f, marks);
    return ok;
}

static void put_index(const tensor *t, int64_t at, compiler_nonfinite *out) {
    out->rank = t->rank;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        out->index[axis] = at % t->dims[axis];
        at /= t->dims[axis];
    }
}

/* The values of a combiner's block are lanes, whose number means nothing. */
static bool is_lane(const finder *f) {
    const size_t depth = f->frames.count;
    return depth && !graph_is_control(ir_op_get(f->m, f->frames.items[depth - 1].op)->opcode);
}

static void put_turns(const finder *f, compiler_nonfinite *out) {
    for (size_t i = 0; i < f->frames.count && out->turn_count < COMPILER_NONFINITE_TURNS; i++) {
        const frame *of = &f->frames.items[i];
        if (of->turn >= 0)
            out->turns[out->turn_count++] =
                (compiler_nonfinite_turn){ir_op_get(f->m, of->op)->location.line, of->turn};
    }
}

static bool same_place(const ir_op_data *a, const ir_op_data *b) {
    return a->opcode == b->opcode && a->location.line == b->location.line &&
           a->location.column == b->location.column && a->location.derived == b->location.derived;
}

static void put_copies(const finder *f, ir_op op, compiler_nonfinite *out) {
    const ir_op_data *d = ir_op_get(f->m, op);
    for (ir_op o = ir_block_get(f->m, d->block)->first; d->location.line && o;
         o = ir_op_get(f->m, o)->next) {
        out->copy = o == op ? out->copies : out->copy;
        out->copies += same_place(ir_op_get(f->m, o), d);
    }
}

static bool put_made(const finder *f, ir_op op, int64_t at, compiler_nonfinite *out) {
    const tensor *t = &f->values[ir_op_get(f->m, op)->results[0]];
    out->origin = NONFINITE_OPERATION;
    out->value = value_at(t, at);
    put_operation(f, op, out);
    if (!is_lane(f))
        put_index(t, at, out);
    put_copies(f, op, out);
    put_turns(f, out);
    return put_operands(f, op, at, out);
}

/* ---- the operations of a block ---- */

static const finding *finding_of(const finder *f, ir_op op, spoiler by) {
    for (size_t i = 0; i < f->findings.count; i++)
        if (f->findings.items[i].op == op && f->findings.items[i].by == by)
            return &f->findings.items[i];
    return NULL;
}

static bool any_bad(const finder *f, unsigned char *const *marks, const ir_op_data *d) {
    bool bad = false;
    for (uint32_t i = 0; i < d->result_count && !bad; i++)
        bad = first_bad(f, marks, d->results[i]) >= 0;
    return bad;
}

/* The operation has blocks, which were looked through when they ran. */
static void take_finding(const finder *f, unsigned char *const *marks, ir_op op, spoiler by,
                         compiler_nonfinite *out) {
    const finding *within = f->frames.count ? NULL : finding_of(f, op, by);
    if (!within || !any_bad(f, marks, ir_op_get(f->m, op)))
        return;
    const compiler_nonfinite shown = *out;
    *out = within->found;
    out->elements = shown.elements;
    out->output = shown.output;
    out->element = shown.element;
    out->shown = shown.shown;
}

static bool look_through(const finder *f, const ir_block_data *block, unsigned char *const *marks,
                         spoiler by, compiler_nonfinite *out) {
    bool ok = true;
    for (ir_op op = block->first; ok && !out->origin && ir_op_get(f->m, op)->next;
         op = ir_op_get(f->m, op)->next) {
        const ir_op_data *d = ir_op_get(f->m, op);
        const tensor *in[LIMIT_OPERANDS];
        int64_t at = -1;
        if (control_has_blocks(d->opcode)) {
            take_finding(f, marks, op, by, out);
            continue;
        }
        tensor result = f->values[d->results[0]];
        for (uint32_t i = 0; i < d->operand_count; i++)
            in[i] = &f->values[d->operands[i]];
        const interp_step s = {f->m, op, d->opcode, in, d->operand_count, &result};
        ok = !dtype_is_float(result.type) || made_at(f, &s, marks[d->results[0]], by, &at);
        if (ok && at >= 0)
            ok = put_made(f, op, at, out);
    }
    return ok;
}

/* ---- blocks, as they run ---- */

static void begins(void *self, ir_op op) {
    finder *f = self;
    int opcode = ir_op_get(f->m, op)->opcode;
    bool turns = opcode == GRAPH_LOOP || opcode == GRAPH_WHILE;
    vec_push(&f->frames, ((frame){op, turns ? 0 : -1}));
}

static void ends(void *self) {
    finder *f = self;
    f->frames.count--;
}

/* Marks what the block gives that is not finite. */
static bool mark_bad(const finder *f, const ir_op_data *end, unsigned char **marks) {
    bool any = false;
    for (uint32_t i = 0; i < end->operand_count; i++) {
        const tensor *t = &f->values[end->operands[i]];
        for (int64_t e = 0; dtype_is_float(t->type) && e < tensor_count(t); e++) {
            bool bad = !isfinite(value_at(t, e));
            marks[end->operands[i]][e] |= bad;
            any |= bad;
        }
    }
    return any;
}

static bool look_at_run(finder *f, const ir_block_data *block) {
    const ir_op outermost = f->frames.items[0].op;
    unsigned char **marks = marks_new(f, block);
    const need_table n = {f->m, f->values, marks, f->st};
    bool ok = true;
    if (mark_bad(f, ir_op_get(f->m, block->last), marks)) {
        ok = needed_walk(&n, block);
        for (int by = 0; ok && by < SPOILERS; by++) {
            compiler_nonfinite found = {.origin = NONFINITE_NONE};
            if (finding_of(f, outermost, (spoiler)by))
                continue;
            ok = look_through(f, block, marks, (spoiler)by, &found);
            if (ok && found.origin)
                vec_push(&f->findings, ((finding){outermost, (spoiler)by, found}));
        }
    }
    marks_free(f, marks);
    return ok;
}

static bool ran(void *self, ir_block id) {
    finder *f = self;
    frame *top = &f->frames.items[f->frames.count - 1];
    const bool condition =
        ir_op_get(f->m, top->op)->opcode == GRAPH_WHILE && id == ir_op_block(f->m, top->op, 0);
    bool ok = finding_of(f, f->frames.items[0].op, SPOILED_BY_ANY) ||
              look_at_run(f, ir_block_get(f->m, id));
    top->turn += top->turn >= 0 && !condition;
    return ok;
}

/* ---- the kernel ---- */

/* The first element of the outputs that is not finite, and how many there are. */
static void look_at_outputs(const tensor *outputs, uint32_t count, compiler_nonfinite *out) {
    for (uint32_t i = 0; i < count; i++) {
        const tensor *t = &outputs[i];
        for (int64_t e = 0; dtype_is_float(t->type) && e < tensor_count(t); e++) {
            if (isfinite(value_at(t, e)))
                continue;
            if (out->elements++ == 0) {
                out->output = i;
                out->element = e;
                out->shown = value_at(t, e);
            }
        }
    }
}

static void look_at_inputs(const finder *f, const ir_block_data *block, unsigned char *const *marks,
                           compiler_nonfinite *out) {
    for (uint32_t i = 0; i < block->argument_count && !out->origin; i++) {
        const tensor *t = &f->values[block->arguments[i]];
        int64_t at = first_bad(f, marks, block->arguments[i]);
        if (at < 0)
            continue;
        out->origin = NONFINITE_INPUT;
        out->input = i;
        out->value = value_at(t, at);
        put_index(t, at, out);
    }
}

static void look_at_constants(const finder *f, const ir_block_data *block,
                              unsigned char *const *marks, compiler_nonfinite *out) {
    for (ir_op op = block->first; !out->origin && ir_op_get(f->m, op)->next;
         op = ir_op_get(f->m, op)->next) {
        const ir_op_data *d = ir_op_get(f->m, op);
        int64_t at = d->operand_count ? -1 : first_bad(f, marks, d->results[0]);
        if (at < 0)
            continue;
        out->origin = NONFINITE_CONSTANT;
        out->value = value_at(&f->values[d->results[0]], at);
        put_operation(f, op, out);
    }
}

static bool look_at_kernel(const finder *f, compiler_nonfinite *out) {
    const ir_block_data *block = ir_kernel_body(f->m);
    const ir_value shown = ir_op_get(f->m, block->last)->operands[out->output];
    if (isfinite(value_at(&f->values[shown], out->element))) {
        out->origin = NONFINITE_CODE;
        out->value = value_at(&f->values[shown], out->element);
        return true;
    }
    unsigned char **marks = marks_new(f, block);
    const need_table n = {f->m, f->values, marks, f->st};
    marks[shown][out->element] = 1;
    bool ok = needed_walk(&n, block) && look_through(f, block, marks, SPOILED_BY_ANY, out);
    if (ok && !out->origin)
        look_at_inputs(f, block, marks, out);
    ok = ok && (out->origin || look_through(f, block, marks, SPOILED_BY_NAN, out));
    if (ok && !out->origin)
        look_at_constants(f, block, marks, out);
    marks_free(f, marks);
    return ok;
}

bool compiler_find_nonfinite(compiler_instance *instance, const tensor *inputs,
                             const tensor *outputs, compiler_nonfinite *out, status *st) {
    compiler_signature signature;
    *out = (compiler_nonfinite){.origin = NONFINITE_NONE};
    if (!compiler_signature_of(instance, &signature, st))
        return false;
    look_at_outputs(outputs, signature.output_count, out);
    if (out->elements == 0)
        return true;
    const ir_module *m = compiler_primitives(instance, st);
    if (!m || !graph_require_formula(m, st))
        return false;
    tensor *values = base_calloc(ir_value_count(m) + 1, sizeof *values);
    finder f = {.m = m, .values = values, .st = st};
    const interp_watch watch = {&f, begins, ran, ends, NULL};
    bool ok = interp_values(m, inputs, &watch, values, st) && look_at_kernel(&f, out);
    interp_values_release(m, values);
    vec_release(&f.frames);
    vec_release(&f.findings);
    free(values);
    return ok;
}
