/* probe.c - compiles the cut kernels, plants the masks, reads the counts. */
#include "probe/probe.h"

#include <math.h>
#include <string.h>

#include "launch/launch.h"
#include "probe/orders.h"
#include "probe/tree.h"

/* Numbers that are exact in an element type: a unit added to the mask is lost, and so are all units
 * together; sums of units are exact. A type of 8 bits has no two such numbers, but products of two
 * of its numbers do: there y has them too, which leaves room for one pair at a time. */
typedef struct planted {
    double mask, unit;
    bool in_both;
} planted;

static planted planted_for(dtype type, dtype accumulator) {
    switch (type) {
    case DTYPE_F16:
        return (planted){0x1p15, 0x1p-24, accumulator == DTYPE_F64};
    case DTYPE_F8E4M3FN:
        return (planted){448, 0x1p-9, true};
    case DTYPE_F8E5M2:
        return (planted){0x1.cp15, 0x1p-16, true};
    default:
        return (planted){0x1p100, 1, false};
    }
}

/* Are all units together less than half of the mask's last place? */
static bool are_lost(const planted *p, const compiler_cut *c) {
    double mask = p->in_both ? p->mask * p->mask : p->mask;
    double unit = p->in_both ? p->unit * p->unit : p->unit;
    double half_place = ldexp(mask, c->accumulator == DTYPE_F64 ? -54 : -25);
    return (!p->in_both || c->is_dot) && (double)c->extent * unit < half_place;
}

static double unit_of_result(const planted *p) {
    return p->in_both ? p->unit * p->unit : p->unit;
}

typedef struct probe_state {
    const compiler_cut *cut;
    compiler_signature signature;
    launch launch;
    tensor *inputs, *outputs; /* a list each, of tensors_new */
    planted numbers;
    text *why;
} probe_state;

/* ---- inputs ---- */

static void fill(tensor *t, double value) {
    int64_t count = tensor_count(t);
    for (int64_t i = 0; i < count; i++)
        dtype_store(t->type, t->data, (size_t)i, value);
}

static bool make_inputs(probe_state *p, status *st) {
    const compiler_cut *c = p->cut;
    for (uint32_t i = 0; i < p->signature.input_count; i++) {
        const struct compiler_buffer *b = &p->signature.inputs[i];
        if (!tensor_init(&p->inputs[i], b->type, b->rank, b->dims, st))
            return false;
        bool operand = i == c->x || (p->numbers.in_both && i == c->x + 1);
        fill(&p->inputs[i], operand                       ? p->numbers.unit
                            : c->counts && i == c->counts ? (double)c->extent
                                                          : 1);
    }
    return true;
}

/* ---- one batch of pairs ---- */

static void plant_y(probe_state *p, const tree_pair *pair, double value) {
    tensor *y = &p->inputs[p->cut->x + 1];
    int64_t count = tensor_count(y);
    for (int64_t e = 0; e < count; e++) {
        int64_t k = compiler_cut_step(p->cut, e);
        if (k == pair->i || k == pair->j)
            dtype_store(y->type, y->data, (size_t)e, value);
    }
}

static void plant(probe_state *p, const tree_pair *pairs, size_t count, double high, double low) {
    tensor *x = &p->inputs[p->cut->x];
    for (size_t r = 0; r < count; r++) {
        size_t i = (size_t)compiler_cut_place(p->cut, (int64_t)r, pairs[r].i);
        size_t j = (size_t)compiler_cut_place(p->cut, (int64_t)r, pairs[r].j);
        dtype_store(x->type, x->data, i, high);
        dtype_store(x->type, x->data, j, low);
        if (p->numbers.in_both)
            plant_y(p, &pairs[r], high);
    }
}

static bool run(probe_state *p, status *st) {
    tensors_clear(p->outputs);
    return launch_write_inputs(&p->launch, p->inputs, st) &&
           launch_poison_outputs(&p->launch, st) && launch_run(&p->launch, st) &&
           launch_read_outputs(&p->launch, &p->signature, p->outputs, st);
}

