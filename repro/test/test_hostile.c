/* test_hostile.c - packs that someone made to do harm, or that a newer tsr made. */
#include "test.h"

#include <archive.h>
#include <archive_entry.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "repro/container.h"
#include "repro/pack.h"

static char folder[] = "/tmp/repro-hostile-XXXXXX";
static char path[sizeof folder + 32];

/* ---- a tar, piece by piece ---- */

static void add_padded(text *tar, const void *data, size_t size_bytes) {
    static const char zeros[TAR_BLOCK_BYTES];
    text_append_bytes(tar, data, size_bytes);
    text_append_bytes(tar, zeros, tar_padding(size_bytes));
}

/* Sets a byte range of a header and mends its checksum. */
static void patch(unsigned char *header, size_t offset, const char *bytes, size_t length) {
    unsigned sum = 0;
    char digits[9];
    memcpy(header + offset, bytes, length);
    memset(header + 148, ' ', 8);
    for (int i = 0; i < TAR_BLOCK_BYTES; i++)
        sum += header[i];
    snprintf(digits, sizeof digits, "%06o", sum & 0777777);
    memcpy(header + 148, digits, 7);
}

/* Name, data, and what the header says instead: a type, a target, a size. */
typedef struct tar_entry {
    const char *name, *data;
    char type;
    const char *target;
    size_t said_bytes; /* 0: the truth */
} tar_entry;

static void add_entry(text *tar, const tar_entry *e) {
    unsigned char header[TAR_BLOCK_BYTES];
    size_t size_bytes = strlen(e->data);
    tar_header(header, e->name, e->said_bytes ? e->said_bytes : size_bytes);
    if (e->type)
        patch(header, TAR_TYPE_OFFSET, &e->type, 1);
    if (e->target)
        patch(header, TAR_TYPE_OFFSET + 1, e->target, strlen(e->target));
    text_append_bytes(tar, (char *)header, sizeof header);
    add_padded(tar, e->data, size_bytes);
}

static void add_end(text *tar) {
    static const char zeros[TAR_END_BYTES];
    text_append_bytes(tar, zeros, sizeof zeros);
}

static void append_member_json(text *json, const tar_entry *e) {
    char hex[65];
    sha256 digest = sha256_of(e->data, strlen(e->data));
    sha256_hex(&digest, hex);
    text_printf(json, "  {\n   \"name\": \"%s\",\n   \"sha256\": \"%s\",\n   \"size\": %zu\n  }",
                e->name, hex, e->said_bytes ? e->said_bytes : strlen(e->data));
}

/* The manifest that fits the entries, as pack_write spells it. */
static void manifest_for(text *json, const tar_entry *entries, size_t count, const char *schema) {
    text_append(json, "{\n \"members\": [\n");
    for (size_t i = 0; i < count; i++) {
        append_member_json(json, &entries[i]);
        text_append(json, i + 1 < count ? ",\n" : "\n");
    }
    text_printf(json, " ],\n \"schema\": \"%s\"\n}\n", schema);
}

/* ---- the frame around it ---- */

/* Compresses by pieces: LZ4F_compressFrame would choose its own sizes of blocks for small packs. */
static void write_frame(const text *tar, const LZ4F_preferences_t *preferences) {
    status st = STATUS_INIT;
    LZ4F_cctx *context;
    size_t capacity = LZ4F_compressFrameBound(tar->length, preferences);
    char *frame = base_malloc(capacity);
    assert_false(LZ4F_isError(LZ4F_createCompressionContext(&context, LZ4F_VERSION)));
    size_t size = LZ4F_compressBegin(context, frame, capacity, preferences);
    size +=
        LZ4F_compressUpdate(context, frame + size, capacity - size, tar->data, tar->length, NULL);
    size += LZ4F_compressEnd(context, frame + size, capacity - size, NULL);
    assert_true(size <= capacity);
    assert_true(file_write_atomic(path, frame, size, &st));
    LZ4F_freeCompressionContext(context);
    free(frame);
}

static void write_tar(const text *tar) {
    LZ4F_preferences_t preferences = frame_preferences(tar->length);
    write_frame(tar, &preferences);
}

