/* noise.c - a loop against itself: in one process, and between fresh ones as the gate has them.
 *
 * A process of ours times two equal loops in turn and answers with the median log ratio; two
 * processes with swapped turns make a pair, whose mean is one value of the series that the gate's
 * plan is asked about. Each process has its buffer at another place. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/timer.h"
#include "doctor/doctor.h"
#include "process/child.h"
#include "statistics/plan.h"
#include "statistics/statistics.h"

enum {
    PAIRS = 10,
    ROUNDS = 21,
    MANY = 480, /* a gate of a whole corpus */
    MEMORY_BYTES = 8 << 20,
    PAGE_BYTES = 4096,
    CHAIN = 20000,
    CLOCK_SAMPLES = 301
};
static const double margin = 0.005, mde = 0.02, alpha = 0.01,
                    power = 0.95; /* the gate's defaults */

/* ---- loops ---- */

typedef struct room {
    double *data;
    size_t count;
} room;

static double compute(const room *r) {
    double x = r->data[0];
    for (int i = 0; i < CHAIN; i++)
        x = x * 0.999999 + 1e-6;
    return x;
}

static double stream(const room *r) {
    double sums[4] = {0};
    for (size_t i = 0; i + 4 <= r->count; i += 4)
        for (size_t k = 0; k < 4; k++)
            sums[k] += r->data[i + k];
    return sums[0] + sums[1] + sums[2] + sums[3];
}

typedef double (*loop_fn)(const room *r);
static const struct loop {
    const char *name;
    loop_fn run;
} loops[] = {{"compute", compute}, {"memory", stream}};
enum { LOOPS = sizeof loops / sizeof loops[0] };

static double time_of(loop_fn run, const room *r) {
    static volatile double sink;
    uint64_t start = timer_now_ns();
    __asm__ volatile("" : : "r"(r->data) : "memory"); /* the loop stays between the two readings */
    sink = run(r);
    (void)sink;
    return (double)(timer_now_ns() - start);
}

/* ---- one process ---- */

static bool furnish(room *r, unsigned char **whole) {
    uint32_t random = 0;
    (void)!getrandom(&random, sizeof random, 0);
    *whole = malloc(MEMORY_BYTES + PAGE_BYTES);
    if (!*whole)
        return false;
    memset(*whole, 0, MEMORY_BYTES + PAGE_BYTES);
    r->data = (double *)(void *)(*whole + random % (PAGE_BYTES / 64) * 64);
    r->count = MEMORY_BYTES / sizeof(double);
    return true;
}

/* Medians of log ratios of the second to the first; `ratios` has room for ROUNDS. */
static double take_rounds(const struct loop *loop, const room *r, bool swapped, double *ratios) {
    time_of(loop->run, r);
    for (int i = 0; i < ROUNDS; i++) {
        double first = time_of(loop->run, r), second = time_of(loop->run, r);
        bool turned = (i % 2 == 1) != swapped;
        ratios[i] = (turned ? -1 : 1) * log(second / first);
    }
    double sorted[ROUNDS];
    memcpy(sorted, ratios, sizeof sorted);
    return statistics_of(sorted, ROUNDS).median;
}

static bool ask_process(const struct loop *loop, bool swapped, double *answer, status *st) {
    int ends[2];
    if (pipe(ends) != 0)
        return status_set_errno(st, errno, "cannot make a pipe");
    pid_t child = child_fork();
    if (child == 0) {
        room r;
        unsigned char *whole;
        double ratios[ROUNDS];
        double median = furnish(&r, &whole) ? take_rounds(loop, &r, swapped, ratios) : NAN;
        _exit(write(ends[1], &median, sizeof median) == sizeof median ? 0 : 1);
    }
    close(ends[1]);
    bool ok = child > 0 && read(ends[0], answer, sizeof *answer) == sizeof *answer;
    close(ends[0]);
    child_end end;
    if (child > 0)
        child_wait(child, &end);
    return ok || status_set(st, STATUS_IO, "a process that was to time a loop gave no answer");
}

/* ---- all of them ---- */

/* Half of the distance that holds the middle nine tenths. */
static double spread_of(double *values, size_t count) {
    (void)statistics_of(values, count); /* sorts */
    return (values[count - 1 - count / 20] - values[count / 20]) / 2;
}

static double detectable(const plan_series *s, size_t family) {
    plan p;
    plan_request request = {
        .margin = margin, .bound = mde, .alpha = alpha, .power = power, .family = family};
    plan_make(&p, &request);
    return plan_detectable(&p, s);
}

static json_t *known(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

double doctor_pair_error(double in_process) {
    /* Nine tenths of a normal distribution lie within 1.645 deviations; a median of n values is off
     * by sqrt(pi / 2 / n) of them, and the mean of two by a square root of two less. */
    return in_process / 1.645 * sqrt(1.5708 / ROUNDS) / sqrt(2);
}

bool doctor_enough(double detectable_worst, double in_process_worst) {
    return detectable_worst <= mde && doctor_pair_error(in_process_worst) <= mde;
}

typedef struct worst_of {
    double detectable, in_process;
} worst_of;

static json_t *noise_of(const struct loop *loop, worst_of *worst, status *st) {
    double ratios[ROUNDS];
    plan_series series;
    room r;
    unsigned char *whole;
    plan_series_init(&series);
    if (!furnish(&r, &whole)) {
        status_set(st, STATUS_OUT_OF_MEMORY, "no memory for a loop over %d MiB",
                   MEMORY_BYTES >> 20);
        return NULL;
    }
    take_rounds(loop, &r, false, ratios);
    free(whole);
    for (int i = 0; i < PAIRS; i++) {
        double straight, swapped;
        if (!ask_process(loop, false, &straight, st) || !ask_process(loop, true, &swapped, st))
            return NULL;
        series.values[series.count++] = (straight + swapped) / 2;
    }
    double one = detectable(&series, 1), many = detectable(&series, MANY);
    double in_process = spread_of(ratios, ROUNDS);
    worst->detectable = fmax(one, worst->detectable);
    worst->in_process = fmax(in_process, worst->in_process);
    return json_pack("{s:s, s:f, s:f, s:f, s:o, s:o}", "loop", loop->name, "in_process", in_process,
                     "pair_error", doctor_pair_error(in_process), "between_processes",
                     spread_of(series.values, series.count), "detectable", known(one),
                     "detectable_of_many", known(many));
}

static double clock_spread(void) {
    double values[CLOCK_SAMPLES];
    double data[1] = {1};
    const room r = {data, 1};
    for (int i = 0; i < CLOCK_SAMPLES; i++)
        values[i] = time_of(compute, &r);
    double median = statistics_of(values, CLOCK_SAMPLES).median;
    return (values[CLOCK_SAMPLES * 95 / 100] - values[CLOCK_SAMPLES / 20]) / median;
}

json_t *doctor_noise(status *st) {
    worst_of worst = {0, 0};
    json_t *list = json_array();
    for (int i = 0; i < LOOPS; i++) {
        json_t *one = noise_of(&loops[i], &worst, st);
        if (!one) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, one);
    }
    return json_pack("{s:o, s:f, s:i, s:f, s:o, s:f, s:b}", "loops", list, "clock_spread",
                     clock_spread(), "cases", MANY, "mde", mde, "detectable",
                     known(worst.detectable), "pair_error", doctor_pair_error(worst.in_process),
                     "enough", doctor_enough(worst.detectable, worst.in_process));
}