/* The size that a result counts, checked against the order. */
static bool read_size(probe_state *p, size_t row, tree_pair *pair, status *st) {
    const compiler_cut *c = p->cut;
    const tensor *out = &p->outputs[c->output];
    double units =
        dtype_load(out->type, out->data, row * (size_t)c->columns) / unit_of_result(&p->numbers);
    int64_t expected = 0;
    bool counted = units == floor(units) && units >= 0 && units <= (double)(c->extent - 2);
    pair->size = counted ? c->extent - (int64_t)units : 0;
    if (!counted)
        return status_set(st, STATUS_INVALID,
                          "the probe of elements %d and %d counted %g of %lld elements", pair->i,
                          pair->j, units, (long long)c->extent);
    if (!order_meeting_size(c->order, c->extent, pair->i, pair->j, &expected))
        return status_set(st, STATUS_INTERNAL, "no probe knows the order '%s'", c->order);
    if (expected != pair->size && p->why->length == 0)
        text_printf(p->why,
                    "order probe: elements %d and %d of %lld meet in a sum of %lld elements; "
                    "%s says %lld",
                    pair->i, pair->j, (long long)c->extent, (long long)pair->size, c->order,
                    (long long)expected);
    return true;
}

static bool measure(void *context, tree_pair *pairs, size_t count, status *st) {
    probe_state *p = context;
    size_t rows = p->numbers.in_both ? 1 : (size_t)p->cut->rows;
    bool ok = true;
    for (size_t first = 0; first < count && ok; first += rows) {
        size_t n = count - first < rows ? count - first : rows;
        plant(p, pairs + first, n, p->numbers.mask, -p->numbers.mask);
        ok = run(p, st);
        plant(p, pairs + first, n, p->numbers.unit, p->numbers.unit);
        for (size_t r = 0; r < n && ok; r++)
            ok = read_size(p, r, &pairs[first + r], st);
    }
    return ok;
}

/* A sum in no tree has nothing to recover: the first and the last element are tried with others, in
 * a long one with some. The digest is that of their sizes. */
static bool measure_pairs(probe_state *p, sha256 *digest, status *st) {
    enum { TRIED = 128 };
    const int32_t last = (int32_t)p->cut->extent - 1, step = 1 + last / TRIED;
    tree_pairs pairs = {0};
    for (int32_t i = last; i > 0; i -= step) {
        vec_push(&pairs, ((tree_pair){.i = 0, .j = i}));
        vec_push(&pairs, ((tree_pair){.i = last - i, .j = last}));
    }
    const bool ok = measure(p, pairs.items, pairs.count, st);
    *digest = sha256_of(pairs.items, pairs.count * sizeof *pairs.items);
    vec_release(&pairs);
    return ok;
}

/* ---- one accumulation ---- */

/* Outcome of a kernel that was cut open. */
typedef enum cut_outcome { CUT_RECOVERED, CUT_NO_TREE, CUT_NOT_PROBED, CUT_FAILED } cut_outcome;

/* A cut kernel that cannot be compiled (it has more parameters and phases than the whole one) is
 * not probed; one that adds in no tree at all is a finding. */
static cut_outcome probe_cut(const probe_request *request, probe_state *p,
                             compiler_artifact *artifact, sha256 *digest, status *st) {
    const compiler_cut *c = p->cut;
    if (!compiler_signature_of(c->instance, &p->signature, st))
        return CUT_FAILED;
    p->inputs = tensors_new(p->signature.input_count);
    p->outputs = tensors_new(p->signature.output_count);
    p->numbers = planted_for(p->signature.inputs[c->x].type, c->accumulator);
    if (!are_lost(&p->numbers, c))
        return CUT_NOT_PROBED;
    launch_request open = {.device = request->device,
                           .threads = request->threads,
                           .kernel = request->context->kernel_name,
                           .foreign = request->foreign};
    launch_request_buffers(&open, &p->signature);
    if (!make_inputs(p, st))
        return CUT_FAILED;
    if (!request->build(request->build_context, c->instance, artifact, st))
        return st->code == STATUS_INVALID ? CUT_NOT_PROBED : CUT_FAILED;
    launch_request_artifact(&open, artifact);
    if (!launch_open(&p->launch, &open, st))
        return CUT_FAILED;
    const bool found = order_is_in_no_tree(c->order)
                           ? measure_pairs(p, digest, st)
                           : tree_recover((int32_t)c->extent, measure, p, NULL, digest, st);
    if (found)
        return CUT_RECOVERED;
    return st->code == STATUS_INVALID ? CUT_NO_TREE : CUT_FAILED;
}

