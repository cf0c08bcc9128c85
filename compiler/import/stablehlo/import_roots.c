/* import_roots.c - sines and cosines of parts of a circle, by Taylor's series in pairs of doubles:
 * sums and products whose rounding errors are kept (Dekker 1971; Knuth, The Art of Computer
 * Programming, 4.2.2). No library's functions take part, so the bits are those of IEEE 754. */
#include "import/stablehlo/import_roots.h"

#include <math.h>

typedef struct pair {
    double high, low;
} pair;

static pair renormed(double a, double b) {
    const double s = a + b;
    return (pair){s, b - (s - a)};
}

static pair sum(pair a, pair b) {
    const double s = a.high + b.high, t = s - a.high;
    const double error = (a.high - (s - t)) + (b.high - t);
    return renormed(s, error + (a.low + b.low));
}

static pair product(pair a, pair b) {
    const double p = a.high * b.high, error = fma(a.high, b.high, -p);
    return renormed(p, error + (a.high * b.low + a.low * b.high));
}

static pair divided(pair a, double b) {
    const double q = a.high / b;
    const double rest = fma(-q, b, a.high) + a.low;
    return renormed(q, rest / b);
}

/* x - x^3/3! + ..., or 1 - x^2/2! + ..., of 0 <= x <= pi/4. */
static pair series(pair x, int first) {
    enum { TERMS = 15 };
    pair square = product(x, x), term = first ? x : (pair){1, 0}, total = term;
    for (int i = 0; i < TERMS; i++) {
        const double next = first + 2 * i + 1;
        term = divided(product(term, square), -next * (next + 1));
        total = sum(total, term);
    }
    return total;
}

void root_of_unity(int64_t k, int64_t n, double *cosine, double *sine) {
    /* pi / 2 as a pair: the nearest double, and the nearest to the rest. */
    static const pair quarter = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
    const int64_t quadrant = 4 * k / n, rest = 4 * k - quadrant * n;
    const int swaps = 2 * rest > n;
    const double part = (double)(swaps ? n - rest : rest);
    const pair x = divided(product(quarter, (pair){part, 0}), (double)n);
    const double s = series(x, 1).high, c = series(x, 0).high;
    const double a = swaps ? s : c, b = swaps ? c : s; /* within the first quadrant */
    *cosine = quadrant == 0 ? a : quadrant == 1 ? -b : quadrant == 2 ? -a : b;
    *sine = quadrant == 0 ? b : quadrant == 1 ? a : quadrant == 2 ? -b : -a;
}
