/* conversions.c - tsr-conversions: every conversion between element types, three ways.
 *
 *   tsr-conversions                the lists of inputs.h: all of the narrow types; seconds
 *   tsr-conversions --all          all 2^32 f32 to f16, bf16 and the 8-bit floats, saturating or
 * not
 *
 * Compiled code for every CPU level that this machine can run, the interpreter, and an oracle that
 * shares nothing with either (oracle.h) must give the same bits. Prints a line for each pair; exit
 * 1 where any bits differ. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/philox.h"
#include "target/interp/interp.h"
#include "target/target.h"
#include "test/conversions/inputs.h"
#include "test/conversions/kernels.h"
#include "test/conversions/oracle.h"

enum { MAX_LEVELS = 8, MAX_THREADS = 64 };

typedef struct tally {
    uint64_t inputs, compiled, interpreted; /* of these, bits that are not the oracle's */
    bool shown;
} tally;

typedef struct work {
    dtype from;
    conversion_choice choice;
    conversion_kernel levels[MAX_LEVELS];
    const char *names[MAX_LEVELS];
    uint32_t level_count;
    tensor in, out[CONVERSIONS_MAX];
    tally tallies[CONVERSIONS_MAX];
    oracle_hint hints[CONVERSIONS_MAX];
    uint64_t first, last; /* of the f32 patterns, with --all */
    bool failed;
    pthread_t thread;
} work;

static void open_levels(work *w) {
    const target_info *isas;
    uint32_t count;
    target_list(&isas, &count, NULL);
    for (uint32_t i = 0; i < count && i < MAX_LEVELS; i++) {
        status st = STATUS_INIT;
        conversion_kernel *k = &w->levels[w->level_count];
        if (conversion_kernel_open(k, w->from, w->choice, isas[i].name, &st)) {
            w->names[w->level_count++] = isas[i].name;
            continue;
        }
        if (st.code != STATUS_UNAVAILABLE)
            fprintf(stderr, "%s: %s\n", isas[i].name, st.message);
        w->failed |= st.code != STATUS_UNAVAILABLE;
        conversion_kernel_close(k);
    }
}

static bool work_open(work *w, dtype from, conversion_choice choice) {
    conversion list[CONVERSIONS_MAX];
    int64_t count = CONVERSION_ELEMENTS;
    *w = (work){.from = from, .choice = choice};
    open_levels(w);
    bool ok = !w->failed && tensor_init(&w->in, from, 1, &count, NULL);
    uint32_t outputs = conversions_from(from, choice, list);
    for (uint32_t i = 0; i < outputs && ok; i++)
        ok = tensor_init(&w->out[i], list[i].to, 1, &count, NULL);
    return ok;
}

static void work_close(work *w) {
    tensor_release(&w->in);
    for (uint32_t i = 0; i < CONVERSIONS_MAX; i++)
        tensor_release(&w->out[i]);
    for (uint32_t l = 0; l < w->level_count; l++)
        conversion_kernel_close(&w->levels[l]);
}

static void show(const work *w, tally *t, conversion c, const char *who, uint64_t in, uint64_t got,
                 uint64_t expected) {
    if (t->shown)
        return;
    t->shown = true;
    fprintf(stderr, "%s to %s%s: 0x%" PRIx64 " gives 0x%" PRIx64 " (%s), not 0x%" PRIx64 "\n",
            dtype_name(w->from), dtype_name(c.to), c.saturate ? ", saturating" : "", in, got, who,
            expected);
}

static uint32_t random_at(int64_t i) {
    return philox_element(CONVERSION_SEED, (uint64_t)i, CONVERSION_STREAM, PHILOX_DOMAIN_ROUNDING)
        .w[0];
}

static void interpret(const work *w, conversion c, tensor *out) {
    if (!c.drawn) {
        interp_convert(&w->in, out, c.saturate);
        interp_canonical(out);
        return;
    }
    for (int64_t i = 0; i < CONVERSION_ELEMENTS; i++) {
        uint64_t bits = f32_to_narrow_stochastic(c.to, ((const float *)w->in.data)[i], random_at(i),
                                                 c.saturate);
        memcpy((char *)out->data + (size_t)i * dtype_size(c.to), &bits, dtype_size(c.to));
    }
}

static void judge(work *w, uint32_t n, conversion c, int64_t used) {
    tally *t = &w->tallies[n];
    tensor *out = &w->out[n];
    bool same[MAX_LEVELS];
    interpret(w, c, out);
    for (uint32_t l = 0; l < w->level_count; l++)
        same[l] = memcmp(out->data, w->levels[l].out[n], (size_t)used * dtype_size(c.to)) == 0;
    for (int64_t i = 0; i < used; i++) {
        uint64_t in = dtype_load_bits(w->from, w->in.data, (size_t)i);
        uint64_t expected = c.drawn ? oracle_stochastic(c.to, c.saturate, in, random_at(i))
                                    : oracle_convert(w->from, c.to, c.saturate, in, &w->hints[n]);
        uint64_t got = dtype_load_bits(c.to, out->data, (size_t)i);
        if (got != expected) {
            t->interpreted++;
            show(w, t, c, "interpreted", in, got, expected);
        }
        for (uint32_t l = 0; l < w->level_count; l++) {
            if (same[l] && got == expected)
                continue;
            got = dtype_load_bits(c.to, w->levels[l].out[n], (size_t)i);
            if (got != expected) {
                t->compiled++;
                show(w, t, c, w->names[l], in, got, expected);
            }
        }
    }
    t->inputs += (uint64_t)used;
}

