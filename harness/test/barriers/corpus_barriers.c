/* corpus_barriers.c - [--every N] [--target NAME] [--unneeded LIST] PATH...: each barrier of each
 * kernel of a corpus is left out, one at a time, and the emulator must find that out: a race,
 * memory that is read before it is written, a barrier that not all threads reach, or other bits.
 *
 * A case may not need a barrier that another one does, as of a loop that it goes through once; so a
 * barrier counts as found where it is in one of the kernel's cases. Every case without any barrier
 * left out must hold. Of the kernels each Nth takes part. LIST: how many barriers of a kernel may
 * be ones that no case needs (unneeded.txt). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/backend.h"
#include "case/case.h"
#include "case/case_context.h"
#include "exec/backend_device.h"
#include "launch/launch.h"

enum { BARRIERS_MAX = 256, ELEMENTS_MAX = 1 << 18 };

typedef struct kernel_barriers {
    const char *name;
    uint32_t count; /* the most that a case has */
    bool found[BARRIERS_MAX];
} kernel_barriers;

typedef struct trial {
    uint32_t device;
    const char *target;   /* of the code: "sm_80-emulated" */
    const char *unneeded; /* the list; NULL: there is none */
    size_t runs, barriers, missed, allowed, skipped;
} trial;

static bool same_outputs(const tensor *expected, const tensor *found, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(expected[i].data, found[i].data, tensor_bytes(&expected[i])) != 0)
            return false;
    return true;
}

/* Runs the case with that barrier left out (0: none). *found_out: it was found out; *count: of the
 * barriers of its code. False where it could not be tried. */
static bool try_case(trial *t, case_context *s, uint32_t barrier, bool *found_out, uint32_t *count,
                     status *st) {
    compiler_options options = {.isa = t->target,
                                .source_schedule = s->kernel->schedule,
                                .drop_barrier = barrier,
                                .barriers = count,
                                .verify = true};
    compiler_artifact artifact = {0};
    launch_request request = {.device = t->device, .threads = 1, .kernel = s->kernel->name};
    launch l = {0};
    const tensor *expected = case_context_interpret(s, st);
    if (!expected || !compiler_build(s->instance, &options, &artifact, st))
        return false;
    tensor *outputs = tensors_new(s->signature.output_count);
    launch_request_buffers(&request, &s->signature);
    launch_request_artifact(&request, &artifact);
    bool ok = launch_open(&l, &request, st) && launch_write_inputs(&l, s->inputs, st) &&
              launch_poison_outputs(&l, st);
    bool ran = ok && launch_run(&l, st) && launch_read_outputs(&l, &s->signature, outputs, st);
    *found_out = ok && (!ran || !same_outputs(expected, outputs, s->signature.output_count));
    tensors_free(outputs);
    launch_close(&l);
    compiler_artifact_release(&artifact);
    t->runs++;
    return ok;
}

/* Counts waits for products and slots, and barriers beside a loader, which are assembly. */
static uint32_t count_waits(const char *code) {
    static const char *const waits[] = {"asm sideeffect \"wgmma.wait_group.",
                                        "asm sideeffect \"{.reg .pred came;",
                                        "asm sideeffect \"bar.sync 1,"};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        for (const char *at = code; at && (at = strstr(at, waits[i])); at++)
            count++;
    return count;
}

/* Counts the barriers of the chip's code, and waits for copies and products: of a kernel, whose
 * code is one text. */
static uint32_t count_barriers(const trial *t, case_context *s, status *st) {
    static const char *const waits[] = {"call void @llvm.nvvm.barrier0",
                                        "call void @llvm.amdgcn.s.barrier",
                                        "call void @llvm.nvvm.cp.async.wait.group"};
    char chip[64];
    text code;
    uint32_t count = 0;
    snprintf(chip, sizeof chip, "%.*s", (int)strcspn(t->target, "-"), t->target);
    compiler_options options = {.isa = chip, .source_schedule = s->kernel->schedule};
    text_init(&code);
    if (compiler_emit(s->instance, &options, "llvm", &code, st))
        for (const char *at = code.data; at && (at = strstr(at, "call void @llvm.")); at++)
            for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
                count += strncmp(at, waits[i], strlen(waits[i])) == 0;
    count += count_waits(code.data);
    text_release(&code);
    return count;
}

static bool is_small(const case_context *s) {
    for (uint32_t i = 0; i < s->signature.input_count + s->signature.output_count; i++) {
        const struct compiler_buffer *b = i < s->signature.input_count
                                              ? &s->signature.inputs[i]
                                              : &s->signature.outputs[i - s->signature.input_count];
        int64_t count = 1;
        for (int k = 0; k < b->rank; k++)
            count *= b->dims[k];
        if (count > ELEMENTS_MAX)
            return false;
    }
    return true;
}