static pack_state judge(status *st) {
    pack_state state;
    *st = (status)STATUS_INIT;
    pack *p = pack_read(path, &state, st);
    assert_true((p != NULL) == (state == PACK_VALID));
    pack_free(p);
    return state;
}

static void expect_invalid(const char *what, const char *part) {
    status st;
    if (judge(&st) != PACK_INVALID)
        fail_msg("%s is let in", what);
    assert_int_equal(st.code, STATUS_CORRUPT);
    if (!strstr(st.message, part))
        fail_msg("%s: the message does not say '%s': %s", what, part, st.message);
}

/* Writes the manifest for `claimed` and then the entries `real`. */
static void write_entries(const tar_entry *claimed, size_t claimed_count, const tar_entry *real,
                          size_t real_count) {
    text json, tar;
    text_init(&json);
    text_init(&tar);
    manifest_for(&json, claimed, claimed_count, "tsr.repro/1");
    add_entry(&tar, &(tar_entry){"manifest.json", json.data, 0, NULL, 0});
    for (size_t i = 0; i < real_count; i++)
        add_entry(&tar, &real[i]);
    add_end(&tar);
    write_tar(&tar);
    text_release(&json);
    text_release(&tar);
}

/* ---- the tests ---- */

static const tar_entry good[] = {{"README", "hello\n", 0, NULL, 0}, {"x", "1234", 0, NULL, 0}};

static void the_maker_makes_packs(void **state) {
    (void)state;
    status st;
    write_entries(good, 2, good, 2);
    if (judge(&st) != PACK_VALID)
        fail_msg("%s", st.message);
}

static void names_that_lead_elsewhere_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"../x", "/etc/passwd", "a/../../x", "a//b", "./x",
                                        "",     "a b",         "a\\\\b",    "~x",   "README"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        tar_entry entries[] = {good[0], {names[i], "1234", 0, NULL, 0}};
        write_entries(entries, 2, entries, 2);
        expect_invalid(names[i], i + 1 < COUNT_OF(names) ? "name" : "cannot both be there");
        /* The manifest says one thing, the archive another. */
        write_entries(good, 2, entries, 2);
        expect_invalid(names[i], "where the manifest has x there is another file");
    }
}

