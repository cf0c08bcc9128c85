/* program.c - a program to record: PROGRAM STEPS [fork|threads|columns|corners|solves|kill|noise].
 * It multiplies matrices whose sizes change, feeds results into what follows, and prints a digest
 * of the last. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blas.h"

enum {
    ROWS = 101,
    COLUMNS = 102,
    PLAIN = 111,
    TURNED = 112,
    UPPER = 121,
    LOWER = 122,
    M = 6,
    N = 5,
    LONGEST = 64,
    GAP = 3
};

static float a[M * (LONGEST + GAP)], b[LONGEST * N], c[M * N];

static void fill(float *x, int count, unsigned seed) {
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / (float)(1 << 24) - 0.5f;
    }
}

/* Lengths 27, 28, ...: the seventh is 33. The gap between rows is what no call sees. */
static void step(int number) {
    int k = 26 + number, ld = k + GAP;
    fill(a, M * ld, (unsigned)number);
    fill(b, k * N, (unsigned)number + 99);
    for (int i = 0; i < M; i++)
        for (int g = 0; g < GAP; g++)
            a[i * ld + k + g] = (float)getpid();
    a[0] += 0.001f * c[1];
    cblas_sgemm(ROWS, PLAIN, PLAIN, M, N, k, 1.5f, a, ld, b, N, number % 2 ? 0.0f : 0.5f, c, N);
}

static void *in_thread(void *argument) {
    float x[LONGEST], y[LONGEST];
    fill(x, LONGEST, *(unsigned *)argument);
    fill(y, LONGEST, 7);
    for (int i = 8; i < 12; i++)
        x[0] += cblas_sdot(i, x, 2, y, -1);
    return NULL;
}

static void with_threads(void) {
    pthread_t threads[3];
    unsigned seeds[] = {11, 12, 13};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, in_thread, &seeds[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void with_fork(void) {
    pid_t child = fork();
    if (child == 0) {
        step(20);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

static void in_columns(void) {
    const int m = 3, n = 4, k = 5, lda = 5, ldb = 5, ldc = 3;
    const float alpha = -2, beta = 1;
    sgemm_("T", "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}

/* A call for each rule of the reference that is no formula; a formula gives something else. */
static void corners(void) {
    float of[4] = {NAN, 2, INFINITY, 4}, one[4] = {1, 1, 1, 1}, large[2] = {1e30f, -1e30f};
    const float plain[4] = {1, 2, 3, 4};
    float to[4] = {1, 2, 3, 4}, matrix[4] = {5, 6, 7, 8}, square[4] = {1, 2, 3, 4},
          small[2] = {1e-30f, 2e-30f};
    cblas_sgemm(ROWS, PLAIN, PLAIN, 2, 2, 2, 0, of, 2, one, 2, 1, to, 2);
    cblas_sgemm(ROWS, PLAIN, PLAIN, 2, 2, 2, 0, of, 2, one, 2, 0, to, 2);
    cblas_sgemv(ROWS, PLAIN, 2, 2, 0, of, 2, one, 1, 2, one + 2, 1);
    cblas_sgemv(ROWS, PLAIN, 2, 0, 1, of, 2, one, 1, 0, one + 2, 1);
    cblas_sger(ROWS, 2, 2, 0, of, 1, one, 1, matrix, 2);
    cblas_saxpy(4, 0, of, 1, one, 1);
    one[0] = cblas_snrm2(2, large, 1);
    one[1] = cblas_snrm2(2, small, 1);
    one[2] = cblas_sasum(2, large, -1);
    cblas_sscal(2, 3, large, -1);
    cblas_ssyrk(ROWS, LOWER, PLAIN, 2, 2, 0, of, 2, 1, square, 2);
    cblas_ssyrk(ROWS, LOWER, PLAIN, 2, 2, 1, plain, 2, 0, square, 2);
}

/* Triangular solves: each of the five flags has both of its values, and what a call does not see is
 * a NaN. */
static void solves(void) {
    enum { WHOLE = 131, UNIT = 132, LEFT = 141, RIGHT = 142 };
    const float lower[9] = {4, NAN, NAN, 1, -5, NAN, 2, 3, 6},
                unit[9] = {NAN, 0.5f, -0.25f, NAN, NAN, 2, NAN, NAN, NAN};
    float to[6];
    fill(to, 6, 5);
    cblas_strsm(ROWS, LEFT, LOWER, PLAIN, WHOLE, 3, 2, 2, lower, 3, to, 2);
    fill(to, 6, 6);
    cblas_strsm(ROWS, RIGHT, UPPER, TURNED, UNIT, 2, 3, 1, unit, 3, to, 3);
    fill(to, 6, 7);
    cblas_strsm(COLUMNS, LEFT, UPPER, TURNED, WHOLE, 3, 2, -1, lower, 3, to, 3);
    fill(to, 6, 8);
    cblas_strsm(COLUMNS, RIGHT, LOWER, PLAIN, UNIT, 2, 3, 0.5f, unit, 3, to, 2);
    cblas_strsm(ROWS, LEFT, LOWER, PLAIN, WHOLE, 3, 2, 0, unit, 3, to, 2);
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 10;
    const char *how = argc > 2 ? argv[2] : "";
    unsigned char *bytes = (unsigned char *)c;
    unsigned digest = 0;
    for (int i = 1; i <= steps; i++) {
        if (strcmp(how, "noise") == 0 && i == 4)
            c[1] += 1;
        step(i);
    }
    if (strcmp(how, "threads") == 0)
        with_threads();
    if (strcmp(how, "fork") == 0)
        with_fork();
    if (strcmp(how, "columns") == 0)
        in_columns();
    if (strcmp(how, "corners") == 0)
        corners();
    if (strcmp(how, "solves") == 0)
        solves();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    for (size_t i = 0; i < sizeof c; i++)
        digest = digest * 31 + bytes[i];
    printf("%08x\n", digest);
    return strcmp(how, "fails") == 0 ? 7 : 0;
}
