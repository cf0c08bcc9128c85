/* roof.c - what became faster must still be possible: its point lies below this machine's roof. */
#include <stdio.h>

#include "exec/backend_device.h"
#include "gate/gate.h"
#include "job/result.h"
#include "measure/roofline.h"
#include "run/roofline_place.h"

static bool is_in_doubt(const gate_row *row) {
    return row->verdict == GATE_IMPROVED && row->element && row->facts[1].flops >= 0 &&
           row->change.median_ns[1] > 0;
}

typedef struct doubtful {
    gate *gate;
    gate_row *row;
} doubtful;

static json_t *result_of(const gate_row *row, double ns) {
    json_t *result = json_object();
    result_put_PROFILE(result, row->units[1]->profile);
    result_put_THREADS(result, row->units[1]->threads);
    result_put_FLOPS(result, (int64_t)row->facts[1].flops);
    result_put_BYTES(result, (int64_t)row->facts[1].bytes);
    result_put_STATUS(result, outcome_name(OUTCOME_OK));
    result_put_MEDIAN(result, ns);
    internal_put_ELEMENT(result, row->element);
    internal_put_PAIRS(result, row->pairs);
    internal_put_WORKING_SET(result, (int64_t)row->working_set_bytes);
    return result;
}

/* In a fresh process, beside its ceiling. */
static bool measure_again(void *context, json_t **result, json_t **internal, status *st) {
    doubtful *d = context;
    double ns;
    (void)internal;
    if (!gate_time_again(d->gate, d->row, &ns, st))
        return false;
    json_decref(*result);
    *result = result_of(d->row, ns);
    return true;
}

static bool measure_ceilings(void *context, ceilings *c, const roofline_query *query, status *st) {
    (void)context;
    return roofline_measure(c, query, true, st);
}

/* As bench places a result, with time and ceiling measured again where it lies above. */
static bool place_row(gate *g, gate_row *row, ceilings *c, status *st) {
    doubtful d = {g, row};
    roofline_place_source source = {
        .point = row->spec ? measure_again : NULL, .needed = measure_ceilings, .context = &d};
    json_t *result = result_of(row, row->change.median_ns[1]);
    json_t *internal = result_take_internal(result);
    bool ok = roofline_place_result(c, &source, &result, &internal, st);
    const char *why = result_text(result, RESULT_WHY);
    if (ok && result_outcome(result) != OUTCOME_OK) {
        row->verdict = GATE_INCONCLUSIVE;
        gate_settle(row, GATE_FAILED, REASON_ABOVE_ROOF, "%s", why);
    }
    json_decref(result);
    json_decref(internal);
    return ok;
}

bool gate_roof(gate *g, status *st) {
    static ceilings c;
    bool begun = false, ok = true;
    if (!backend_device_is_host(g->settings->device)) /* the ceilings are the host's */
        return true;
    for (size_t i = 0; i < g->rows.count && ok; i++) {
        gate_row *row = &g->rows.items[i];
        if (!is_in_doubt(row))
            continue;
        if (!begun)
            ceilings_init(&c, *row->isa[1] ? row->isa[1] : NULL);
        begun = true;
        ok = place_row(g, row, &c, st);
    }
    return ok;
}