static void what_is_not_an_ordinary_file_is_refused(void **state) {
    (void)state;
    static const struct {
        tar_entry entry;
        const char *kind;
    } cases[] = {
        {{"x", "", '1', "README", 0}, "a hard link"},
        {{"x", "", '2', "/etc/passwd", 0}, "a symbolic link"},
        {{"x", "", '3', NULL, 0}, "a device"},
        {{"x", "", '4', NULL, 0}, "a device"},
        {{"x", "", '5', NULL, 0}, "a folder"},
        {{"x", "", '6', NULL, 0}, "a device or a pipe"},
        {{"x", "1234", 'S', NULL, 0}, "an extension of tar"},
        {{"x", "1234", 'x', NULL, 0}, "an extension of tar"},
        {{"x", "1234", 'g', NULL, 0}, "an extension of tar"},
        {{"x", "1234", 'L', NULL, 0}, "an extension of tar"},
        {{"x", "1234", '0', "/etc/passwd", 0}, "another size or attributes"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        /* Keeps the length, so that nothing else is wrong. */
        tar_entry claimed[] = {good[0], {"x", cases[i].entry.data, 0, NULL, 0}};
        tar_entry real[] = {good[0], cases[i].entry};
        write_entries(claimed, 2, real, 2);
        expect_invalid(cases[i].kind, cases[i].kind);
    }
}

static void sizes_that_lie_are_refused(void **state) {
    (void)state;
    static const size_t lies[] = {
        3, 5, 511, 512, 513, 1u << 20, (1u << 31) - 6, (size_t)1 << 31, (size_t)8 << 30};
    for (size_t i = 0; i < COUNT_OF(lies); i++) {
        tar_entry liar[] = {good[0], {"x", "1234", 0, NULL, lies[i]}};
        write_entries(good, 2, liar, 2);
        expect_invalid("a header that lies", "");
        write_entries(liar, 2, good, 2);
        expect_invalid("a manifest that lies", "");
        write_entries(liar, 2, liar, 2);
        expect_invalid("both lie", "");
    }
}

static void members_are_those_of_the_manifest_in_its_order(void **state) {
    (void)state;
    const tar_entry swapped[] = {good[1], good[0]};
    const tar_entry more[] = {good[0], good[1], {"y", "", 0, NULL, 0}};
    const tar_entry twice[] = {good[0], good[1], good[1]};
    const tar_entry other[] = {good[0], {"x", "1235", 0, NULL, 0}};
    write_entries(good, 2, swapped, 2);
    expect_invalid("another order", "where the manifest has README");
    write_entries(good, 2, more, 3);
    expect_invalid("one more", "not the one of the members");
    write_entries(more, 3, good, 2);
    expect_invalid("one less", "not the one of the members");
    write_entries(good, 2, twice, 3);
    expect_invalid("one twice", "not the one of the members");
    write_entries(twice, 3, twice, 3);
    expect_invalid("one twice in both", "cannot both be there");
    write_entries(good, 2, other, 2);
    expect_invalid("other data", "SHA-256");
}

static void too_many_members_are_refused(void **state) {
    (void)state;
    static tar_entry many[PACK_MEMBERS_MAX + 1];
    static char names[PACK_MEMBERS_MAX + 1][16];
    status st;
    for (size_t i = 0; i < COUNT_OF(many); i++) {
        snprintf(names[i], sizeof names[i], "m/%zu", i);
        many[i] = (tar_entry){names[i], "data", 0, NULL, 0};
    }
    write_entries(many, PACK_MEMBERS_MAX, many, PACK_MEMBERS_MAX);
    assert_int_equal(judge(&st), PACK_VALID);
    write_entries(many, PACK_MEMBERS_MAX + 1, many, PACK_MEMBERS_MAX + 1);
    expect_invalid("a member too many", "members: a pack has at most");
}

static void write_manifest(const char *json, size_t length) {
    text tar;
    unsigned char header[TAR_BLOCK_BYTES];
    text_init(&tar);
    tar_header(header, "manifest.json", length);
    text_append_bytes(&tar, (char *)header, sizeof header);
    add_padded(&tar, json, length);
    add_end(&tar);
    write_tar(&tar);
    text_release(&tar);
}

static void manifests_are_canonical_json(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "{}",
        "[]",
        "null\n",
        "{\"schema\": \"tsr.repro/1\"}",
        "{\"members\": []}",
        "{\n \"members\": [],\n \"schema\": \"tsr.repro/0\"\n}\n",
        "{\n \"members\": [],\n \"schema\": \"tsr.repro/01\"\n}\n",
        "{\n \"members\": [],\n \"schema\": \"tsr.repro/\"\n}\n",
        "{\n \"members\": [],\n \"schema\": \"other/1\"\n}\n",
        "{\n \"members\": [],\n \"schema\": 1\n}\n",
        "{\n \"members\": {},\n \"schema\": \"tsr.repro/1\"\n}\n",
        "{\n \"members\": [1],\n \"schema\": \"tsr.repro/1\"\n}\n",
        "{\n \"members\": [{}],\n \"schema\": \"tsr.repro/1\"\n}\n",
        "{\n \"members\": [],\n \"schema\": \"tsr.repro/1\"\n}",
        "{\n \"members\": [],\n \"schema\": \"tsr.repro/1\"\n} \n",
        "{\n \"schema\": \"tsr.repro/1\",\n \"members\": []\n}\n",
        "{\n \"a\": 1,\n \"a\": 1,\n \"members\": [],\n \"schema\": \"tsr.repro/1\"\n}\n",
        "{\n \"a\": \"\\u0000\",\n \"members\": [],\n \"schema\": \"tsr.repro/1\"\n}\n",
        "{\n \"a\": 1e0,\n \"members\": [],\n \"schema\": \"tsr.repro/1\"\n}\n"};
    static const char fine[] = "{\n \"members\": [],\n \"schema\": \"tsr.repro/1\"\n}\n";
    status st;
    write_manifest(fine, sizeof fine - 1);
    assert_int_equal(judge(&st), PACK_VALID);
    write_manifest(fine, sizeof fine);
    expect_invalid("a NUL at the end", "manifest");
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        write_manifest(bad[i], strlen(bad[i]));
        expect_invalid(bad[i], "manifest");
    }
}

