/* policy.h - one file that says how a process uses its devices: for programs of the C ABI, tsr and
 * Python alike, since each context that is made reads it.
 *
 * TESSERA_POLICY=FILE in the environment names it, YAML or JSON: groups of keys (policy.def). What
 * it does not say is as it is without one. */
#ifndef TESSERA_RUNTIME_POLICY_H
#define TESSERA_RUNTIME_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define POLICY_FILE "TESSERA_POLICY"
#define POLICY_SCHEMA "tsr.policy/1"

typedef enum policy_level {
    POLICY_OFF,
    POLICY_LAUNCHES,
    POLICY_PHASES,
    POLICY_LEVELS
} policy_level;

typedef enum policy_key {
#define KEY(group, name, ...) POLICY_##group##_##name,
#include "policy.def"
#undef KEY
    POLICY_KEYS
} policy_key;

typedef struct policy {
    bool given[POLICY_KEYS]; /* of each key, in the order of the table */
    uint64_t kept_bytes, filled_bytes, watchdog_ns, bucket_bytes;
    policy_level level;
    bool nvtx;
    char *spans, *model; /* owned; NULL: none */
} policy;

/* False: `st` has the file, the line, what is wrong there and what to write (STATUS_INVALID).
 * policy_release in any case. */
bool policy_of_file(const char *path, policy *out, status *st);
/* The file that the environment names; without one, what holds without. */
bool policy_of_environment(policy *out, status *st);
void policy_release(policy *p);

#endif