static cut_outcome run_cut(const probe_request *request, probe_state *p, sha256 *digest,
                           status *st) {
    compiler_artifact artifact = {0};
    cut_outcome outcome = probe_cut(request, p, &artifact, digest, st);
    tensors_free(p->inputs);
    tensors_free(p->outputs);
    launch_close(&p->launch);
    compiler_artifact_release(&artifact);
    return outcome;
}

/* A pair for each element and level of the tree at most, a row each; every launch runs the whole
 * kernel. */
static bool is_dear(const case_context *s, const compiler_cut *c) {
    double pairs = (double)c->extent * ceil(log2((double)c->extent));
    double launches = ceil(pairs / (double)c->rows);
    double bytes = (double)s->working_set_bytes + (double)c->rows * (double)c->extent * 8;
    return c->extent > PROBE_EXTENT_MAX || launches * bytes > PROBE_BYTES_MAX ||
           launches * (double)s->flops > PROBE_FLOPS_MAX;
}

static bool probe_one(const probe_request *request, const compiler_cut *cut, probe_result *out,
                      text *record, status *st) {
    probe_state p = {.cut = cut, .why = &out->why};
    sha256 digest;
    char hex[65];
    if (cut->extent < 2 || cut->rows == 0 || cut->columns == 0)
        return true;
    if (is_dear(request->context, cut)) {
        out->unknown++;
        return true;
    }
    cut_outcome outcome = run_cut(request, &p, &digest, st);
    if (outcome == CUT_FAILED)
        return false;
    if (outcome == CUT_NO_TREE && out->why.length == 0)
        text_printf(&out->why, "order probe: %s", st->message);
    *st = (status)STATUS_INIT;
    out->unknown += outcome == CUT_NOT_PROBED;
    if (outcome != CUT_RECOVERED)
        return true;
    sha256_hex(&digest, hex);
    text_printf(record, "%s %s %lld %s\n", cut->is_dot ? "dot" : "sum", cut->order,
                (long long)cut->extent, hex);
    out->accumulations++;
    return true;
}

/* A matrix unit's order is no tree of additions of two, and code of ours has none that is written
 * out: orders.c. */
static bool is_probed(const compiler_cut *cut) {
    int64_t size;
    return cut->extent < 2 || order_meeting_size(cut->order, cut->extent, 0, 1, &size);
}

bool probe_orders(const probe_request *request, probe_result *out, status *st) {
    const case_context *s = request->context;
    text record;
    *out = (probe_result){.accumulations = 0};
    text_init(&out->why);
    text_init(&record);
    bool ok = true;
    for (uint32_t i = 0; ok; i++) {
        compiler_cut cut;
        ok = compiler_cut_open(s->instance, i, &cut, st);
        if (ok && cut.no_room) {
            out->unknown++;
            continue;
        }
        if (!ok || !cut.instance)
            break;
        if (is_probed(&cut))
            ok = probe_one(request, &cut, out, &record, st);
        else
            out->unknown++;
        compiler_instance_free(cut.instance);
    }
    out->holds = out->why.length == 0;
    if (ok && out->accumulations) {
        sha256 all = sha256_of(record.data, record.length);
        sha256_hex(&all, out->digest);
    }
    text_release(&record);
    return ok;
}

void probe_result_release(probe_result *r) {
    text_release(&r->why);
}
