/* passes.h - passes over a module of StableHLO, for devices that are not ours: its shapes for a
 * matrix unit, and its parts on several devices. */
#ifndef TESSERA_TARGET_STABLEHLO_PASSES_H
#define TESSERA_TARGET_STABLEHLO_PASSES_H

#include "import/stablehlo/shlo.h"

typedef struct shlo_pass {
    const char *name;
    bool (*run)(shlo_module *m, const char *arguments, status *st); /* no arguments: NULL */
    const char *arguments, *summary;
} shlo_pass;
extern const shlo_pass shlo_passes[];
extern const size_t shlo_pass_count;

/* "rows=8,columns=128". Factors of products (dot_general) are padded with zeros to multiples: the
 * rows of the left side to `rows`, what is contracted and the columns to `columns`; and the result
 * is cut. A zero at the end of a chain of additions changes no bit (docs/numerics.md). */
bool shlo_pad_for_tpu(shlo_module *m, const char *arguments, status *st);
/* "data=2,model=2;a0=data,-": a mesh, and the axes of it that each axis of an argument (a0) or
 * result (r0) of main is cut along; '-': it is not, '+' between several. */
bool shlo_annotate_sharding(shlo_module *m, const char *arguments, status *st);

#endif
