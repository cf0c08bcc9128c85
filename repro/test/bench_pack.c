/* bench_pack.c - how fast packs are written, beside `lz4 -1` on the same bytes, and read, which
 * verifies them, beside `openssl dgst -sha256`. Run by hand: repro_pack_bench [MIB [DIRECTORY]]. */
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

enum { ROUNDS = 7, MEMBERS = 4 };
/* Files, and commands about them. */
enum { PACK, PLAIN, COMPRESSED, LZ4_COMMAND, OPENSSL_COMMAND, PATHS };

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
    printf("  %-20s %7.1f ms (%.1f to %.1f), %6.0f MiB/s\n", what, 1e3 * times[ROUNDS / 2],
           1e3 * times[0], 1e3 * times[ROUNDS - 1], mib / times[ROUNDS / 2]);
}

static void fill(const char *kind, float *data, size_t count) {
    for (size_t i = 0; i < count; i++)
        data[i] = kind[0] == 'z'   ? 0.0f
                  : kind[0] == 'n' ? philox_normal(philox_element(1, i, 0, 0), 0, 1)
                                   : (float)(philox_integer(philox_element(1, i, 0, 0), -8, 8));
}

/* Seconds that a command takes; below 0: it failed. */
static double run(const char *command) {
    double start = seconds();
    return system(command) == 0 ? seconds() - start : -1;
}

static bool measure(const char *kind, const text *paths, const void *data, size_t size_bytes) {
    double writing[ROUNDS], reading[ROUNDS], lz4[ROUNDS], openssl[ROUNDS];
    double mib = (double)size_bytes / 1048576;
    const char *pack_path = paths[PACK].data, *plain_path = paths[PLAIN].data;
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
        lz4[i] = run(paths[LZ4_COMMAND].data);
        openssl[i] = run(paths[OPENSSL_COMMAND].data);
        ok = ok && state == PACK_VALID && lz4[i] > 0 && openssl[i] > 0;
    }
    json_decref(about);
    if (!ok) {
        fprintf(stderr, "%s\n", st.code ? st.message : "lz4 or openssl failed");
        return false;
    }
    printf("%s, %.0f MiB\n", kind, mib);
    show("pack_write", writing, mib);
    show("lz4 -1", lz4, mib);
    show("pack_read", reading, mib);
    show("openssl dgst -sha256", openssl, mib);
    return true;
}

int main(int argc, char **argv) {
    static const char *const kinds[] = {"normal", "integers", "zeros"};
    size_t size_bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 64) << 20;
    const char *directory = argc > 2 ? argv[2] : "/tmp";
    float *data = base_malloc(size_bytes);
    text paths[PATHS];
    bool ok = true;
    for (int i = 0; i < PATHS; i++)
        text_init(&paths[i]);
    text_printf(&paths[PACK], "%s/bench.repro.tar.lz4", directory);
    text_printf(&paths[PLAIN], "%s/bench.bin", directory);
    text_printf(&paths[COMPRESSED], "%s/bench.lz4", directory);
    text_printf(&paths[LZ4_COMMAND], "lz4 -1 -f -q '%s' '%s'", paths[PLAIN].data,
                paths[COMPRESSED].data);
    text_printf(&paths[OPENSSL_COMMAND], "openssl dgst -sha256 '%s' >/dev/null", paths[PLAIN].data);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && ok; i++) {
        fill(kinds[i], data, size_bytes / sizeof *data);
        ok = measure(kinds[i], paths, data, size_bytes);
    }
    for (int i = PACK; i <= COMPRESSED; i++)
        unlink(paths[i].data);
    for (int i = 0; i < PATHS; i++)
        text_release(&paths[i]);
    free(data);
    return ok ? 0 : 1;
}