static void heavy_manifests_are_refused(void **state) {
    (void)state;
    static const char *const pieces[] = {"[", "{\"a\":", "[],", "{},", " "};
    text json;
    text_init(&json);
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        text_clear(&json);
        text_append(&json, "[");
        while (json.length < PACK_MANIFEST_BYTES_MAX - 16)
            text_append(&json, pieces[i]);
        write_manifest(json.data, json.length);
        expect_invalid(pieces[i], "manifest");
    }
    while (json.length <= PACK_MANIFEST_BYTES_MAX)
        text_append(&json, " ");
    write_manifest(json.data, json.length);
    expect_invalid("a manifest over the limit", "too large");
    text_release(&json);
}

static void the_manifest_comes_first(void **state) {
    (void)state;
    text json, tar;
    text_init(&json);
    text_init(&tar);
    manifest_for(&json, good, 2, "tsr.repro/1");
    add_entry(&tar, &good[0]);
    add_entry(&tar, &(tar_entry){"manifest.json", json.data, 0, NULL, 0});
    add_entry(&tar, &good[1]);
    add_end(&tar);
    write_tar(&tar);
    expect_invalid("a manifest in second place", "first member is not manifest.json");
    text_clear(&tar);
    add_entry(&tar, &(tar_entry){"manifest.json", "", '2', "/etc/passwd", 0});
    add_end(&tar);
    write_tar(&tar);
    expect_invalid("a manifest that is a link", "not an ordinary file");
    text_release(&json);
    text_release(&tar);
}

static void a_newer_schema_is_told_apart(void **state) {
    (void)state;
    static const char *const newer[] = {"tsr.repro/2", "tsr.repro/17"};
    status st;
    text json, tar;
    text_init(&json);
    text_init(&tar);
    for (size_t i = 0; i < COUNT_OF(newer); i++) {
        text_clear(&json);
        text_clear(&tar);
        text_printf(&json, "{\"schema\": \"%s\", \"parts\": {}}", newer[i]);
        add_entry(&tar, &(tar_entry){"manifest.json", json.data, 0, NULL, 0});
        add_entry(&tar, &good[0]);
        add_end(&tar);
        write_tar(&tar);
        assert_int_equal(judge(&st), PACK_NEWER);
        assert_int_equal(st.code, STATUS_UNAVAILABLE);
        assert_non_null(strstr(st.message, "made by a newer tsr"));
    }
    text_release(&json);
    text_release(&tar);
}

/* Bytes after the archive, wherever they may hide. */
static void nothing_follows_the_end(void **state) {
    (void)state;
    text json, tar;
    text_init(&json);
    text_init(&tar);
    manifest_for(&json, good, 2, "tsr.repro/1");
    add_entry(&tar, &(tar_entry){"manifest.json", json.data, 0, NULL, 0});
    add_entry(&tar, &good[0]);
    add_entry(&tar, &good[1]);
    add_end(&tar);
    add_end(&tar);
    write_tar(&tar);
    expect_invalid("more zeros", "not the one of the members");
    tar.length -= 1;
    write_tar(&tar);
    expect_invalid("fewer zeros", "not the one of the members");
    tar.length -= TAR_END_BYTES - 1;
    tar.data[tar.length - 1] = 'x';
    write_tar(&tar);
    expect_invalid("no zeros", "bytes between");
    text_release(&json);
    text_release(&tar);
}

/* Frames that other programs may well write, but whose damage would not always be seen. */
static void other_frames_are_refused(void **state) {
    (void)state;
    LZ4F_preferences_t cases[5];
    text tar;
    text_init(&tar);
    add_end(&tar);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        cases[i] = frame_preferences(tar.length);
    cases[0].frameInfo.blockChecksumFlag = LZ4F_noBlockChecksum;
    cases[1].frameInfo.contentSize = 0;
    cases[2].frameInfo.blockMode = LZ4F_blockLinked;
    cases[3].frameInfo.blockSizeID = LZ4F_max4MB;
    cases[4].frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_frame(&tar, &cases[i]);
        expect_invalid("another frame", "not of the kind");
    }
    text_release(&tar);
}

