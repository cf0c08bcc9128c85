/* test_cheats.c - kernels that cheat are timed like any other, and none is accepted: each is
 * refused with its reason. Honest ones are accepted.
 *
 * kernels.c has the kernels and cheats.def the table. Each is run in a process of its own, because
 * some damage theirs. What is done to them is what `tsr bench` does: sets with known digests,
 * groups of launches, contents that were not seen before, and a last look at what was left behind.
 * Run with
 * --list the program prints the table with what each was refused for, with --try one line for each
 * (ci/cheats), and --write FOLDER PROFILE writes modules for tsr gate. */
#include "test/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/timer.h"
#include "measure/rotation.h"
#include "measure/ticks.h"
#include "test/module_maker.h"

enum {
    SIDE = 16,
    WORDS = SIDE * SIDE,
    SETS = 4,
    WORKSPACE = 8192,
    PATIENCE_S = 60,
    PARTS = 36,
    GROUP = 80
};

typedef struct cheat {
    const char *symbol;
    int workgroups;
    const char *shows, *what; /* names of `places`, separated by blanks; "": it is honest */
} cheat;
static const cheat cheats[] = {
#define KERNEL(symbol, workgroups, module, shared, what) {#symbol, workgroups, module, what},
#define FUNCTION(symbol, shared, what)
#define LONG(symbol, shared, what)
#define CLOCK(symbol, shared, what)
#define PYTHON(symbol, shows, what)
#include "test/cheats/cheats.def"
#undef KERNEL
#undef FUNCTION
#undef CLOCK
#undef PYTHON
};
enum { CHEATS = sizeof cheats / sizeof cheats[0] };

/* Places that can show that a kernel cheats, and what is said there: one of the alternatives. */
static const struct {
    const char *name, *words;
} places[] = {
    {"outputs", "output 0 for input set|, and no launch was given it"},
    {"surroundings", "past its end|before its beginning"},
    {"inputs", "was written to"},
    {"contents", "kept by the contents of inputs"},
    {"threads", "threads are running that the kernel left behind"},
    {"processes", "a process is running that the kernel left behind"},
    {"environment", "floating-point environment"},
    {"signals", "the handler of signal|the mask of blocked signals"},
    {"clock", "the clock was changed"},
};

/* Verdict on a kernel, from its process. */
typedef struct outcome {
    bool finished, accepted, unbent;
    char why[1100];
} outcome;

/* ---- sets ---- */

static float inputs[SETS][2][WORDS];
static uint64_t digests[SETS];

static void multiply(const float *a, const float *b, float *out) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            float sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum = fmaf(a[i * SIDE + k], b[k * SIDE + j], sum);
            out[i * SIDE + j] = sum;
        }
}

/* The first set by a formula that one of the kernels knows, two of random numbers, and the first
 * with one element of each input changed. */
static void make_sets(void) {
    uint64_t random = 1;
    float out[WORDS];
    for (int i = 0; i < WORDS; i++) {
        inputs[0][0][i] = (float)((i * 7) % 13) * 0.25f - 1.5f;
        inputs[0][1][i] = (float)((i * 5) % 11) * 0.125f - 0.5f;
        for (int set = 1; set < SETS; set++)
            for (int k = 0; k < 2; k++) {
                random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                inputs[set][k][i] = (float)((int64_t)(random >> 40) - (1 << 23)) * 0x1p-22f;
            }
    }
    memcpy(inputs[SETS - 1], inputs[0], sizeof inputs[0]);
    inputs[SETS - 1][0][137] = 3;
    inputs[SETS - 1][1][83] = -2;
    for (int set = 0; set < SETS; set++) {
        multiply(inputs[set][0], inputs[set][1], out);
        digests[set] = rotation_digest(out, sizeof out);
    }
}

/* ---- in the process of one kernel ---- */

