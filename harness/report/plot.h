/* plot.h - a roofline in characters: GFLOP/s over FLOP a byte, both logarithmic. */
#ifndef TESSERA_HARNESS_REPORT_PLOT_H
#define TESSERA_HARNESS_REPORT_PLOT_H

#include "base/text.h"
#include "measure/ceilings.h"

/* The f32 roofs of each memory level at `threads` threads. */
void plot_roofline(const ceilings *c, uint32_t threads, text *out);

#endif
