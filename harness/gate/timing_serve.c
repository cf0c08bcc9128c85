/* timing_serve.c - the process' own side: loads, rotates, times, answers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/splitmix64.h"
#include "common/exit_code.h"
#include "common/json_text.h"
#include "common/say.h"
#include "common/timer.h"
#include "device/foreign/foreign.h"
#include "device/host/host.h"
#include "gate/timing.h"
#include "gate/timing_check.h"
#include "measure/clock_probe.h"
#include "measure/rotation.h"
#include "process/serve.h"
#include "statistics/statistics.h"

enum {
    ROUNDS_MAX = 201,
    LEAST_ROUNDS = 5,
    TARGET_NS = 30000,        /* a sample lasts so long, but for kernels that take longer */
    GUEST_TARGET_NS = 300000, /* ... of code in another process, which begins and ends some hundred
                                 nanoseconds late */
    CASE_NS = 100000000,      /* rounds of slow kernels are fewer, within reason */
    CODE_OFFSETS = 64,        /* of 64 bytes: a page */
    STACK_BYTES = 8192,
    GAP_PAGES = 64
};

typedef struct timing_side {
    launch launch;      /* bare: the rotation brings buffers */
    rotation *rotation; /* owned by the first side that has it */
    timing_check_request judged;
    uint64_t extra; /* launches beyond those that count: a slowdown on purpose */
} timing_side;

typedef struct timing_case {
    const json_t *spec;
    timing_side sides[2];
    uint64_t repeats;
    double ratios[ROUNDS_MAX], ns[2][ROUNDS_MAX];
    size_t rounds;
    watch watch;                            /* begun before the modules are loaded */
    const void **inputs[ROTATION_SETS_MAX]; /* of each set */
    bool has_guests;
    bool unchecked;  /* what failed is not known to be wrong */
    bool not_judged; /* nothing is known of any element */
} timing_case;

typedef struct server {
    const unsigned char *data;
    tsr_context_t context;
    uint32_t device; /* of the context */
    uint32_t threads, rounds;
    bool swapped;
    uint64_t state; /* of random choices */
} server;

/* Whose launch comes next, so that its crash is its own; -1: both take turns. */
static void announce(int side) {
    serve_answer(json_pack("{s:i}", "side", side));
}

/* ---- one case ---- */

static bool load(server *s, timing_case *t, int side, status *st) {
    spec_request spec;
    announce(side);
    bool ok = spec_request_read(&spec, s->context, s->data, t->spec, side, st);
    for (size_t set = 0; ok && set < json_array_size(json_object_get(t->spec, "sets")); set++) {
        free(t->inputs[set]);
        t->inputs[set] = spec_inputs(&spec.request, s->data, t->spec, set);
    }
    spec.request.device = s->device;
    /* Pages that nobody uses keep the two apart by another distance in each process. */
    void *gap = mmap(NULL, (1 + splitmix64(&s->state) % GAP_PAGES) * (size_t)sysconf(_SC_PAGESIZE),
                     PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)gap;
    host_set_code_offset((size_t)(splitmix64(&s->state) % CODE_OFFSETS) * 64);
    ok = ok && launch_open(&t->sides[side].launch, &spec.request, st);
    spec_request_release(&spec);
    return ok;
}

typedef struct set_room {
    uint64_t *digests[ROTATION_SETS_MAX];
    rotation_set sets[ROTATION_SETS_MAX];
} set_room;

static void fill_sets(const timing_case *t, const json_t *digests, set_room *room) {
    for (size_t k = 0; k < json_array_size(json_object_get(t->spec, "sets")); k++) {
        const json_t *of_set = json_array_get(digests, k);
        room->digests[k] = base_calloc(json_array_size(of_set) + 1, sizeof **room->digests);
        for (size_t i = 0; i < json_array_size(of_set); i++)
            room->digests[k][i] = strtoull(json_string_value(json_array_get(of_set, i)), NULL, 16);
        room->sets[k] = (rotation_set){t->inputs[k], of_set ? room->digests[k] : NULL};
    }
}

static timing_check_request check_request(const server *s, timing_case *t, int side) {
    return (timing_check_request){&t->sides[side].launch, s->data, t->spec, side};
}

static bool is_within_bound(void *context, uint32_t set, uint32_t output, const void *data) {
    return timing_check_output(context, set, output, data, NULL);
}

