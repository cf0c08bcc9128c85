/* self_test_report.c - the rates of a campaign with their limits, and whether they keep the
 * promise. */
#include "base/escape.h"
#include "gate/self_test.h"
#include "measure/host_facts.h"

#define CONFIDENCE 0.95
#define REFUTED 0.99

/* Refuted: the least rate of false positives, or the greatest power, that what was seen allows is
 * on the wrong side of what was promised. */
exit_code self_test_exit(const self_test *t, const gate_settings *s) {
    const self_test_kind *equal = &t->kinds[0];
    size_t unsure = 0, cases = 0;
    bool refuted =
        equal->gates && plan_lower_limit(equal->gates_changed, equal->gates, REFUTED) > s->alpha;
    for (size_t i = 0; i < SELF_TEST_KINDS; i++) {
        const self_test_kind *k = &t->kinds[i];
        unsure += k->unsure;
        cases += k->cases;
        if (k->slowdown + 1e-9 >= s->bound && k->cases)
            refuted |= plan_upper_limit(k->slower, k->cases, REFUTED) < s->power;
    }
    if (refuted)
        return EXIT_CHECK;
    return unsure * 2 > cases ? EXIT_NO_VERDICT : EXIT_DONE;
}

static void append_share(size_t hits, size_t trials, text *out) {
    text_show(out, "%zu of %zu", hits, trials);
    if (trials)
        text_show(out, " = %.2f %% [%.2f, %.2f]", 100 * (double)hits / (double)trials,
                  hits ? 100 * plan_lower_limit(hits, trials, CONFIDENCE) : 0,
                  100 * plan_upper_limit(hits, trials, CONFIDENCE));
}

static void append_kind(const self_test_kind *k, text *out) {
    text_show(out, "%+.0f %%: %zu gates, %.1f s each\n", k->slowdown * 100, k->gates,
              k->gates ? k->seconds / (double)k->gates : 0);
    text_append(out, k->slowdown > 0 ? "    gates that saw a change   "
                                     : "    false positives, gates    ");
    append_share(k->gates_changed, k->gates, out);
    text_append(out, "\n    cases REGRESSED           ");
    append_share(k->slower, k->cases, out);
    text_append(out, "\n    cases IMPROVED or FAILED  ");
    append_share(k->faster, k->cases, out);
    text_append(out, "\n    cases EQUIVALENT          ");
    append_share(k->equal, k->cases, out);
    text_append(out, "\n    cases INCONCLUSIVE        ");
    append_share(k->unsure, k->cases, out);
    text_append(out, "\n");
}

void self_test_table(const self_test *t, const gate_settings *s, text *out) {
    text_show(out,
              "self-test of the gate: margin %.2g %%, MDE %.2g %%, alpha %.2g %%, power %.3g "
              "%%\n%zu case%s:",
              s->margin * 100, s->bound * 100, s->alpha * 100, s->power * 100, t->case_count,
              text_s(t->case_count));
    for (size_t i = 0; i < t->case_count && i < SELF_TEST_NAMED; i++)
        text_show(out, " %s", t->cases[i]);
    if (t->case_count > SELF_TEST_NAMED)
        text_show(out, " and %zu more", t->case_count - SELF_TEST_NAMED);
    text_append(out, "\nshares with one-sided 95 % limits (Clopper and Pearson)\n");
    for (size_t i = 0; i < SELF_TEST_KINDS; i++)
        if (t->kinds[i].gates)
            append_kind(&t->kinds[i], out);
    text_show(out, "mean load of the machine: %.2f\n", t->load);
    switch (self_test_exit(t, s)) {
    case EXIT_DONE:
        text_append(out, "what was promised is kept, as far as so many gates can tell\n");
        break;
    case EXIT_CHECK:
        text_append(out, "what was promised is NOT kept\n");
        break;
    default:
        text_append(out, "too many cases came to no verdict: the machine is too noisy for these "
                         "settings (tsr doctor)\n");
    }
}

static json_t *share_json(size_t hits, size_t trials) {
    return json_pack("{s:I, s:I, s:f, s:f}", "hits", (json_int_t)hits, "trials", (json_int_t)trials,
                     "low", hits ? plan_lower_limit(hits, trials, CONFIDENCE) : 0.0, "high",
                     trials ? plan_upper_limit(hits, trials, CONFIDENCE) : 1.0);
}

json_t *self_test_document(const self_test *t, const gate_settings *s) {
    json_t *kinds = json_array(), *cases = json_array();
    for (size_t i = 0; i < t->case_count && i < SELF_TEST_NAMED; i++)
        json_array_append_new(cases, json_string(t->cases[i]));
    for (size_t i = 0; i < SELF_TEST_KINDS; i++) {
        const self_test_kind *k = &t->kinds[i];
        json_array_append_new(
            kinds,
            json_pack("{s:f, s:I, s:o, s:o, s:o, s:o, s:o, s:f}", "slowdown", k->slowdown, "gates",
                      (json_int_t)k->gates, "changed", share_json(k->gates_changed, k->gates),
                      "regressed", share_json(k->slower, k->cases), "improved",
                      share_json(k->faster, k->cases), "equivalent", share_json(k->equal, k->cases),
                      "inconclusive", share_json(k->unsure, k->cases), "seconds", k->seconds));
    }
    return json_pack("{s:s, s:o, s:o, s:{s:f, s:f, s:f, s:f}, s:f, s:I, s:o, s:o, s:f, s:i}",
                     "schema", "tsr.gate-self-test/1", "tsr", program_facts(), "host", host_facts(),
                     "settings", "margin", s->margin, "mde", s->bound, "alpha", s->alpha, "power",
                     s->power, "confidence", CONFIDENCE, "case_count", (json_int_t)t->case_count,
                     "cases", cases, "slowdowns", kinds, "load", t->load, "exit",
                     (int)self_test_exit(t, s));
}
