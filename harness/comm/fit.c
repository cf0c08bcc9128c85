/* fit.c - the least squares of what was measured.
 *
 * Times go over six decades, so errors are relative, and half is as wrong as double: what becomes
 * least is the sum of (p - t)^2 / (p t), of the predicted p and the measured t. The model is linear
 * in its four numbers, so that each step solves plain least squares, with the p of the step before
 * as weights. No number may be negative: of all subsets of
 * the numbers that are not 0, the one whose solution has none below it and leaves least is the
 * solution (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23: the optimum of
 * NNLS is the plain solution of some subset). */
#include <math.h>
#include <string.h>

#include "comm/probe.h"

enum { NUMBERS = 4, STEPS = 30 };

static void row_of(const probe_result *r, const probe_cell *c, double row[NUMBERS]) {
    row[0] = 1;
    row[1] = probe_messages(c->pattern, r->ranks) - 1.0;
    row[2] = (double)c->bytes;
    row[3] = (double)c->bytes * (probe_pairs(c->pattern, r->ranks) - 1);
}

typedef struct normal {
    double a[NUMBERS][NUMBERS], b[NUMBERS];
} normal;

/* Weighted by what the numbers `old` say. */
static normal normal_of(const probe_result *r, const double old[NUMBERS]) {
    normal n = {0};
    for (uint32_t k = 0; k < r->cell_count; k++) {
        double row[NUMBERS];
        const double t = r->cells[k].ns;
        row_of(r, &r->cells[k], row);
        double p = old ? 0 : t;
        for (int i = 0; i < NUMBERS && old; i++)
            p += row[i] * old[i];
        const double weight = 1 / sqrt(p * t);
        for (int i = 0; i < NUMBERS; i++) {
            row[i] *= weight;
            n.b[i] += row[i] * t * weight;
        }
        for (int i = 0; i < NUMBERS; i++)
            for (int j = 0; j < NUMBERS; j++)
                n.a[i][j] += row[i] * row[j];
    }
    return n;
}

/* Gauss, with pivots, of scaled columns. False: these do not determine each other. */
static bool solve(const normal *n, unsigned subset, double x[NUMBERS]) {
    int at[NUMBERS], count = 0;
    double m[NUMBERS][NUMBERS + 1], scale[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        if (subset >> i & 1)
            at[count++] = i;
    for (int i = 0; i < count; i++) {
        scale[i] = sqrt(n->a[at[i]][at[i]]);
        if (scale[i] == 0)
            return false;
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++)
            m[i][j] = n->a[at[i]][at[j]] / (scale[i] * scale[j]);
        m[i][count] = n->b[at[i]] / scale[i];
    }
    for (int k = 0; k < count; k++) {
        int best = k;
        for (int i = k + 1; i < count; i++)
            best = fabs(m[i][k]) > fabs(m[best][k]) ? i : best;
        if (fabs(m[best][k]) < 1e-9)
            return false;
        for (int j = 0; j <= count; j++) {
            const double t = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = t;
        }
        for (int i = 0; i < count; i++)
            for (int j = count; i != k && j >= k; j--)
                m[i][j] -= m[i][k] / m[k][k] * m[k][j];
    }
    memset(x, 0, NUMBERS * sizeof *x);
    for (int i = 0; i < count; i++)
        x[at[i]] = m[i][count] / m[i][i] / scale[i];
    return true;
}

/* The squares that it leaves, less the constant one. */
static double left(const normal *n, const double x[NUMBERS]) {
    double sum = 0;
    for (int i = 0; i < NUMBERS; i++) {
        sum -= 2 * n->b[i] * x[i];
        for (int j = 0; j < NUMBERS; j++)
            sum += x[i] * n->a[i][j] * x[j];
    }
    return sum;
}

/* No number below 0. */
static void solve_best(const normal *n, double best[NUMBERS]) {
    double least = INFINITY;
    for (unsigned subset = 1; subset < 1u << NUMBERS; subset++) {
        double x[NUMBERS];
        bool good = solve(n, subset, x);
        for (int i = 0; i < NUMBERS && good; i++)
            good = x[i] >= 0;
        if (!good || left(n, x) >= least)
            continue;
        least = left(n, x);
        memcpy(best, x, sizeof x);
    }
}

void probe_fit(const probe_result *r, comm_fit *out) {
    double best[NUMBERS] = {0};
    for (int step = 0; step < STEPS; step++) {
        const normal n = normal_of(r, step ? best : NULL);
        solve_best(&n, best);
    }
    *out = (comm_fit){.ranks = r->ranks,
                      .alpha = best[0],
                      .message = best[1],
                      .byte = best[2],
                      .contention = best[3],
                      .sum = r->sum_ns};
    memcpy(out->transport, r->transport, sizeof out->transport);
}

double probe_predicted_ns(const comm_fit *f, const probe_result *r, const probe_cell *c) {
    return comm_fit_exchange_ns(f, probe_messages(c->pattern, r->ranks),
                                probe_pairs(c->pattern, r->ranks), (double)c->bytes);
}