static bool try_barriers(trial *t, case_context *s, kernel_barriers *k, status *st) {
    bool wrong = false;
    uint32_t count = 0, stand = 0;
    if (!try_case(t, s, 0, &wrong, &count, st))
        return false;
    if (wrong)
        return status_set(st, STATUS_MISMATCH, "with all of its barriers: %s", st->message);
    if (!compiler_instance_is_program(s->instance) &&
        (stand = count_barriers(t, s, st), st->code != STATUS_OK || stand != count))
        return status_set(st, STATUS_MISMATCH, "%u barriers are counted, and %u stand in its code",
                          count, stand);
    count = count < BARRIERS_MAX ? count : BARRIERS_MAX;
    k->count = count > k->count ? count : k->count;
    for (uint32_t i = 0; i < count; i++) {
        status why = STATUS_INIT;
        bool found = false;
        if (!k->found[i] && !try_case(t, s, i + 1, &found, NULL, &why))
            return status_set(st, why.code, "%s", why.message);
        k->found[i] |= found;
        status_clear(&why);
    }
    return true;
}

/* Number of the kernel's barriers that the list lets be. */
static uint32_t allowance(const trial *t, const char *kernel) {
    char line[256], name[128];
    unsigned count = 0, found = 0;
    FILE *f = t->unneeded ? fopen(t->unneeded, "r") : NULL;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%127s %u", name, &count) == 2 && strcmp(name, kernel) == 0)
            found = count;
    if (f)
        fclose(f);
    return found;
}

static void end_kernel(trial *t, const kernel_barriers *k) {
    uint32_t missed = 0, allowed = k->name ? allowance(t, k->name) : 0;
    for (uint32_t i = 0; i < k->count; i++) {
        missed += !k->found[i];
        if (!k->found[i] && missed > allowed)
            printf("%s: barrier %u of %u can be left out, and no case shows it\n", k->name, i + 1,
                   k->count);
    }
    t->barriers += k->count;
    t->allowed += missed < allowed ? missed : allowed;
    t->missed += missed > allowed ? missed - allowed : 0;
}

static bool is_tried(const trial *t, const corpus_case *c) {
    const compiler_kernel *k = c->kernel;
    bool added = !k->interpreted || (k->unit && compiler_target_adds_as(t->target, k->unit));
    return !k->contract && added;
}

static size_t try_corpus(trial *t, const corpus *c, size_t every) {
    kernel_barriers k = {.name = NULL};
    case_context s = {0};
    size_t kernels = 0, failed = 0;
    for (size_t i = 0; i < c->cases.count; i++) {
        const corpus_case *one = &c->cases.items[i];
        status st = STATUS_INIT;
        case_context_request request = {
            .path = one->path, .kernel = one->kernel->name, .case_name = one->c->name, .seed = 1};
        if (!k.name || strcmp(k.name, one->kernel->name) != 0) {
            end_kernel(t, &k);
            k = (kernel_barriers){.name = one->kernel->name};
            kernels++;
        }
        if (kernels % every != 0 || !is_tried(t, one))
            continue;
        if (!case_context_open(&s, &request, &st) ||
            (is_small(&s) && !try_barriers(t, &s, &k, &st))) {
            bool unsupported = st.code == STATUS_UNAVAILABLE;
            t->skipped += unsupported;
            failed += !unsupported;
            if (!unsupported)
                printf("%s: %s\n", one->name, st.message);
        }
        status_clear(&st);
    }
    end_kernel(t, &k);
    case_context_close(&s);
    return failed;
}

int main(int argc, char **argv) {
    trial t = {.target = "sm_80-emulated"};
    size_t every = 1;
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2)
        if (strcmp(argv[at], "--every") == 0)
            every = strtoul(argv[at + 1], NULL, 10);
        else if (strcmp(argv[at], "--target") == 0)
            t.target = argv[at + 1];
        else if (strcmp(argv[at], "--unneeded") == 0)
            t.unneeded = argv[at + 1];
    if (at >= argc || every == 0)
        return fprintf(stderr, "usage: corpus_barriers [--every N] [--target NAME] [--unneeded "
                               "LIST] PATH...\n"),
               2;
    backend_id id = strncmp(t.target, "sm", 2) == 0 ? BACKEND_PTX_EMULATED : BACKEND_ROCM_EMULATED;
    corpus c;
    text diagnostics;
    status st = STATUS_INIT;
    text_init(&diagnostics);
    corpus_query query = {.paths = (const char *const *)argv + at,
                          .path_count = (size_t)(argc - at),
                          .skip_large = true};
    compiler_init();
    if (!backend_device(&backend_table[id], NULL, &t.device, &st))
        return printf("skipped: %s\n", st.message), 77;
    if (!corpus_load(&c, &query, &diagnostics, &st))
        return printf("%s%s\n", diagnostics.data ? diagnostics.data : "", st.message), 1;
    size_t failed = try_corpus(&t, &c, every);
    printf("%zu barriers, %zu that nothing misses, and %zu of the list; %zu launches, %zu cases "
           "without code, %zu failures\n",
           t.barriers, t.missed, t.allowed, t.runs, t.skipped, failed);
    corpus_release(&c);
    text_release(&diagnostics);
    return failed || t.missed ? 1 : 0;
}
