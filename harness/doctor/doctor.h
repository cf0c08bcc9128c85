/* doctor.h - what makes this machine a bad place to time things, and how bad it is.
 *
 * Facts are what the system says of itself below /sys and /proc; each has a state, and where it
 * does harm the command that mends it. Noise is measured: the same loop against itself. */
#ifndef TESSERA_HARNESS_DOCTOR_DOCTOR_H
#define TESSERA_HARNESS_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* The facts, as a JSON array:
 *   {"check": name, "state": "ok"|"note"|"harm"|"unknown", "found": words, "why": words|null,
 *    "mend": command|null}
 * `root` is put before every path ("": this machine; tests have trees of their own). Rates (load,
 * stolen time) are differences between two readings; the second one is of `later`. */
typedef struct doctor_place {
    const char *root, *later;
    unsigned apart_ms;
} doctor_place;
json_t *doctor_facts(const doctor_place *place);

/* The noise: {"loops": [{"loop": "compute"|"memory", "in_process": spread of log ratios of a loop
 * against itself, "pair_error": by how much a pair of processes is off by that alone,
 * "between_processes": the same of medians of processes, "detectable": smallest
 * change that a gate of one case would find, "detectable_of_many": ... of `cases` cases}],
 *  "clock_spread": relative distance between the 5th and the 95th percentile of a fixed amount of
 * arithmetic, "cases": n, "mde": what the gate's default asks for, "detectable": the worst,
 * "pair_error": the worst, "enough": bool}. NULL with a status. */
json_t *doctor_noise(status *st);
/* The standard error of a pair of processes, by the spread of the rounds within one. Ten pairs may
 * agree by chance on a busy machine; the rounds within them show that it is one. */
double doctor_pair_error(double in_process);
/* Both are no more than what the gate's default asks for. */
bool doctor_enough(double detectable_worst, double in_process_worst);

#endif
