/* test_replay.c - what tsr replay says of packs that it cannot or will not run. Nothing here starts
 * a worker: these verdicts come before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay.h"
#include "repro/pack.h"
#include "test/test.h"

static const char source[] = "@cases(case(\"a\"))\n@kernel\ndef f(x: Tensor[3, f32]) -> "
                             "Tensor[3, f32]:\n    return x + x\n";

/* A pack of one member whose manifest is `text`; the verdict on it. */
static repro_verdict judge(const char *text, const char *member, replay *out) {
    char path[] = "/tmp/test-replay-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    json_t *about = json_loads(text, 0, NULL);
    assert_non_null(about);
    pack_member members[] = {{member, source, sizeof source - 1}};
    status st = STATUS_INIT;
    assert_true(pack_write(path, about, members, 1, &st));
    json_decref(about);
    replay_request request = {path, NULL};
    assert_true(replay_run(&request, out, &st));
    unlink(path);
    return out->verdict;
}

#define CASE(BACKEND, ISA, FAULT)                                                                  \
    "\"case\": {\"kernel\": \"f\", \"case\": \"a\", \"backend\": \"" BACKEND                       \
    "\", \"profile\": \"strict\", \"threads\": 1, \"seed\": 1, \"timeout_s\": 5, "                 \
    "\"memory_mib\": 0, \"isa\": " ISA ", \"fault\": " FAULT "}"
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
    {"{" CASE("interp", "null", "\"gremlin\"") ", " OUTCOME ", \"numerics_version\": 1}",
     "source/f.tsr", INCOMPATIBLE, "gremlin"},
    {"{" CASE("interp", "\"x86-64-v9\"", "null") ", " OUTCOME ", \"numerics_version\": 1}",
     "source/f.tsr", INCOMPATIBLE, "ISA"},
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

static void test_no_pack(void **state) {
    (void)state;
    replay r;
    status st = STATUS_INIT;
    replay_request request = {"/nonexistent.lz4", NULL};
    assert_false(replay_run(&request, &r, &st));
    assert_int_equal(st.code, STATUS_NOT_FOUND);
    replay_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_pack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
