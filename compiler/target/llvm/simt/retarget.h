/* retarget.h - what the files that retarget code hand each other. */
#ifndef TESSERA_TARGET_SIMT_RETARGET_H
#define TESSERA_TARGET_SIMT_RETARGET_H

#include "target/llvm/emit.h"

/* Prefix of the names of intrinsics that become calls of hooks. */
#define RETARGETED "emulated."

typedef struct retargeted_call {
    LLVMValueRef call, function, thread;
    const char *name;  /* of what it calls */
    LLVMValueRef site; /* its number; NULL: it has none */
    LLVMTargetDataRef layout;
} retargeted_call;

/* retarget_calls.c: puts calls of a hook before it, and their results in its place. The call is
 * left for the caller to erase. False: it is none of these. */
bool retarget_call(emitter *e, const retargeted_call *c);

#endif
