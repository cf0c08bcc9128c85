/* test_shard.c - parts of a corpus: what --shard takes, that each case is in one part, and that
 * neither the order of the files nor anything but the corpus and the options decides which. */
#include "harness/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "case/shard.h"
#include "common/json_text.h"

static char directory[64], paths[2][96];

static const char head[] = "\"\"\"Kernels.\"\"\"\nfrom tessera import *\n\n\n";
static const char *const sources[] = {
    "@cases(case(\"a\", M=1), case(\"large\", M=4000000), case(\"c\", M=3), case(\"d\", M=4))\n"
    "@kernel\ndef twice(x: Tensor[\"M\", f32]) -> Tensor[\"M\", f32]:\n"
    "    \"\"\"Twice.\"\"\"\n    return x + x\n",
    "@cases(case(\"a\", M=1), case(\"b\", M=2), case(\"e\", M=3000000))\n"
    "@kernel\ndef square(x: Tensor[\"M\", f32]) -> Tensor[\"M\", f32]:\n"
    "    \"\"\"Squares.\"\"\"\n    return x * x\n"};

static int set_up(void **state) {
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/tsr-shard-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    for (int i = 0; i < 2; i++) {
        status st = STATUS_INIT;
        text body;
        text_init(&body);
        text_printf(&body, "%s%s", head, sources[i]);
        snprintf(paths[i], sizeof paths[i], "%s/%s.tsr", directory, i ? "b" : "a");
        bool ok = file_write_atomic(paths[i], body.data, body.length, &st);
        text_release(&body);
        if (!ok)
            return -1;
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static void load(corpus *c, bool reversed) {
    const char *given[] = {paths[reversed], paths[!reversed]};
    corpus_query query = {.paths = given, .path_count = 2};
    text diagnostics;
    status st = STATUS_INIT;
    text_init(&diagnostics);
    assert_true(corpus_load(c, &query, &diagnostics, &st));
    assert_int_equal(c->cases.count, 7);
    text_release(&diagnostics);
}

/* ---- names ---- */

static void names_are_read(void **state) {
    (void)state;
    shard_name name;
    status st = STATUS_INIT;
    text words;
    text_init(&words);
    assert_true(shard_read("3/16", &name, &st));
    assert_int_equal(name.index, 3);
    assert_int_equal(name.of, 16);
    assert_string_equal(name.set, "");
    assert_true(shard_read("65536/65536:night-4.7_x", &name, &st));
    shard_words(&name, &words);
    assert_string_equal(words.data, "65536/65536:night-4.7_x");
    text_release(&words);
}

static void what_is_no_shard_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",        "1",       "1/",    "/1",      "0/4",
        "5/4",     "1/0",     "-1/4",  "+1/4",    " 1/4",
        "1/4 ",    "1/4:",    "a/b",   "1/65537", "1/4/4",
        "1/4:a b", "1/4:a/b", "0x1/4", "1.5/4",   "1/18446744073709551617"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        shard_name name;
        status st = STATUS_INIT;
        assert_false(shard_read(wrong[i], &name, &st));
        assert_int_equal(st.code, STATUS_INVALID);
        assert_non_null(strstr(st.message, "--shard"));
    }
    shard_name name;
    status st = STATUS_INIT;
    assert_false(shard_read("0/4", &name, &st));
    assert_non_null(strstr(st.message, "the first is 1/4"));
}

/* ---- parts ---- */

/* The shard of each case, and the load of each shard. */
typedef struct placement {
    int shard_of[7];
    char names[7][32];
    int count;
    char digest[65];
    uint64_t loads[8];
} placement;

static void place(bool reversed, uint32_t of, placement *out) {
    *out = (placement){0};
    for (uint32_t i = 1; i <= of; i++) {
        corpus c;
        load(&c, reversed);
        shard_take(&c, &(shard_request){.name = {.index = i, .of = of}});
        assert_int_equal(c.cases.count + c.elsewhere.count, 7);
        assert_int_equal(json_integer_value(json_object_get(c.shard, "total")), 7);
        assert_true(!*out->digest || strcmp(out->digest, json_text_at(c.shard, "digest")) == 0);
        snprintf(out->digest, sizeof out->digest, "%s", json_text_at(c.shard, "digest"));
        size_t k;
        const json_t *one;
        json_array_foreach(json_object_get(c.shard, "cases"), k, one) {
            assert_string_equal(json_text_at(one, "case"), c.cases.items[k].name);
            snprintf(out->names[out->count], sizeof out->names[0], "%s", json_text_at(one, "case"));
            out->shard_of[out->count++] = (int)i;
            out->loads[i] += (uint64_t)json_integer_value(json_object_get(one, "cost_ns"));
        }
        corpus_release(&c);
    }
}

