/* build.h - a module that holds a program: its kernels, each a module, and its commands. */
#ifndef TESSERA_PROGRAM_BUILD_H
#define TESSERA_PROGRAM_BUILD_H

#include "program/commands.h"
#include "tessera/compiler.h"

/* A function of Graph IR as a kernel in a module of its own; the caller frees it. */
ir_module *program_kernel(const ir_module *m, const draft_kernel *k);
/* [[input, output], ...], or NULL where no input is donated. */
struct json_t *program_donations_json(const draft *p);
enum { PROGRAM_SECTION_BYTES = 32 };
/* "kernel:3", "constant:0" */
void program_section(const char *kind, size_t number, char out[PROGRAM_SECTION_BYTES]);
/* The program as it stands in the metadata; its kernels are the sections kernel:0, kernel:1, ... */
struct json_t *program_json(const ir_module *m, const draft *p);

#endif
