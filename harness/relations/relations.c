/* relations.c - which shapes are tried, what was found on them, and the smallest one that shows it.
 */
#include "relations/relations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/splitmix64.h"
#include "case/dims_from_arrays.h"
#include "common/json_text.h"
#include "common/timer.h"
#include "device/foreign/foreign.h"
#include "job/result.h"
#include "process/process.h"
#include "relations/attempt.h"

enum { DRAWS_MAX = 40, SHRINKS_MAX = 60, TYPES_MAX = 16 };

const relation relation_table[RELATION_COUNT] = {
#define RELATION(id, name, per_dim, says, means) {name, per_dim, says, means},
#include "relations/relations.def"
#undef RELATION
};

relation_id relation_from_name(const char *name) {
    for (int i = 0; i < RELATION_COUNT; i++)
        if (strcmp(relation_table[i].name, name) == 0)
            return (relation_id)i;
    return RELATION_COUNT;
}

const char *relation_verdict_name(relation_verdict v) {
    static const char *const names[] = {"holds", "violated", "not verified"};
    return names[v];
}

/* The check of one column under way. */
typedef struct check_state {
    const relations_request *request;
    runner *runner;
    uint64_t random, end_ns;
    int64_t most[ATTEMPT_DIMS_MAX]; /* of each dimension, that is drawn */
    VEC(shape) shapes;
    json_t *found;
    bool failed;
    bool boundaries; /* are looked for: it takes runs, so only of the smallest example */
    status why_none; /* why there is no shape */
} check_state;

/* ---- shapes ---- */

/* Half as much again as the greatest of the source's cases: not only where its author looked. */
static void find_most(check_state *c) {
    const compiler_kernel *k = c->request->column->kernel;
    for (uint32_t i = 0; i < k->dim_count; i++)
        c->most[i] = k->case_count ? 1 : 40;
    for (uint32_t n = 0; n < k->case_count; n++)
        for (uint32_t i = 0; i < k->dim_count && !k->cases[n].large; i++)
            for (uint32_t d = 0; d < k->cases[n].dim_count; d++)
                if (strcmp(k->cases[n].dims[d].name, k->dim_names[i]) == 0 &&
                    k->cases[n].dims[d].value > c->most[i])
                    c->most[i] = k->cases[n].dims[d].value;
    for (uint32_t i = 0; i < k->dim_count; i++)
        c->most[i] += c->most[i] / 2 + 2;
}

/* Cases of equal element types are drawn for once. */
static bool same_types(const compiler_case *a, const compiler_case *b) {
    for (uint32_t i = 0; i < a->type_count; i++)
        if (a->types[i].type != b->types[i].type)
            return false;
    return true;
}

static bool draw(check_state *c, const compiler_case *like) {
    const relations_column *column = c->request->column;
    int64_t dims[ATTEMPT_DIMS_MAX];
    shape s;
    for (int draws = 0; draws < DRAWS_MAX; draws++) {
        status st = STATUS_INIT;
        /* Smaller and smaller: what a run may cost, or a formula of the kernel, may leave few. */
        for (uint32_t i = 0; i < column->kernel->dim_count; i++) {
            int64_t most = draws < DRAWS_MAX / 2 ? c->most[i] >> draws / 8 : 12;
            uint64_t range = (uint64_t)(most < c->most[i] && most < 12 ? 12 : most);
            dims[i] = 1 + (int64_t)(splitmix64(&c->random) % range);
        }
        const shape_request request = {like, dims, splitmix64(&c->random) >> 2, true, NULL};
        if (!shape_open(&s, column, &request, &st))
            continue;
        if (s.within || draws + 1 == DRAWS_MAX) {
            vec_push(&c->shapes, s);
            return true;
        }
        shape_close(&s);
    }
    return false;
}

/* The case itself, where nothing that is drawn fits the kernel. */
static void take_case(check_state *c, const compiler_case *like) {
    shape s;
    const shape_request request = {like, NULL, c->request->seed, true, NULL};
    if (shape_open(&s, c->request->column, &request, &c->why_none))
        vec_push(&c->shapes, s);
}

/* Takes what the user gave first, however large. */
static void take_given(check_state *c) {
    shape s;
    const shape_request request = {c->request->like, NULL, c->request->seed, false,
                                   c->request->inputs};
    if (request.inputs && shape_open(&s, c->request->column, &request, &c->why_none))
        vec_push(&c->shapes, s);
}

