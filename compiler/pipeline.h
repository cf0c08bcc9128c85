/* pipeline.h - the passes, for what looks at what they make without emitting code. */
#ifndef TESSERA_COMPILER_PIPELINE_H
#define TESSERA_COMPILER_PIPELINE_H

#include "ops/settings.h"
#include "source/diagnostic.h"
#include "target/target.h"
#include "tessera/compiler.h"
#include "tile/simt/simt.h"

/* The Tile IR that code is made from, behind the last pass. Owned (ir_module_free); NULL with a
 * status. *target receives what it is for. */
ir_module *pipeline_tile(compiler_instance *instance, const compiler_options *options,
                         const target_info **target, status *st);

/* A kernel of tiles as it stands (simt_from_tiles): its Tile IR, owned. False: it has no such
 * lowering; the notes then say so, where it is one of tiles and the target's are lowered so. */
bool pipeline_lower_tiles(const ir_module *specialized, const compiler_options *options,
                          const target_info *target, simt_tiles_notes *notes, ir_module **out);

/* Cycles of the Tile IR of such a kernel (simt_tiles_cost), and the most registers that a thread
 * needs for tiles. False: a later pass refuses it. */
bool pipeline_weigh_tiles(const ir_module *lowered, const compiler_options *options,
                          const target_info *target, double *cycles, int64_t *registers);

/* The kernel as text for others, with the case's dimensions: "mlir", "stablehlo", and as a function
 * in "c" or "python" (target/plain), unoptimised, under strict. */
bool pipeline_is_for_others(const char *level);
bool pipeline_emit_for_others(compiler_instance *instance, const char *level, text *out,
                              status *st);

/* The module of one kernel. *crowded: it failed, and for being more phases than a kernel may have.
 */
bool pipeline_build_kernel(compiler_instance *instance, const compiler_options *options,
                           compiler_artifact *out, bool *crowded, status *st);

/* The graph of a program, outlined (program/outline.h). Owned; NULL with a status. *kept: the bytes
 * that its checkpoints with a budget keep, at most, then really. */
ir_module *pipeline_dispatches(compiler_instance *instance, const compiler_options *options,
                               int64_t *kept, status *st);

/* program_room.c: the same, and its checkpoints with a budget keep as much as leaves the planned
 * room within that. */
ir_module *program_dispatches(compiler_instance *instance, const compiler_options *options,
                              status *st);

/* program_module.c: does that with each kernel of a program, to the first that gives false. */
bool program_each(compiler_instance *instance, const compiler_options *options,
                  bool (*visit)(compiler_instance *kernel, const compiler_options *options),
                  status *st);
/* program_module.c: the module of a kernel with branches and loops, or with more phases than a
 * kernel may have: a program of several kernels. */
bool program_module(compiler_instance *instance, const compiler_options *options,
                    compiler_artifact *out, status *st);

/* schedule_target.c: what the scheduler is told of a target; its matrix unit's instructions are put
 * into `units`, which it refers to. */
enum { PIPELINE_UNITS = 16 };
schedule_target schedule_target_of(const target_info *target, const compiler_options *options,
                                   schedule_unit units[PIPELINE_UNITS]);
/* Buffers that one launch takes on the target and on all further levels of the module, which share
 * a program; 0: any number. */
uint32_t pipeline_buffers(const target_info *target, const compiler_options *options);

/* device_fit.c: is the target of this name one of the devices that settings ask for? Else
 * STATUS_UNAVAILABLE with a diagnostic at their place in the source. `s` may be NULL. */
bool pipeline_device_fits(const ir_module *m, const settings *s, const char *target, status *st);

/* chip_room.c: whether a workgroup of the chip has room for each tile of a kernel of tiles in the
 * memory that its load asks for, and a loop for the stages that are asked for. Else
 * STATUS_UNAVAILABLE with a diagnostic, at its place where the instance's source is known. */
bool chip_has_room(const ir_module *m, const target_info *target, const compiler_instance *instance,
                   status *st);
/* Likewise whether no hint was refused when a kernel of tiles was lowered. */
bool chip_follows_hints(const simt_tiles_notes *notes, const target_info *target,
                        const compiler_instance *instance, status *st);

#endif