static void must(tsr_status_t code) {
    if (code == TSR_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", tsrStatusName(code), tsrGetLastError());
    _exit(3);
}

static bytes module_for(const cheat *c, const char *profile) {
    char json[1024];
    snprintf(json, sizeof json,
             "{\"schema\": \"tsr.module/2\", \"name\": \"product\", \"profile\": \"%s\","
             " \"numerics_version\": 1, \"inputs\": ["
             "{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [%d, %d]},"
             "{\"name\": \"b\", \"dtype\": \"f32\", \"shape\": [%d, %d]}],"
             " \"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [%d, %d]}],"
             " \"workspace_bytes\": %d, \"scratch_bytes\": 64, \"phases\": ["
             "{\"symbol\": \"%s\", \"grid\": %d, \"what\": \"%s\"}]}",
             profile, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, WORKSPACE, c->symbol, c->workgroups,
             c->symbol);
    bytes object = read_object("kernels");
    bytes image = make_module(json, "x86_64-elf/x86-64-v2+fma", object);
    free(object.data);
    return image;
}

static tsr_kernel_t load(tsr_context_t context, const cheat *c) {
    tsr_module_t module;
    tsr_kernel_t kernel;
    bytes image = module_for(c, "strict");
    must(tsrLoadModule(context, image.data, image.size, &module));
    must(tsrGetKernel(module, "product", &kernel));
    free(image.data);
    return kernel;
}

typedef struct trial {
    rotation *rotation;
    tsr_kernel_t kernel;
    status st;
} trial;

/* Groups of one launch, of one pass over the sets, and of several; then some that are all alike and
 * long, as `tsr bench` and `tsr gate` take them. */
static bool take(trial *t) {
    static const uint64_t repeats[] = {1, SETS, 4 * SETS};
    for (int i = 0; i < PARTS; i++) {
        rotation_timing timing = {t->kernel, i < PARTS / 3 ? repeats[i % 3] : GROUP};
        double ns;
        if (!rotation_time(t->rotation, &timing, &ns, &t->st))
            return false;
    }
    rotation_timing timing = {t->kernel, GROUP};
    return rotation_check_unseen(t->rotation, t->kernel, &t->st) &&
           rotation_finish(t->rotation, &timing, &t->st);
}

/* Checks that the system let it patch the clock: the test can only show what it could do. */
static bool clock_is_bent(void) {
    uint64_t ours = timer_now_ns(), kernels = ticks_kernel_ns();
    return ours < kernels - kernels / 4;
}

static void run(const cheat *c, outcome *out) {
    static size_t sizes[] = {sizeof inputs[0][0], sizeof inputs[0][0], sizeof inputs[0][0]};
    const void *pointers[SETS][2];
    rotation_set sets[SETS];
    trial t = {.st = STATUS_INIT};
    watch w;
    tsr_context_t context;
    watch_begin(&w, 0);
    must(tsrCreateContextOn(0, 1, 0, &context));
    t.kernel = load(context, c);
    for (int set = 0; set < SETS; set++) {
        pointers[set][0] = inputs[set][0];
        pointers[set][1] = inputs[set][1];
        sets[set] = (rotation_set){pointers[set], &digests[set]};
    }
    launch shape = {.context = context, .input_count = 2, .output_count = 1, .sizes = sizes};
    rotation_request request = {.launch = &shape,
                                .set_count = SETS,
                                .held_count = 1,
                                .sets = sets,
                                .seed = timer_now_ns(),
                                .watch = &w};
    t.rotation = rotation_open(&request, &t.st);
    if (!t.rotation)
        _exit(4);
    out->accepted = take(&t);
    out->unbent = !clock_is_bent();
    snprintf(out->why, sizeof out->why, "%s%s",
             out->accepted || t.st.code == STATUS_MISMATCH ? "" : "not a mismatch: ", t.st.message);
    out->finished = true;
}

/* ---- from outside ---- */

static outcome outcome_of(const cheat *c) {
    outcome *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE_S);
        run(c, shared);
        _exit(0);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    outcome result = *shared;
    munmap(shared, sizeof *shared);
    if (!result.finished)
        fail_msg("%s: its process ended with 0x%x", c->symbol, (unsigned)how);
    return result;
}

/* One of the alternatives, "a|b", is in the text. */
static bool has_words(const char *text_, const char *alternatives) {
    char copy[256];
    snprintf(copy, sizeof copy, "%s", alternatives);
    for (char *rest = copy, *one; (one = strsep(&rest, "|")) != NULL;)
        if (strstr(text_, one))
            return true;
    return false;
}

