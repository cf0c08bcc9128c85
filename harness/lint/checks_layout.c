/* checks_layout.c - rows and caches: what makes a time special. */
#include <string.h>

#include "lint/lint_kernel.h"
#include "measure/ceilings.h"

enum { SET_SPAN_BYTES = 4096, LINE_BYTES = 64 };

/* The inputs that a case walks down: reduced over, or transposed, along another axis than the last.
 */
typedef struct walk {
    bool *down;
    uint32_t count;
} walk;

static void look(const ir_module *m, ir_op op, walk *w) {
    const ir_op_data *o = ir_op_get(m, op);
    const char *name = lint_op_name(m, op);
    bool reduce = strcmp(name, "reduce") == 0, transpose = strcmp(name, "transpose") == 0;
    if (!reduce && !transpose)
        return;
    const ir_value_data *v = ir_value_get(m, o->operands[0]);
    int64_t axes[IR_MAX_RANK];
    int last = ir_type_get(m, v->type)->rank - 1;
    uint32_t count = ir_op_ints(m, op, reduce ? "axes" : "permutation", axes, IR_MAX_RANK);
    if (v->op || v->index >= w->count || count == 0 || last < 1)
        return;
    w->down[v->index] |= reduce ? !ir_ints_hold(axes, count, last) : axes[last] != last;
}

static void aliasing(const lint_kernel *k, const lint_case *c, uint64_t l1_bytes) {
    const uint32_t count = c->signature.input_count;
    walk w = {base_calloc((size_t)count + 1, sizeof *w.down), count};
    int64_t ways = (int64_t)(l1_bytes / SET_SPAN_BYTES);
    for (ir_op op = lint_first_op(c->primitives); op; op = ir_op_get(c->primitives, op)->next)
        look(c->primitives, op, &w);
    for (uint32_t i = 0; i < count; i++) {
        const struct compiler_buffer *b = &c->signature.inputs[i];
        if (!w.down[i] || b->rank < 2)
            continue;
        int64_t rows = b->dims[b->rank - 2],
                stride = b->dims[b->rank - 1] * (int64_t)dtype_size(b->type);
        if (stride && stride % SET_SPAN_BYTES == 0 && rows > ways)
            lint_add(k, LINT_ALIASING_STRIDE, lint_case_span(k, c->c), c->c,
                     "rows of '%s' are %lld bytes apart in case %s: the %lld elements of a column "
                     "share a set of %lld lines",
                     b->name, (long long)stride, c->c->name, (long long)rows, (long long)ways);
    }
    free(w.down);
}

static void unaligned(const lint_kernel *k, const lint_case *c) {
    for (uint32_t i = 0; i < c->signature.input_count; i++) {
        const struct compiler_buffer *b = &c->signature.inputs[i];
        if (b->rank < 2)
            continue;
        int64_t stride = b->dims[b->rank - 1] * (int64_t)dtype_size(b->type);
        if (stride <= LINE_BYTES || stride % LINE_BYTES == 0)
            continue;
        lint_add(k, LINT_UNALIGNED_ROWS, lint_case_span(k, c->c), c->c,
                 "rows of '%s' are %lld bytes long in case %s", b->name, (long long)stride,
                 c->c->name);
        return;
    }
}

static void cache_edge(const lint_kernel *k, const lint_case *c, const ceilings *caches) {
    for (int i = 0; i < caches->level_count - 1; i++) {
        uint64_t size = caches->levels[i].size_bytes;
        if (c->bytes > size && c->bytes - size <= size / 4)
            lint_add(k, LINT_CACHE_EDGE, lint_case_span(k, c->c), c->c,
                     "case %s has %llu KiB of inputs and outputs; %s holds %llu KiB", c->c->name,
                     (unsigned long long)(c->bytes >> 10), caches->levels[i].name,
                     (unsigned long long)(size >> 10));
    }
}

void lint_check_layout(const lint_kernel *k) {
    static ceilings caches;
    ceilings_init(&caches, NULL);
    for (size_t i = 0; i < k->case_count; i++) {
        if (caches.level_count > 1)
            aliasing(k, &k->cases[i], caches.levels[0].size_bytes);
        if (!k->cases[i].c->large)
            continue;
        unaligned(k, &k->cases[i]);
        cache_edge(k, &k->cases[i], &caches);
    }
}
