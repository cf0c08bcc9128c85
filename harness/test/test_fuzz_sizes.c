/* test_fuzz_sizes.c - random kernels have shapes at and beside every size at which the scheduler
 * changes its mind, as the compiler's table has them. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/generate.h"
#include "tessera/thresholds.h"

enum { KERNELS = 6000, SIZES_MAX = 1 << 20 };

/* Lengths of axes, and products of all axes or of all but the first; their numbers of bytes. */
typedef struct sizes {
    int64_t *items;
    size_t count;
} sizes;

static void note(sizes *s, int64_t size) {
    assert_true(s->count < SIZES_MAX);
    s->items[s->count++] = size;
}

/* "Tensor[2, 262144, f32]": *p is behind the bracket. */
static void note_tensor(sizes *lengths, sizes *elements, sizes *bytes, const char **p) {
    int64_t all = 1, first = 1;
    char *end;
    int rank = 0;
    for (int64_t n = strtoll(*p, &end, 10); end > *p && *end == ','; n = strtoll(*p, &end, 10)) {
        note(lengths, n);
        first = rank++ ? first : n;
        all *= n;
        *p = end + strspn(end, ", ");
    }
    char name[16];
    size_t length = strcspn(*p, " ]");
    snprintf(name, sizeof name, "%.*s", (int)length, *p);
    int64_t size = (int64_t)dtype_size(dtype_from_name(name));
    for (int part = 0; part < 2; part++) {
        int64_t count = part && rank > 1 && first ? all / first : all;
        note(elements, count);
        note(bytes, count * size);
    }
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Is there one within `around` of it? */
static bool has(const sizes *s, int64_t size, int64_t around) {
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->items[middle] < size - around)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->items[low] <= size + around;
}

static void sort(sizes *s) {
    qsort(s->items, s->count, sizeof *s->items, ascending);
}

static void test_thresholds(void **state) {
    sizes lengths = {calloc(SIZES_MAX, sizeof(int64_t)), 0},
          elements = {calloc(SIZES_MAX, sizeof(int64_t)), 0},
          bytes = {calloc(SIZES_MAX, sizeof(int64_t)), 0};
    const compiler_threshold *list;
    uint32_t count = compiler_thresholds(&list);
    (void)state;
    for (uint64_t k = 0; k < KERNELS; k++) {
        choices c;
        text source;
        text_init(&source);
        choices_draw(&c, 1, k);
        fuzz_generate(&c, &source);
        for (const char *p = source.data; (p = strstr(p, "Tensor["));) {
            p += strlen("Tensor[");
            note_tensor(&lengths, &elements, &bytes, &p);
        }
        choices_release(&c);
        text_release(&source);
    }
    sort(&lengths);
    sort(&elements);
    sort(&bytes);
    for (uint32_t i = 0; i < count; i++) {
        const compiler_threshold *t = &list[i];
        bool is_bytes = t->of == COMPILER_THRESHOLD_BYTES;
        bool is_product = t->of == COMPILER_THRESHOLD_LEFT || t->of == COMPILER_THRESHOLD_RIGHT ||
                          t->of == COMPILER_THRESHOLD_MULTIPLICATIONS;
        bool is_row = t->of == COMPILER_THRESHOLD_RIGHT_ROW_BYTES;
        int64_t value = t->of == COMPILER_THRESHOLD_VECTORS ? 8 * t->value : t->value;
        for (int64_t beside = -1; beside <= 1; beside++) {
            /* Beside a number of bytes there is an element less or more. */
            bool found = is_bytes     ? has(&bytes, value + 8 * beside, 8)
                         : is_product ? has(&elements, value + 8 * beside, 8)
                         : is_row     ? has(&lengths, value / 4 + beside, 0)
                                      : has(&lengths, value + beside, 0);
            if (!found)
                fail_msg("no kernel has %s = %" PRId64 " %+d", t->name, value, (int)beside);
        }
    }
    free(lengths.items);
    free(elements.items);
    free(bytes.items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thresholds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
