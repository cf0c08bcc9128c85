/* hsaco.h - the link step of AMD GPU code: the object that LLVM writes becomes the shared object
 * that a driver loads.
 *
 * It is done here, in process, because a compiler behind the sandbox can start no linker. An object
 * of one kernel module is simple: constants and code that need nothing from outside. All else is
 * refused. */
#ifndef TESSERA_TARGET_HSACO_H
#define TESSERA_TARGET_HSACO_H

#include "base/text.h"
#include "device/host/host_elf_parts.h"

/* Appends the HSACO of a relocatable object (amdgcn-amd-amdhsa) to `out`, which must be empty. What
 * is in no loaded section (debug information) is left out. STATUS_CORRUPT: damaged, or it has what
 * kernels must not have: undefined symbols, writable data, relocations that need a table;
 * STATUS_UNAVAILABLE: for another machine. Then `out` is empty. */
bool hsaco_link(const void *object, size_t size_bytes, text *out, status *st);

/* hsaco_machine.c */
extern const elf_machine elf_amdgpu;

#endif
