/* rotation_unseen.c - launches on contents that no launch has had, beside launches on those that it
 * had.
 *
 * Two words of each input change places (so every element stays one of the case's), the launches
 * are timed, and the words go back; beside that the same is done with words that have gone back
 * already. In each round both are timed once. A kernel that finds its results by the contents never
 * takes less than all of the work on new ones, and an honest one sometimes takes as little on them
 * as on old ones: so the least of the first is held against the least of the second, until the two
 * are near each other. Interruptions can only lengthen either; the more there are, the more rounds
 * it takes. After outputs were looked at, caches are cold for longer than one part, so parts that
 * are not timed come before each that is. A single launch can be lucky, too (the core's other
 * thread was idle just then): nobody is accused whose fastest tenths are near each other after all
 * rounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/splitmix64.h"
#include "measure/rotation_parts.h"

enum { ROUNDS = 100, ROUNDS_LEAST = 5, TENTH = ROUNDS / 10, WORD_BYTES = 8, TRIES = 32 };
/* Launches that take so long on old contents, too, are warm by themselves, and few of them tell. */
enum { WARM_PARTS = 2, SLOW_NS = 10000000, ROUNDS_LEAST_SLOW = 2 };
static const double ratio_limit = 1.5, least_ns = 150; /* of a launch */
static const double async_share = 0.1;

typedef struct exchanged {
    const rotation_buffer *buffer; /* NULL: none */
    unsigned char *a, *b;          /* in it */
} exchanged;

static bool exchange_words(const exchanged *e, status *st) {
    unsigned char word[WORD_BYTES];
    if (!e->buffer)
        return true;
    memcpy(word, e->a, WORD_BYTES);
    memcpy(e->a, e->b, WORD_BYTES);
    memcpy(e->b, word, WORD_BYTES);
    const launch_memory *m = &e->buffer->memory;
    return launch_memory_send(m, (size_t)(e->a - m->view), WORD_BYTES, st) &&
           launch_memory_send(m, (size_t)(e->b - m->view), WORD_BYTES, st);
}

static bool exchange_all(rotation *r, const exchanged *changes, status *st) {
    r->exchanged = !r->exchanged;
    for (uint32_t place = 0; place < r->sets; place++) {
        r->prepared.stale[place] = true;
        if (!exchange_words(&changes[place], st))
            return false;
    }
    return true;
}

/* Two different words of a buffer, or none. */
static exchanged choose(rotation *r, const rotation_buffer *b) {
    size_t words = b->size_bytes / WORD_BYTES;
    for (int i = 0; i < TRIES && words >= 2; i++) {
        exchanged e = {b, b->data + splitmix64(&r->hidden) % words * WORD_BYTES,
                       b->data + splitmix64(&r->hidden) % words * WORD_BYTES};
        if (memcmp(e.a, e.b, WORD_BYTES) != 0)
            return e;
    }
    return (exchanged){0};
}

/* Changes one input of each place, or changes it and back. *applies: each place has one that can be
 * changed. */
static bool change(rotation *r, exchanged *changes, bool back, bool *applies, status *st) {
    uint32_t inputs = r->launch.input_count, place = 0;
    memset(changes, 0, r->sets * sizeof *changes);
    r->exchanged = true;
    for (*applies = true; place < r->sets && *applies; place++) {
        exchanged *e = &changes[place];
        uint32_t first = inputs ? (uint32_t)(splitmix64(&r->hidden) % inputs) : 0;
        for (uint32_t i = 0; i < inputs && !e->buffer; i++)
            *e = choose(r, rotation_in(r, place, (first + i) % inputs));
        *applies = e->buffer != NULL;
        r->prepared.stale[place] = true;
        if (!exchange_words(e, st))
            return false;
    }
    return (*applies && !back) || exchange_all(r, changes, st);
}

/* One launch for each place but the one that awakens; a slow kernel needs none of that. */
static bool launch_part(rotation *r, tsr_kernel_t kernel, double *ns, status *st) {
    uint64_t took = 0;
    rotation_draw_part(r, rotation_is_slow(r) ? 0 : 1, r->sets - 1, true);
    bool ok = rotation_poison(r, true, st) && rotation_launch_part(r, kernel, &took, st);
    *ns = (double)took / (double)r->part.launches;
    return ok;
}

