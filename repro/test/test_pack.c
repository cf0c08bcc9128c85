/* test_pack.c - what is written is read back, by us and by others; damage anywhere is seen. */
#include "test.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "repro/pack.h"

static char folder[] = "/tmp/repro-pack-XXXXXX";
static char path[sizeof folder + 32];

static const pack_member small[] = {
    {"README", "softmax_rows/prime on cpu\n", 26},
    {"inputs/x.npy", "\x93NUMPY\0\1\2\3\4\5\6\7", 14},
    {"empty", NULL, 0},
};

static json_t *about_softmax(void) {
    return json_pack("{s:s, s:{s:i, s:f}, s:[s,s]}", "kernel", "softmax_rows", "case", "n", 17,
                     "tolerance", 1e-7, "flags", "a", "\xc3\xbc");
}

static pack *read_valid(const char *file) {
    pack_state state;
    status st = STATUS_INIT;
    pack *p = pack_read(file, &state, &st);
    if (!p)
        fail_msg("%s", st.message);
    assert_int_equal(state, PACK_VALID);
    return p;
}

static void write_small(const char *file) {
    status st = STATUS_INIT;
    json_t *about = about_softmax();
    if (!pack_write(file, about, small, COUNT_OF(small), &st))
        fail_msg("%s", st.message);
    json_decref(about);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    write_small(path);
    pack *p = read_valid(path);
    assert_int_equal(pack_member_count(p), COUNT_OF(small));
    for (size_t i = 0; i < COUNT_OF(small); i++) {
        const pack_member *m = pack_find(p, small[i].name);
        assert_ptr_equal(m, pack_member_at(p, i));
        assert_int_equal(m->size_bytes, small[i].size_bytes);
        if (m->size_bytes)
            assert_memory_equal(m->data, small[i].data, m->size_bytes);
        assert_int_equal(((const char *)m->data)[m->size_bytes], 0);
    }
    assert_null(pack_find(p, "manifest.json"));
    assert_null(pack_member_at(p, COUNT_OF(small)));
    const json_t *about = pack_about(p);
    assert_string_equal(json_string_value(json_object_get(about, "schema")), "tsr.repro/1");
    assert_string_equal(json_string_value(json_object_get(about, "kernel")), "softmax_rows");
    assert_int_equal(json_array_size(json_object_get(about, "members")), COUNT_OF(small));
    pack_free(p);
    pack_free(NULL);
}

static void members_have_a_limit_that_the_reader_sets(void **state) {
    (void)state;
    pack_state how;
    status st = STATUS_INIT;
    write_small(path);
    pack *p = pack_read_within(path, 26 + 14, &how, &st);
    assert_non_null(p);
    pack_free(p);
    assert_null(pack_read_within(path, 26 + 13, &how, &st));
    assert_int_equal(how, PACK_INVALID);
    assert_int_equal(st.code, STATUS_CORRUPT);
}