/* The elements in w->in, of which the first `used` count. */
static void run_chunk(work *w, int64_t used) {
    conversion list[CONVERSIONS_MAX];
    uint32_t outputs = conversions_from(w->from, w->choice, list);
    for (uint32_t l = 0; l < w->level_count; l++) {
        memcpy(w->levels[l].in, w->in.data, tensor_bytes(&w->in));
        w->failed |= !conversion_kernel_run(&w->levels[l]);
    }
    for (uint32_t n = 0; n < outputs && !w->failed; n++)
        judge(w, n, list[n], used);
}

/* Prints the rows of a type; false where anything differs. */
static bool report(const work *w) {
    conversion list[CONVERSIONS_MAX];
    uint32_t outputs = conversions_from(w->from, w->choice, list);
    bool ok = !w->failed;
    for (uint32_t n = 0; n < outputs; n++) {
        const tally *t = &w->tallies[n];
        printf("| %s | %s%s%s | %" PRIu64 " | ", dtype_name(w->from), dtype_name(list[n].to),
               list[n].drawn ? ", stochastic" : "", list[n].saturate ? ", saturating" : "",
               t->inputs);
        for (uint32_t l = 0; l < w->level_count; l++)
            printf("%s%s", l ? ", " : "", w->names[l]);
        printf(" | %" PRIu64 " | %" PRIu64 " |\n", t->compiled, t->interpreted);
        ok &= t->inputs > 0 && t->compiled == 0 && t->interpreted == 0;
    }
    fflush(stdout);
    return ok;
}

static void put(work *w, int64_t i, uint64_t bits) {
    size_t size = dtype_size(w->from);
    memcpy((unsigned char *)w->in.data + (size_t)i * size, &bits, size);
}

/* ---- lists ---- */

static bool check_type(dtype from, conversion_choice choice) {
    static work w;
    bit_list inputs = {0};
    bool ok = work_open(&w, from, choice);
    conversion_inputs(from, &inputs);
    for (size_t at = 0; ok && at < inputs.count && !w.failed; at += CONVERSION_ELEMENTS) {
        int64_t used = 0;
        for (; used < CONVERSION_ELEMENTS && at + (size_t)used < inputs.count; used++)
            put(&w, used, inputs.items[at + (size_t)used]);
        run_chunk(&w, used);
    }
    ok = ok && report(&w);
    vec_release(&inputs);
    work_close(&w);
    return ok;
}

/* ---- all of f32 ---- */

static void *run_all(void *context) {
    work *w = context;
    for (uint64_t base = w->first; base < w->last && !w->failed; base += CONVERSION_ELEMENTS) {
        for (int64_t i = 0; i < CONVERSION_ELEMENTS; i++)
            put(w, i, base + (uint64_t)i);
        run_chunk(w, CONVERSION_ELEMENTS);
        if (w->first == 0 && isatty(STDERR_FILENO) && base % (UINT64_C(1) << 24) == 0)
            fprintf(stderr, "\r%3.0f %%", 100.0 * (double)base / (double)w->last);
    }
    return NULL;
}

static bool check_all(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t threads = cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (uint64_t)cores;
    work *all = calloc(threads, sizeof *all);
    bool ok = all != NULL;
    for (uint64_t i = 0; i < threads && ok; i++) {
        ok = work_open(&all[i], DTYPE_F32, CONVERSIONS_NARROW);
        all[i].first = (i << 32) / threads / CONVERSION_ELEMENTS * CONVERSION_ELEMENTS;
        all[i].last = ((i + 1) << 32) / threads / CONVERSION_ELEMENTS * CONVERSION_ELEMENTS;
    }
    for (uint64_t i = 0; i < threads && ok; i++)
        ok = pthread_create(&all[i].thread, NULL, run_all, &all[i]) == 0;
    for (uint64_t i = 0; i < threads && ok; i++)
        pthread_join(all[i].thread, NULL);
    for (uint64_t i = 1; i < threads && ok; i++) {
        all[0].failed |= all[i].failed;
        for (int n = 0; n < CONVERSIONS_MAX; n++) {
            all[0].tallies[n].inputs += all[i].tallies[n].inputs;
            all[0].tallies[n].compiled += all[i].tallies[n].compiled;
            all[0].tallies[n].interpreted += all[i].tallies[n].interpreted;
        }
    }
    ok = ok && report(&all[0]);
    for (uint64_t i = 0; all && i < threads; i++)
        work_close(&all[i]);
    free(all);
    return ok;
}

int main(int argc, char **argv) {
    bool all = argc == 2 && strcmp(argv[1], "--all") == 0, ok = true;
    if (argc > 1 && !all) {
        fputs("usage: tsr-conversions [--all]\n", stderr);
        return 2;
    }
    compiler_init();
    oracle_init();
    puts("| from | to | inputs | compiled for | differing bits | of the interpreter |\n"
         "|---|---|---|---|---|---|");
    if (all)
        return check_all() ? 0 : 1;
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        ok &= check_type((dtype)t, CONVERSIONS_ALL);
    ok &= check_type(DTYPE_F32, CONVERSIONS_DRAWN);
    return ok ? 0 : 1;
}
