/* test_policy.c - the policy file: each key has an effect, shown by two values of it; and whatever
 * is wrong with a file is told with its line and what to write.
 *
 * Memory that a process keeps is the process's, so each try is a process of its own. */
#include "test/test.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "nvtx.h"
#include "policy.h"
#include "test/abi_fixture.h"

enum { BLOCK_BYTES = 8 << 20, PAGE_BYTES = 4096 };

static char directory[64], policy_path[96], spans_path[96], marks_path[96];

static int set_up_all(void **state) {
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/tsr-policy-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(policy_path, sizeof policy_path, "%s/policy.json", directory);
    snprintf(spans_path, sizeof spans_path, "%s/spans.jsonl", directory);
    snprintf(marks_path, sizeof marks_path, "%s/marks", directory);
    return setenv(POLICY_FILE, policy_path, 1) + setenv("FAKE_NVTX_LOG", marks_path, 1) +
           setenv(NVTX_LIBRARY, FAKE_NVTX, 1) + unsetenv("TRACEPARENT");
}

static int tear_down_all(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static void write_text(const char *path, const char *words) {
    status st = STATUS_INIT;
    assert_true(file_write_atomic(path, words, strlen(words), &st));
}

/* The file with these groups; %s in them is the spans' file. */
static void write_policy(const char *groups) {
    text all;
    text_init(&all);
    text_printf(&all, "{\"schema\": \"tsr.policy/1\"%s", *groups ? ", " : "");
    const char *place = strstr(groups, "%s");
    if (place)
        text_printf(&all, "%.*s%s%s", (int)(place - groups), groups, spans_path, place + 2);
    else
        text_append(&all, groups);
    text_append(&all, "}");
    write_text(policy_path, all.data);
    text_release(&all);
    (void)unlink(spans_path);
    (void)unlink(marks_path);
}

/* The answer of a process of its own under a policy: a number below 200. */
static int in_process(const char *groups, int (*run)(void)) {
    int ended;
    write_policy(groups);
    pid_t child = fork();
    if (child == 0)
        _exit(run());
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    return WEXITSTATUS(ended);
}

/* ---- memory ---- */

/* Pages of the block that are there, in hundredths; -1: nothing is mapped. */
static int resident(const void *block) {
    static unsigned char pages[BLOCK_BYTES / PAGE_BYTES];
    size_t there = 0;
    if (mincore((void *)(uintptr_t)block, BLOCK_BYTES, pages) != 0)
        return -1;
    for (size_t i = 0; i < sizeof pages; i++)
        there += pages[i] & 1;
    return (int)(there * 100 / sizeof pages);
}

static int is_block_kept(void) {
    tsr_context_t context;
    void *block;
    if (tsrCreateContext(&context) != TSR_SUCCESS ||
        tsrAlloc(context, BLOCK_BYTES, TSR_ALLOC_ZERO, &block) != TSR_SUCCESS ||
        tsrFree(context, block) != TSR_SUCCESS)
        return 199;
    return resident(block) == 100;
}

/* The same two policies in YAML, with all that people write there. */
static int in_process_yaml(const char *kept) {
    text all;
    int ended;
    text_init(&all);
    text_printf(&all,
                "# what is kept\n%%YAML 1.1\n---\nschema: 'tsr.policy/1'\nmemory:\n"
                "    # of each kind\n    kept: %s\nprofiling: {nvtx: false, \"level\": off}\n...\n",
                kept);
    write_text(policy_path, all.data);
    text_release(&all);
    pid_t child = fork();
    if (child == 0)
        _exit(is_block_kept());
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    return WEXITSTATUS(ended);
}

static void yaml_says_the_same(void **state) {
    (void)state;
    assert_int_equal(in_process_yaml("64 MiB"), 1);
    assert_int_equal(in_process_yaml("\"4 MiB\""), 0);
    assert_int_equal(in_process_yaml(">-\n     4\n     MiB"), 0);
}

static void memory_that_is_freed_is_kept_up_to_a_bound(void **state) {
    (void)state;
    assert_int_equal(in_process("\"memory\": {\"kept\": \"64 MiB\"}", is_block_kept), 1);
    assert_int_equal(in_process("\"memory\": {\"kept\": \"4 MiB\"}", is_block_kept), 0);
    assert_int_equal(in_process("\"memory\": {\"kept\": \"0 B\"}", is_block_kept), 0);
    assert_int_equal(in_process("", is_block_kept), 1);
}

static int share_there_before_use(void) {
    tsr_context_t context;
    void *block;
    if (tsrCreateContext(&context) != TSR_SUCCESS ||
        tsrAlloc(context, BLOCK_BYTES, TSR_ALLOC_DEFAULT, &block) != TSR_SUCCESS)
        return 199;
    return resident(block);
}

static void memory_is_there_from_the_start(void **state) {
    (void)state;
    assert_int_equal(in_process("\"memory\": {\"filled\": \"16 MiB\"}", share_there_before_use),
                     100);
    assert_int_equal(in_process("\"memory\": {\"filled\": \"0 B\"}", share_there_before_use), 0);
    assert_int_equal(in_process("", share_there_before_use), 0);
}

/* ---- the watchdog ---- */

static int watch_a_slow_launch(void) {
    fixture f;
    set_up_probe(&f, 1, 0, "phase_spin");
    f.a[0] = 0;
    return launch(&f, NULL) == TSR_ETIMEOUT &&
           strstr(tsrGetLastError(), "did not end within the watchdog's 20 ms") != NULL;
}

static int watch_a_launch(void) {
    fixture f;
    set_up(&f, 1, 0);
    return launch(&f, NULL) == TSR_SUCCESS;
}

static void the_watchdog_is_set(void **state) {
    (void)state;
    assert_int_equal(in_process("\"launch\": {\"watchdog\": \"20 ms\"}", watch_a_slow_launch), 1);
    assert_int_equal(in_process("\"launch\": {\"watchdog\": \"3600 s\"}", watch_a_launch), 1);
}

/* ---- spans ---- */

static int launch_and_copy(void) {
    fixture f;
    float there[KERNEL_CELLS];
    set_up(&f, 2, 0);
    for (int i = 0; i < 3; i++)
        OK(launch(&f, NULL));
    OK(tsrCopy(f.context, there, f.out, sizeof there));
    tear_down(&f);
    return 0;
}

static const char *attribute(const json_t *span, const char *name) {
    size_t i;
    const json_t *one, *value;
    json_array_foreach(json_object_get(span, "attributes"), i, one) {
        if (strcmp(json_string_value(json_object_get(one, "key")), name) != 0)
            continue;
        value = json_object_get(one, "value");
        const char *words = json_string_value(json_object_get(value, "stringValue"));
        return words ? words : json_string_value(json_object_get(value, "intValue"));
    }
    return "";
}

/* All spans of the file: an array. */
static json_t *read_spans(void) {
    json_t *all = json_array();
    char *data;
    size_t size;
    status st = STATUS_INIT;
    if (!file_exists(spans_path))
        return all;
    assert_true(file_read(spans_path, 1 << 24, &data, &size, &st));
    for (char *line = strtok(data, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *document = json_loads(line, 0, NULL);
        json_t *resource = json_array_get(json_object_get(document, "resourceSpans"), 0);
        json_t *scope = json_array_get(json_object_get(resource, "scopeSpans"), 0);
        assert_true(json_is_object(json_object_get(resource, "resource")));
        assert_string_equal(
            json_string_value(json_object_get(json_object_get(scope, "scope"), "name")), "tessera");
        json_array_extend(all, json_object_get(scope, "spans"));
        json_decref(document);
    }
    free(data);
    return all;
}

static size_t count_kind(const json_t *spans, const char *kind) {
    size_t i, count = 0;
    const json_t *one;
    json_array_foreach(spans, i, one) count += strcmp(attribute(one, "tessera.kind"), kind) == 0;
    return count;
}

static uint64_t time_of(const json_t *span, const char *name) {
    return strtoull(json_string_value(json_object_get(span, name)), NULL, 10);
}

static const json_t *span_of(const json_t *spans, const char *id) {
    size_t i;
    const json_t *one;
    json_array_foreach(spans, i, one) {
        if (strcmp(json_string_value(json_object_get(one, "spanId")), id) == 0)
            return one;
    }
    return NULL;
}

/* Ids of 16 and 8 bytes, one trace, and each span within the one that it is part of. */
static void check_spans(const json_t *spans) {
    size_t i;
    const json_t *one;
    const char *trace = json_string_value(json_object_get(json_array_get(spans, 0), "traceId"));
    size_t roots = 0;
    json_array_foreach(spans, i, one) {
        const char *id = json_string_value(json_object_get(one, "spanId")),
                   *parent = json_string_value(json_object_get(one, "parentSpanId"));
        assert_string_equal(json_string_value(json_object_get(one, "traceId")), trace);
        assert_int_equal(strlen(trace), 32);
        assert_int_equal(strlen(id), 16);
        assert_int_equal(strspn(id, "0123456789abcdef"), 16);
        assert_ptr_equal(span_of(spans, id), one);
        assert_true(time_of(one, "startTimeUnixNano") <= time_of(one, "endTimeUnixNano"));
        roots += *parent == '\0';
        const json_t *whole = *parent ? span_of(spans, parent) : one;
        assert_non_null(whole);
        assert_true(time_of(whole, "startTimeUnixNano") <= time_of(one, "startTimeUnixNano"));
        assert_true(time_of(one, "endTimeUnixNano") <= time_of(whole, "endTimeUnixNano"));
    }
    assert_int_equal(roots, 1);
}

static void launches_are_spans(void **state) {
    (void)state;
    assert_int_equal(
        in_process("\"profiling\": {\"level\": \"launches\", \"spans\": \"%s\"}", launch_and_copy),
        0);
    json_t *spans = read_spans();
    check_spans(spans);
    assert_int_equal(count_kind(spans, "launch"), 3);
    assert_int_equal(count_kind(spans, "host"), 4); /* three calls, and the context */
    assert_int_equal(count_kind(spans, "copy"), 1);
    assert_int_equal(json_array_size(spans), 8);
    json_decref(spans);
}

static void phases_are_spans_of_their_launch(void **state) {
    (void)state;
    assert_int_equal(
        in_process("\"profiling\": {\"level\": \"phases\", \"spans\": \"%s\"}", launch_and_copy),
        0);
    json_t *spans = read_spans(), *one;
    size_t i, phases = 0;
    check_spans(spans);
    json_array_foreach(spans, i, one) {
        const json_t *whole =
            span_of(spans, json_string_value(json_object_get(one, "parentSpanId")));
        phases += whole && strcmp(attribute(whole, "tessera.kind"), "launch") == 0;
    }
    assert_int_equal(phases, 3 * 2); /* phases of the kernel */
    json_decref(spans);
}

static void nothing_is_told_where_nothing_was_asked_for(void **state) {
    (void)state;
    assert_int_equal(
        in_process("\"profiling\": {\"level\": \"off\", \"nvtx\": false}", launch_and_copy), 0);
    assert_false(file_exists(spans_path));
    assert_false(file_exists(marks_path));
}

static void the_file_can_have_the_process_in_its_name(void **state) {
    (void)state;
    text groups, path;
    int ended;
    text_init(&groups);
    text_init(&path);
    text_printf(&groups, "\"profiling\": {\"level\": \"launches\", \"spans\": \"%s/of-%%p\"}",
                directory);
    write_policy(groups.data);
    pid_t child = fork();
    if (child == 0)
        _exit(launch_and_copy());
    assert_int_equal(waitpid(child, &ended, 0), child);
    text_printf(&path, "%s/of-%d", directory, (int)child);
    assert_true(file_exists(path.data));
    text_release(&groups);
    text_release(&path);
}

enum { THREADS = 4, LAUNCHES = 100 };

static void *launch_often(void *argument) {
    fixture own = *(const fixture *)argument;
    void *out;
    OK(tsrAlloc(own.context, KERNEL_CELLS * sizeof(float), TSR_ALLOC_DEFAULT, &out));
    own.args[0] = &own.a;
    own.args[1] = &out;
    for (int i = 0; i < LAUNCHES; i++)
        OK(launch(&own, NULL));
    OK(tsrFree(own.context, out));
    return NULL;
}

static int launch_from_threads(void) {
    fixture f;
    pthread_t threads[THREADS];
    set_up(&f, 2, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_often, &f), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    tear_down(&f);
    return 0;
}

/* More than a batch, from threads that share the context. */
static void no_span_is_lost_between_threads(void **state) {
    (void)state;
    assert_int_equal(in_process("\"profiling\": {\"level\": \"phases\", \"spans\": \"%s\"}",
                                launch_from_threads),
                     0);
    json_t *spans = read_spans();
    assert_int_equal(count_kind(spans, "launch"), THREADS * LAUNCHES);
    assert_int_equal(count_kind(spans, "host"), THREADS * LAUNCHES + 1);
    assert_int_equal(json_array_size(spans), THREADS * LAUNCHES * 4 + 1); /* two phases each */
    json_decref(spans);
}

static int leave_without_the_end(void) {
    fixture f;
    set_up(&f, 1, 0);
    OK(launch(&f, NULL));
    exit(0); /* with what is registered for the end */
}

static void a_context_need_not_be_destroyed(void **state) {
    (void)state;
    assert_int_equal(in_process("\"profiling\": {\"level\": \"launches\", \"spans\": \"%s\"}",
                                leave_without_the_end),
                     0);
    json_t *spans = read_spans();
    check_spans(spans);
    assert_int_equal(count_kind(spans, "launch"), 1);
    json_decref(spans);
}

/* W3C's traceparent: the spans of this process are part of the caller's. */
static void spans_are_part_of_a_trace_that_is_there(void **state) {
    (void)state;
    setenv("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", 1);
    assert_int_equal(
        in_process("\"profiling\": {\"level\": \"launches\", \"spans\": \"%s\"}", launch_and_copy),
        0);
    unsetenv("TRACEPARENT");
    json_t *spans = read_spans(), *one;
    size_t i, outer = 0;
    json_array_foreach(spans, i, one) {
        assert_string_equal(json_string_value(json_object_get(one, "traceId")),
                            "0af7651916cd43dd8448eb211c80319c");
        outer += strcmp(json_string_value(json_object_get(one, "parentSpanId")),
                        "b7ad6b7169203331") == 0;
    }
    assert_int_equal(outer, 1);
    json_decref(spans);
}

/* ---- NVTX ---- */

static void ranges_are_told_to_nvtx(void **state) {
    (void)state;
    char *data;
    size_t size;
    status st = STATUS_INIT;
    assert_int_equal(in_process("\"profiling\": {\"nvtx\": true}", launch_and_copy), 0);
    assert_true(file_read(marks_path, 1 << 20, &data, &size, &st));
    assert_string_equal(data, "push affine\npop\npush affine\npop\npush affine\npop\n"
                              "push copy\npop\n");
    free(data);
    assert_false(file_exists(spans_path));
}

static void nvtx_that_is_not_here_is_told(void **state) {
    (void)state;
    tsr_context_t context;
    write_policy("\"profiling\": {\"nvtx\": true}");
    setenv(NVTX_LIBRARY, "/nowhere/libnvtx.so", 1);
    REFUSED(tsrCreateContext(&context), TSR_EUNAVAILABLE, "profiling.nvtx");
    REFUSED(tsrCreateContext(&context), TSR_EUNAVAILABLE, "/nowhere/libnvtx.so");
    setenv(NVTX_LIBRARY, FAKE_NVTX, 1);
}

/* ---- what is wrong ---- */

static void refuse(const char *body, const char *words) {
    tsr_context_t context;
    write_text(policy_path, body);
    REFUSED(tsrCreateContext(&context), TSR_EINVAL, words);
    REFUSED(tsrCreateContext(&context), TSR_EINVAL, "policy.json:");
}

static void what_is_wrong_is_told_with_its_line(void **state) {
    (void)state;
    static const struct {
        const char *body, *words;
    } cases[] = {
        {"", ":1:1: there is nothing in it"},
        {"[\n1,\n", ":3:1: neither YAML nor JSON: "},
        {"[]", ":1:1: a policy is an object: {\"schema\": \"tsr.policy/1\"}"},
        {"{}", ":1:1: schema wants \"tsr.policy/1\""},
        {"{\n\"schema\": \"tsr.policy/2\"}",
         ":2:1: schema wants \"tsr.policy/1\", not \"tsr.policy/2\""},
        {"{\"schema\": \"tsr.policy/1\",\n\n\"memroy\": {}}",
         ":3:1: memroy is no group of keys; there are schema, memory, launch, comm, profiling"},
        {"{\"schema\": \"tsr.policy/1\",\n\"memory\": 7}", ":2:1: memory wants an object"},
        {"{\"schema\": \"tsr.policy/1\", \"memory\": {\n\"keep\": \"1 MiB\"}}",
         ":2:1: memory.keep is no key; memory has kept, filled"},
        {"{\"schema\": \"tsr.policy/1\", \"memory\": {\n\n\"kept\": \"1 MB\"}}",
         ":3:1: memory.kept wants a text of a whole number and B, KiB, MiB or GiB, such as \"256 "
         "MiB\", not \"1 MB\""},
        {"{\"schema\": \"tsr.policy/1\", \"memory\": {\"kept\": 5}}", "not 5"},
        {"{\"schema\": \"tsr.policy/1\", \"memory\": {\"kept\": \"-1 B\"}}", "not \"-1 B\""},
        {"{\"schema\": \"tsr.policy/1\", \"memory\": {\"kept\": \"99999999999 GiB\"}}",
         "memory.kept wants"},
        {"{\"schema\": \"tsr.policy/1\", \"memory\": {\"kept\": \"1 MiB\",\n \"filled\": \"2 "
         "MiB\"}}",
         ":2:2: memory.filled is more than memory.kept"},
        {"{\"schema\": \"tsr.policy/1\", \"launch\": {\"watchdog\": \"2\"}}",
         "launch.watchdog wants a text of a whole number and ns, us, ms or s"},
        {"{\"schema\": \"tsr.policy/1\", \"profiling\": {\"level\": \"all\"}}",
         "profiling.level wants \"off\", \"launches\" or \"phases\", not \"all\""},
        {"{\"schema\": \"tsr.policy/1\", \"profiling\": {\"level\": \"phases\"}}",
         "add \"spans\": \"FILE\""},
        {"{\"schema\": \"tsr.policy/1\", \"profiling\": {\"spans\": \"x\"}}", "add \"level\""},
        {"{\"schema\": \"tsr.policy/1\", \"profiling\": {\"spans\": \"\"}}",
         "profiling.spans wants a text, the path of a file"},
        {"{\"schema\": \"tsr.policy/1\", \"profiling\": {\"nvtx\": \"yes\"}}",
         "profiling.nvtx wants true or false, not \"yes\""},
        {"{\"schema\": \"tsr.policy/1\", \"launch\": {\"watchdog\": \"1 s\",\n\"watchdog\": \"2 "
         "s\"}}",
         ":2:1: the key watchdog is there twice"},
        {"schema: tsr.policy/1\nmemory:\n  kept: 1 MB\n", ":3:3: memory.kept wants"},
        {"schema: tsr.policy/1\nmemory:\n  kept: 5\n", "not 5"},
        {"schema: tsr.policy/1\nmemory: 1 MiB\n", ":2:1: memory wants an object"},
        {"schema: tsr.policy/1\nprofiling: {nvtx: \"true\"}\n", "not \"true\""},
        {"schema: tsr.policy/1\nprofiling: {nvtx: yes}\n", ":2:13: profiling.nvtx wants"},
        {"schema: tsr.policy/1\nprofiling: {level: null}\n", "not null"},
        {"schema: tsr.policy/1\nmemory: {kept: 1 MiB}\nmemory: {kept: 2 MiB}\n",
         ":3:1: the key memory is there twice"},
        {"schema: tsr.policy/1\nmemory: &a {kept: 1 MiB}\n", ":2:9: &a: aliases and anchors"},
        {"a: &a [x, x]\nb: &b [*a, *a]\n", ":1:4: &a: aliases and anchors"},
        {"schema: tsr.policy/1\nmemory: *a\n", ":2:9: *a: aliases and anchors"},
        {"schema: tsr.policy/1\nmemory: !!map {kept: 1 MiB}\n", "tags are not taken"},
        {"schema: tsr.policy/1\n---\nschema: tsr.policy/1\n", ":2:1: a second document"},
        {"schema: tsr.policy/1\n? [memory]\n: 1\n", ":2:3: a key is a text"},
        {"schema: tsr.policy/1\nmemory:\n\tkept: 1 MiB\n", ":3:1: neither YAML nor JSON: "},
        {"[[[[[[[[[[[[[[[[[[", ":1:17: more than 16 levels"},
        {"schema: tsr.policy/1\nmemory: \"\\0\"\n", ":2:9: a text has no byte"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        refuse(cases[i].body, cases[i].words);
}

static void a_file_that_is_not_there_is_told(void **state) {
    (void)state;
    tsr_context_t context;
    (void)unlink(policy_path);
    REFUSED(tsrCreateContext(&context), TSR_EINVAL, "TESSERA_POLICY: ");
}

static void spans_that_cannot_be_written_are_told(void **state) {
    (void)state;
    tsr_context_t context;
    write_policy("\"profiling\": {\"level\": \"launches\", \"spans\": \"/nowhere/spans\"}");
    REFUSED(tsrCreateContext(&context), TSR_EINVAL,
            "profiling.spans in /nowhere/spans, which cannot be written");
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_is_freed_is_kept_up_to_a_bound),
        cmocka_unit_test(yaml_says_the_same),
        cmocka_unit_test(memory_is_there_from_the_start),
        cmocka_unit_test(the_watchdog_is_set),
        cmocka_unit_test(launches_are_spans),
        cmocka_unit_test(phases_are_spans_of_their_launch),
        cmocka_unit_test(nothing_is_told_where_nothing_was_asked_for),
        cmocka_unit_test(the_file_can_have_the_process_in_its_name),
        cmocka_unit_test(no_span_is_lost_between_threads),
        cmocka_unit_test(a_context_need_not_be_destroyed),
        cmocka_unit_test(spans_are_part_of_a_trace_that_is_there),
        cmocka_unit_test(ranges_are_told_to_nvtx),
        cmocka_unit_test(nvtx_that_is_not_here_is_told),
        cmocka_unit_test(what_is_wrong_is_told_with_its_line),
        cmocka_unit_test(a_file_that_is_not_there_is_told),
        cmocka_unit_test(spans_that_cannot_be_written_are_told),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
