/* rotation_unseen.c - launches on contents that no launch has had, beside launches on those that it
 * had.
 *
 * Two words of each input change places (so every element stays one of the case's), the launches
 * are timed, and the words go back; beside that the same is done with words that have gone back
 * already. In each round both are timed once. An honest kernel takes the same time; one that finds
 * its results by the contents is slower in (nearly) every round on what it cannot find. */
#include <string.h>

#include "abi_status.h"
#include "measure/rotation_parts.h"

enum { ROUNDS = 9, ALIKE_MOST = 2, WORD_BYTES = 8, TRIES = 32 };
static const double ratio_limit = 1.5, least_ns = 150; /* of a launch */

typedef struct exchanged {
    unsigned char *a, *b; /* NULL: none */
} exchanged;

static void exchange_words(const exchanged *e) {
    unsigned char word[WORD_BYTES];
    if (!e->a)
        return;
    memcpy(word, e->a, WORD_BYTES);
    memcpy(e->a, e->b, WORD_BYTES);
    memcpy(e->b, word, WORD_BYTES);
}

/* Two different words of a buffer, or none. */
static exchanged choose(rotation *r, const rotation_buffer *b) {
    size_t words = b->size_bytes / WORD_BYTES;
    for (int i = 0; i < TRIES && words >= 2; i++) {
        exchanged e = {b->data + rotation_draw(r) % words * WORD_BYTES,
                       b->data + rotation_draw(r) % words * WORD_BYTES};
        if (memcmp(e.a, e.b, WORD_BYTES) != 0)
            return e;
    }
    return (exchanged){NULL, NULL};
}

/* Changes one input of each place, or changes it and back; false where a place has none that can be
 * changed. */
static bool change(rotation *r, exchanged *changes, bool back) {
    for (uint32_t place = 0; place < r->sets; place++) {
        exchanged *e = &changes[place];
        *e = (exchanged){NULL, NULL};
        uint32_t first = r->inputs ? (uint32_t)(rotation_draw(r) % r->inputs) : 0;
        for (uint32_t i = 0; i < r->inputs && !e->a; i++)
            *e = choose(r, rotation_at(r, place, (first + i) % r->inputs));
        if (!e->a)
            return false;
        exchange_words(e);
        if (back)
            exchange_words(e);
    }
    return true;
}

/* One launch for each place but the one that awakens. */
static bool time_part(rotation *r, tsr_kernel_t kernel, bool unseen, double *ns, bool *applies,
                      status *st) {
    exchanged changes[ROTATION_SETS_MAX];
    rotation_timing timing = {.kernel = kernel, .repeats = r->sets - 1};
    uint64_t took = 0;
    *applies = change(r, changes, !unseen);
    if (!*applies)
        return true;
    rotation_plan(r, 1, timing.repeats, true);
    rotation_poison(r);
    bool ok = abi_ok(rotation_launch(r, &timing, 1, &took), "launching", st);
    *ns = (double)took / (double)timing.repeats;
    for (uint32_t place = 0; place < r->sets && unseen; place++)
        exchange_words(&changes[place]);
    return ok;
}

static bool slower(const double ns[2]) {
    return ns[1] > ns[0] + least_ns && ns[1] > ns[0] * ratio_limit;
}

/* ns[0]: on contents that were seen, ns[1]: on new ones. */
static bool time_round(rotation *r, tsr_kernel_t kernel, int round, double ns[2], bool *applies,
                       status *st) {
    int first = round % 2;
    return time_part(r, kernel, first == 1, &ns[first], applies, st) &&
           (!*applies || time_part(r, kernel, first == 0, &ns[1 - first], applies, st));
}

bool rotation_check_unseen(rotation *r, tsr_kernel_t kernel, status *st) {
    int alike = 0;
    double ns[2] = {0, 0}, sum = 0;
    for (int round = 0; round < ROUNDS && r->sets > 1; round++) {
        bool applies;
        if (!time_round(r, kernel, round, ns, &applies, st))
            return false;
        alike += !slower(ns);
        if (!applies || alike > ALIKE_MOST)
            return true;
        sum += ns[1] / ns[0];
    }
    return r->sets < 2 ||
           status_set(st, STATUS_MISMATCH,
                      "timed launches: on contents that it had not seen before a launch took %.3g "
                      "times as long: results are kept by the contents of inputs",
                      sum / ROUNDS);
}
