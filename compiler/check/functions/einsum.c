/* einsum.c - einsum of one or two tensors, written as sums, one contraction and a
 * transposition (docs/numerics.md, "Functions that stand for others"). */
#include <ctype.h>
#include <string.h>

#include "check/check.h"
#include "ops/orders.h"

enum { ARGUMENT_SPEC, ARGUMENT_FIRST, MAX_OPERANDS = 2, MAX_INDICES = 2 * IR_MAX_RANK };

/* The indices of a tensor, a letter for each axis. */
typedef struct indexed {
    entity value;
    char axes[MAX_INDICES + 1];
} indexed;

typedef struct einsum {
    checker *c;
    const entity *spec;
    span at;
    indexed in[MAX_OPERANDS];
    int count;
    char out[MAX_INDICES + 1];
} einsum;

static int place_of(const char *axes, char index) {
    const char *found = strchr(axes, index);
    return found ? (int)(found - axes) : -1;
}

/* ---- the specification ---- */

static bool refuse_spec(const einsum *e, const char *help) {
    diagnose_help(e->c->report, "%s", help);
    return false;
}

/* Reads letters up to anything else. */
static bool read_indices(const einsum *e, const char **at, char *axes) {
    size_t n = 0;
    for (; **at == ' ' || isalpha((unsigned char)**at); ++*at) {
        if (**at == ' ')
            continue;
        if (n == MAX_INDICES || memchr(axes, **at, n)) {
            diagnose_error(e->c->report, ERROR_EINSUM_INDICES, e->spec->at,
                           n == MAX_INDICES ? "einsum: too many indices"
                                            : "einsum: index '%c' stands twice in one term",
                           **at);
            return refuse_spec(e, "each axis of a term has a letter of its own; there are no "
                                  "diagonals");
        }
        axes[n++] = **at;
    }
    axes[n] = 0;
    return true;
}

static bool read_spec(einsum *e) {
    const char *p = e->spec->text;
    do {
        if (!read_indices(e, &p, e->in[e->count].axes))
            return false;
        e->count++;
    } while (e->count < MAX_OPERANDS && *p == ',' && p++);
    bool arrow = p[0] == '-' && p[1] == '>';
    if (arrow) {
        p += 2;
        if (!read_indices(e, &p, e->out))
            return false;
    }
    if (arrow && *p == 0)
        return true;
    diagnose_error(e->c->report, ERROR_EINSUM_INDICES, e->spec->at,
                   *p == '.'   ? "einsum: '...' is not supported"
                   : *p == ',' ? "einsum takes one or two tensors"
                   : *p == 0   ? "einsum: the result's indices are missing"
                               : "einsum: '%c' is no index",
                   *p);
    return refuse_spec(e, "write a letter for each axis of each tensor, and those of the result: "
                          "\"ik,kj->ij\"");
}

static bool ranks_fit(const einsum *e) {
    for (int i = 0; i < e->count; i++) {
        int rank = tensor_type(e->c, &e->in[i].value)->rank;
        if ((int)strlen(e->in[i].axes) != rank) {
            diagnose_error(e->c->report, ERROR_EINSUM_INDICES, e->spec->at,
                           "einsum: \"%s\" has %d indices, but the tensor has %d axes",
                           e->in[i].axes, (int)strlen(e->in[i].axes), rank);
            note_tensor(e->c, &e->in[i].value);
            return false;
        }
    }
    return true;
}

static bool result_fits(const einsum *e) {
    for (const char *p = e->out; *p; p++) {
        if (place_of(e->in[0].axes, *p) < 0 && place_of(e->in[1].axes, *p) < 0) {
            diagnose_error(e->c->report, ERROR_EINSUM_INDICES, e->spec->at,
                           "einsum: index '%c' of the result is in no tensor", *p);
            return refuse_spec(e, "broadcast_to() repeats a tensor along a new axis");
        }
    }
    return true;
}

