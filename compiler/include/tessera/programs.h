/* programs.h - sources that are programs of StableHLO: what they have and no text of ours has. */
#ifndef TESSERA_PROGRAMS_H
#define TESSERA_PROGRAMS_H

#include "tessera/compiler.h"

/* compiler_open_text of bytes, which may be a program in bytecode. NULL: there are more of them
 * than are read, or a text has a byte of 0 within. */
compiler_source *compiler_open_bytes(const char *name, const void *data, size_t size, bool colour,
                                     text *diagnostics, status *st);

/* Is a buffer of the kernel (inputs first) of complex numbers in the program, so that its last axis
 * has their two parts? */
bool compiler_is_complex(const compiler_source *source, const compiler_kernel *kernel,
                         uint32_t buffer);
/* Bits of an element that is an integer of fewer than its type here; 0: it has all. */
uint32_t compiler_element_bits(const compiler_source *source, const compiler_kernel *kernel,
                               uint32_t buffer);
/* Is it the output of a kernel whose program gives nothing? */
bool compiler_is_placeholder(const compiler_source *source, const compiler_kernel *kernel,
                             uint32_t buffer);

/* Says how a buffer lies on the devices that the program is for, and the part that one has, as
 * tsr_shape_t and tsrGetPart say it. A buffer of another source lies on one. */
typedef struct compiler_lying {
    uint32_t replicas, partitions, device_axes;
    uint32_t parts[8];
} compiler_lying;
compiler_lying compiler_lies_on(const compiler_source *source, const compiler_kernel *kernel,
                                uint32_t buffer);
void compiler_part_on(const compiler_source *source, const compiler_kernel *kernel, uint32_t buffer,
                      uint32_t device, uint32_t part[8]);

#endif
