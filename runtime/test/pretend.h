/* pretend.h - what libraries of ours share that pretend to be those of a GPU: faults on demand, and
 * what the entry points of the tests' kernels compute, on this processor. */
#ifndef TESSERA_RUNTIME_TEST_PRETEND_H
#define TESSERA_RUNTIME_TEST_PRETEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number behind a name in the variable of the environment that STUB_FAULTS names
 * ("name=number,name=number", read anew each time), or else. */
long pretend_fault(const char *name, long otherwise);

enum { PRETEND_ARGUMENTS = 6 };
typedef struct pretend_launch {
    const char *name;
    const uint64_t *arguments; /* 4; of a probe's kernel all */
    uint64_t workgroups;       /* of pretend_is_foreign: threads */
    /* Returns the bytes of an address; NULL: they are not the device's. */
    unsigned char *(*resolve)(uint64_t address, size_t bytes);
    bool (*is_ended)(void); /* what never ends ends nevertheless */
} pretend_launch;

/* Is it of the driver's probe of matrix units, whose launches are not counted? */
bool pretend_is_probe(const char *name);
/* Does it take a map of a tensor behind all else? */
bool pretend_takes_map(const char *name);
bool pretend_has_kernel(const char *name);
/* Is it the one that is called as its author likes? `scale` of docs/examples/scale.ptx, whose
 * arguments are two addresses, a count of 32 bits and a float. */
bool pretend_is_foreign(const char *name);
/* Runs it; with the fault `endless` it does not end. False where it touches what is not the
 * device's. */
bool pretend_run(const pretend_launch *l);

/* The probes in device/probes/, and ways in which a device gets them wrong. */
typedef enum pretend_flaw { NO_FLAW, SPLITS_FMA, DIVIDES_LOOSELY, FLUSHES } pretend_flaw;
enum { PROBE_NUMBERS = 64 };
void pretend_arithmetic_f32(const float *in, float *out, pretend_flaw flaw);
void pretend_arithmetic_f64(const double *in, double *out, pretend_flaw flaw);
void pretend_conversions_f16(const uint32_t *in, uint32_t *out);

#endif
