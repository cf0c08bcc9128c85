/* opinion.h - the backend `mlir`: a kernel's Graph IR through the stock tools of LLVM, as a second
 * opinion. For tests: it is slow, untimed, and takes part only where it is named. */
#ifndef TESSERA_HARNESS_OPINION_H
#define TESSERA_HARNESS_OPINION_H

#include "subject.h"

/* Are mlir-opt-19, mlir-translate-19, llc-19 and a C compiler here? */
bool opinion_available(status *st);
/* Compiles and runs the subject's graph on its inputs; initialises `outputs`. STATUS_UNAVAILABLE
 * where the graph holds what cannot be expressed. */
bool opinion_run(const subject *s, bool unoptimised, tensor *outputs, status *st);

#endif