/* Outputs of contents that were there before are known, and looked at. */
static bool time_part(rotation *r, tsr_kernel_t kernel, bool unseen, double *ns, bool *applies,
                      status *st) {
    exchanged changes[ROTATION_SETS_MAX];
    double warm = r->quickest_ns;
    for (int i = 0; i < WARM_PARTS && warm < SLOW_NS; i++)
        if (!launch_part(r, kernel, &warm, st))
            return false;
    if (!change(r, changes, !unseen, applies, st))
        return false;
    return !*applies || (launch_part(r, kernel, ns, st) &&
                         (unseen ? exchange_all(r, changes, st) : rotation_check(r, true, st)));
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Overhead of few launches, where the device works by itself, is in both times, and varies from one
 * part to the next; many together tell how long one takes. */
static bool are_near(const rotation *r, double on_old, double on_new) {
    bool async = r->launch.is_async && r->least_ns > 0;
    double work = async ? fmin(r->least_ns, on_old) : on_old;
    double varies = async ? on_old * async_share : 0;
    return on_new < on_old + work * (ratio_limit - 1) + least_ns + varies;
}

bool rotation_check_unseen(rotation *r, tsr_kernel_t kernel, status *st) {
    double times[2][ROUNDS], least[2] = {INFINITY, INFINITY}; /* on old contents, on new ones */
    for (int round = 0; round < ROUNDS && r->sets > 1; round++) {
        for (int turn = 0; turn < 2; turn++) {
            bool applies, unseen = turn == round % 2;
            double *ns = &times[unseen][round];
            if (!time_part(r, kernel, unseen, ns, &applies, st))
                return false;
            if (!applies)
                return true;
            least[unseen] = fmin(least[unseen], *ns);
        }
        int rounds = least[0] < SLOW_NS ? ROUNDS_LEAST : ROUNDS_LEAST_SLOW;
        if (round + 1 >= rounds && are_near(r, least[0], least[1]))
            return true;
    }
    if (r->sets < 2)
        return true;
    for (int i = 0; i < 2; i++)
        qsort(times[i], ROUNDS, sizeof *times[i], ascending);
    double on_old = times[0][TENTH], on_new = times[1][TENTH];
    return are_near(r, on_old, on_new) ||
           status_set(st, STATUS_MISMATCH,
                      "timed launches: on contents that it had not seen before a launch took %.3g "
                      "times as long: results are kept by the contents of inputs",
                      on_new / on_old);
}

/* Launches once on each place; folds the digests of all outputs of a content into one. */
static bool digest_contents(rotation *r, tsr_kernel_t kernel, uint64_t *digests, status *st) {
    uint64_t took;
    rotation_draw_part(r, 1, r->sets, true);
    if (!rotation_poison(r, true, st) || !rotation_launch_part(r, kernel, &took, st))
        return false;
    for (uint32_t target = 0; target < r->targets; target++) {
        if (r->part.source[target] == ROTATION_NOT_WRITTEN)
            continue;
        uint64_t digest = 0;
        for (uint32_t i = 0; i < r->launch.output_count; i++) {
            const rotation_buffer *b = rotation_out(r, target, i);
            if (!rotation_fetch(b, st))
                return false;
            digest = digest * 31 + rotation_digest(b->data, b->size_bytes);
        }
        digests[r->part.source[target]] = digest;
    }
    return true;
}

bool rotation_compare_unseen(rotation *r, tsr_kernel_t a, tsr_kernel_t b, status *st) {
    enum { COMPARED = 4 };
    exchanged changes[ROTATION_SETS_MAX];
    uint64_t of_a[ROTATION_SETS_MAX] = {0}, of_b[ROTATION_SETS_MAX] = {0};
    for (int round = 0; round < COMPARED; round++) {
        bool applies;
        if (!change(r, changes, false, &applies, st))
            return false;
        if (!applies)
            return true;
        if (!digest_contents(r, a, of_a, st) || !digest_contents(r, b, of_b, st) ||
            !exchange_all(r, changes, st))
            return false;
        for (uint32_t place = 0; place < r->sets; place++)
            if (of_a[r->contents.at[place]] != of_b[r->contents.at[place]])
                return status_set(st, STATUS_MISMATCH,
                                  "timed launches: on inputs that neither had seen before the two "
                                  "kernels give different bits: one of them does not look at all "
                                  "of its inputs, or both do not compute the same");
    }
    return true;
}
