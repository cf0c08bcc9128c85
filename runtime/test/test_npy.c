/* test_npy.c - .npy files: what NumPy writes is read, what lies is refused with the reason. */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/tensor.h"

static char path[] = "/tmp/tsr-npy-XXXXXX";

/* Writes a .npy of `version` with `dict` and `payload` bytes 0, 1, 2, ... */
static void write_file(int version, const char *dict, size_t payload) {
    unsigned char file[4096] = "\x93NUMPY";
    size_t length = strlen(dict), at = version == 1 ? 10 : 12;
    file[6] = (unsigned char)version;
    file[8] = (unsigned char)(length & 0xff);
    file[9] = (unsigned char)(length >> 8);
    memcpy(file + at, dict, length);
    for (size_t i = 0; i < payload; i++)
        file[at + length + i] = (unsigned char)i;
    assert_true(file_write_atomic(path, file, at + length + payload, NULL));
}

static void every_type_round_trips(void **state) {
    (void)state;
    static const int64_t shapes[][3] = {{2, 3, 4}, {0, 5, 1}, {7, 1, 1}};
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++) {
        for (int rank = 0; rank <= 3; rank++) {
            status st = STATUS_INIT;
            tensor a, b;
            assert_true(tensor_init(&a, (dtype)t, rank, shapes[rank % 3], &st));
            for (int64_t i = 0; i < tensor_count(&a); i++)
                dtype_store((dtype)t, a.data, (size_t)i, (double)(i % 5 - 2));
            assert_true(tensor_write_npy(&a, path, &st));
            if (!tensor_read_npy(&b, path, (dtype)t, &st))
                fail_msg("%s", st.message);
            assert_int_equal(b.type, t);
            assert_int_equal(b.rank, rank);
            assert_memory_equal(a.dims, b.dims, sizeof a.dims);
            assert_memory_equal(a.data, b.data, tensor_bytes(&a));
            assert_int_equal((uintptr_t)b.data % 64, 0);
            tensor_release(&a);
            tensor_release(&b);
        }
    }
}

static void fortran_order_is_transposed(void **state) {
    (void)state;
    for (int version = 1; version <= 3; version++) {
        tensor t;
        write_file(version, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n", 6);
        assert_true(tensor_read_npy(&t, path, DTYPE_NONE, NULL));
        static const int8_t rows[] = {0, 2, 4, 1, 3, 5};
        assert_memory_equal(t.data, rows, 6);
        tensor_release(&t);
    }
}

typedef struct refusal {
    int version;
    const char *dict;
    size_t payload;
    dtype want;
    const char *message;
} refusal;

#define DICT(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }"
static const refusal refusals[] = {
    {1, DICT(">f4", "(2,)"), 8, DTYPE_NONE, "big endian"},
    {1, DICT("<c8", "(2,)"), 16, DTYPE_NONE, "'<c8' is not supported"},
    {1, DICT("<u2", "(2,)"), 4, DTYPE_I16, "holds u16; i16 was expected"},
    {1, DICT("<f4", "(2,)"), 8, DTYPE_F64, "holds f32; f64 was expected"},
    {1, DICT("<f4", "(2,)"), 7, DTYPE_NONE, "needs 8 bytes of elements; the file has 7"},
    {1, DICT("<f4", "(2,)"), 9, DTYPE_NONE, "the file has 9"},
    {1, DICT("<f4", "(4611686018427387904, 4)"), 8, DTYPE_NONE, "needs more than"},
    {1, DICT("<f4", "(99999999999999999999,)"), 8, DTYPE_NONE, "above 2^63"},
    {1, DICT("<f4", "(-1,)"), 8, DTYPE_NONE, "non-negative"},
    {1, DICT("<f4", "(1,1,1,1,1,1,1,1,1)"), 4, DTYPE_NONE, "more than 8"},
    {1, DICT("<f4", "(2, 3"), 4, DTYPE_NONE, "not a non-negative integer"},
    {1, "{'shape': (2", 0, DTYPE_NONE, "not closed"},
    {1, DICT("<f4", "[2]"), 8, DTYPE_NONE, "not a tuple"},
    {1, DICT("|b1", "(4,)"), 4, DTYPE_NONE, "element 2 of type bool is 2"},
    {1, "{'descr': '<f4', 'shape': (2,), }", 8, DTYPE_NONE, "is missing"},
    {1, "{'descr': '<f4', 'descr': '<f4', 'shape': (2,), }", 8, DTYPE_NONE, "repeated key"},
    {1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8, DTYPE_NONE,
     "quoted string"},
    {1, "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }", 8, DTYPE_NONE,
     "neither True nor False"},
    {1, DICT("<f4", "(2,)") " x", 8, DTYPE_NONE, "text after the dict"},
    {1, "", 0, DTYPE_NONE, "expected '{'"},
    {4, DICT("<f4", "(2,)"), 8, DTYPE_NONE, "version 4.0"},
};

static void liars_are_refused_with_the_reason(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        status st = STATUS_INIT;
        tensor t;
        write_file(refusals[i].version, refusals[i].dict, refusals[i].payload);
        assert_false(tensor_read_npy(&t, path, refusals[i].want, &st));
        assert_null(t.data);
        if (!strstr(st.message, refusals[i].message) || !strstr(st.message, path))
            fail_msg("case %zu: %s", i, st.message);
    }
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    char *whole;
    size_t size;
    tensor t;
    write_file(2, DICT("<f8", "(3, 1)") "\n", 24);
    assert_true(file_read(path, 4096, &whole, &size, NULL));
    for (size_t cut = 0; cut < size; cut++) {
        assert_true(file_write_atomic(path, whole, cut, NULL));
        assert_false(tensor_read_npy(&t, path, DTYPE_NONE, NULL));
    }
    free(whole);
}

static void shapes_that_overflow_are_refused(void **state) {
    (void)state;
    static const int64_t huge[] = {INT64_MAX, 2}, negative[] = {-1},
                         empty[] = {INT64_MAX, 0, INT64_MAX};
    tensor t;
    assert_false(tensor_init(&t, DTYPE_F32, 2, huge, NULL));
    assert_false(tensor_init(&t, DTYPE_F32, 1, negative, NULL));
    assert_false(tensor_init(&t, DTYPE_F32, 9, huge, NULL));
    assert_false(tensor_init(&t, DTYPE_NONE, 0, NULL, NULL));
    assert_true(tensor_init(&t, DTYPE_F32, 3, empty, NULL));
    assert_non_null(t.data);
    assert_int_equal(tensor_count(&t), 0);
    tensor_release(&t);
}

static int make_path(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_round_trips),
        cmocka_unit_test(fortran_order_is_transposed),
        cmocka_unit_test(liars_are_refused_with_the_reason),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(shapes_that_overflow_are_refused),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