static void draw_like(check_state *c, const compiler_case *like) {
    bool drawn = c->request->column->kernel->dim_count > 0;
    for (uint32_t i = 0; i < c->request->shapes && drawn; i++)
        drawn = draw(c, like);
    if (!drawn)
        take_case(c, like);
}

static void draw_shapes(check_state *c) {
    const compiler_kernel *k = c->request->column->kernel;
    bool like_given = !c->request->inputs;
    take_given(c);
    for (uint32_t n = 0; n < k->case_count; n++) {
        bool seen = k->cases[n].large;
        for (uint32_t i = 0; i < n && !seen; i++)
            seen = !k->cases[i].large && same_types(&k->cases[i], &k->cases[n]);
        if (seen)
            continue;
        draw_like(c, &k->cases[n]);
        like_given |= c->request->inputs && same_types(c->request->like, &k->cases[n]);
    }
    if (!like_given)
        draw_like(c, c->request->like);
}

/* ---- one relation ---- */

/* The outcome of a relation, over all shapes. */
typedef struct outcome_of_relation {
    relation_id id;
    const char *dim; /* or NULL */
    uint64_t runs;
    uint32_t shapes;
    status trouble; /* why it could not be tried, the first time */
    violation trouble_at;
    violation violation;
    runner_range ranges[ATTEMPT_DIMS_MAX]; /* of the dimensions, in all runs that were made */
} outcome_of_relation;

static bool is_over(const check_state *c) {
    return timer_now_ns() > c->end_ns || (c->request->interrupted && *c->request->interrupted);
}

/* A number from a word: what is drawn for a relation does not depend on which others there are. */
static uint64_t number_of(const char *word) {
    uint64_t state = 0;
    for (; *word; word++)
        state = splitmix64(&state) ^ (unsigned char)*word;
    return splitmix64(&state);
}

static bool try_on(check_state *c, outcome_of_relation *o, const shape *s, uint32_t dim,
                   const compiler_independence *lanes, status *st) {
    attempt t = {.request = c->request,
                 .runner = c->runner,
                 .shape = s,
                 .random = s->seed + number_of(relation_table[o->id].name) + dim,
                 .end_ns = c->end_ns,
                 .boundary = c->boundaries,
                 .dim = dim,
                 .lanes = lanes};
    uint64_t before = runner_runs(c->runner);
    bool ok = attempt_run(&t, o->id, st);
    o->runs += runner_runs(c->runner) - before;
    o->shapes += ok;
    if (!ok && o->trouble.code == STATUS_OK) {
        o->trouble = *st;
        attempt_place(&t, &o->trouble_at);
    }
    if (ok && t.violation.found)
        o->violation = t.violation;
    return ok;
}

/* Dimensions that were tried: the same ones would show the same again. */
typedef struct tried_dims {
    int64_t dims[SHRINKS_MAX][ATTEMPT_DIMS_MAX];
    int count;
} tried_dims;

static bool was_tried(const tried_dims *t, const int64_t *dims, uint32_t count) {
    for (int i = 0; i < t->count; i++)
        if (memcmp(t->dims[i], dims, count * sizeof *dims) == 0)
            return true;
    return false;
}

/* Tries it where the violation was found. What was known stays where it does not show again. */
static bool try_again(check_state *c, outcome_of_relation *o, const shape *s, uint32_t dim,
                      const compiler_independence *lanes) {
    status ignored = STATUS_INIT;
    violation known = o->violation;
    o->violation.found = false;
    bool shown = try_on(c, o, s, dim, lanes, &ignored) && o->violation.found;
    if (!shown)
        o->violation = known;
    return shown;
}

static bool try_dims(check_state *c, outcome_of_relation *o, const shape *from, const int64_t *dims,
                     uint32_t dim, const compiler_independence *lanes) {
    status ignored = STATUS_INIT;
    shape s;
    const shape_request request = {from->like, dims, c->request->seed, false, NULL};
    if (!shape_open(&s, c->request->column, &request, &ignored))
        return false;
    bool shown = (s.within || !from->within) && try_again(c, o, &s, dim, lanes);
    shape_close(&s);
    return shown;
}

/* A smaller example is not worth the relations that are still to be tried: it has a part of the
 * time that is left. */
