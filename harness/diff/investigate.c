/* investigate.c - makes the tensors of two results again. */
#include "diff/investigate.h"

#include <string.h>

#include "base/escape.h"
#include "case/backend.h"
#include "case/case.h"
#include "case/case_context.h"
#include "common/json_text.h"
#include "diff/made.h"
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
    made made;
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
    r->made.request.how = (compute_how){
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
    compute_how *how = &r->made.request.how;
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
    r->made.context = &r->context;
    r->made.outputs = tensors_new(s->signature.output_count);
    r->made.request.instance = s->instance;
    r->made.request.kernel = s->kernel->name;
    r->made.request.inputs = s->inputs;
    r->made.request.signature = &s->signature;
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
        if (!tensor_init(&r->made.outputs[i], oracle[i].type, oracle[i].rank, oracle[i].dims, st))
            return false;
        memcpy(r->made.outputs[i].data, oracle[i].data, tensor_bytes(&oracle[i]));
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
    bool computed = compute_outputs(&r->made.request, r->made.outputs, &failed) &&
                    fault_apply(r->made.request.how.fault, r->made.outputs,
                                r->context.signature.output_count, &failed);
    if (computed && digests_agree(r, r->made.outputs))
        return true;
    tensors_clear(r->made.outputs);
    if (!same_key(r))
        return status_set(st, STATUS_INVALID, "its source %s has changed since the run",
                          r->context.path);
    const tensor *oracle = case_context_oracle(&r->context, &ignored);
    if (oracle && digests_agree(r, oracle))
        return copy_oracle(r, oracle, st);
    if (!computed)
        return status_set(st, failed.code, "%s", failed.message);
    if (r->made.request.how.implementation)
        return status_set(st, STATUS_INVALID,
                          "run again %s gives other bits than the run recorded: it does not give "
                          "the same each time, or what it needs is another one",
                          r->made.request.how.implementation);
    return status_set(
        st, STATUS_INVALID,
        "made again from %s it has other bits than the run recorded: tsr or the machine "
        "is another one",
        r->context.path);
}

static void forget(remade *r) {
    tensors_free(r->made.outputs);
    case_context_close(&r->context);
    corpus_release(&r->sources);
}

void investigate(const side *a, const side *b, const result_pair *pair, uint64_t timeout_seconds,
                 text *out, json_t *entry) {
    remade sides[2] = {{.from = a, .result = pair->a, .letter = "A"},
                       {.from = b, .result = pair->b, .letter = "B"}};
    bool both = true;
    for (int i = 0; i < 2; i++) {
        status st = STATUS_INIT;
        sides[i].made.request.timeout_seconds = timeout_seconds;
        if (make_again(&sides[i], &st))
            continue;
        both = false;
        text_show(out, "  %s's tensors cannot be shown: %s\n", sides[i].letter, st.message);
        json_object_set_new(entry, "why", json_text(st.message));
    }
    if (both)
        made_compare(&sides[0].made, &sides[1].made, out, entry);
    for (int i = 0; i < 2; i++)
        forget(&sides[i]);
}
