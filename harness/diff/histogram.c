/* histogram.c - buckets of powers of two, and their bars. */
#include "diff/histogram.h"

#include <inttypes.h>
#include <math.h>

enum { BAR_COLUMNS = 40, EMPTY_SHOWN = 2 };

static uint64_t sign_bit(dtype type) {
    return (uint64_t)1 << (8 * dtype_size(type) - 1);
}

bool histogram_is_nan(dtype type, uint64_t bits) {
    return dtype_is_float(type) && isnan(dtype_load(type, &bits, 0));
}

int histogram_bucket(dtype type, uint64_t a_bits, uint64_t b_bits, uint64_t ulp) {
    if (dtype_is_float(type)) {
        if (ulp == UINT64_MAX)
            return HISTOGRAM_NAN;
        if (ulp > 0 && ((a_bits ^ b_bits) & sign_bit(type)))
            return HISTOGRAM_SIGN;
    }
    if (ulp <= 2)
        return (int)ulp;
    int bucket = 64 - __builtin_clzll(ulp - 1) + 1;
    return bucket < HISTOGRAM_BEYOND ? bucket : HISTOGRAM_BEYOND;
}

void histogram_label(int bucket, text *out) {
    if (bucket <= 2)
        text_printf(out, "%d", bucket);
    else if (bucket == HISTOGRAM_NAN)
        text_append(out, "NaN");
    else if (bucket == HISTOGRAM_SIGN)
        text_append(out, "sign");
    else if (bucket == HISTOGRAM_BEYOND)
        text_append(out, ">2^24");
    else
        text_printf(out, "%" PRIu64 "-%" PRIu64, ((uint64_t)1 << (bucket - 2)) + 1,
                    (uint64_t)1 << (bucket - 1));
}

static const char *explanation(int bucket) {
    switch (bucket) {
    case 0:
        return "  (+0 and -0)";
    case HISTOGRAM_SIGN:
        return "  (one positive, one negative)";
    case HISTOGRAM_NAN:
        return "  (a NaN against a number)";
    default:
        return "";
    }
}

static void draw_bucket(int bucket, uint64_t count, uint64_t most, text *out) {
    text label;
    text_init(&label);
    histogram_label(bucket, &label);
    text_printf(out, "  %17s %12" PRIu64, label.data, count);
    text_release(&label);
    int length = (int)((double)count / (double)most * BAR_COLUMNS + 0.5);
    if (count > 0)
        text_append(out, "  ");
    for (int i = 0; i < length || (i == 0 && count > 0); i++)
        text_append_char(out, '#');
    text_printf(out, "%s\n", count ? explanation(bucket) : "");
}

/* A long stretch of empty buckets is one line. */
static int skip_empty(const uint64_t *counts, int bucket, int last, text *out) {
    int end = bucket;
    while (end <= last && counts[end] == 0)
        end++;
    if (end - bucket <= EMPTY_SHOWN)
        return bucket;
    text_printf(out, "  %17s\n", "...");
    return end;
}

void histogram_draw(const uint64_t counts[HISTOGRAM_BUCKETS], bool is_float, text *out) {
    int first = -1, last = -1;
    uint64_t most = 0;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        /* Values that are no distance have their own lines, without the empty ones before them. */
        if (counts[i] && i <= HISTOGRAM_BEYOND) {
            first = first < 0 ? i : first;
            last = i;
        }
        most = counts[i] > most ? counts[i] : most;
    }
    if (most == 0)
        return;
    text_printf(out, "  %17s %12s\n", is_float ? "ULP apart" : "apart", "elements");
    for (int i = first; first >= 0 && i <= last; i++) {
        i = skip_empty(counts, i, last, out);
        draw_bucket(i, counts[i], most, out);
    }
    for (int i = HISTOGRAM_SIGN; i < HISTOGRAM_BUCKETS; i++)
        if (counts[i])
            draw_bucket(i, counts[i], most, out);
}
