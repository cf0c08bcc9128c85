/* kernels.h - one kernel for all conversions from a type, compiled for one CPU level and loaded.
 *
 * The graph is built here, not written in the language: every conversion of the table, saturating
 * ones beside, is an output of it. One thread at a time. */
#ifndef TESSERA_TEST_CONVERSIONS_KERNELS_H
#define TESSERA_TEST_CONVERSIONS_KERNELS_H

#include "base/tensor.h"
#include "tessera/compiler.h"
#include "tessera/tessera.h"

enum { CONVERSION_ELEMENTS = 1 << 14, CONVERSIONS_MAX = 32 };

typedef struct conversion {
    dtype to;
    bool saturate, drawn; /* drawn: rounded stochastically, at the element's index */
} conversion;

typedef enum conversion_choice {
    CONVERSIONS_ALL,
    CONVERSIONS_NARROW, /* to narrow floats */
    CONVERSIONS_DRAWN   /* the same, rounded stochastically; from f32 */
} conversion_choice;

/* Seed and stream of the roundings that are drawn. */
#define CONVERSION_SEED UINT64_C(0x123456789abcdef)
enum { CONVERSION_STREAM = 3 };

typedef struct conversion_kernel {
    dtype from;
    conversion list[CONVERSIONS_MAX];
    uint32_t count;
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *in, *out[CONVERSIONS_MAX];
} conversion_kernel;

/* All conversions from a type that are chosen. */
uint32_t conversions_from(dtype from, conversion_choice choice, conversion *list);
bool conversion_kernel_open(conversion_kernel *k, dtype from, conversion_choice choice,
                            const char *isa, status *st);
bool conversion_kernel_run(conversion_kernel *k);
void conversion_kernel_close(conversion_kernel *k);

#endif
