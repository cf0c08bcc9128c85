/* self_test.h - does the gate keep its word? Gates of cases against themselves, and against
 * themselves made slower by a known share.
 *
 * A gate of equal sides that calls anything changed is a false positive; one with a slowdown of the
 * bound or more that does not say so of a case has missed it. Both rates are given with exact
 * limits (Clopper and Pearson). Every finished gate is a line in a file: a campaign that was ended
 * goes on where it was. */
#ifndef TESSERA_HARNESS_GATE_SELF_TEST_H
#define TESSERA_HARNESS_GATE_SELF_TEST_H

#include "gate/gate.h"

enum { SELF_TEST_KINDS = 4, SELF_TEST_CASES = 12, SELF_TEST_NAMED = 40 };

typedef struct self_test_request {
    const gate_settings *settings; /* of each gate; seed: of the first */
    const job_choice *choice;
    gate_side *sides[2]; /* of the same kernels; cases are chosen from the second */
    const char *path;    /* of the file that the campaign is kept in */
    size_t gates;        /* of equal sides; each slowdown gets `slowed` */
    size_t slowed;
    const volatile sig_atomic_t *stop;
    void (*progress)(void *context, const char *what, double fraction);
    void *progress_context;
} self_test_request;

/* Outcomes with one slowdown. */
typedef struct self_test_kind {
    double slowdown;
    size_t gates, gates_changed; /* gates that called some case changed */
    size_t cases, slower, faster, equal, unsure;
    double seconds;
} self_test_kind;

typedef struct self_test {
    self_test_kind kinds[SELF_TEST_KINDS];
    size_t case_count;
    const char
        *cases[SELF_TEST_NAMED]; /* the first of them: kernel/case@..., borrowed from the side */
    double load;                 /* mean of the load averages beside the gates */
} self_test;

/* Spreads the choice over the kernels of a side and leaves all other units out: of each kernel the
 * case that moves the most bytes. 0: every case takes part. */
void self_test_choose(gate_side *a, size_t count);
/* Runs what is missing. False where it cannot run; *interrupted where it was ended. */
bool self_test_run(const self_test_request *request, self_test *out, bool *interrupted, status *st);
/* EXIT_DONE: the rates agree with what was promised. EXIT_CHECK: they refute it, at 99 %.
 * EXIT_NO_VERDICT: most gates came to no verdict, so nothing is shown. */
exit_code self_test_exit(const self_test *t, const gate_settings *s);
void self_test_table(const self_test *t, const gate_settings *s, text *out);
json_t *self_test_document(const self_test *t, const gate_settings *s);

#endif