static bool lengths_fit(const einsum *e) {
    const ir_type_data *x = tensor_type(e->c, &e->in[0].value),
                       *y = tensor_type(e->c, &e->in[e->count - 1].value);
    for (int i = 0; e->count == 2 && i < x->rank; i++) {
        int k = place_of(e->in[1].axes, e->in[0].axes[i]);
        if (k >= 0 && x->dims[i] != y->dims[k]) {
            diagnose_error(e->c->report, ERROR_OPERATION_SHAPES, e->at,
                           "einsum: index '%c' is %s of the one and %s of the other tensor",
                           e->in[0].axes[i], ir_dim_text(e->c->m, x->dims[i]),
                           ir_dim_text(e->c->m, y->dims[k]));
            note_tensor(e->c, &e->in[0].value);
            note_tensor(e->c, &e->in[1].value);
            return false;
        }
    }
    return true;
}

/* ---- what it stands for ---- */

/* Sums over the axes that neither the result nor the other tensor has. */
static void sum_lonely(const einsum *e, indexed *x, const char *other) {
    checker *c = e->c;
    int64_t axes[IR_MAX_RANK];
    int count = 0, kept = 0;
    for (int i = 0; x->axes[i]; i++)
        if (place_of(e->out, x->axes[i]) < 0 && place_of(other, x->axes[i]) < 0)
            axes[count++] = i;
        else
            x->axes[kept++] = x->axes[i];
    x->axes[kept] = 0;
    if (!count || x->value.kind == ENTITY_BROKEN)
        return;
    bool ordered = dtype_is_float(tensor_type(c, &x->value)->element);
    ir_named_attr attrs[] = {{"kind", ir_attr_string(c->m, "sum")},
                             {"axes", ir_attr_int_array(c->m, axes, (uint32_t)count)},
                             {"order", ir_attr_string(c->m, order_info_of(ORDER_LANES64)->name)}};
    x->value = emit_one(c, GRAPH_REDUCE, &x->value, 1, attrs, ordered ? 3 : 2, e->at);
}

/* x with its axes in the order in which `wanted` has them; what it lacks is left out. */
static void permute(const einsum *e, indexed *x, const char *wanted) {
    int64_t permutation[IR_MAX_RANK];
    int n = 0;
    bool moved = false;
    char axes[MAX_INDICES + 1];
    for (const char *p = wanted; *p; p++) {
        int from = place_of(x->axes, *p);
        if (from >= 0) {
            moved |= from != n;
            axes[n] = *p;
            permutation[n++] = from;
        }
    }
    axes[n] = 0;
    memcpy(x->axes, axes, sizeof axes);
    if (!moved || x->value.kind == ENTITY_BROKEN)
        return;
    ir_named_attr attr = {"permutation", ir_attr_int_array(e->c->m, permutation, (uint32_t)n)};
    x->value = emit_one(e->c, GRAPH_TRANSPOSE, &x->value, 1, &attr, 1, e->at);
}

/* x with all axes of the result, of length 1 those that it lacks. */
static void spread(const einsum *e, indexed *x) {
    ir_dim dims[IR_MAX_RANK];
    int rank = 0;
    permute(e, x, e->out);
    if (x->value.kind == ENTITY_BROKEN)
        return;
    const ir_type_data *type = tensor_type(e->c, &x->value);
    for (const char *p = e->out; *p && rank < IR_MAX_RANK; p++) {
        int from = place_of(x->axes, *p);
        dims[rank++] = from < 0 ? 1 : type->dims[from];
    }
    x->value = emit_reshape(e->c, &x->value, rank, dims, e->at);
}

/* No index is contracted: a product, element by element. */
static entity multiply(einsum *e) {
    spread(e, &e->in[0]);
    spread(e, &e->in[1]);
    entity operands[] = {e->in[0].value, e->in[1].value};
    return emit_elementwise(e->c, GRAPH_MUL, operands, 2, NULL, 0, e->at);
}

