/* test_escape.c - what is foreign is shown, and does nothing else. */
#include "test/test.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/status.h"

#define BYTES(literal) literal, sizeof literal - 1

static void foreign_text_is_escaped(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *shown;
    } cases[] = {
        {BYTES(""), ""},
        {BYTES("plain text, 100 %"), "plain text, 100 %"},
        {BYTES("Gr\xC3\xB6\xC3\x9F"
               "e \xE6\x97\xA5 \xF0\x9F\x98\x80"),
         "Gr\xC3\xB6\xC3\x9F"
         "e \xE6\x97\xA5 \xF0\x9F\x98\x80"},
        {BYTES("a\nb\r\tc"), "a\\nb\\r\\tc"},
        {BYTES("\033[2J\033]0;title\a"), "\\x1b[2J\\x1b]0;title\\x07"},
        {BYTES("nul\0byte"), "nul\\x00byte"},
        {BYTES("\x7f"), "\\x7f"},
        {BYTES("\xC2\x9B"
               "2J"),
         "\\u009b2J"},
        {BYTES("\xff\xfe"), "\\xff\\xfe"},
        {BYTES("cut \xE6\x97"), "cut \\xe6\\x97"},
        {BYTES("\xC0\xAF\xED\xA0\x80\xF4\x90\x80\x80"),
         "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"},
        {BYTES("\xE2\x80\xAE"
               "evil"),
         "\\u202eevil"},
        {BYTES("\xF3\xA0\x81\x81"), "\\U000e0041"},
        {BYTES("x\n::error::y"), "x\\n::error::y"},
        {BYTES("  ::error::y"), "  \\x3a:error::y"},
        {BYTES("std::vector"), "std::vector"},
        {BYTES("x ##[error]y ##vso[z]"), "x \\x23#[error]y \\x23#vso[z]"},
        {BYTES("## head, C##"), "## head, C##"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text out;
        text_init(&out);
        text_escape(&out, cases[i].bytes, cases[i].length, TEXT_SHOWN_BYTES_MAX);
        assert_string_equal(out.data, cases[i].shown);
        text_release(&out);
    }
}

static void every_byte_comes_out_as_harmless_utf8(void **state) {
    (void)state;
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            const char bytes[] = {(char)a, (char)b};
            text escaped, repaired;
            text_init(&escaped);
            text_init(&repaired);
            text_escape(&escaped, bytes, 2, TEXT_SHOWN_BYTES_MAX);
            text_append_utf8(&repaired, bytes, 2);
            assert_true(text_is_utf8(escaped.data, escaped.length));
            assert_true(text_is_utf8(repaired.data, repaired.length));
            for (size_t i = 0; i < escaped.length; i++)
                assert_true((unsigned char)escaped.data[i] >= 0x20 && escaped.data[i] != 0x7f);
            text_release(&escaped);
            text_release(&repaired);
        }
}

static void a_format_escapes_its_strings_alone(void **state) {
    (void)state;
    text out, plain;
    text_init(&out);
    text_init(&plain);
    text_show(&out, "\033[1m%s\n%-6s|%6s|%.2s|%.*s|%c%%", "a\nb", "\xC3\xB6", "\x01", "xyz", 1,
              "\xC3\xB6", '\a');
    assert_string_equal(out.data, "\033[1ma\\nb\n\xC3\xB6     |  \\x01|xy||\\x07%");
    text_clear(&out);
    const char *volatile nothing = NULL;
    text_show(&out, "%s", nothing);
    assert_string_equal(out.data, "(null)");
    text_clear(&out);
#define NUMBERS                                                                                    \
    "%d %5d %-5d| %05d %+d %u %x %#X %o %zu %ld %lld %llu %.3f %8.2f %-9g| %e %a %*d %hhu "        \
    "%" PRIu64 " %" PRId64,                                                                        \
        -1, 42, 42, 42, 42, UINT32_MAX, 255u, 255u, 8u, SIZE_MAX, -5L, INT64_MIN + 0LL,            \
        (unsigned long long)UINT64_MAX, 1.0 / 3, 2.5, 1e-9, 1e300, 1.5, 7, 3, 200, UINT64_MAX,     \
        INT64_MIN
    text_show(&out, NUMBERS);
    text_printf(&plain, NUMBERS);
    assert_string_equal(out.data, plain.data);
    text_release(&out);
    text_release(&plain);
}