static void equal_arguments_give_equal_bytes_and_the_name_of_the_manifest(void **state) {
    (void)state;
    char other[sizeof path + 2], *a, *b, name[13], hex[65];
    size_t a_bytes, b_bytes;
    status st = STATUS_INIT;
    snprintf(other, sizeof other, "%s.2", path);
    write_small(path);
    write_small(other);
    assert_true(file_read(path, SIZE_MAX - 1, &a, &a_bytes, &st));
    assert_true(file_read(other, SIZE_MAX - 1, &b, &b_bytes, &st));
    assert_int_equal(a_bytes, b_bytes);
    assert_memory_equal(a, b, a_bytes);
    json_t *about = about_softmax();
    assert_true(pack_name(about, small, COUNT_OF(small), name, &st));
    pack *p = read_valid(path);
    char *json =
        json_dumps(pack_about(p), JSON_SORT_KEYS | JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    sha256_stream *stream = sha256_stream_new();
    sha256_stream_update(stream, json, strlen(json));
    sha256_stream_update(stream, "\n", 1);
    sha256 digest = sha256_stream_finish(stream);
    sha256_hex(&digest, hex);
    hex[12] = '\0';
    assert_string_equal(name, hex);
    free(json);
    pack_free(p);
    json_object_set_new(about, "kernel", json_string("other"));
    assert_true(pack_name(about, small, COUNT_OF(small), name, &st));
    assert_string_not_equal(name, hex);
    json_decref(about);
    unlink(other);
    free(a);
    free(b);
}

/* libarchive sees ordinary files with no time and no owner, the manifest first. */
static void others_can_read_it(void **state) {
    (void)state;
    struct archive *a = archive_read_new();
    struct archive_entry *entry;
    write_small(path);
    archive_read_support_filter_lz4(a);
    archive_read_support_format_tar(a);
    assert_int_equal(archive_read_open_filename(a, path, 4096), ARCHIVE_OK);
    for (size_t i = 0; i <= COUNT_OF(small); i++) {
        char data[64];
        assert_int_equal(archive_read_next_header(a, &entry), ARCHIVE_OK);
        assert_string_equal(archive_entry_pathname(entry), i ? small[i - 1].name : "manifest.json");
        assert_int_equal(archive_entry_filetype(entry), AE_IFREG);
        assert_int_equal(archive_entry_mtime(entry), 0);
        assert_int_equal(archive_entry_uid(entry), 0);
        assert_int_equal(archive_entry_perm(entry), 0644);
        if (i && small[i - 1].size_bytes) {
            assert_int_equal(archive_read_data(a, data, sizeof data), small[i - 1].size_bytes);
            assert_memory_equal(data, small[i - 1].data, small[i - 1].size_bytes);
        }
    }
    assert_int_equal(archive_read_next_header(a, &entry), ARCHIVE_EOF);
    archive_read_free(a);
}

static void expect_output(const char *tool, const char *format, const char *expected) {
    char command[256], found[256] = {0};
    snprintf(command, sizeof command, "command -v %s >/dev/null", tool);
    if (system(command) != 0) {
        print_message("skipped: %s is not installed\n", tool);
        skip();
    }
    snprintf(command, sizeof command, format, path);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    assert_true(fread(found, 1, sizeof found - 1, f) > 0);
    assert_int_equal(pclose(f), 0);
    assert_string_equal(found, expected);
}

/* The commands that docs/packs.md shows; not a word on stderr either. */
static void the_usual_tools_can_read_it(void **state) {
    (void)state;
    static const char listing[] = "manifest.json\nREADME\ninputs/x.npy\nempty\n";
    write_small(path);
    expect_output("bsdtar", "bsdtar -tf %s 2>&1", listing);
    expect_output("bsdtar", "bsdtar -xOf %s README 2>&1", small[0].data);
    expect_output("lz4", "lz4 -dc %s 2>&1 | tar -tf - 2>&1", listing);
}

/* A pack of several LZ4 blocks, some that do not shrink. */
static void write_large(const char *file, unsigned char *noise, size_t size_bytes) {
    uint64_t word = 1;
    for (size_t i = 0; i < size_bytes; i++) {
        word = word * 6364136223846793005u + 1442695040888963407u;
        noise[i] = i < size_bytes / 2 ? (unsigned char)(word >> 56) : (unsigned char)(i >> 12);
    }
    pack_member members[] = {{"inputs/noise", noise, size_bytes}, small[0]};
    status st = STATUS_INIT;
    json_t *about = about_softmax();
    assert_true(pack_write(file, about, members, COUNT_OF(members), &st));
    json_decref(about);
}

/* Opened once: the file behind the name is changed in place. */
static pack_state state_of(const char *file, char *why, size_t why_size) {
    pack_state state;
    status st = STATUS_INIT;
    pack *p = pack_read(file, &state, &st);
    assert_true((p != NULL) == (state == PACK_VALID));
    assert_true((st.code == STATUS_OK) == (state == PACK_VALID));
    snprintf(why, why_size, "%s", st.message);
    pack_free(p);
    return state;
}

static void flip_bits(const char *file, size_t step) {
    char *data, why[1024];
    size_t size_bytes;
    status st = STATUS_INIT;
    assert_true(file_read(file, SIZE_MAX - 1, &data, &size_bytes, &st));
    int fd = open(file, O_WRONLY);
    for (size_t i = 0; i < size_bytes; i += i < 64 || i + 64 > size_bytes ? 1 : step)
        for (int bit = 0; bit < 8; bit++) {
            char changed = (char)(data[i] ^ (1 << bit));
            assert_int_equal(pwrite(fd, &changed, 1, (off_t)i), 1);
            if (state_of(file, why, sizeof why) != PACK_INVALID)
                fail_msg("bit %d of byte %zu may change", bit, i);
            assert_int_equal(pwrite(fd, &data[i], 1, (off_t)i), 1);
        }
    assert_int_equal(state_of(file, why, sizeof why), PACK_VALID);
    close(fd);
    free(data);
}

static void every_flipped_bit_is_seen(void **state) {
    (void)state;
    write_small(path);
    flip_bits(path, 1);
}

static void flipped_bits_in_many_blocks_are_seen(void **state) {
    (void)state;
    static unsigned char noise[1200000];
    write_large(path, noise, sizeof noise);
    flip_bits(path, 24001);
    pack *p = read_valid(path);
    assert_memory_equal(pack_find(p, "inputs/noise")->data, noise, sizeof noise);
    pack_free(p);
}

static void every_other_length_is_seen(void **state) {
    (void)state;
    char *data, why[1024];
    size_t size_bytes;
    status st = STATUS_INIT;
    write_small(path);
    assert_true(file_read(path, SIZE_MAX - 1, &data, &size_bytes, &st));
    for (size_t length = size_bytes; length-- > 0;) {
        assert_int_equal(truncate(path, (off_t)length), 0);
        assert_int_equal(state_of(path, why, sizeof why), PACK_INVALID);
    }
    static const char tails[][5] = {{0}, {'x'}, {'\n'}, {0x04, 0x22, 0x4d, 0x18}};
    for (size_t i = 0; i < COUNT_OF(tails); i++)
        for (size_t n = 1; n < 5; n++) {
            file_part parts[] = {{data, size_bytes}, {tails[i], n}};
            assert_true(file_write_parts(path, parts, 2, &st));
            assert_int_equal(state_of(path, why, sizeof why), PACK_INVALID);
        }
    file_part twice[] = {{data, size_bytes}, {data, size_bytes}};
    assert_true(file_write_parts(path, twice, 2, &st));
    assert_int_equal(state_of(path, why, sizeof why), PACK_INVALID);
    free(data);
}

static void what_is_no_pack_is_told(void **state) {
    (void)state;
    pack_state found;
    status st = STATUS_INIT;
    char absent[sizeof folder + 40];
    snprintf(absent, sizeof absent, "%s/absent/a.repro.tar.lz4", folder);
    assert_null(pack_read(absent, &found, &st));
    assert_int_equal(found, PACK_INVALID);
    assert_int_equal(st.code, STATUS_NOT_FOUND);
    st = (status)STATUS_INIT;
    assert_null(pack_read(folder, &found, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    st = (status)STATUS_INIT;
    assert_null(pack_read("/dev/zero", &found, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    st = (status)STATUS_INIT;
    assert_true(file_write_atomic(path, "kernel f()\n", 11, &st));
    assert_null(pack_read(path, &found, &st));
    assert_int_equal(st.code, STATUS_CORRUPT);
    assert_non_null(strstr(st.message, "not a pack"));
}

static size_t files_in(const char *directory) {
    DIR *d = opendir(directory);
    size_t count = 0;
    while (readdir(d))
        count++;
    closedir(d);
    return count - 2;
}

static void nothing_is_left_of_a_failure(void **state) {
    (void)state;
    static const char *const names[] = {
        "",         "/x",     "../x",          "a/../b", "a//b", "a/",
        ".",        "a/./b",  "a b",           "a\nb",   "\xff", "README",
        "README/x", "inputs", "manifest.json", "a\\b",   "..",   "manifest.json/x"};
    static const char too_long[] = "123456789012345678901234567890123456789012345678901234567890"
                                   "1234567890123456789012345678901234567890";
    json_t *about = about_softmax();
    unlink(path);
    assert_int_equal(files_in(folder), 0);
    for (size_t i = 0; i <= COUNT_OF(names); i++) {
        pack_member members[] = {small[0], small[1], {NULL, "x", 1}};
        status st = STATUS_INIT;
        members[2].name = i < COUNT_OF(names) ? names[i] : too_long;
        if (pack_write(path, about, members, COUNT_OF(members), &st))
            fail_msg("a member may be called %s", members[2].name);
        assert_int_equal(st.code, STATUS_INVALID);
    }
    pack_member huge[] = {{"a", "", (size_t)1 << 31}, {"b", "", 1}};
    status st = STATUS_INIT;
    assert_false(pack_write(path, about, huge, 2, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    assert_false(pack_write(path, about, huge, PACK_MEMBERS_MAX + 1, &st));
    st = (status)STATUS_INIT;
    char absent[sizeof folder + 40];
    snprintf(absent, sizeof absent, "%s/absent/a.repro.tar.lz4", folder);
    assert_false(pack_write(absent, about, small, COUNT_OF(small), &st));
    assert_int_equal(st.code, STATUS_NOT_FOUND);
    st = (status)STATUS_INIT;
    json_object_set_new(about, "schema", json_string("mine"));
    assert_false(pack_write(path, about, small, COUNT_OF(small), &st));
    assert_false(pack_write(path, json_object_get(about, "flags"), small, 1, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    assert_int_equal(files_in(folder), 0);
    json_decref(about);
}

/* A rename that fails, after everything was written. */
static void a_folder_in_the_way_stays(void **state) {
    (void)state;
    status st = STATUS_INIT;
    json_t *about = about_softmax();
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(pack_write(path, about, small, COUNT_OF(small), &st));
    assert_int_equal(files_in(folder), 1);
    assert_int_equal(rmdir(path), 0);
    json_decref(about);
}

static void a_pack_may_be_empty(void **state) {
    (void)state;
    status st = STATUS_INIT;
    json_t *about = json_object();
    assert_true(pack_write(path, about, NULL, 0, &st));
    pack *p = read_valid(path);
    assert_int_equal(pack_member_count(p), 0);
    pack_free(p);
    json_decref(about);
}

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/case.repro.tar.lz4", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(members_have_a_limit_that_the_reader_sets),
        cmocka_unit_test(equal_arguments_give_equal_bytes_and_the_name_of_the_manifest),
        cmocka_unit_test(others_can_read_it),
        cmocka_unit_test(the_usual_tools_can_read_it),
        cmocka_unit_test(every_flipped_bit_is_seen),
        cmocka_unit_test(flipped_bits_in_many_blocks_are_seen),
        cmocka_unit_test(every_other_length_is_seen),
        cmocka_unit_test(what_is_no_pack_is_told),
        cmocka_unit_test(nothing_is_left_of_a_failure),
        cmocka_unit_test(a_folder_in_the_way_stays),
        cmocka_unit_test(a_pack_may_be_empty),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