static rotation *open_rotation(server *s, timing_case *t, timing_side *x, const json_t *digests,
                               status *st) {
    const char *profile = json_string_value(json_object_get(t->spec, "profile"));
    x->judged = check_request(s, t, (int)(x - t->sides));
    rotation_request request = {
        .launch = &x->launch,
        .set_count = (uint32_t)json_array_size(json_object_get(t->spec, "sets")),
        .held_count = (uint32_t)json_integer_value(json_object_get(t->spec, "held")),
        .seed = splitmix64(&s->state),
        .threads = s->threads,
        .watch = &t->watch,
        .judge = is_within_bound,
        .judge_context = &x->judged,
        .accept = strcmp(profile, "fast") == 0 ? is_within_bound : NULL,
        .accept_context = &x->judged};
    set_room *room = base_calloc(1, sizeof *room);
    fill_sets(t, digests, room);
    request.sets = room->sets;
    rotation *made = rotation_open(&request, st);
    if (made && !json_is_array(digests) && !rotation_learn(made, x->launch.kernel, st)) {
        rotation_close(made);
        made = NULL;
    }
    for (int k = 0; k < ROTATION_SETS_MAX; k++)
        free(room->digests[k]);
    free(room);
    return made;
}

/* Under a profile whose bits are the side's own, they must at least be near enough. */
static bool check(const server *s, timing_case *t, int side, status *st) {
    timing_check_request request = check_request(s, t, side);
    return timing_check(&request, t->inputs[0], &t->not_judged, st);
}

/* Nothing says what is right but the other side. */
static bool agree(timing_case *t, int *side, status *st) {
    const uint64_t sets = json_array_size(json_object_get(t->spec, "sets"));
    rotation_timing timing = {t->sides[1].launch.kernel, sets};
    double ignored;
    *side = 1;
    announce(*side);
    if (rotation_time(t->sides[1].rotation, &timing, &ignored, st))
        return true;
    t->unchecked = st->code == STATUS_MISMATCH;
    return false;
}

/* Sides that must give the same bits share their buffers. */
static bool open_rotations(server *s, timing_case *t, int *side, status *st) {
    const json_t *digests = json_object_get(t->spec, "digests");
    const json_t *a = json_array_get(digests, 0), *b = json_array_get(digests, 1);
    *side = 0;
    announce(*side);
    t->sides[0].rotation = open_rotation(s, t, &t->sides[0], a, st);
    if (!t->sides[0].rotation)
        return false;
    if (json_is_true(json_object_get(t->spec, "shared"))) {
        t->sides[1].rotation = t->sides[0].rotation;
        return !json_is_true(json_object_get(t->spec, "agree")) || agree(t, side, st);
    }
    *side = 1;
    announce(*side);
    t->sides[1].rotation = open_rotation(s, t, &t->sides[1], b, st);
    return t->sides[1].rotation != NULL;
}

static bool time_side(const timing_case *t, int side, uint64_t repeats, double *ns, status *st) {
    const timing_side *x = &t->sides[side];
    rotation_timing timing = {.kernel = x->launch.kernel, .repeats = repeats + x->extra};
    bool ok = rotation_time(x->rotation, &timing, ns, st);
    *ns *= (double)timing.repeats / (double)repeats;
    return ok;
}

/* A side that shall be slower by s launches that much more often than is counted: it does more of
 * what it does, and nothing else. So the launches that count are a multiple of 1 / s. */
static void slow_down(timing_case *t) {
    const json_t *slowdowns = json_object_get(t->spec, "slowdown");
    for (size_t side = 0; side < 2; side++) {
        double share = json_number_value(json_array_get(slowdowns, side));
        if (share <= 0)
            continue;
        uint64_t whole = (uint64_t)llround(1 / share);
        t->repeats = (t->repeats + whole - 1) / whole * whole;
        t->sides[side].extra = (uint64_t)llround((double)t->repeats * share);
    }
}

static uint64_t repeats_for(const timing_case *t, double ns) {
    uint64_t target = t->has_guests ? GUEST_TARGET_NS : TARGET_NS;
    return ns > 0 ? (uint64_t)((double)target / ns) + 1 : target;
}

/* Every set once; then enough launches for caches and branches, and to know how many a sample
 * needs. */
static bool warm_up(const server *s, timing_case *t, int *side, status *st) {
    double slowest = 0;
    uint64_t sets = json_array_size(json_object_get(t->spec, "sets"));
    for (int slot = 0; slot < 2; slot++) {
        double ns = 0;
        uint64_t repeats = sets;
        *side = slot ^ (int)s->swapped;
        announce(*side);
        for (int pass = 0; pass < 3; pass++) {
            if (!time_side(t, *side, repeats, &ns, st))
                return false;
            if (repeats_for(t, ns) <= repeats)
                break;
            repeats = repeats_for(t, ns);
        }
        slowest = ns > slowest ? ns : slowest;
    }
    t->repeats = repeats_for(t, slowest);
    slow_down(t);
    return true;
}

static bool take_rounds(const server *s, timing_case *t, int *side, status *st) {
    announce(-1);
    uint64_t start = timer_now_ns();
    while (t->rounds < s->rounds && t->rounds < ROUNDS_MAX &&
           (t->rounds < LEAST_ROUNDS || timer_now_ns() - start < CASE_NS)) {
        int first = (int)((t->rounds + s->swapped) % 2);
        for (int i = 0; i < 2; i++) {
            *side = i ? !first : first;
            if (!time_side(t, *side, t->repeats, &t->ns[*side][t->rounds], st))
                return false;
        }
        double a = t->ns[0][t->rounds], b = t->ns[1][t->rounds];
        t->ratios[t->rounds++] = a > 0 && b > 0 ? log(b / a) : 0;
    }
    return true;
}

