/* mlir_backend.h - the backend `mlir`: a kernel's Graph IR through the stock tools of LLVM, as a
 * second opinion. For tests: it is slow, untimed, and takes part only where it is named. */
#ifndef TESSERA_HARNESS_EXEC_MLIR_BACKEND_H
#define TESSERA_HARNESS_EXEC_MLIR_BACKEND_H

#include "case/case_context.h"

/* Are mlir-opt-19, mlir-translate-19, llc-19 and a C compiler here? */
bool mlir_backend_available(status *st);
/* Compiles and runs the case's graph on its inputs; initialises `outputs`. STATUS_UNAVAILABLE
 * where the graph holds what cannot be expressed. */
bool mlir_backend_run(const case_context *s, bool unoptimised, tensor *outputs, status *st);

#endif
