/* test_base.c - status, arena, text, map, digests and whole files. */
#include "test/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/elf.h"
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

/* The same as printf's, of the ends, too; and what has just room, or one byte too many. */
static void text_takes_integers_and_formats_of_any_length(void **state) {
    (void)state;
    text t;
    text_init(&t);
    text_append_integer(&t, INT64_MIN);
    text_append_char(&t, ' ');
    text_append_integer(&t, INT64_MAX);
    text_append_char(&t, ' ');
    text_append_integer(&t, 0);
    assert_string_equal(t.data, "-9223372036854775808 9223372036854775807 0");
    for (int width = 1; width < 300; width++) {
        text_clear(&t);
        text_printf(&t, "%*d", width, 7);
        assert_int_equal(t.length, (size_t)width);
        assert_int_equal(strlen(t.data), (size_t)width);
        assert_int_equal(t.data[width - 1], '7');
    }
    text_release(&t);
}

/* Blocks on large pages are zeroed and aligned like others, behind one of an odd size, too. */
static void arenas_grow_to_large_pages(void **state) {
    (void)state;
    arena a;
    arena_init(&a);
    for (int i = 0; i < 3000; i++) {
        unsigned char *memory = arena_alloc(&a, i == 100 ? ((size_t)3 << 20) + 5 : 4000);
        assert_int_equal((uintptr_t)memory % 16, 0);
        assert_int_equal(memory[0] | memory[3999], 0);
        memset(memory, 0xff, 4000);
    }
    arena_release(&a);
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

/* A header, a string table, a table of one symbol, a segment, and the headers of both sections. */
typedef struct small_elf {
    Elf64_Ehdr header;
    char strings[8];
    Elf64_Sym symbol;
    Elf64_Phdr segment;
    Elf64_Shdr sections[2];
} small_elf;

static small_elf make_elf(void) {
    const Elf64_Shdr strings = {.sh_type = SHT_STRTAB,
                                .sh_offset = offsetof(small_elf, strings),
                                .sh_size = sizeof(char[8])};
    const Elf64_Shdr symbols = {.sh_type = SHT_SYMTAB,
                                .sh_offset = offsetof(small_elf, symbol),
                                .sh_size = sizeof(Elf64_Sym)};
    return (small_elf){.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                                  .e_phoff = offsetof(small_elf, segment),
                                  .e_phentsize = sizeof(Elf64_Phdr),
                                  .e_phnum = 1,
                                  .e_shoff = offsetof(small_elf, sections),
                                  .e_shentsize = sizeof(Elf64_Shdr),
                                  .e_shnum = 2},
                       .strings = "\0twice\0",
                       .symbol = {.st_name = 1, .st_value = 7},
                       .segment = {.p_type = PT_NOTE, .p_filesz = 4},
                       .sections = {strings, symbols}};
}

static void elf_files_give_their_parts(void **state) {
    (void)state;
    small_elf bytes = make_elf();
    elf_file e;
    Elf64_Shdr symbols;
    Elf64_Sym symbol;
    Elf64_Phdr segment;
    assert_null(elf_file_open(&e, &bytes, sizeof bytes));
    assert_true(elf_file_section(&e, 1, &symbols));
    assert_true(elf_file_symbol(&e, &symbols, 0, &symbol));
    assert_int_equal(symbol.st_value, 7);
    assert_string_equal(elf_file_string(&e, 0, symbol.st_name), "twice");
    assert_true(elf_file_segment(&e, 0, &segment));
    assert_int_equal(segment.p_type, PT_NOTE);
    assert_false(elf_file_section(&e, 2, &symbols));
    assert_false(elf_file_symbol(&e, &symbols, 1, &symbol));
    assert_false(elf_file_segment(&e, 1, &segment));
    assert_null(elf_file_string(&e, 0, sizeof bytes.strings));
    assert_null(elf_file_string(&e, 1, 0)); /* no table of strings */
    assert_non_null(elf_file_part(&e, sizeof bytes, 0));
    assert_null(elf_file_part(&e, sizeof bytes, 1));
    assert_null(elf_file_part(&e, 1, UINT64_MAX));
}

static void elf_files_lack_what_lies_outside(void **state) {
    (void)state;
    elf_file e;
    Elf64_Shdr section;
    Elf64_Phdr segment;
    small_elf bytes = make_elf();
    memset(bytes.strings, 'x', sizeof bytes.strings);
    bytes.segment.p_filesz = sizeof bytes + 1;
    bytes.sections[1].sh_size = UINT64_MAX;
    assert_null(elf_file_open(&e, &bytes, sizeof bytes));
    assert_null(elf_file_string(&e, 0, 1)); /* it does not end */
    assert_false(elf_file_segment(&e, 0, &segment));
    assert_false(elf_file_section(&e, 1, &section));
    bytes.sections[1].sh_type = SHT_NOBITS; /* nothing of it is in the file */
    assert_true(elf_file_section(&e, 1, &section));
    assert_null(elf_file_open(&e, &bytes, sizeof bytes - 1));
    assert_true(elf_file_section(&e, 0, &section));
    assert_false(elf_file_section(&e, 1, &section));
    for (uint64_t offset = UINT64_MAX; offset > sizeof bytes; offset /= 2) {
        bytes.header.e_shoff = bytes.header.e_phoff = offset;
        assert_null(elf_file_open(&e, &bytes, sizeof bytes));
        assert_false(elf_file_section(&e, 0, &section));
        assert_false(elf_file_segment(&e, 0, &segment));
    }
    assert_non_null(elf_file_open(&e, &bytes, sizeof bytes.header - 1));
    bytes.header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_non_null(elf_file_open(&e, &bytes, sizeof bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_cause_wins),
        cmocka_unit_test(a_long_message_is_cut_not_overrun),
        cmocka_unit_test(arenas_give_zeroed_aligned_memory),
        cmocka_unit_test(text_grows_and_can_be_taken),
        cmocka_unit_test(text_takes_integers_and_formats_of_any_length),
        cmocka_unit_test(arenas_grow_to_large_pages),
        cmocka_unit_test(globs_match),
        cmocka_unit_test(suggestions_are_near),
        cmocka_unit_test(maps_keep_insertion_order),
        cmocka_unit_test(sha256_gives_the_published_digests),
        cmocka_unit_test(files_are_written_whole_or_not_at_all),
        cmocka_unit_test(vectors_grow),
        cmocka_unit_test(elf_files_give_their_parts),
        cmocka_unit_test(elf_files_lack_what_lies_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
