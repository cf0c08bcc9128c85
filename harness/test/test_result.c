/* test_result.c - the tables of jobs and of results: the schema in docs/ is theirs, a job survives
 * the pipe, and a status has one writer.
 *
 * With the argument "write" it puts the tables into the schema. */
#include "harness/test/test.h"

#include <math.h>
#include <string.h>

#include "job/job_plan.h"
#include "job/result.h"

static const char schema_path[] = "docs/bench.schema.json";

static json_t *at(json_t *object, const char *a, const char *b) {
    return json_object_get(json_object_get(object, a), b);
}

/* The object into which a field's schema goes: the result's, or its group's, made here. */
static json_t *holder_of(json_t *result, const result_field_info *f) {
    if (!*f->inner)
        return result;
    json_t *properties = json_object_get(result, "properties");
    json_t *group = json_object_get(properties, f->outer);
    if (!group) {
        group = json_pack("{s:s, s:[], s:b, s:{}}", "type", "object", "required",
                          "additionalProperties", 0, "properties");
        json_object_set_new(properties, f->outer, group);
        json_array_append_new(json_object_get(result, "required"), json_string(f->outer));
    }
    return group;
}

static json_t *schema_of_results(void) {
    json_t *result = json_pack("{s:s, s:[], s:b, s:{}}", "type", "object", "required",
                               "additionalProperties", 0, "properties");
    for (int i = 0; i < RESULT_FIELD_COUNT; i++) {
        const result_field_info *f = &result_fields[i];
        const char *name = *f->inner ? f->inner : f->outer;
        json_t *holder = holder_of(result, f), *schema = json_loads(f->schema, 0, NULL);
        assert_non_null(schema);
        json_object_set_new(json_object_get(holder, "properties"), name, schema);
        if (f->always)
            json_array_append_new(json_object_get(holder, "required"), json_string(name));
    }
    json_t *properties = json_object_get(result, "properties");
    for (size_t i = 0; result_group_at(i); i++) {
        const result_group *g = result_group_at(i);
        json_t *group = json_incref(json_object_get(properties, g->outer));
        if (g->nullable)
            json_object_set_new(properties, g->outer,
                                json_pack("{s:[{s:s}, O]}", "anyOf", "type", "null", group));
        json_decref(group);
    }
    return result;
}

static void the_schema_is_made_of_the_table(void **state) {
    (void)state;
    json_t *schema = json_load_file(schema_path, 0, NULL), *made = schema_of_results();
    assert_non_null(schema);
    if (!json_equal(at(schema, "$defs", "result"), made))
        fail_msg("%s is not of result.def: run 'build/harness/harness_result write'", schema_path);
    json_decref(schema);
    json_decref(made);
}

static job some_job(void) {
    return (job){.path = "a/b\xff.tsr",
                 .kernel = "product",
                 .case_name = "tiny",
                 .golden_path = "golden",
                 .line = 7,
                 .backend = "cpu",
                 .profile = "strict",
                 .threads = 3,
                 .fault = "zero",
                 .seed = UINT64_MAX,
                 .quick = true,
                 .schedule = "BM=8",
                 .mode = JOB_TUNE};
}

static void a_job_survives_the_pipe(void **state) {
    (void)state;
    job j = some_job(), back;
    json_t *object = job_to_json(&j);
    assert_true(job_from_json(object, &back));
    json_t *sent = job_to_json(&j), *again = job_to_json(&back);
    assert_true(json_equal(sent, again));
    assert_string_equal(back.path, j.path);
    assert_true(back.seed == j.seed && back.quick && !back.generic && back.mode == JOB_TUNE);
    assert_null(back.source);
    json_object_del(object, "kernel");
    assert_false(job_from_json(object, &back));
    json_decref(object);
    json_decref(sent);
    json_decref(again);
}

/* --resume goes on with runs of the same choice alone: whatever is chosen is in its key. */
static void each_choice_is_part_of_the_key(void **state) {
    (void)state;
    job_choice none = {0};
    json_t *key = job_choice_json(&none);
#define OWN(kind, name)
#define CHOSEN(kind, name, scope) assert_non_null(json_object_get(key, #name));
#include "job/job.def"
#undef OWN
#undef CHOSEN
    job_choice other = {.generic = true};
    json_t *other_key = job_choice_json(&other);
    assert_false(json_equal(key, other_key));
    json_decref(key);
    json_decref(other_key);
}

static void a_new_result_has_what_every_result_has(void **state) {
    (void)state;
    job j = some_job();
    json_t *result = result_new(&j, OUTCOME_CRASH, "it fell over");
    for (int i = 0; i < RESULT_FIELD_COUNT; i++)
        if (result_fields[i].always && !*result_fields[i].inner)
            assert_non_null(result_get(result, (result_field)i));
    for (size_t i = 0; result_group_at(i); i++)
        assert_non_null(json_object_get(result, result_group_at(i)->outer));
    assert_string_equal(result_text(result, RESULT_AGAINST), "none");
    assert_string_equal(result_text(result, RESULT_FAULT), "zero");
    assert_true(isnan(result_number(result, RESULT_MEDIAN)));
    assert_int_equal(result_whole(result, RESULT_FLOPS), -1);
    assert_int_equal(result_outcome(result), OUTCOME_CRASH);
    assert_int_equal(result_exit(result), EXIT_CHECK);
    json_decref(result);
}

