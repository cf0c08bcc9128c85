/* stablehlo.h - files of StableHLO, for tsr-opt: what they hold, and passes over them. */
#ifndef TESSERA_TOOL_STABLEHLO_H
#define TESSERA_TOOL_STABLEHLO_H

#include "base/vec.h"
#include "target/stablehlo/passes.h"
#include "tool/passes.h"

/* Prints functions, and how often there is each operation. False: the file is no such program. */
bool stablehlo_summary(const char *path, status *st);

typedef VEC(const char *) stablehlo_pass_list; /* NAME[=ARGUMENTS] */
/* The pass whose name the text begins with; NULL: there is none. */
const shlo_pass *stablehlo_pass_find(const char *text_of_pass);
void stablehlo_list_passes(text *out);
/* The module as StableHLO, after these passes, behind what `out` holds; it is changed. */
bool stablehlo_lower(const pass_run *r, const stablehlo_pass_list *list, text *out, status *st);
/* The same of a program of StableHLO, as bytecode or text. */
bool stablehlo_run(const char *source, size_t size, const stablehlo_pass_list *list, text *out,
                   status *st);

#endif