static uint64_t shrinking_ends(const check_state *c) {
    enum { PART = 4 };
    uint64_t now_ns = timer_now_ns();
    return now_ns < c->end_ns ? now_ns + (c->end_ns - now_ns) / PART : now_ns;
}

/* Smaller dimensions that show it, too: each in turn 1, then half, then one less. */
static void shrink(check_state *c, outcome_of_relation *o, const shape *from, uint32_t dim,
                   const compiler_independence *lanes) {
    const relations_column *column = c->request->column;
    const uint32_t count = column->kernel->dim_count;
    int64_t dims[ATTEMPT_DIMS_MAX];
    tried_dims tried = {.count = 0};
    bool shrunk = false;
    const uint64_t stop_ns = shrinking_ends(c);
    attempt_dims(column, from, dims);
    for (bool smaller = true; smaller && timer_now_ns() < stop_ns;) {
        smaller = false;
        for (uint32_t i = 0; i < count; i++) {
            const int64_t wanted[] = {1, dims[i] / 2, dims[i] - 1};
            for (int k = 0; k < 3 && tried.count < SHRINKS_MAX && timer_now_ns() < stop_ns; k++) {
                int64_t kept = dims[i];
                if (wanted[k] < 1 || wanted[k] >= kept)
                    continue;
                dims[i] = wanted[k];
                bool shown = false;
                if (!was_tried(&tried, dims, count)) {
                    memcpy(tried.dims[tried.count++], dims, count * sizeof *dims);
                    shown = try_dims(c, o, from, dims, dim, lanes);
                }
                dims[i] = shown ? dims[i] : kept;
                smaller |= shown;
            }
        }
        shrunk |= smaller;
    }
    if (o->id != RELATION_BATCH || is_over(c))
        return;
    c->boundaries = true;
    if (shrunk)
        (void)try_dims(c, o, from, dims, dim, lanes);
    else
        (void)try_again(c, o, from, dim, lanes);
    c->boundaries = false;
}

/* Dimensions of 1 or of equal numbers hide what mixes: asked where the shape is large. */
static bool lanes_of(const shape *s, const char *dim, compiler_independence *lanes) {
    status ignored = STATUS_INIT;
    return compiler_independent(s->instance, dim, lanes, &ignored) && lanes->independent &&
           lanes->any_output;
}

static void note_ranges(check_state *c, outcome_of_relation *o) {
    for (uint32_t i = 0; i < c->request->column->kernel->dim_count; i++)
        o->ranges[i] = runner_ranges(c->runner)[i];
}

static void try_all(check_state *c, outcome_of_relation *o, uint32_t dim) {
    runner_reset_ranges(c->runner);
    for (size_t i = 0; i < c->shapes.count && !o->violation.found && !is_over(c); i++) {
        compiler_independence lanes = {0};
        status st = STATUS_INIT;
        const shape *s = &c->shapes.items[i];
        if (o->dim && !lanes_of(s, o->dim, &lanes))
            continue;
        if (!try_on(c, o, s, dim, &lanes, &st))
            c->failed |= st.code != STATUS_UNAVAILABLE;
        if (o->violation.found)
            shrink(c, o, s, dim, &lanes);
    }
    note_ranges(c, o);
}

/* ---- what is told ---- */

/* Against the formula's bound, where there is one that says anything. */
static json_t *judged_json(const violation *v) {
    bool finite = v->reference - v->reference == 0 && v->bound - v->bound == 0;
    if (!v->judged || !finite)
        return json_null();
    return json_pack("{s:f, s:f, s:[b, b]}", "reference", v->reference, "bound", v->bound,
                     "outside", v->outside[0], v->outside[1]);
}

static json_t *example_json(const outcome_of_relation *o) {
    const violation *v = &o->violation;
    char bits[2][24];
    int digits = 2 * (int)dtype_size(v->type);
    for (int i = 0; i < 2; i++)
        snprintf(bits[i], sizeof bits[i], "0x%0*llx", digits, (unsigned long long)v->bits[i]);
    json_t *boundary = v->boundary[0]
                           ? json_pack("{s:s, s:I, s:I}", "dim", o->dim, "from",
                                       (json_int_t)v->boundary[0], "to", (json_int_t)v->boundary[1])
                           : json_null();
    json_t *values = json_array();
    for (int i = 0; i < 2; i++)
        json_array_append_new(values, v->values[i] - v->values[i] == 0 ? json_real(v->values[i])
                                                                       : json_null());
    return json_pack("{s:s, s:s, s:s, s:[s, s], s:o, s:s, s:o, s:o}", "dims", v->dims, "output",
                     v->output, "index", v->index, "bits", bits[0], bits[1], "values", values,
                     "between", v->between, "boundary", boundary, "judged", judged_json(v));
}