static void long_text_is_cut(void **state) {
    (void)state;
    enum { LONG = 3 << 20 };
    char *words = malloc(LONG + 1);
    memset(words, '\033', LONG);
    words[LONG] = '\0';
    text out;
    text_init(&out);
    text_show(&out, "%s", words);
    assert_in_range(out.length, TEXT_SHOWN_BYTES_MAX, TEXT_SHOWN_BYTES_MAX + 32);
    assert_non_null(strstr(out.data, "...(3145728 bytes)"));
    free(words);
    text_release(&out);
}

static void composed_text_keeps_lines_and_colours(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"a\tb\n\033[1;31mred\033[0m\n", "a\tb\n\033[1;31mred\033[0m\n"},
        {"a\033[2Jb\033]0;t\a\r", "a\\x1b[2Jb\\x1b]0;t\\x07\\r"},
        {"a\n ::error::b\n\033[1m::warning", "a\n \\x3a:error::b\n\033[1m\\x3a:warning"},
        {"ends in \033[", "ends in \\x1b["},
        {"\xff ##[group]", "\\xff \\x23#[group]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text out;
        text_init(&out);
        text_screen(&out, cases[i].in, strlen(cases[i].in));
        assert_string_equal(out.data, cases[i].out);
        text_release(&out);
    }
}

static void lines_of_others_are_indented(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"one", "one"},
        {"", ""},
        {"a\n::b\n\033c\n", "a\n  \\x3a:b\n  \\x1bc"},
        {"a\n\nb", "a\n  \n  b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text out;
        text_init(&out);
        text_show_lines(&out, "  ", cases[i].in);
        assert_string_equal(out.data, cases[i].out);
        text_release(&out);
    }
}

static void json_stays_the_same_document(void **state) {
    (void)state;
    static const char in[] =
        "{\"a\": \"\x7f\xC2\x9B \xE2\x80\xAE\xF3\xA0\x81\x81 ##[x] \xC3\xB6\"}";
    text out;
    text_init(&out);
    text_screen_json(&out, in, sizeof in - 1);
    assert_string_equal(out.data,
                        "{\"a\": \"\\u007f\\u009b \\u202e\\udb40\\udc41 \\u0023#[x] \xC3\xB6\"}");
    text_release(&out);
}

static void cuts_fall_between_characters(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t length, cut;
    } cases[] = {{"abc", 3, 3},
                 {"\xC3\xB6", 2, 2},
                 {"\xC3\xB6", 1, 0},
                 {"\xE6\x97\xA5", 2, 0},
                 {"a\xF0\x9F\x98\x80", 4, 1},
                 {"a\xF0\x9F\x98\x80", 5, 5},
                 {"", 0, 0},
                 {"\x80\x80\x80\x80\x80", 5, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(text_utf8_cut(cases[i].bytes, cases[i].length), cases[i].cut);
    for (int before = 0; before < 8; before++) {
        status st = STATUS_INIT;
        status_set(&st, STATUS_INVALID, "%0*d", before, 0);
        for (int i = 0; i < 600; i++)
            status_set(&st, STATUS_INVALID, "\xF0\x9F\x98\x80\xC3\xB6");
        assert_true(text_is_utf8(st.message, strlen(st.message)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_text_is_escaped),
        cmocka_unit_test(every_byte_comes_out_as_harmless_utf8),
        cmocka_unit_test(a_format_escapes_its_strings_alone),
        cmocka_unit_test(long_text_is_cut),
        cmocka_unit_test(composed_text_keeps_lines_and_colours),
        cmocka_unit_test(lines_of_others_are_indented),
        cmocka_unit_test(json_stays_the_same_document),
        cmocka_unit_test(cuts_fall_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