static int shard_of(const placement *p, const char *name) {
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->names[i], name) == 0)
            return p->shard_of[i];
    fail_msg("%s is in no shard", name);
    return 0;
}

static void each_case_is_in_one_shard(void **state) {
    (void)state;
    for (uint32_t of = 1; of <= 7; of++) {
        placement p;
        map seen;
        place(false, of, &p);
        map_init(&seen);
        for (int i = 0; i < p.count; i++) {
            assert_false(map_get(&seen, p.names[i], NULL));
            map_put(&seen, p.names[i], 1);
        }
        assert_int_equal(p.count, 7);
        map_release(&seen);
    }
}

static void the_order_of_files_has_no_say(void **state) {
    (void)state;
    for (uint32_t of = 1; of <= 5; of++) {
        placement a, b;
        place(false, of, &a);
        place(true, of, &b);
        assert_string_equal(a.digest, b.digest);
        for (int i = 0; i < a.count; i++)
            assert_int_equal(a.shard_of[i], shard_of(&b, a.names[i]));
    }
}

/* The two dear cases, which are alone dearer than all others together, come apart. */
static void costs_are_balanced(void **state) {
    (void)state;
    placement p;
    place(false, 2, &p);
    assert_int_not_equal(shard_of(&p, "twice/large"), shard_of(&p, "square/e"));
    assert_int_equal(shard_of(&p, "twice/large"), 1);
    uint64_t most = p.loads[1] > p.loads[2] ? p.loads[1] : p.loads[2];
    assert_true(most * 10 < (p.loads[1] + p.loads[2]) * 6);
}

static void more_shards_than_cases_leave_some_empty(void **state) {
    (void)state;
    corpus c;
    load(&c, false);
    shard_take(&c, &(shard_request){.name = {.index = 8, .of = 8}});
    assert_int_equal(c.cases.count, 0);
    assert_int_equal(c.elsewhere.count, 7);
    assert_int_equal(json_array_size(json_object_get(c.shard, "cases")), 0);
    corpus_release(&c);
}

static void kernels_stay_whole_where_they_are_the_units(void **state) {
    (void)state;
    for (uint32_t i = 1; i <= 2; i++) {
        corpus c;
        load(&c, false);
        shard_take(&c, &(shard_request){.name = {.index = i, .of = 2}, .unit = SHARD_KERNELS});
        for (size_t k = 1; k < c.cases.count; k++)
            assert_ptr_equal(c.cases.items[k].kernel, c.cases.items[0].kernel);
        assert_int_equal(json_array_size(json_object_get(c.shard, "cases")), 1);
        corpus_release(&c);
    }
}

/* Shards of other options are of another list: what a case costs is in the digest. */
static void backends_that_were_named_are_in_the_digest(void **state) {
    (void)state;
    corpus a, b;
    load(&a, false);
    load(&b, false);
    shard_request request = {.name = {.index = 1, .of = 2}};
    shard_take(&a, &request);
    request.backends[BACKEND_CPU] = request.backends[BACKEND_INTERP] = true;
    shard_take(&b, &request);
    assert_string_not_equal(json_text_at(a.shard, "digest"), json_text_at(b.shard, "digest"));
    corpus_release(&a);
    corpus_release(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(what_is_no_shard_is_refused),
        cmocka_unit_test(each_case_is_in_one_shard),
        cmocka_unit_test(the_order_of_files_has_no_say),
        cmocka_unit_test(costs_are_balanced),
        cmocka_unit_test(more_shards_than_cases_leave_some_empty),
        cmocka_unit_test(kernels_stay_whole_where_they_are_the_units),
        cmocka_unit_test(backends_that_were_named_are_in_the_digest),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
