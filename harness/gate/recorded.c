/* recorded.c - runs and files: placeholder replaced below. */
#include "gate/gate.h"
bool gate_recorded(gate *g, status *st) {
    (void)g;
    return status_set(st, STATUS_UNAVAILABLE, "not yet");
}
bool arm_open_records(arm *a, const arm_request *r, const char *n, status *st) {
    (void)a;
    (void)r;
    (void)n;
    return status_set(st, STATUS_UNAVAILABLE, "not yet");
}
bool gate_instructions(gate *g, status *st) {
    (void)g;
    return status_set(st, STATUS_UNAVAILABLE, "not yet");
}
