/* test_replay.c - what tsr replay says of packs that it cannot or will not run. Nothing here starts
 * a worker: these verdicts come before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repro/pack.h"
#include "run/pack_case.h"
#include "run/pack_fields.h"
#include "run/replay.h"
#include "test/test.h"

static const char source[] = "@cases(case(\"a\"))\n@kernel\ndef f(x: Tensor[3, f32]) -> "
                             "Tensor[3, f32]:\n    return x + x\n";

/* A pack of one member whose manifest is `words`; the verdict on it. */
static repro_verdict judge(const char *words, const char *member, replay *out) {
    /* A pack is synced to the disk, which takes longest where there is one. */
    char in_memory[] = "/dev/shm/test-replay-XXXXXX", on_disk[] = "/tmp/test-replay-XXXXXX";
    char *path = access("/dev/shm", W_OK) == 0 ? in_memory : on_disk;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    json_t *about = json_loads(words, 0, NULL);
    assert_non_null(about);
    pack_member members[] = {{member, source, sizeof source - 1}};
    status st = STATUS_INIT;
    assert_true(pack_write(path, about, members, 1, &st));
    json_decref(about);
    replay_request request = {.path = path, .timeout_seconds = 5, .threads = 8};
    assert_true(replay_run(&request, out, &st));
    unlink(path);
    return out->verdict;
}

#define CASE(BACKEND, ISA, FAULT)                                                                  \
    "\"case\": {\"kernel\": \"f\", \"case\": \"a\", \"backend\": \"" BACKEND                       \
    "\", \"profile\": \"strict\", \"threads\": 1, \"seed\": 1, \"timeout_s\": 5, "                 \
    "\"memory_mib\": 0, \"isa\": " ISA ", \"fault\": " FAULT "}"
#define OTHERS "\"implementation\": {\"kind\": \"python\", \"name\": \"f.py\", \"symbol\": \"f\"}"
#define OPINION(PASS)                                                                              \
    "\"outcome\": {\"status\": \"mismatch\", \"stage\": \"opinion\", \"sha256\": [], "             \
    "\"opinion\": {\"pass\": \"" PASS "\"}}"
#define OUTCOME "\"outcome\": {\"status\": \"ok\", \"stage\": \"\", \"sha256\": []}"

typedef struct refusal {
    const char *manifest, *member;
    repro_verdict verdict;
    const char *said;
} refusal;

static const refusal refusals[] = {
    {"{" CASE("ptx", "null", "null") ", " OUTCOME ", \"numerics_version\": 1}", "source/f.tsr",
     INCOMPATIBLE, "ptx"},
    {"{" CASE("interp", "null", "null") ", " OUTCOME ", \"numerics_version\": 99}", "source/f.tsr",
     INCOMPATIBLE, "numerics"},
    {"{" CASE("cpu", "null", "\"gremlin\"") ", " OUTCOME ", \"numerics_version\": 1}",
     "source/f.tsr", INCOMPATIBLE, "gremlin"},
    {"{" CASE("interp", "\"x86-64-v9\"", "null") ", " OUTCOME ", \"numerics_version\": 1}",
     "source/f.tsr", INCOMPATIBLE, "ISA"},
    {"{" CASE("interp", "null", "\"zero\"") ", " OUTCOME ", \"numerics_version\": 1}",
     "source/f.tsr", INVALID_PACK, "interpreter"},
    {"{" CASE("interp", "null", "null, \"generic\": true") ", " OUTCOME
                                                           ", \"numerics_version\": 1}",
     "source/f.tsr", INVALID_PACK, "interpreter"},
    {"{" CASE("interp", "null", "null, \"schedule\": \"MR=4\"") ", " OUTCOME
                                                                ", \"numerics_version\": 1}",
     "source/f.tsr", INVALID_PACK, "interpreter"},
    {"{" CASE("implementation", "null", "null") ", " OUTCOME ", \"numerics_version\": 1}",
     "source/f.tsr", INVALID_PACK, "has an implementation"},
    {"{" CASE("cpu", "null", "null, " OTHERS) ", " OUTCOME ", \"numerics_version\": 1}",
     "source/f.tsr", INVALID_PACK, "has an implementation"},
    {"{" CASE("implementation", "null", "null, " OTHERS) ", " OUTCOME ", \"numerics_version\": 1}",
     "source/f.tsr", INCOMPATIBLE, "--with"},
    {"{" CASE("interp", "null",
              "null, \"relation\": {\"name\": \"batch\"}") ", " OUTCOME
                                                           ", \"numerics_version\": 1}",
     "source/f.tsr", INVALID_PACK, "relation"},
    {"{" CASE("interp", "null", "null, \"perturbed\": true") ", " OUTCOME
                                                             ", \"numerics_version\": 1}",
     "source/f.tsr", INVALID_PACK, "perturbed"},
    {"{" CASE("interp", "null",
              "null, \"set\": 2, \"recorded_inputs\": true") ", " OUTCOME
                                                             ", \"numerics_version\": 1}",
     "source/f.tsr", INVALID_PACK, "generated"},
    {"{" CASE("cpu", "null", "null") ", " OPINION("interpreter") ", \"numerics_version\": 1}",
     "source/f.tsr", INVALID_PACK, "held to code"},
    {"{" CASE("cpu", "null", "null") ", " OPINION("simplify") ", \"numerics_version\": 1}",
     "source/f.tsr", INCOMPATIBLE, "no second opinion of the pass simplify"},
    {"{" OUTCOME ", \"numerics_version\": 1}", "source/f.tsr", INVALID_PACK, "case"},
    {"{" CASE("interp", "null", "null") ", \"numerics_version\": 1}", "source/f.tsr", INVALID_PACK,
     "outcome"},
    {"{" CASE("interp", "null", "null") ", " OUTCOME ", \"numerics_version\": 1}", "notes.txt",
     INVALID_PACK, "source"},
};

