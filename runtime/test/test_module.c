/* test_module.c - the module container: what is written is found again, and no flipped byte goes
 * unseen. */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "tessera/tessera.h"

static const module_part parts[] = {
    {"metadata", "{}", 2},
    {"graph", "", 0},
    {"x86_64-elf/x86-64-v2+fma", "code that is a little longer than a line", 40}};

static void write_parts(unsigned char **image, size_t *size) {
    void *data;
    assert_true(module_write(parts, COUNT_OF(parts), &data, size, NULL));
    *image = data;
}

static void parts_are_found_again(void **state) {
    (void)state;
    unsigned char *image, *again;
    size_t size, size_again;
    module_part part;
    write_parts(&image, &size);
    write_parts(&again, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(image, again, size);
    assert_true(module_check(image, size, NULL));
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        assert_true(module_find(image, size, parts[i].kind, &part));
        assert_int_equal(part.size_bytes, parts[i].size_bytes);
        assert_memory_equal(part.data, parts[i].data, part.size_bytes);
        assert_int_equal(((const unsigned char *)part.data - image) % 64, 0);
        assert_true(module_part_at(image, size, i, &part));
        assert_string_equal(part.kind, parts[i].kind);
    }
    assert_false(module_find(image, size, "ptx", &part));
    assert_false(module_part_at(image, size, 3, &part));
    free(image);
    free(again);
}

static void an_empty_module_is_a_module(void **state) {
    (void)state;
    void *image;
    size_t size;
    assert_true(module_write(NULL, 0, &image, &size, NULL));
    assert_true(module_check(image, size, NULL));
    free(image);
}

static void every_flipped_bit_is_seen(void **state) {
    (void)state;
    unsigned char *image;
    size_t size;
    write_parts(&image, &size);
    for (size_t bit = 0; bit < size * 8; bit++) {
        image[bit / 8] ^= (unsigned char)(1 << bit % 8);
        status st = STATUS_INIT;
        uint16_t major, minor;
        assert_true(bit < 64 || module_version(image, size, &major, &minor, NULL));
        bool older = bit >= 80 && bit < 96 && minor <= TSR_ABI_MINOR; /* a module like any other */
        if (module_check(image, size, &st) != older)
            fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
        assert_int_equal(st.code, older ? STATUS_OK : STATUS_CORRUPT);
        image[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(image);
}

static void every_truncation_and_extension_is_seen(void **state) {
    (void)state;
    unsigned char *image;
    size_t size;
    write_parts(&image, &size);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *exact =
            malloc(cut ? cut : 1); /* so that a sanitizer sees reads past the cut */
        memcpy(exact, image, cut);
        assert_false(module_check(exact, cut, NULL));
        free(exact);
    }
    image = realloc(image, size + 1);
    image[size] = 0;
    assert_false(module_check(image, size + 1, NULL));
    free(image);
}

static void unsound_parts_are_not_written(void **state) {
    (void)state;
    static const module_part twice[] = {{"graph", "", 0}, {"graph", "", 0}};
    static const module_part nameless[] = {{"", "", 0}};
    static const module_part too_long[] = {{"a-kind-of-thirty-two-characters!", "", 0}};
    void *image;
    size_t size;
    assert_false(module_write(twice, 2, &image, &size, NULL));
    assert_false(module_write(nameless, 1, &image, &size, NULL));
    assert_false(module_write(too_long, 1, &image, &size, NULL));
}

/* A program's kernels are sections of one module. */
static void many_parts_are_found(void **state) {
    enum { MOST = 4096 };
    (void)state;
    static char kinds[MOST + 1][24];
    static module_part many[MOST + 1];
    module_part part;
    void *image, *none;
    size_t size, size_none;
    status st = STATUS_INIT;
    for (int i = 0; i <= MOST; i++) {
        snprintf(kinds[i], sizeof kinds[i], "kernel:%d", i);
        many[i] = (module_part){kinds[i], kinds[i], strlen(kinds[i])};
    }
    assert_true(module_write(many, MOST, &image, &size, NULL));
    assert_true(module_check(image, size, NULL));
    assert_true(module_find(image, size, "kernel:4095", &part));
    assert_memory_equal(part.data, "kernel:4095", part.size_bytes);
    assert_false(module_write(many, MOST + 1, &none, &size_none, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    many[MOST - 1].kind = "kernel:0";
    assert_false(module_write(many, MOST, &none, &size_none, NULL));
    free(image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_found_again),
        cmocka_unit_test(an_empty_module_is_a_module),
        cmocka_unit_test(every_flipped_bit_is_seen),
        cmocka_unit_test(every_truncation_and_extension_is_seen),
        cmocka_unit_test(unsound_parts_are_not_written),
        cmocka_unit_test(many_parts_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
