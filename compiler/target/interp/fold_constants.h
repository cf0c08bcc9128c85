/* fold_constants.h - a pass on Graph IR that computes what is known before anything runs. */
#ifndef TESSERA_TARGET_INTERP_FOLD_CONSTANTS_H
#define TESSERA_TARGET_INTERP_FOLD_CONSTANTS_H

#include "base/status.h"
#include "ir/ir.h"

/* Element-wise operations on constants of rank 0. False: no memory. */
bool interp_fold_constants(ir_module *m, status *st);

#endif
