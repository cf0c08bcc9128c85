/* tile_run.h - evaluates Tile IR: whatever a pass made of a kernel, on tensors of the host.
 *
 * Workgroups and phases run one after the other, so nothing is seen of races, and what is
 * hardware's own (matrix units, copies in the background) is not evaluated. */
#ifndef TESSERA_TARGET_INTERP_TILE_RUN_H
#define TESSERA_TARGET_INTERP_TILE_RUN_H

#include "base/status.h"
#include "base/tensor.h"
#include "ir/ir.h"

/* Initialises the outputs. STATUS_UNAVAILABLE: an operation of it is not evaluated, or it is more
 * work than is worth waiting for; STATUS_INVALID: it touches what is not its memory. */
bool tile_run(const ir_module *m, const tensor *inputs, tensor *outputs, status *st);

#endif
