/* small_program.h - a context on the processor with a program `small`; for tests of programs. */
#ifndef TESSERA_RUNTIME_SMALL_PROGRAM_H
#define TESSERA_RUNTIME_SMALL_PROGRAM_H

#include "test/program_maker.h"

/* A kernel `small`. */
typedef struct rig {
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
} rig;

static inline void open_rig(rig *r, uint32_t flags, const char *json) {
    OK(tsrCreateContextOn(0, 2, flags, &r->context));
    OK(load_program(r->context, json, &r->module));
    OK(tsrGetKernel(r->module, "small", &r->kernel));
}

static inline void close_rig(const rig *r) {
    OK(tsrUnloadModule(r->module));
    OK(tsrDestroyContext(r->context));
}

#endif