/* The least and the greatest number of each dimension that was run; null: none was. */
static json_t *sizes_json(const check_state *c, const outcome_of_relation *o) {
    const compiler_kernel *k = c->request->column->kernel;
    json_t *sizes = json_object();
    for (uint32_t i = 0; i < k->dim_count; i++)
        if (o->ranges[i].least)
            json_object_set_new(
                sizes, k->dim_names[i],
                json_pack("[I, I]", (json_int_t)o->ranges[i].least, (json_int_t)o->ranges[i].most));
    return sizes;
}

/* Place where it was seen: what relations_again needs. */
static json_t *place_json(const outcome_of_relation *o) {
    bool failed = !o->violation.found && o->trouble.code != STATUS_OK &&
                  o->trouble.code != STATUS_UNAVAILABLE;
    const violation *at = o->violation.found ? &o->violation : failed ? &o->trouble_at : NULL;
    if (!at)
        return json_null();
    return json_pack("{s:s, s:s, s:I, s:b, s:s, s:s}", "case", at->like, "dims", at->dims, "seed",
                     (json_int_t)at->seed, "inputs", at->given, "vary", at->setting, "status",
                     failed ? outcome_name(outcome_of_others(&o->trouble))
                            : outcome_name(OUTCOME_MISMATCH));
}

static const char *why_not(const check_state *c, const outcome_of_relation *o) {
    if (c->shapes.count == 0)
        return c->why_none.code != STATUS_OK ? c->why_none.message
                                             : "no shape that is small enough fits the kernel";
    if (o->trouble.code != STATUS_OK)
        return o->trouble.message;
    return is_over(c) ? "there was no time left (--budget)" : "it was tried on no shape";
}

static void append(check_state *c, json_t *one) {
    json_array_append_new(c->found, one);
    if (c->request->decided)
        c->request->decided(c->request->context, one);
}

static void tell(check_state *c, const outcome_of_relation *o) {
    /* Types that it does not take; who refuses tensors with gaps takes those of one row, perhaps.
     */
    bool declined = o->trouble.code == STATUS_UNAVAILABLE && o->id != RELATION_STRIDES;
    bool tried = o->shapes > 0 && (o->trouble.code == STATUS_OK || declined);
    relation_verdict v = o->violation.found ? RELATION_VIOLATED
                         : tried            ? RELATION_HOLDS
                                            : RELATION_NOT_VERIFIED;
    json_t *one = json_pack(
        "{s:s, s:s?, s:s, s:o, s:I, s:i, s:o, s:o, s:o}", "relation", relation_table[o->id].name,
        "dim", o->dim, "verdict", relation_verdict_name(v), "why",
        v == RELATION_NOT_VERIFIED ? json_text(why_not(c, o)) : json_null(), "runs",
        (json_int_t)o->runs, "shapes", (int)o->shapes, "sizes", sizes_json(c, o), "example",
        v == RELATION_VIOLATED ? example_json(o) : json_null(), "place", place_json(o));
    append(c, one);
}

static void tell_none(check_state *c, relation_id id, const char *why) {
    append(c, json_pack("{s:s, s:n, s:s, s:s, s:i, s:i, s:{}, s:n, s:n}", "relation",
                        relation_table[id].name, "dim", "verdict",
                        relation_verdict_name(RELATION_NOT_VERIFIED), "why", why, "runs", 0,
                        "shapes", 0, "sizes", "example", "place"));
}

/* ---- a column ---- */