static void test_refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        replay r;
        repro_verdict verdict = judge(refusals[i].manifest, refusals[i].member, &r);
        char *missing = json_dumps(r.missing, 0);
        if (verdict != refusals[i].verdict || r.result ||
            !strstr(verdict == INVALID_PACK ? r.why : missing, refusals[i].said))
            fail_msg("%zu: %s, %s %s", i, repro_verdict_name(verdict), r.why, missing);
        free(missing);
        replay_release(&r);
    }
}

/* ---- every field of a manifest, perturbed ---- */

#define DIGEST_A "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""

/* Sound, but for a backend that is not here: what is still sound when one field was changed is
 * INCOMPATIBLE, and nothing is run. */
static const char sound[] =
    "{\"case\": {\"kernel\": \"f\", \"case\": \"a\", \"backend\": \"ptx\", \"profile\": \"strict\","
    " \"isa\": null, \"threads\": 1, \"seed\": 1, \"fault\": null, \"timeout_s\": 5,"
    " \"memory_mib\": 0, \"unoptimised\": false, \"schedule\": null, \"generic\": false,"
    " \"relation\": {\"name\": \"batch\", \"dim\": \"N\", \"vary\": \"A=1\"},"
    " \"implementation\": {\"kind\": \"python\", \"name\": \"f.py\", \"symbol\": \"f\","
    " \"sha256\": " DIGEST_A "}},"
    " \"outcome\": {\"status\": \"ok\", \"stage\": \"\", \"why\": \"\", \"sha256\": [" DIGEST_A
    "], \"opinion\": {\"pass\": \"vjp\", \"operation\": \"tessera.vjp\"}},"
    " \"needs\": [{\"how\": \"read\", \"name\": \"f\", \"held\": true}],"
    " \"tsr\": {\"version\": \"1\", \"commit\": \"\", \"llvm\": \"19\"},"
    " \"host\": {\"cpu\": \"c\", \"isa\": \"x\", \"cores\": 2, \"memory_bytes\": 1, \"caches\":"
    " [{\"level\": \"L1\", \"bytes\": 1, \"shared\": true}], \"os\": \"o\", \"kernel\": \"k\","
    " \"virtualised\": true, \"counters\": \"none\", \"counters_why\": null},"
    " \"numerics_version\": 1, \"key\": null, \"inputs_sha256\": [" DIGEST_A "],"
    " \"schedule_hash\": null, \"module_hash\": " DIGEST_A ", \"parent\": \"aaaaaaaaaaaa\","
    " \"minimize\": {\"operations_before\": 2, \"operations\": 1, \"bytes_before\": 2, \"bytes\": "
    "1},"
    " \"bisect\": {\"place\": \"code\", \"suspects\": [\"code\"], \"against\": {\"differs\": null},"
    " \"run\": {\"number\": 1, \"turns\": [{\"line\": 1, \"turn\": 0}]},"
    " \"operation\": {\"name\": \"tessera.add\", \"line\": 1, \"column\": 1, \"number\": 1,"
    " \"of\": 1, \"operands\": 2, \"results\": 1},"
    " \"element\": {\"output\": \"out\", \"type\": \"f32\", \"index\": \"0,3\","
    " \"got\": \"0x0\", \"expected\": \"0x1\", \"differing\": 1, \"elements\": 1}}}";