/* Finds what only shows at the end: results kept by contents, and what was left behind. */
static bool look_back(const timing_case *t, int *side, status *st) {
    for (*side = 0; *side < 2; (*side)++) {
        const timing_side *x = &t->sides[*side];
        rotation_timing timing = {x->launch.kernel, t->repeats + x->extra};
        if (!rotation_check_unseen(x->rotation, x->launch.kernel, st) ||
            !rotation_finish(x->rotation, &timing, st))
            return false;
    }
    *side = 1;
    return t->sides[0].rotation != t->sides[1].rotation ||
           rotation_compare_unseen(t->sides[0].rotation, t->sides[0].launch.kernel,
                                   t->sides[1].launch.kernel, st);
}

static bool measure(server *s, timing_case *t, int *side, status *st) {
    watch_begin(&t->watch, 0);
    for (int slot = 0; slot < 2; slot++) {
        *side = slot ^ (int)s->swapped;
        if (!load(s, t, *side, st) || !check(s, t, *side, st))
            return false;
    }
    uint64_t one;
    t->has_guests = foreign_guests(&one, 1) > 0;
    return open_rotations(s, t, side, st) && warm_up(s, t, side, st) &&
           take_rounds(s, t, side, st) && look_back(t, side, st);
}

static void release(timing_case *t) {
    if (t->sides[1].rotation != t->sides[0].rotation)
        rotation_close(t->sides[1].rotation);
    rotation_close(t->sides[0].rotation);
    for (int side = 0; side < 2; side++)
        launch_close(&t->sides[side].launch);
    for (int set = 0; set < ROTATION_SETS_MAX; set++)
        free(t->inputs[set]);
}

static __attribute__((noinline)) void serve_case(server *s, json_t *spec, size_t index) {
    timing_case *t = base_calloc(1, sizeof *t);
    status st = STATUS_INIT;
    int side = -1;
    t->spec = spec;
    if (measure(s, t, &side, &st))
        serve_answer(json_pack("{s:I, s:f, s:[f, f], s:f}", "case", (json_int_t)index, "ratio",
                               statistics_of(t->ratios, t->rounds).median, "ns",
                               statistics_of(t->ns[0], t->rounds).median,
                               statistics_of(t->ns[1], t->rounds).median, "clock",
                               clock_probe_step_ns()));
    else
        serve_answer(json_pack("{s:I, s:s, s:i, s:o}", "case", (json_int_t)index, "failed",
                               t->not_judged                ? "not-judged"
                               : t->unchecked               ? "unchecked"
                               : st.code == STATUS_MISMATCH ? "mismatch"
                                                            : "error",
                               "side", side, "why", json_text(st.message)));
    release(t);
    free(t);
}

/* The stack begins at another place for each case. */
static __attribute__((noinline)) void serve_deeper(server *s, json_t *spec, size_t index) {
    volatile char *room = __builtin_alloca(16 + splitmix64(&s->state) % STACK_BYTES);
    room[0] = 0;
    serve_case(s, spec, index);
}

static void serve_all(server *s, json_t *request) {
    json_t *cases = json_object_get(request, "cases");
    size_t count = json_array_size(cases), *order = base_malloc((count + 1) * sizeof *order);
    for (size_t i = 0; i < count; i++) {
        size_t other = (size_t)(splitmix64(&s->state) % (i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < count; i++) {
        json_t *spec = json_array_get(cases, order[i]);
        serve_answer(json_pack("{s:I}", "begin", (json_int_t)order[i]));
        serve_deeper(s, spec, order[i]);
    }
    free(order);
    serve_answer(json_pack("{s:b}", "done", 1));
}

static exit_code serve_request(void *context, json_t *request) {
    (void)context;
    const char *path = json_bytes_value(request, "scratch");
    server s = {.rounds = (uint32_t)json_integer_value(json_object_get(request, "rounds")),
                .swapped = json_is_true(json_object_get(request, "swapped")),
                .state = (uint64_t)json_integer_value(json_object_get(request, "seed"))};
    s.data = path ? scratch_map(path) : NULL;
    s.threads = (uint32_t)json_integer_value(json_object_get(request, "threads"));
    s.device = (uint32_t)json_integer_value(json_object_get(request, "device"));
    bool ok = s.data && tsrCreateContextOn(s.device, s.threads, 0, &s.context) == TSR_SUCCESS;
    if (ok)
        serve_all(&s, request);
    else
        say(stderr, "the scratch file or the device cannot be opened\n");
    if (s.context)
        tsrDestroyContext(s.context);
    foreign_end_left_behind(NULL);
    return ok ? EXIT_DONE : EXIT_BUG;
}

int timing_serve(void) {
    return serve_lines(serve_request, NULL);
}