static void check_plain(check_state *c, relation_id id) {
    outcome_of_relation o = {.id = id};
    const compiler_kernel *k = c->request->column->kernel;
    const char *lacks = id == RELATION_NUMERICS && !k->numerics
                            ? "the kernel has no @verify.numerics"
                        : id == RELATION_STEPS && !k->steps ? "the kernel has no @verify.steps"
                                                            : NULL;
    if ((id == RELATION_ENVIRONMENT && c->request->vary_count == 0) ||
        (lacks && !c->request->named))
        return;
    if (lacks) {
        tell_none(c, id, lacks);
        return;
    }
    if (id == RELATION_ENVIRONMENT && !c->request->column->with) {
        tell_none(c, id, "our code reads no environment while it runs");
        return;
    }
    const bool of_derivatives = id == RELATION_REMAT || id == RELATION_RULES;
    if ((id == RELATION_VMAP || of_derivatives) && c->request->column->with) {
        if (c->request->named)
            tell_none(c, id,
                      id == RELATION_VMAP ? "code of others has no form for batches"
                                          : "the derivatives of others' code are not ours");
        return;
    }
    try_all(c, &o, 0);
    const bool has_none = of_derivatives && o.trouble.code == STATUS_UNAVAILABLE && !o.shapes;
    if (!has_none || c->request->named)
        tell(c, &o);
}

static bool is_batch(const check_state *c, const char *dim) {
    compiler_independence lanes;
    for (size_t i = 0; i < c->shapes.count; i++)
        if (lanes_of(&c->shapes.items[i], dim, &lanes))
            return true;
    return false;
}

static void check_dims(check_state *c, relation_id id) {
    const compiler_kernel *k = c->request->column->kernel;
    bool any = false;
    for (uint32_t i = 0; i < k->dim_count; i++) {
        outcome_of_relation o = {.id = id, .dim = k->dim_names[i]};
        if (!is_batch(c, o.dim))
            continue;
        any = true;
        try_all(c, &o, i);
        tell(c, &o);
    }
    if (!any && k->contract)
        tell_none(c, id,
                  "the kernel has no formula that would tell which dimensions are batches; "
                  "@independent(\"M\") above it declares that M is one");
    else if (!any)
        tell_none(c, id,
                  "no dimension of this kernel is a batch: positions of each meet in an output");
}

static check_state open_checking(const relations_request *request) {
    uint64_t end_ns = timer_now_ns() + request->budget_ns;
    check_state c = {.request = request,
                     .runner = runner_open(request, end_ns),
                     .random = request->seed,
                     .end_ns = end_ns,
                     .found = json_array()};
    find_most(&c);
    draw_shapes(&c);
    return c;
}

static void close_checking(check_state *c) {
    runner_close(c->runner);
    if (c->request->column->with)
        foreign_end_left_behind(process_is_ours);
    for (size_t i = 0; i < c->shapes.count; i++)
        shape_close(&c->shapes.items[i]);
    vec_release(&c->shapes);
}

/* The dimension's number, and where its positions lie, which larger shapes tell. */
static bool find_dim(const check_state *c, const char *name, uint32_t *dim,
                     compiler_independence *lanes) {
    const compiler_kernel *k = c->request->column->kernel;
    for (*dim = 0; *dim < k->dim_count; ++*dim)
        for (size_t i = 0; i < c->shapes.count && strcmp(k->dim_names[*dim], name) == 0; i++)
            if (lanes_of(&c->shapes.items[i], name, lanes))
                return true;
    return false;
}

json_t *relations_again(const relations_request *request, const relations_place *where,
                        status *st) {
    check_state c = open_checking(request);
    outcome_of_relation o = {.id = where->relation, .dim = where->dim};
    compiler_independence lanes = {0};
    uint32_t dim = 0;
    shape s;
    c.boundaries = true;
    const shape_request wanted = {where->like, NULL, request->seed, false, request->inputs};
    bool ok =
        (!relation_table[o.id].per_dim || (where->dim && find_dim(&c, where->dim, &dim, &lanes)) ||
         status_set(st, STATUS_INVALID, "the kernel has no batch %s",
                    where->dim ? where->dim : "")) &&
        shape_open(&s, request->column, &wanted, st);
    if (ok) {
        ok = try_on(&c, &o, &s, dim, &lanes, st);
        shape_close(&s);
    }
    if (ok)
        tell(&c, &o);
    close_checking(&c);
    json_t *one = json_incref(json_array_get(c.found, 0));
    json_decref(c.found);
    return one;
}

json_t *relations_check(const relations_request *request, bool *failed) {
    check_state c = open_checking(request);
    for (int id = 0; id < RELATION_COUNT; id++) {
        if (!request->wanted[id])
            continue;
        if (request->begins)
            request->begins(request->context, (relation_id)id);
        if (relation_table[id].per_dim)
            check_dims(&c, (relation_id)id);
        else
            check_plain(&c, (relation_id)id);
    }
    close_checking(&c);
    *failed = c.failed;
    return c.found;
}