/* Puts `value` (taken over; NULL: nothing) where the path leads. */
static void put(json_t *manifest, const char *path, json_t *value) {
    json_t *at = manifest;
    char part[64];
    for (;;) {
        size_t length = strcspn(path, ".");
        bool each = length > 2 && path[length - 1] == ']', last = path[length] == '\0';
        snprintf(part, sizeof part, "%.*s", (int)(length - (each ? 2 : 0)), path);
        json_t *next = json_object_get(at, part);
        if (last && each)
            value ? json_array_set_new(next, 0, value) : json_array_remove(next, 0);
        else if (last)
            value ? json_object_set_new(at, part, value) : json_object_del(at, part);
        if (last)
            return;
        at = each ? json_array_get(next, 0) : next;
        path += length + 1;
    }
}

/* As a pack, which is replayed. */
static void expect_verdict(const pack_field *f, const char *what, const json_t *manifest,
                           bool in_domain) {
    replay r;
    char *words = json_dumps(manifest, 0);
    repro_verdict verdict = judge(words, "source/f.tsr", &r);
    if (verdict != (in_domain ? INCOMPATIBLE : INVALID_PACK))
        fail_msg("%s %s: %s, %s", f->path, what, repro_verdict_name(verdict), r.why);
    replay_release(&r);
    free(words);
}

/* Asks the table alone, and for every eighth a pack, too. */
static void expect(const pack_field *f, const char *what, json_t *value, bool in_domain) {
    static unsigned count;
    text why;
    json_t *manifest = json_loads(sound, 0, NULL);
    put(manifest, f->path, value);
    if (count++ % 8 == 0)
        expect_verdict(f, what, manifest, in_domain);
    json_object_set_new(manifest, "schema", json_string("tsr.repro/1"));
    json_object_set_new(manifest, "members", json_array());
    text_init(&why);
    if (pack_fields_check(manifest, &why) != in_domain)
        fail_msg("%s %s: %s", f->path, what, why.data);
    if (!in_domain && (why.length == 0 || why.length > 500))
        fail_msg("%s %s: it says \"%s\"", f->path, what, why.data);
    text_release(&why);
    json_decref(manifest);
}

#define KIND(name) (1u << PACK_FIELD_##name)
#define WORDS (KIND(LABEL) | KIND(DEVICE) | KIND(TEXT) | KIND(VALUES))

/* JSON, and the kinds whose domain may have it. */
static const struct {
    const char *json;
    unsigned kinds;
} values[] = {
    {"true", KIND(BOOLEAN)},
    {"1.5", 0},
    {"-1", 0},
    {"-0.0", 0},
    {"1e300", 0},
    {"-9223372036854775808", 0},
    {"[[]]", 0},
    {"[null]", 0},
    {"[1]", 0},
    {"{\"x\": 1}", 0},
    {"{\"a.b\": 1}", 0},
    {"[\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"]", 0},
    {"[" DIGEST_A ", \"aa\"]", 0},
    {DIGEST_A, KIND(DIGEST) | KIND(IDENTIFIER) | WORDS},
    {"\"5\"", WORDS},
    {"\"x\"", KIND(IDENTIFIER) | WORDS},
    {"\"a b\"", KIND(TEXT)},
    {"\"../x\"", KIND(TEXT)},
    {"\"\\u001b[2J\"", KIND(TEXT)},
    {"\"\\n::error::x\"", KIND(TEXT)},
    {"\"\\u00f6\"", KIND(TEXT)},
};

static bool fits(const pack_field *f, int64_t size) {
    return size >= f->low && size <= f->high;
}

/* True where an object without anything in it is none. */
static bool needs_parts(const pack_field *f) {
    const pack_field *part;
    size_t length = strlen(f->path);
    for (size_t i = 0; (part = pack_field_at(i)); i++)
        if (part->required && strncmp(part->path, f->path, length) == 0 &&
            part->path[length] == '.' && !strpbrk(part->path + length + 1, ".["))
            return true;
    return false;
}

