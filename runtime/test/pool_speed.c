/* pool_speed.c - what an allocation costs with the pool of a device and without: medians of pairs,
 * taken in turn in one process on two openings of a device. No test, since a test asserts no time.
 * The driver's name is its argument. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "device/shared/gpu.h"

enum { ROUNDS = 201, LIVE = 8 };

static void fail(const char *what, const status *st) {
    fprintf(stderr, "%s: %s\n", what, st->message);
    exit(1);
}

static device *open_kept(const char *name, const char *kept) {
    const device_options options = {.threads = 1};
    const device_driver *driver = device_driver_find(name);
    status st = STATUS_INIT;
    device *d;
    if (kept)
        setenv(MEMORY_KEPT, kept, 1);
    else
        unsetenv(MEMORY_KEPT);
    status_set(&st, STATUS_NOT_FOUND, "no driver");
    if (!driver)
        fail(name, &st);
    st = (status)STATUS_INIT;
    if (!device_open(driver, 0, &options, &d, &st))
        fail(name, &st);
    return d;
}

/* Nanoseconds of an allocation and its end, of LIVE that live at once. */
static double time_of(device *d, size_t bytes) {
    device_memory *memories[LIVE];
    status st = STATUS_INIT;
    uint64_t start = clock_now_ns();
    for (int i = 0; i < LIVE; i++)
        if (!d->driver->alloc(d, bytes, DEVICE_MEMORY_DEVICE, &memories[i], &st))
            fail("memory", &st);
    for (int i = 0; i < LIVE; i++)
        d->driver->free(d, memories[i]);
    return (double)(clock_now_ns() - start) / LIVE;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x) {
    qsort(x, ROUNDS, sizeof *x, by_value);
    return x[ROUNDS / 2];
}

int main(int argc, char **argv) {
    static const size_t sizes[] = {4 << 10, 256 << 10, 4 << 20, 32 << 20};
    static double with[ROUNDS], without[ROUNDS], ratios[ROUNDS];
    const char *name = argc > 1 ? argv[1] : "vulkan";
    setenv(SOFTWARE_DEVICES, "1", 1);
    device *pooled = open_kept(name, NULL), *bare = open_kept(name, "0");
    printf("%s\n", pooled->info.name);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int i = -1; i < ROUNDS; i++) {
            double a = time_of(pooled, sizes[s]), b = time_of(bare, sizes[s]);
            if (i < 0)
                continue;
            with[i] = a;
            without[i] = b;
            ratios[i] = b / a;
        }
        printf("%zu KiB: %.0f allocations a second, %.0f without a pool, ratio %.1f\n",
               sizes[s] >> 10, 1e9 / median(with), 1e9 / median(without), median(ratios));
    }
    pooled->driver->close(pooled);
    bare->driver->close(bare);
    return 0;
}
