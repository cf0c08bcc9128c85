/* fault.h - faults on purpose, to prove that each is caught, packed and replayed.
 *
 * FAULT[@KERNEL[/CASE]] on the command line; faults.def has the table. A fault belongs to a job and
 * is recorded with its result and in its pack. interp, the oracle, is never touched. */
#ifndef TESSERA_HARNESS_JOB_FAULT_H
#define TESSERA_HARNESS_JOB_FAULT_H

#include "base/status.h"
#include "base/tensor.h"

enum { FAULTS_MAX = 24 };

typedef enum fault_kind {
    FAULT_KIND_OUTPUT,
    FAULT_KIND_DATA,
    FAULT_KIND_CODE,
    FAULT_KIND_PROCESS
} fault_kind;

typedef struct fault_info {
    const char *name;
    fault_kind kind;
    bool control; /* every kernel is tried against it */
    const char *summary;
} fault_info;

/* NULL where no fault has that name (`length` characters of it). */
const fault_info *fault_find(const char *name, size_t length);
/* Names a fault by its number, for lists; NULL past the last. */
const char *fault_name(size_t index);

/* The name of the fault that `inject` ("FAULT[@KERNEL[/CASE]]", known to be right) means for this
 * case; NULL for none. Static storage. */
const char *fault_for(const char *inject, const char *kernel, const char *case_name);

/* The table by number; NULL past the last. */
const fault_info *fault_at(size_t index);

/* OUTPUT faults, on outputs as they were read; does nothing for other faults and NULL. False
 * (STATUS_UNAVAILABLE) where no output has an element for it. */
bool fault_apply(const char *fault, tensor *outputs, uint32_t count, status *st);
/* DATA faults: exchanges the layout of one tensor's last two axes that are longer than 1. False
 * where it has no two. */
bool fault_can_transpose(int rank, const int64_t *dims);
void fault_transpose(tensor *t);
bool fault_is_transposed(const char *fault);
bool fault_is_rounding(const char *fault);
/* Before the process is closed off: where the fault is `oom`, a limit, so that the machine does not
 * suffer. */
void fault_prepare(const char *fault);
/* PROCESS faults: does not return where `fault` is one. */
void fault_trigger(const char *fault);
/* The fault's name where the compiler is to make it; else NULL. */
const char *fault_of_code(const char *fault);

#endif
