/* investigate.c - makes the tensors of two results again. */
#include "diff/investigate.h"

#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "case/backend.h"
#include "case/case.h"
#include "case/case_context.h"
#include "check/verdict.h"
#include "common/json_text.h"
#include "diff/describe.h"
#include "diff/first_op.h"
#include "implementation/implementation.h"
#include "job/fault.h"
#include "job/result.h"
#include "launch/launch.h"

enum { PATHS_MAX = 64 };

/* One side's result, made again. */
typedef struct remade {
    const side *from;
    const json_t *result;
    const char *letter; /* "A" or "B" */
    corpus sources;
    case_context context;
    compute_request request;
    tensor *outputs; /* tensors_new */
} remade;

static const char *string_of(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

/* ---- finding the source ---- */

static bool find_case(remade *r, const corpus_case **found, status *st) {
    static const char *const usual[] = {"corpus"};
    const char *paths[PATHS_MAX], *filters[1];
    size_t count = 0, i;
    json_t *path;
    text name, diagnostics;
    json_array_foreach(json_object_get(r->from->arguments, "paths"), i, path) if (count < PATHS_MAX)
        paths[count++] = json_string_value(path);
    text_init(&name);
    text_init(&diagnostics);
    text_printf(&name, "%s/%s", result_string(r->result, RESULT_KERNEL),
                result_string(r->result, RESULT_CASE));
    filters[0] = name.data;
    corpus_query query = {.paths = count ? paths : usual,
                          .path_count = count ? count : 1,
                          .filters = filters,
                          .filter_count = 1,
                          .dims = string_of(r->from->arguments, "dims")};
    bool ok = corpus_load(&r->sources, &query, &diagnostics, st);
    *found = ok ? &r->sources.cases.items[0] : NULL;
    text_release(&diagnostics);
    text_release(&name);
    return ok || status_set(st, STATUS_NOT_FOUND, "its source cannot be had");
}

static void set_how(remade *r) {
    const char *name = result_string(r->result, RESULT_BACKEND);
    backend_id id = name ? backend_from_name(name) : BACKEND_COUNT;
    /* The oracle is never touched. */
    bool touched = id != BACKEND_COUNT && backend_is_compiled(&backend_table[id]);
    r->request.how = (compute_how){
        .backend = name,
        .device = result_string(r->result, RESULT_DEVICE),
        .profile = result_string(r->result, RESULT_PROFILE),
        .isa = string_of(r->from->arguments, "isa"),
        .threads = (uint32_t)json_integer_value(result_get(r->result, RESULT_THREADS)),
        .fault = touched ? result_string(r->result, RESULT_FAULT) : NULL,
        .schedule = result_string(r->result, RESULT_SCHEDULE_VALUES),
        .source_schedule = r->context.kernel->schedule};
}

/* Checks that a file of code of others is there, unchanged. */
static bool has_file(const implementation_digest_of *file, const json_t *code, status *st) {
    const char *recorded = string_of(code, file->key);
    if (!file->sha256[0])
        return status_set(st, STATUS_UNAVAILABLE, "its file %s is gone", file->path);
    return !recorded || strcmp(recorded, file->sha256) == 0 ||
           status_set(st, STATUS_UNAVAILABLE, "its file %s was changed since the run", file->path);
}

/* Choices made for our code are not for that of others. */
static bool set_implementation(remade *r, status *st) {
    const json_t *code = result_get(r->result, RESULT_IMPLEMENTATION);
    const char *path = string_of(code, "path"), *kind = string_of(code, "kind");
    if (!json_is_object(code))
        return true;
    compute_how *how = &r->request.how;
    how->implementation = path;
    how->symbol = string_of(code, "symbol");
    how->kind = (uint32_t)implementation_kind_from_name(kind ? kind : "");
    how->isa = how->fault = how->schedule = NULL;
    if (!path || !how->symbol || how->kind == IMPLEMENTATION_KIND_COUNT)
        return status_set(st, STATUS_CORRUPT, "its record does not say which code ran");
    if (!implementation_is_file(path))
        return true;
    implementation_digest_of files[IMPLEMENTATION_FILES_MAX];
    arena memory;
    arena_init(&memory);
    uint32_t count = implementation_digests(path, (implementation_kind)how->kind, &memory, files);
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = has_file(&files[i], code, st);
    arena_release(&memory);
    return ok;
}

static bool open_context(remade *r, status *st) {
    const corpus_case *found;
    const json_t *seed = json_object_get(r->from->arguments, "seed");
    if (!find_case(r, &found, st))
        return false;
    case_context_request request = {
        .path = found->path,
        .kernel = found->kernel->name,
        .case_name = found->c->name,
        .dims = found->c->bound,
        .space = result_get(r->result, RESULT_SPACE) ? result_text(r->result, RESULT_SPACE) : NULL,
        .space_held = strcmp(result_text(r->result, RESULT_SCHEDULE), "tuned") == 0 &&
                      !*json_text_at(r->from->arguments, "space"),
        .seed = json_is_integer(seed) ? (uint64_t)json_integer_value(seed) : 1};
    if (!case_context_open(&r->context, &request, st))
        return false;
    const case_context *s = &r->context;
    r->outputs = tensors_new(s->signature.output_count);
    r->request.instance = s->instance;
    r->request.kernel = s->kernel->name;
    r->request.inputs = s->inputs;
    r->request.signature = &s->signature;
    set_how(r);
    return set_implementation(r, st);
}

/* ---- making it again ---- */

static bool digests_agree(const remade *r, const tensor *outputs) {
    const json_t *recorded = result_get(r->result, RESULT_SHA256);
    uint32_t count = r->context.signature.output_count;
    bool same = json_array_size(recorded) == count;
    for (uint32_t i = 0; i < count && same; i++) {
        char digest[65];
        golden_tensor_digest(&outputs[i], digest);
        same = strcmp(digest, json_string_value(json_array_get(recorded, i))) == 0;
    }
    return same;
}

static bool copy_oracle(remade *r, const tensor *oracle, status *st) {
    for (uint32_t i = 0; i < r->context.signature.output_count; i++) {
        if (!tensor_init(&r->outputs[i], oracle[i].type, oracle[i].rank, oracle[i].dims, st))
            return false;
        memcpy(r->outputs[i].data, oracle[i].data, tensor_bytes(&oracle[i]));
    }
    return true;
}

static bool has_digests(const remade *r) {
    return json_array_size(result_get(r->result, RESULT_SHA256)) > 0;
}

/* Checks that the source still asks for the same outputs; true where the record does not say. */
static bool same_key(const remade *r) {
    const char *recorded = result_string(r->result, RESULT_CASE_KEY);
    return !recorded || strcmp(recorded, r->context.key) == 0;
}

static bool make_again(remade *r, status *st) {
    status failed = STATUS_INIT, ignored = STATUS_INIT;
    if (!has_digests(r))
        return status_set(st, STATUS_NOT_FOUND, "it has no outputs: its status is %s",
                          result_string(r->result, RESULT_STATUS));
    if (!open_context(r, st))
        return false;
    bool computed =
        compute_outputs(&r->request, r->outputs, &failed) &&
        fault_apply(r->request.how.fault, r->outputs, r->context.signature.output_count, &failed);
    if (computed && digests_agree(r, r->outputs))
        return true;
    tensors_clear(r->outputs);
    if (!same_key(r))
        return status_set(st, STATUS_INVALID, "its source %s has changed since the run",
                          r->context.path);
    const tensor *oracle = case_context_oracle(&r->context, &ignored);
    if (oracle && digests_agree(r, oracle))
        return copy_oracle(r, oracle, st);
    if (!computed)
        return status_set(st, failed.code, "%s", failed.message);
    if (r->request.how.implementation)
        return status_set(st, STATUS_INVALID,
                          "run again %s gives other bits than the run recorded: it does not give "
                          "the same each time, or what it needs is another one",
                          r->request.how.implementation);
    return status_set(
        st, STATUS_INVALID,
        "made again from %s it has other bits than the run recorded: tsr or the machine "
        "is another one",
        r->context.path);
}

static void forget(remade *r) {
    tensors_free(r->outputs);
    case_context_close(&r->context);
    corpus_release(&r->sources);
}

/* ---- comparing ---- */

/* Error over bound against the f64 reference; negative where that is too much work. */
static double worst_error(remade *r, const remade *reference, uint32_t output) {
    status ignored = STATUS_INIT;
    case_context *s = (case_context *)&reference->context;
    if (s->c->large || !case_context_reference(s, &ignored))
        return -1;
    return verdict_bound(s, output, &r->outputs[output]).worst;
}

static json_t *known_or_null(double value) {
    return value >= 0 && isfinite(value) ? json_real(value) : json_null();
}

static void compare_output(remade *a, remade *b, uint32_t i, text *out, json_t *list) {
    const tensor *left = &a->outputs[i], *right = &b->outputs[i];
    element_diff d;
    elements_diff(left->type, left->data, right->data, tensor_count(left), &d);
    element_pair pair = {left->type, left->rank, left->dims, "A", "B", &d};
    double a_error = worst_error(a, a, i), b_error = worst_error(b, a, i);
    const char *name = a->context.signature.outputs[i].name;
    text_show(out, "  output %s, ", name);
    text lines;
    text_init(&lines);
    describe_elements(&pair, "  ", &lines);
    text_append(out, lines.data + 2);
    text_release(&lines);
    if (a_error >= 0)
        text_show(out, "  error against f64, as a share of its bound: A %.3g, B %.3g\n", a_error,
                  b_error);
    else
        text_append(out, "  error against f64: not computed for a large case\n");
    json_t *entry = describe_elements_json(&pair);
    json_object_set_new(entry, "name", json_string(name));
    json_object_set_new(entry, "a_error_over_bound", known_or_null(a_error));
    json_object_set_new(entry, "b_error_over_bound", known_or_null(b_error));
    json_array_append_new(list, entry);
}

static bool same_shapes(const remade *a, const remade *b) {
    const compiler_signature *x = &a->context.signature, *y = &b->context.signature;
    bool same = x->output_count == y->output_count;
    for (uint32_t i = 0; i < x->output_count && same; i++) {
        same = x->outputs[i].type == y->outputs[i].type && x->outputs[i].rank == y->outputs[i].rank;
        for (int axis = 0; axis < x->outputs[i].rank && same; axis++)
            same = x->outputs[i].dims[axis] == y->outputs[i].dims[axis];
    }
    return same;
}

/* ---- the first operation ---- */

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool ways_differ(const remade *a, const remade *b) {
    const compute_how *x = &a->request.how, *y = &b->request.how;
    return !same_text(x->backend, y->backend) || !same_text(x->device, y->device) ||
           !same_text(x->profile, y->profile) || !same_text(x->isa, y->isa) ||
           !same_text(x->fault, y->fault) || x->threads != y->threads;
}

static void describe_operation(const first_op *f, const char *path, text *out) {
    text_show(out, "%%%u = \"%s\" (%s", f->number, f->name, path);
    if (f->line)
        text_show(out, ":%u:%u", f->line, f->column);
    text_append_char(out, ')');
}

static void tell_first_op(const first_op *f, const char *path, text *out) {
    if (f->found) {
        element_pair pair = {f->type, f->rank, f->dims, "A", "B", &f->found_diff};
        text_append(out, "  first differing operation: ");
        describe_operation(f, path, out);
        text_show(out, "%s\n", f->bisected ? ", found by bisection" : "");
        if (f->whole)
            text_append(out, "    in the kernel's outputs; run by itself no operation differs\n");
        describe_first(&pair, "    ", out);
    } else {
        text_show(out, "  no operation of %u differs by itself\n", f->operations);
    }
    if (f->unknown)
        text_show(out, "  %u of %u operations could not be run on both sides: %s\n", f->unknown,
                  f->operations, f->why_unknown);
}

static json_t *first_op_json(const first_op *f) {
    if (!f->found)
        return json_null();
    element_pair pair = {f->type, f->rank, f->dims, "A", "B", &f->found_diff};
    json_t *object = describe_elements_json(&pair);
    json_object_set_new(object, "operation", json_string(f->name));
    json_object_set_new(object, "number", json_integer(f->number));
    json_object_set_new(object, "line", f->line ? json_integer(f->line) : json_null());
    json_object_set_new(object, "column", f->line ? json_integer(f->column) : json_null());
    json_object_set_new(object, "whole_kernel_only", json_boolean(f->whole));
    json_object_set_new(object, "bisected", json_boolean(f->bisected));
    return object;
}

static void search_first_op(remade *a, remade *b, text *out, json_t *entry) {
    status st = STATUS_INIT;
    first_op found;
    if (!first_op_find(&a->request, &b->request, a->outputs, b->outputs, &found, &st)) {
        text_show(out, "  the first differing operation is not known: %s\n", st.message);
        return;
    }
    tell_first_op(&found, a->context.path, out);
    json_object_set_new(entry, "first_operation", first_op_json(&found));
}

static void compare(remade *a, remade *b, text *out, json_t *entry) {
    json_t *list = json_array();
    if (!same_shapes(a, b)) {
        text_append(out, "  the outputs are of different types or shapes\n");
        json_object_set_new(entry, "why", json_string("outputs of different types or shapes"));
    } else {
        for (uint32_t i = 0; i < a->context.signature.output_count; i++)
            compare_output(a, b, i, out, list);
        if (a->request.how.implementation || b->request.how.implementation)
            text_append(out,
                        "  code of others has no operations that could be run by themselves\n");
        else if (ways_differ(a, b))
            search_first_op(a, b, out, entry);
    }
    json_object_set_new(entry, "outputs", list);
}

void investigate(const side *a, const side *b, const result_pair *pair, uint64_t timeout_seconds,
                 text *out, json_t *entry) {
    remade sides[2] = {{.from = a, .result = pair->a, .letter = "A"},
                       {.from = b, .result = pair->b, .letter = "B"}};
    bool made = true;
    for (int i = 0; i < 2; i++) {
        status st = STATUS_INIT;
        sides[i].request.timeout_seconds = timeout_seconds;
        if (make_again(&sides[i], &st))
            continue;
        made = false;
        text_show(out, "  %s's tensors cannot be shown: %s\n", sides[i].letter, st.message);
        json_object_set_new(entry, "why", json_text(st.message));
    }
    if (made)
        compare(&sides[0], &sides[1], out, entry);
    for (int i = 0; i < 2; i++)
        forget(&sides[i]);
}