/* The axes of x and y that they share: those of the result (batch) or those that are contracted, in
 * x's order. */
typedef struct shared_axes {
    int64_t x[IR_MAX_RANK], y[IR_MAX_RANK];
    uint32_t count;
} shared_axes;

static shared_axes shared(const einsum *e, bool batch) {
    shared_axes s = {.count = 0};
    const char *x = e->in[0].axes;
    for (int i = 0; x[i]; i++) {
        int k = place_of(e->in[1].axes, x[i]);
        if (k >= 0 && (place_of(e->out, x[i]) >= 0) == batch) {
            s.x[s.count] = i;
            s.y[s.count++] = k;
        }
    }
    return s;
}

/* The contraction gives batch axes, then the free ones of x, then those of y. */
static void contracted_axes(const einsum *e, char *axes) {
    size_t n = 0;
    for (int part = 0; part < 3; part++) {
        const indexed *from = &e->in[part == 2], *other = &e->in[part != 2];
        for (const char *p = from->axes; *p; p++) {
            bool both = place_of(other->axes, *p) >= 0;
            if (place_of(e->out, *p) >= 0 && both == (part == 0))
                axes[n++] = *p;
        }
    }
    axes[n] = 0;
}

static entity contract(einsum *e, const shared_axes *k) {
    checker *c = e->c;
    shared_axes batch = shared(e, true);
    ir_named_attr attrs[] = {{"x_contract", ir_attr_int_array(c->m, k->x, k->count)},
                             {"y_contract", ir_attr_int_array(c->m, k->y, k->count)},
                             {"x_batch", ir_attr_int_array(c->m, batch.x, batch.count)},
                             {"y_batch", ir_attr_int_array(c->m, batch.y, batch.count)},
                             {"order", ir_attr_string(c->m, order_info_of(ORDER_CHUNK512)->name)}};
    entity operands[] = {e->in[0].value, e->in[1].value};
    indexed out = {.value = emit_one(c, GRAPH_DOT, operands, 2, attrs, 5, e->at)};
    contracted_axes(e, out.axes);
    permute(e, &out, e->out);
    return out.value;
}

static entity build(einsum *e) {
    for (int i = 0; i < e->count; i++)
        sum_lonely(e, &e->in[i], e->count == 2 ? e->in[!i].axes : "");
    if (e->in[0].value.kind == ENTITY_BROKEN || e->in[e->count - 1].value.kind == ENTITY_BROKEN)
        return entity_broken(e->at);
    if (e->count == 1) {
        permute(e, &e->in[0], e->out);
        return e->in[0].value;
    }
    shared_axes contracted = shared(e, false);
    return contracted.count ? contract(e, &contracted) : multiply(e);
}

entity special_einsum(checker *c, const call_arguments *a) {
    einsum e = {.c = c, .spec = &a->values[ARGUMENT_SPEC], .at = a->at};
    int given = a->given[ARGUMENT_FIRST + 1] ? 2 : 1;
    if (e.spec->kind != ENTITY_STRING) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e.spec->at,
                       "expected the indices: a string such as \"ik,kj->ij\", not %s",
                       entity_describe(e.spec));
        return entity_broken(a->at);
    }
    for (int i = 0; i < given; i++) {
        e.in[i].value = a->values[ARGUMENT_FIRST + i];
        if (!argument_tensor(c, &e.in[i].value, i ? "y" : "x"))
            return entity_broken(a->at);
    }
    if (!read_spec(&e))
        return entity_broken(a->at);
    if (e.count != given) {
        diagnose_error(c->report, ERROR_EINSUM_INDICES, e.spec->at,
                       "einsum: \"%.60s\" is for %s, and %s given", e.spec->text,
                       e.count == 1 ? "one tensor" : "two tensors",
                       given == 1 ? "one is" : "two are");
        return entity_broken(a->at);
    }
    return ranks_fit(&e) && result_fits(&e) && lengths_fit(&e) ? build(&e) : entity_broken(a->at);
}