static bool is_told_of(const cheat *c, const char *why) {
    bool told = false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        told |= strstr(c->shows, places[i].name) && has_words(why, places[i].words);
    return told;
}

static void test_one(void **state) {
    const cheat *c = *state;
    outcome o = outcome_of(c);
    if (strcmp(c->symbol, "bends_the_clock") == 0 && o.accepted && o.unbent) {
        print_message("skipped: this system does not let a process patch its clock\n");
        return;
    }
    if (!*c->shows && !o.accepted)
        fail_msg("%s is honest and was refused: %s", c->symbol, o.why);
    if (*c->shows && o.accepted)
        fail_msg("%s was accepted: %s", c->symbol, c->what);
    if (*c->shows && !is_told_of(c, o.why))
        fail_msg("%s: '%s' (expected what it does to: %s)", c->symbol, o.why, c->shows);
}

static void test_there_are_enough(void **state) {
    int honest = 0;
    (void)state;
    for (int i = 0; i < CHEATS; i++)
        honest += !*cheats[i].shows;
    assert_true(honest >= 4);
    assert_true(CHEATS - honest >= 15);
}

static int list(void) {
    for (int i = 0; i < CHEATS; i++) {
        outcome o = outcome_of(&cheats[i]);
        printf("%-22s %s\n%22s %s\n", cheats[i].symbol, cheats[i].what, "",
               o.accepted ? "accepted" : o.why);
    }
    return 0;
}

/* Tries each kernel once, for campaigns: "cheats NAME refused", "honest NAME accepted"; "skipped"
 * where this system does not let it cheat. */
static int try_all(void) {
    for (int i = 0; i < CHEATS; i++) {
        outcome o = outcome_of(&cheats[i]);
        bool unable = strcmp(cheats[i].symbol, "bends_the_clock") == 0 && o.accepted && o.unbent;
        printf("%s %s %s\n", *cheats[i].shows ? "cheats" : "honest", cheats[i].symbol,
               unable       ? "skipped"
               : o.accepted ? "accepted"
                            : "refused");
        fflush(stdout);
    }
    return 0;
}

/* A folder for each kernel with its module, as `tsr gate` takes them. */
static int write_modules(const char *folder, const char *profile) {
    for (int i = 0; i < CHEATS; i++) {
        char path[512];
        bytes image = module_for(&cheats[i], profile);
        snprintf(path, sizeof path, "%s/%s", folder, cheats[i].symbol);
        if (mkdir(path, 0777) != 0)
            return 1;
        snprintf(path, sizeof path, "%s/%s/product-square.tsrm", folder, cheats[i].symbol);
        FILE *file = fopen(path, "we");
        if (!file || fwrite(image.data, 1, image.size, file) != image.size || fclose(file) != 0)
            return 1;
        free(image.data);
        printf("%s %s\n", *cheats[i].shows ? "cheats" : "honest", cheats[i].symbol);
    }
    return 0;
}

int main(int argc, char **argv) {
#if !defined(__x86_64__)
    puts("skipped: the kernels that cheat are written for x86-64");
    return 0;
#elif defined(__SANITIZE_THREAD__)
    puts("skipped: threads that are made without the library confuse the thread sanitizer");
    return 0;
#endif
    struct CMUnitTest tests[CHEATS + 1] = {cmocka_unit_test(test_there_are_enough)};
    if (host_unavailable()) {
        print_message("skipped: %s\n", host_unavailable());
        return 0;
    }
    make_sets();
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list();
    if (argc == 2 && strcmp(argv[1], "--try") == 0)
        return try_all();
    if (argc == 4 && strcmp(argv[1], "--write") == 0)
        return write_modules(argv[2], argv[3]);
    for (int i = 0; i < CHEATS; i++)
        tests[i + 1] = (struct CMUnitTest){.name = cheats[i].symbol,
                                           .test_func = test_one,
                                           .initial_state = (void *)(uintptr_t)&cheats[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
