/* result.c - results, made and read by their table. */
#include "job/result.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "common/command_line.h"
#include "common/json_text.h"
#include "implementation/implementation.h"

#define PRESENCE_ALWAYS true
#define PRESENCE_LATER false

const result_field_info result_fields[RESULT_FIELD_COUNT] = {
#define GROUP(outer, nullable)
#define FIELD(id, outer, inner, kind, presence, initial, csv, ...)                                 \
    {#outer, #inner, RESULT_KIND_##kind, PRESENCE_##presence, csv, #__VA_ARGS__},
#define INTERNAL(id, name, kind)
#include "job/result.def"
#undef GROUP
#undef FIELD
#undef INTERNAL
};

static const char *const internal_names[INTERNAL_FIELD_COUNT] = {
#define GROUP(outer, nullable)
#define FIELD(id, ...)
#define INTERNAL(id, name, kind) #name,
#include "job/result.def"
#undef GROUP
#undef FIELD
#undef INTERNAL
};

static const result_group groups[] = {
#define GROUP(outer, nullable) {#outer, nullable},
#define FIELD(id, ...)
#define INTERNAL(id, name, kind)
#include "job/result.def"
#undef GROUP
#undef FIELD
#undef INTERNAL
};

const result_group *result_group_at(size_t index) {
    return index < sizeof groups / sizeof *groups ? &groups[index] : NULL;
}

/* ---- outcomes ---- */
static const struct {
    const char *name;
    bool failure;
    exit_code exit;
} outcomes[OUTCOME_COUNT] = {
#define OUTCOME(id, name, failure, exit) {name, failure, exit},
#include "job/outcome.def"
#undef OUTCOME
};

const char *outcome_name(job_outcome o) {
    return outcomes[o].name;
}

job_outcome outcome_from_name(const char *name) {
    int o = 0;
    while (o < OUTCOME_COUNT && strcmp(outcomes[o].name, name) != 0)
        o++;
    return (job_outcome)o;
}

job_outcome outcome_of_others(const status *st) {
    return st->code == STATUS_DEVICE_LOST ? OUTCOME_CRASH
           : st->code == STATUS_MISMATCH  ? OUTCOME_MISMATCH
           : st->code == STATUS_TIMEOUT   ? OUTCOME_TIMEOUT
                                          : OUTCOME_ERROR;
}

bool outcome_is_failure(job_outcome o) {
    return o == OUTCOME_COUNT || outcomes[o].failure;
}

/* ---- writing ---- */
void result_set(json_t *result, result_field field, json_t *value) {
    const result_field_info *f = &result_fields[field];
    json_t *object = *f->inner ? json_object_get(result, f->outer) : result;
    if (!json_is_object(object)) {
        object = json_object();
        json_object_set_new(result, f->outer, object);
    }
    json_object_set_new(object, *f->inner ? f->inner : f->outer, value);
}

void result_set_internal(json_t *result, result_internal_field field, json_t *value) {
    json_t *internal = json_object_get(result, "internal");
    if (!internal) {
        internal = json_object();
        json_object_set_new(result, "internal", internal);
    }
    json_object_set_new(internal, internal_names[field], value);
}

json_t *result_json_TEXT(const char *value) {
    return json_text(value);
}

json_t *result_json_WHOLE(int64_t value) {
    return value < 0 ? json_null() : json_integer(value);
}

json_t *result_json_NUMBER(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *result_json_FLAG(bool value) {
    return json_boolean(value);
}

json_t *result_json_JSON(json_t *value) {
    return value;
}

void result_set_outcome(json_t *result, job_outcome o, const char *why, exit_code code) {
    result_put_STATUS(result, outcome_name(o));
    result_put_WHY(result, why && *why ? why : NULL);
    internal_put_EXIT(result, code);
}

void result_put_failed_on(json_t *result, input_set set) {
    json_t *said = json_pack("{s:I}", "set", (json_int_t)set.number);
    if (set.perturbed)
        json_object_set_new(said, "perturbed", json_true());
    result_put_FAILED_ON(result, said);
}

/* Value of a field before anything is known; NULL: it is not there, or is the job's. */
static json_t *initial_NOTHING(void) {
    return json_null();
}
static json_t *initial_FALSE(void) {
    return json_false();
}
static json_t *initial_NONE(void) {
    return json_string("none");
}
#define initial_LIST json_array
#define initial_OBJECT json_object
static json_t *initial_ABSENT(void) {
    return NULL;
}
#define initial_JOB initial_ABSENT

/* Place of the code, whatever comes of it; its SHA-256 is known to who reads it. */
static json_t *implementation_of(const job *j) {
    bool known = j->implementation_kind < IMPLEMENTATION_KIND_COUNT;
    implementation_kind kind = known ? (implementation_kind)j->implementation_kind : 0;
    return json_pack("{s:s, s:o, s:s, s:n}", "kind", implementation_kind_name(kind), "path",
                     json_text(j->implementation), "symbol",
                     j->implementation_symbol ? j->implementation_symbol : "?", "sha256");
}

json_t *result_new(const job *j, job_outcome o, const char *why) {
    static json_t *(*const initial[RESULT_FIELD_COUNT])(void) = {
#define GROUP(outer, nullable)
#define FIELD(id, outer, inner, kind, presence, initial, ...) initial_##initial,
#define INTERNAL(id, name, kind)
#include "job/result.def"
#undef GROUP
#undef FIELD
#undef INTERNAL
    };
    json_t *result = json_pack("{s:s, s:s, s:s, s:s, s:I, s:s}", "kernel", j->kernel, "case",
                               j->case_name, "backend", j->backend, "profile", j->profile,
                               "threads", (json_int_t)j->threads, "status", outcome_name(o));
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        json_object_set_new(result, groups[i].outer,
                            groups[i].nullable ? json_null() : json_object());
    for (int i = 0; i < RESULT_FIELD_COUNT; i++) {
        json_t *value = initial[i]();
        if (value)
            result_set(result, (result_field)i, value);
    }
    result_put_WHY(result, why && *why ? why : NULL);
    result_put_FAULT(result, j->fault);
    result_put_DEVICE(result, j->device);
    result_put_SCHEDULE_VALUES(result, j->schedule);
    if (j->ranks > 1) {
        result_put_RANKS(result, j->ranks);
        result_put_TRANSPORT(result, j->transport);
        if (j->layout)
            result_put_LAYOUT(result, j->layout);
    }
    if (j->implementation)
        result_put_IMPLEMENTATION(result, implementation_of(j));
    return result;
}

/* ---- reading ---- */
json_t *result_get(const json_t *result, result_field field) {
    const result_field_info *f = &result_fields[field];
    json_t *outer = json_object_get(result, f->outer);
    return *f->inner ? json_object_get(outer, f->inner) : outer;
}

json_t *result_group_of(const json_t *result, result_field field) {
    return json_object_get(result, result_fields[field].outer);
}

bool result_has_group(const json_t *result, result_field field) {
    const json_t *group = result_group_of(result, field);
    return group && !json_is_null(group);
}

const char *result_string(const json_t *result, result_field field) {
    assert(result_fields[field].kind == RESULT_KIND_TEXT);
    return json_string_value(result_get(result, field));
}

const char *result_text(const json_t *result, result_field field) {
    const char *value = result_string(result, field);
    return value ? value : "";
}

bool result_flag(const json_t *result, result_field field) {
    assert(result_fields[field].kind == RESULT_KIND_FLAG);
    return json_is_true(result_get(result, field));
}

double result_number(const json_t *result, result_field field) {
    const json_t *value = result_get(result, field);
    assert(result_fields[field].kind == RESULT_KIND_NUMBER ||
           result_fields[field].kind == RESULT_KIND_WHOLE);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

int64_t result_whole(const json_t *result, result_field field) {
    const json_t *value = result_get(result, field);
    assert(result_fields[field].kind == RESULT_KIND_WHOLE);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

job_outcome result_outcome(const json_t *result) {
    return outcome_from_name(result_text(result, RESULT_STATUS));
}

void result_ranks(const json_t *result, text *out) {
    const char *layout = result_text(result, RESULT_LAYOUT);
    if (result_whole(result, RESULT_RANKS) > 1)
        text_printf(out, ",ranks=%" PRId64 ",%s%s%s", result_whole(result, RESULT_RANKS),
                    result_text(result, RESULT_TRANSPORT), layout[0] ? "," : "", layout);
}

void result_key(const json_t *result, text *out) {
    text_printf(out, "%s/%s@%s,%s,%" PRId64, result_text(result, RESULT_KERNEL),
                result_text(result, RESULT_CASE), result_text(result, RESULT_BACKEND),
                result_text(result, RESULT_PROFILE), result_whole(result, RESULT_THREADS));
    result_ranks(result, out);
}

void result_replay(const json_t *result, text *out) {
    const char *pack = result_string(result, RESULT_PACK);
    text word;
    if (!pack)
        return;
    text_init(&word);
    const bool trusted = json_is_object(result_get(result, RESULT_IMPLEMENTATION));
    text_show(out, "%s", command_line_replay(&word, pack, trusted));
    text_release(&word);
}

exit_code result_exit(const json_t *result) {
    job_outcome o = result_outcome(result);
    if (o == OUTCOME_COUNT)
        return EXIT_BUG;
    if (!outcome_is_failure(o))
        return outcomes[o].exit;
    const json_t *code = internal_get(result_internal(result), INTERNAL_EXIT);
    return json_is_integer(code) ? (exit_code)json_integer_value(code) : outcomes[o].exit;
}

bool result_failed_on(const json_t *result, input_set *out) {
    const json_t *said = result_get(result, RESULT_FAILED_ON), *set = json_object_get(said, "set");
    if (!json_is_integer(set) || json_integer_value(set) < 0 ||
        json_integer_value(set) > UINT32_MAX)
        return false;
    *out = (input_set){(uint32_t)json_integer_value(set),
                       json_is_true(json_object_get(said, "perturbed"))};
    return true;
}

const json_t *result_digests(const json_t *result) {
    const json_t *there = json_object_get(result_get(result, RESULT_FAILED_ON), "sha256");
    return there ? there : result_get(result, RESULT_SHA256);
}

const json_t *result_internal(const json_t *result) {
    return json_object_get(result, "internal");
}

json_t *internal_get(const json_t *internal, result_internal_field field) {
    return json_object_get(internal, internal_names[field]);
}

json_t *result_take_internal(json_t *result) {
    json_t *internal = json_incref(json_object_get(result, "internal"));
    json_object_del(result, "internal");
    return internal;
}
