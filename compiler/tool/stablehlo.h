/* stablehlo.h - modules of StableHLO for tsr-opt. */
#ifndef TESSERA_TOOL_STABLEHLO_H
#define TESSERA_TOOL_STABLEHLO_H

#include <stdbool.h>

#include "base/status.h"

/* Prints what a file of StableHLO holds: its functions with their types, and how often it has each
 * operation. */
bool stablehlo_summary(const char *path, status *st);

#endif
