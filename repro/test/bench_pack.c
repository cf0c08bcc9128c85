/* bench_pack.c - how fast packs are written and read, beside `lz4 -1` on the same bytes. Run by
 * hand: repro_pack_bench [MIB [DIRECTORY]]. */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/philox.h"
#include "base/text.h"
#include "repro/pack.h"

enum { ROUNDS = 9, MEMBERS = 4 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void show(const char *what, double *times, double mib) {
    qsort(times, ROUNDS, sizeof *times, compare);
    printf("  %-12s %7.1f ms (%.1f to %.1f), %6.0f MiB/s\n", what, 1e3 * times[ROUNDS / 2],
           1e3 * times[0], 1e3 * times[ROUNDS - 1], mib / times[ROUNDS / 2]);
}

static void fill(const char *kind, float *data, size_t count) {
    for (size_t i = 0; i < count; i++)
        data[i] = kind[0] == 'z'   ? 0.0f
                  : kind[0] == 'n' ? philox_normal(philox_element(1, i, 0, 0), 0, 1)
                                   : (float)(philox_integer(philox_element(1, i, 0, 0), -8, 8));
}

static bool measure(const char *kind, const text *paths, const void *data, size_t size_bytes) {
    double writing[ROUNDS], reading[ROUNDS], lz4[ROUNDS];
    double mib = (double)size_bytes / 1048576;
    const char *pack_path = paths[0].data, *plain_path = paths[1].data, *command = paths[2].data;
    pack_member members[MEMBERS];
    static const char *const names[MEMBERS] = {"in/x", "in/y", "in/z", "out/o"};
    json_t *about = json_object();
    status st = STATUS_INIT;
    for (size_t i = 0; i < MEMBERS; i++)
        members[i] = (pack_member){names[i], (const char *)data + i * (size_bytes / MEMBERS),
                                   size_bytes / MEMBERS};
    bool ok = file_write_atomic(plain_path, data, size_bytes, &st);
    for (int i = 0; i < ROUNDS && ok; i++) {
        pack_state state;
        double start = seconds();
        ok = pack_write(pack_path, about, members, MEMBERS, &st);
        writing[i] = seconds() - start;
        start = seconds();
        pack_free(pack_read(pack_path, &state, &st));
        reading[i] = seconds() - start;
        start = seconds();
        ok = ok && state == PACK_VALID && system(command) == 0;
        lz4[i] = seconds() - start;
    }
    json_decref(about);
    if (!ok) {
        fprintf(stderr, "%s\n", st.code ? st.message : "lz4 failed");
        return false;
    }
    printf("%s, %.0f MiB\n", kind, mib);
    show("pack_write", writing, mib);
    show("lz4 -1", lz4, mib);
    show("pack_read", reading, mib);
    return true;
}

int main(int argc, char **argv) {
    static const char *const kinds[] = {"normal", "integers", "zeros"};
    size_t size_bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 64) << 20;
    const char *directory = argc > 2 ? argv[2] : "/tmp";
    float *data = base_malloc(size_bytes);
    text paths[3];
    bool ok = true;
    for (int i = 0; i < 3; i++)
        text_init(&paths[i]);
    text_printf(&paths[0], "%s/bench.repro.tar.lz4", directory);
    text_printf(&paths[1], "%s/bench.bin", directory);
    text_printf(&paths[2], "lz4 -1 -f -q '%s/bench.bin' '%s/bench.lz4'", directory, directory);
    for (size_t i = 0; i < 3 && ok; i++) {
        fill(kinds[i], data, size_bytes / sizeof *data);
        ok = measure(kinds[i], paths, data, size_bytes);
    }
    for (int i = 0; i < 2; i++)
        unlink(paths[i].data);
    text_clear(&paths[0]);
    text_printf(&paths[0], "%s/bench.lz4", directory);
    unlink(paths[0].data);
    for (int i = 0; i < 3; i++)
        text_release(&paths[i]);
    free(data);
    return ok ? 0 : 1;
}