static void a_status_has_one_writer(void **state) {
    (void)state;
    job j = some_job();
    json_t *result = result_new(&j, OUTCOME_ERROR, NULL);
    result_set_outcome(result, OUTCOME_UNSUPPORTED, "not here", EXIT_ABSENT);
    assert_int_equal(result_outcome(result), OUTCOME_UNSUPPORTED);
    assert_string_equal(result_text(result, RESULT_WHY), "not here");
    assert_int_equal(result_exit(result), EXIT_DONE);
    result_set_outcome(result, OUTCOME_ERROR, "", EXIT_ABSENT);
    assert_true(json_is_null(result_get(result, RESULT_WHY)));
    assert_int_equal(result_exit(result), EXIT_ABSENT);
    json_decref(result_take_internal(result));
    assert_int_equal(result_exit(result), EXIT_CHECK);
    json_object_set_new(result, "status", json_string("fine"));
    assert_int_equal(result_outcome(result), OUTCOME_COUNT);
    assert_true(outcome_is_failure(result_outcome(result)));
    json_decref(result);
}

/* Writers and readers keep to the kind; documents, to the schema. */
static void a_kind_is_that_of_the_schema(void **state) {
    (void)state;
    static const struct {
        const char *type;
        result_kind kind;
    } rows[] = {{"string", RESULT_KIND_TEXT},   {"integer", RESULT_KIND_WHOLE},
                {"number", RESULT_KIND_NUMBER}, {"boolean", RESULT_KIND_FLAG},
                {"array", RESULT_KIND_JSON},    {"object", RESULT_KIND_JSON}};
    for (int i = 0; i < RESULT_FIELD_COUNT; i++) {
        json_t *schema = json_loads(result_fields[i].schema, 0, NULL);
        const json_t *type = json_object_get(schema, "type");
        type = json_is_array(type) ? json_array_get(type, 0) : type;
        result_kind kind = RESULT_KIND_TEXT; /* of words, and of digests */
        for (size_t k = 0; type && k < sizeof rows / sizeof *rows; k++)
            if (strcmp(json_string_value(type), rows[k].type) == 0)
                kind = rows[k].kind;
        assert_int_equal(result_fields[i].kind, kind);
        json_decref(schema);
    }
}

static void what_is_none_is_null(void **state) {
    (void)state;
    job j = some_job();
    json_t *result = result_new(&j, OUTCOME_OK, NULL);
    result_put_COMPILE(result, 7);
    result_put_MEDIAN(result, 1.5); /* its group was null */
    result_put_COMPILE_CACHED(result, true);
    internal_put_KEY(result, "key");
    assert_int_equal(result_whole(result, RESULT_COMPILE), 7);
    assert_true(result_number(result, RESULT_MEDIAN) == 1.5);
    assert_true(result_has_group(result, RESULT_MEDIAN));
    assert_true(result_flag(result, RESULT_COMPILE_CACHED));
    result_put_COMPILE(result, -1);
    result_put_MEDIAN(result, (double)NAN);
    result_put_SCHEDULE(result, NULL);
    assert_true(json_is_null(result_get(result, RESULT_COMPILE)));
    assert_true(json_is_null(result_get(result, RESULT_MEDIAN)));
    assert_true(json_is_null(result_get(result, RESULT_SCHEDULE)));
    assert_null(result_string(result, RESULT_SCHEDULE));
    json_t *internal = result_take_internal(result);
    assert_string_equal(json_string_value(internal_get(internal, INTERNAL_KEY)), "key");
    assert_null(result_internal(result));
    json_decref(internal);
    json_decref(result);
}

static int write_schema(void) {
    json_t *schema = json_load_file(schema_path, 0, NULL);
    json_object_set_new(json_object_get(schema, "$defs"), "result", schema_of_results());
    int code = json_dump_file(schema, schema_path, JSON_INDENT(2));
    json_decref(schema);
    return code;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_is_made_of_the_table),
        cmocka_unit_test(a_job_survives_the_pipe),
        cmocka_unit_test(each_choice_is_part_of_the_key),
        cmocka_unit_test(a_new_result_has_what_every_result_has),
        cmocka_unit_test(a_status_has_one_writer),
        cmocka_unit_test(a_kind_is_that_of_the_schema),
        cmocka_unit_test(what_is_none_is_null),
    };
    if (argc > 1 && strcmp(argv[1], "write") == 0)
        return write_schema();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
