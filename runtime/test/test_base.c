/* test_base.c - status, arena, text, map, digests and whole files. */
#include "test/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/text.h"
#include "base/vec.h"

static void the_first_cause_wins(void **state) {
    (void)state;
    status st = STATUS_INIT;
    assert_false(status_set_errno(&st, ENOENT, "cannot open %s", "a.tsr"));
    assert_false(status_context(&st, "loading the %s", "case"));
    assert_int_equal(st.code, STATUS_NOT_FOUND);
    assert_string_equal(st.message,
                        "cannot open a.tsr: No such file or directory; loading the case");
    assert_false(status_set(NULL, STATUS_INVALID, "nobody listens"));
    assert_false(status_context(NULL, "nobody listens"));
    assert_string_equal(status_code_name(STATUS_TIMEOUT), "timeout");
}

static void a_long_message_is_cut_not_overrun(void **state) {
    (void)state;
    status st = STATUS_INIT;
    status_set(&st, STATUS_INVALID, "%0100d", 0);
    for (int i = 1; i < 100; i++)
        status_context(&st, "%0100d", i);
    assert_int_equal(strlen(st.message), sizeof st.message - 1);
}

static void arenas_give_zeroed_aligned_memory(void **state) {
    (void)state;
    arena a;
    arena_init(&a);
    for (int round = 0; round < 2; round++) {
        for (size_t size = 0; size < 3000; size += 7) {
            unsigned char *memory = arena_alloc(&a, size);
            assert_int_equal((uintptr_t)memory % 16, 0);
            for (size_t i = 0; i < size; i++)
                assert_int_equal(memory[i], 0);
            memset(memory, 0xff, size);
        }
        arena_reset(&a);
    }
    assert_non_null(arena_alloc(&a, (size_t)5 << 20));
    assert_string_equal(arena_printf(&a, "%s-%d", "tile", 7), "tile-7");
    assert_string_equal(arena_strndup(&a, "matmul", 3), "mat");
    assert_string_equal(arena_strdup(&a, ""), "");
    arena_release(&a);
}

static void text_grows_and_can_be_taken(void **state) {
    (void)state;
    text t;
    text_init(&t);
    for (int i = 0; i < 1000; i++)
        text_printf(&t, "%d,", i % 10);
    text_append_char(&t, '!');
    assert_int_equal(t.length, 2001);
    char *taken = text_take(&t);
    assert_int_equal(strlen(taken), 2001);
    assert_string_equal(t.data, "");
    free(taken);
    text_release(&t);
}

static void globs_match(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *string;
        bool matches;
    } cases[] = {
        {"*", "", true},
        {"*", "a/b", true},
        {"soft*", "softmax/row", true},
        {"*max", "softmax/row", false},
        {"s?ftmax", "softmax", true},
        {"[a-c]x", "bx", true},
        {"[!a-c]x", "bx", false},
        {"[]]", "]", true},
        {"[ab", "[ab", true},
        {"a*b*c", "a1b2b3c", true},
        {"a*b*c", "a1b2b3", false},
        {"", "a", false},
        {"*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (text_glob(cases[i].pattern, cases[i].string) != cases[i].matches)
            fail_msg("%s on %s", cases[i].pattern, cases[i].string);
}

static void suggestions_are_near(void **state) {
    (void)state;
    static const char *const names[] = {"softmax", "matmul", "layernorm", "max"};
    assert_int_equal(text_distance("softmax", "sotfmax"), 1);
    assert_int_equal(text_distance("", "abc"), 3);
    assert_int_equal(text_distance("kitten", "sitting"), 3);
    assert_string_equal(text_nearest("sofmtax", names, 4), "softmax");
    assert_string_equal(text_nearest("mxa", names, 4), "max");
    assert_null(text_nearest("conv", names, 4));
}

static void maps_keep_insertion_order(void **state) {
    (void)state;
    map m;
    map_init(&m);
    assert_false(map_get(&m, "0", NULL));
    char key[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "%d", i * 37 % 1000);
        map_put(&m, key, i);
    }
    map_put(&m, "37", -1);
    assert_int_equal(m.count, 1000);
    for (int i = 0; i < 1000; i++) {
        intptr_t value;
        snprintf(key, sizeof key, "%d", i * 37 % 1000);
        assert_string_equal(m.entries[i].key, key);
        assert_true(map_get(&m, key, &value));
        assert_int_equal(value, i == 1 ? -1 : i);
    }
    map_release(&m);
}

static void sha256_gives_the_published_digests(void **state) {
    (void)state;
    char hex[65];
    sha256 digest = sha256_of("abc", 3);
    sha256_hex(&digest, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_stream *s = sha256_stream_new();
    sha256_stream_update(s, "a", 1);
    sha256_stream_update(s, "bc", 2);
    sha256 streamed = sha256_stream_finish(s);
    assert_memory_equal(&streamed, &digest, sizeof digest);
    digest = sha256_of(NULL, 0);
    sha256_hex(&digest, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void files_are_written_whole_or_not_at_all(void **state) {
    (void)state;
    char folder[] = "/tmp/tsr-file-XXXXXX", path[128], *data;
    size_t size;
    status st = STATUS_INIT;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a/b/c", folder);
    assert_true(file_make_dirs(path, &st));
    assert_true(file_make_dirs(path, &st));
    snprintf(path, sizeof path, "%s/a/b/c/data", folder);
    assert_false(file_exists(path));
    assert_true(file_write_atomic(path, "one", 3, &st));
    assert_true(file_write_atomic(path, "three", 5, &st));
    assert_true(file_read(path, 5, &data, &size, &st));
    assert_int_equal(size, 5);
    assert_string_equal(data, "three");
    free(data);
    char link[130];
    snprintf(link, sizeof link, "%s/a/b/c/link", folder);
    assert_int_equal(symlink("data", link), 0);
    assert_true(file_write_atomic(link, "seven", 5, &st));
    struct stat info;
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_true(file_read(path, 5, &data, &size, &st));
    assert_string_equal(data, "seven");
    free(data);
    assert_false(file_read(path, 4, &data, &size, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    st = (status)STATUS_INIT;
    assert_false(file_read(folder, 100, &data, &size, &st));
    assert_non_null(strstr(st.message, "not a regular file"));
    st = (status)STATUS_INIT;
    assert_false(file_make_dirs(path, &st));
    assert_false(file_write_atomic("/dev/null/absent/x", "", 0, NULL));
    char command[160];
    snprintf(command, sizeof command, "test $(find %s -type f | wc -l) = 1 && rm -r %s", folder,
             folder);
    assert_int_equal(system(command), 0);
}

static void vectors_grow(void **state) {
    (void)state;
    VEC(int) v = {0};
    for (int i = 0; i < 100; i++)
        vec_push(&v, i);
    assert_int_equal(vec_pop(&v), 99);
    assert_int_equal(v.items[50], 50);
    vec_release(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_cause_wins),
        cmocka_unit_test(a_long_message_is_cut_not_overrun),
        cmocka_unit_test(arenas_give_zeroed_aligned_memory),
        cmocka_unit_test(text_grows_and_can_be_taken),
        cmocka_unit_test(globs_match),
        cmocka_unit_test(suggestions_are_near),
        cmocka_unit_test(maps_keep_insertion_order),
        cmocka_unit_test(sha256_gives_the_published_digests),
        cmocka_unit_test(files_are_written_whole_or_not_at_all),
        cmocka_unit_test(vectors_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