static void perturb_literally(const pack_field *f) {
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        json_t *value = json_loads(values[i].json, JSON_DECODE_ANY, NULL);
        bool in_domain = values[i].kinds >> f->kind & 1;
        if (json_is_string(value))
            in_domain = in_domain && (f->kind == PACK_FIELD_DIGEST ||
                                      fits(f, (int64_t)json_string_length(value)));
        expect(f, values[i].json, value, in_domain);
    }
    expect(f, "gone", NULL, !f->required || strstr(f->path, "[]") == f->path + strlen(f->path) - 2);
    expect(f, "null", json_null(), !f->required);
    expect(f, "[]", json_array(), f->kind == PACK_FIELD_ARRAY || f->kind == PACK_FIELD_DIGESTS);
    expect(f, "{}", json_object(), f->kind == PACK_FIELD_OBJECT && !f->required && !needs_parts(f));
    expect(f, "empty", json_string(""),
           f->low == 0 && ((KIND(TEXT) | KIND(LABEL) | KIND(VALUES)) >> f->kind & 1));
}

static json_t *letters(size_t count) {
    char *word = malloc(count + 1);
    memset(word, 'a', count);
    word[count] = '\0';
    json_t *made = json_string(word);
    free(word);
    return made;
}

static json_t *repeated(const char *json, int64_t count) {
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++)
        json_array_append_new(list, json_loads(json, JSON_DECODE_ANY, NULL));
    return list;
}

/* The ends of the domain, and just beyond. */
static void perturb_size(const pack_field *f) {
    switch (f->kind) {
    case PACK_FIELD_INTEGER:
        expect(f, "least", json_integer(f->low), true);
        expect(f, "less", json_integer(f->low - 1), false);
        expect(f, "as a text", json_string("1"), false);
        expect(f, "as a fraction", json_real((double)f->low), false);
        if (strcmp(f->path, "numerics_version") != 0)
            expect(f, "most", json_integer(f->high), true);
        if (f->high < INT64_MAX)
            expect(f, "more", json_integer(f->high + 1), false);
        return;
    case PACK_FIELD_DIGESTS:
        expect(f, "most", repeated(DIGEST_A, f->high), true);
        expect(f, "more", repeated(DIGEST_A, f->high + 1), false);
        return;
    case PACK_FIELD_ARRAY:
        expect(f, "more",
               repeated("{\"level\": \"L1\", \"bytes\": 1, \"shared\": true}", f->high + 1), false);
        return;
    case PACK_FIELD_IDENTIFIER:
    case PACK_FIELD_LABEL:
    case PACK_FIELD_DEVICE:
    case PACK_FIELD_VALUES:
    case PACK_FIELD_TEXT:
        expect(f, "longest", letters((size_t)f->high), true);
        expect(f, "longer", letters((size_t)f->high + 1), false);
        expect(f, "3 MB", letters((size_t)3 << 20), false);
        return;
    default:
        return;
    }
}

static void test_fields(void **state) {
    (void)state;
    const pack_field *f;
    pack_field whole = {"extra", PACK_FIELD_ANY, false, 0, 0};
    expect(&whole, "is in no table", json_true(), false);
    for (size_t i = 0; (f = pack_field_at(i)); i++) {
        if (f->kind == PACK_FIELD_ANY)
            continue;
        perturb_literally(f);
        perturb_size(f);
    }
}

/* Parts that a pack may not hold are not packed. */
static void test_part(void **state) {
    (void)state;
    text why;
    text_init(&why);
    json_t *item =
        pack_case_json(&(job){.kernel = "f", .case_name = "a", .profile = "quick"}, 1, 0);
    assert_false(pack_fields_check_part(item, "case", &why));
    assert_non_null(strstr(why.data, "case.backend"));
    json_decref(item);
    text_release(&why);
}

static void test_no_pack(void **state) {
    (void)state;
    replay r;
    status st = STATUS_INIT;
    char path[] = "/tmp/test-replay-XXXXXX"; /* of a file that is removed at once */
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    replay_request request = {.path = path, .timeout_seconds = 5, .threads = 8};
    assert_false(replay_run(&request, &r, &st));
    assert_int_equal(st.code, STATUS_NOT_FOUND);
    replay_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_part),
        cmocka_unit_test(test_no_pack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