/* A frame of `content_bytes` zeros whose header says `said_bytes`. */
static void write_zeros(uint64_t content_bytes, uint64_t said_bytes, const text *before) {
    enum { BLOCK = 256 << 10 };
    LZ4F_preferences_t preferences = frame_preferences(said_bytes);
    size_t capacity = LZ4F_compressBound(BLOCK, &preferences);
    unsigned char *zeros = base_calloc(1, BLOCK), *out = base_malloc(capacity);
    LZ4F_cctx *context;
    FILE *f = fopen(path, "wb");
    assert_false(LZ4F_isError(LZ4F_createCompressionContext(&context, LZ4F_VERSION)));
    fwrite(out, 1, LZ4F_compressBegin(context, out, capacity, &preferences), f);
    memcpy(zeros, before->data, before->length);
    size_t first = LZ4F_compressUpdate(context, out, capacity, zeros, BLOCK, NULL);
    fwrite(out, 1, first, f);
    memset(zeros, 0, BLOCK);
    size_t size = LZ4F_compressUpdate(context, out, capacity, zeros, BLOCK, NULL);
    for (uint64_t done = BLOCK; done < content_bytes; done += BLOCK)
        fwrite(out, 1, size, f);
    fwrite("\0\0\0\0", 1, 4, f);
    fclose(f);
    LZ4F_freeCompressionContext(context);
    free(zeros);
    free(out);
}

static long peak_kib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void a_bomb_is_refused_before_it_goes_off(void **state) {
    (void)state;
    static const uint64_t ten = (uint64_t)10 << 30, two = (uint64_t)2 << 30;
    const uint64_t said[] = {ten, two, (uint64_t)1 << 30, 2048, UINT64_MAX, 1};
    struct rlimit files;
    getrlimit(RLIMIT_FSIZE, &files);
    if (files.rlim_cur < ten / 200) {
        print_message("skipped: 10 GiB of zeros, compressed, are more than a file may have here\n");
        skip();
    }
    tar_entry claimed = {"x", "", 0, NULL, (size_t)2 << 30};
    text json, tar;
    text_init(&json);
    text_init(&tar);
    manifest_for(&json, &claimed, 1, "tsr.repro/1");
    add_entry(&tar, &(tar_entry){"manifest.json", json.data, 0, NULL, 0});
    add_entry(&tar, &claimed);
    long before_kib = peak_kib();
    for (size_t i = 0; i < COUNT_OF(said); i++) {
        write_zeros(ten, said[i], &tar);
        expect_invalid("10 GiB of zeros", "");
    }
    assert_true(peak_kib() - before_kib < 64 << 10);
    text_release(&json);
    text_release(&tar);
}

/* Names and links as libarchive writes them, pax headers where they do not fit. */
static void what_libarchive_writes_is_refused(void **state) {
    (void)state;
    struct archive *a = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    archive_write_add_filter_lz4(a);
    archive_write_set_format_pax_restricted(a);
    assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
    archive_entry_set_pathname(entry, "manifest.json");
    archive_entry_set_filetype(entry, AE_IFLNK);
    archive_entry_set_symlink(entry, "../../../../etc/passwd");
    assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
    archive_entry_free(entry);
    archive_write_free(a);
    expect_invalid("libarchive's", "not of the kind");
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
        cmocka_unit_test(the_maker_makes_packs),
        cmocka_unit_test(names_that_lead_elsewhere_are_refused),
        cmocka_unit_test(what_is_not_an_ordinary_file_is_refused),
        cmocka_unit_test(sizes_that_lie_are_refused),
        cmocka_unit_test(members_are_those_of_the_manifest_in_its_order),
        cmocka_unit_test(too_many_members_are_refused),
        cmocka_unit_test(manifests_are_canonical_json),
        cmocka_unit_test(heavy_manifests_are_refused),
        cmocka_unit_test(the_manifest_comes_first),
        cmocka_unit_test(a_newer_schema_is_told_apart),
        cmocka_unit_test(nothing_follows_the_end),
        cmocka_unit_test(other_frames_are_refused),
        cmocka_unit_test(a_bomb_is_refused_before_it_goes_off),
        cmocka_unit_test(what_libarchive_writes_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
