/* module.h - the module file: writing one (the compiler) and reading one (the runtime).
 *
 * Layout, little endian:
 *   8 bytes magic "TSRMOD\r\n"; u16 abi_major, u16 abi_minor, u32 section count; per section
 *   { char kind[32] (NUL padded), u64 offset, u64 size_bytes,
 *     u8 sha256[32] (of the 32 bytes of kind, then the data) };
 *   then the sections, each at the next multiple of 64, in table order, with zeroed padding
 * between. Kinds: "metadata" (JSON), "graph", "schedule", "tile" (IR text), and images of code,
 * whose kind is the target: "<format>/<level>", as "x86_64-elf/x86-64-v4" for an ELF relocatable
 * object. The same parts give the same bytes.
 *
 * Metadata JSON (schema "tsr.module/2"):
 *   { "schema", "name", "profile", "numerics_version", "isa": "x86-64-v4",
 *     "graph_sha256", "schedule_sha256",
 *     "inputs":  [{"name", "dtype", "shape": [..]}], "outputs": [likewise, and
 *     "effect": what one that is no result is for, "check:LINE:WORDS", "print:LINE:WORDS"],
 *     "donated": [[input, output], ...]: those that may be one buffer; may be absent,
 *     "dims": [names of the dimensions given at launch; may be absent],
 *     "tile": {..schedule parameters..}, "workspace_bytes", "scratch_bytes",
 *     "phases": [{"symbol", "grid": workgroups, "what": "short text", "constant": the input that
 * alone decides what it makes, "copies": the number of the donated input that it copies to its
 * output, which is left out where both are one buffer; both may be absent}], "constants": [names of
 * inputs that can be prepared; may be absent], "prepared_bytes", "launch": {"grid": [x, y, z],
 * "block": [x, y, z], "smem_bytes"}, "fallbacks": [{"type", "as", "why"}: what takes the place of
 * something that the target lacks; may be absent] } The module of a program has "program" instead,
 * and its kernels in sections "kernel:0" and so on, each a module file; docs/modules.md has it.
 * Where images of several levels differ in what they need, "images" holds for each of them { "isa",
 * "section":
 * "<target>" or "<target>:<number>", "schedule_sha256", "tile", "workspace_bytes", "scratch_bytes",
 * "phases", "launch" }, and the root has none of these.
 */
#ifndef TESSERA_RUNTIME_MODULE_H
#define TESSERA_RUNTIME_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct module_part {
    const char *kind; /* 1 to 31 characters, unique in its module */
    const void *data;
    size_t size_bytes;
} module_part;

/* The oldest ABI minor that can run a module: functions added for programs do not raise it. */
enum {
    MODULE_ABI_MINOR = 0,
    MODULE_ABI_MINOR_PREPARED = 1, /* it has constants */
    MODULE_ABI_MINOR_PROGRAM = 3,  /* it is a program of several kernels */
    MODULE_ABI_MINOR_FILL = 5,     /* ... that fills memory */
    MODULE_ABI_MINOR_BOUNDS = 6,   /* its code checks its accesses */
    MODULE_ABI_MINOR_IN_PLACE =
        7 /* a dispatch of the program makes an output in its input's place */
};

/* Serialises the parts, for runtimes of at least this minor; *image_out is owned by the caller
 * (free). */
bool module_write_for(uint16_t abi_minor, const module_part *parts, size_t count, void **image_out,
                      size_t *size_out, status *st);
/* ... for all of this major. */
bool module_write(const module_part *parts, size_t count, void **image_out, size_t *size_out,
                  status *st);
/* Checks the whole of an image: magic, version, bounds, overlaps, hashes. */
bool module_check(const void *image, size_t size_bytes, status *st);
/* The ABI version that an image names, readable even where module_check would refuse the image for
 * it. False (and STATUS_CORRUPT) when the image is too short or has another magic. */
bool module_version(const void *image, size_t size_bytes, uint16_t *major_out, uint16_t *minor_out,
                    status *st);
/* Part `index` of a checked image, in table order; false past the end. `part` borrows from the
 * image. */
bool module_part_at(const void *image, size_t size_bytes, size_t index, module_part *part);
/* Finds a part in a checked image; `part->data` borrows from the image. */
bool module_find(const void *image, size_t size_bytes, const char *kind, module_part *part);
/* Parts of this kind are code. */
bool module_is_image(const char *kind);
/* ... or modules of their own: kernels of a program. */
bool module_is_kernel(const char *kind);
/* ... or what a program reads beside its inputs. */
bool module_is_constant(const char *kind);

#endif
