/* thresholds.c - sizes at and beside those at which the compiler changes its mind. The list is the
 * compiler's own (compiler_thresholds). */
#include "tessera/thresholds.h"
#include "fuzz/productions.h"

enum { LISTED_MAX = 256 };

/* Just below, at, or just above; the first is the simplest. */
static int64_t beside(fuzz_kernel *k, int64_t value) {
    static const int64_t steps[] = {0, -1, 1};
    return value + steps[choose_below(k->c, 3)];
}

/* Elements in a vector of some machine. */
static int64_t lanes(fuzz_kernel *k) {
    static const int64_t counts[] = {4, 8, 16};
    return counts[choose_below(k->c, 3)];
}

/* Chooses one of the thresholds that `wanted` has a bit for, less than `most`; 0: there is none. */
static int64_t choose_threshold(fuzz_kernel *k, unsigned wanted, int64_t most) {
    const compiler_threshold *list;
    int64_t found[LISTED_MAX];
    uint32_t count = compiler_thresholds(&list), n = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool counts_vectors = list[i].of == COMPILER_THRESHOLD_VECTORS;
        int64_t value = counts_vectors ? list[i].value * lanes(k) : list[i].value;
        if ((wanted >> list[i].of & 1) && value < most && n < LISTED_MAX)
            found[n++] = value;
    }
    return n ? found[choose_below(k->c, n)] : 0;
}

int64_t fuzz_threshold_length(fuzz_kernel *k, int64_t most) {
    const unsigned lengths = 1u << COMPILER_THRESHOLD_LENGTH | 1u << COMPILER_THRESHOLD_VECTORS |
                             1u << COMPILER_THRESHOLD_ROWS | 1u << COMPILER_THRESHOLD_COLUMNS |
                             1u << COMPILER_THRESHOLD_DEPTH;
    int64_t value = choose_threshold(k, lengths, most);
    return value ? beside(k, value) : 0;
}

int64_t fuzz_threshold_columns(fuzz_kernel *k, dtype type, int64_t depth, int64_t most) {
    bool row = choose_rarely(k->c, 3);
    int64_t unit = row ? (int64_t)dtype_size(type) : depth > 0 ? depth : 1;
    const unsigned wanted =
        row ? 1u << COMPILER_THRESHOLD_RIGHT_ROW_BYTES : 1u << COMPILER_THRESHOLD_RIGHT;
    int64_t value = choose_threshold(k, wanted, most * unit);
    return value >= unit ? beside(k, value / unit) : 0;
}

bool fuzz_threshold_shape(fuzz_kernel *k, dtype type, int rank, int64_t *dims) {
    static const int64_t others[] = {1, 2, 3, 7, 16, 64, 513};
    const unsigned products = 1u << COMPILER_THRESHOLD_BYTES | 1u << COMPILER_THRESHOLD_LEFT |
                              1u << COMPILER_THRESHOLD_RIGHT |
                              1u << COMPILER_THRESHOLD_MULTIPLICATIONS;
    int64_t value = choose_threshold(k, products, INT64_MAX), rest = 1;
    int64_t elements = value / (choose_rarely(k->c, 3) ? 1 : (int64_t)dtype_size(type));
    /* Either the whole has as many elements, or what a reduction of one axis leaves. */
    bool whole = choose_rarely(k->c, 2);
    int long_axis = rank - 1 - (int)choose_below(k->c, (uint32_t)rank);
    for (int i = 0; i < rank; i++) {
        dims[i] = i == long_axis ? 1 : others[choose_below(k->c, 7)];
        rest *= dims[i];
    }
    dims[long_axis] = beside(k, elements / (whole ? rest : 1));
    return dims[long_axis] > 0 && fuzz_count(rank, dims) <= fuzz_elements_max(k);
}
