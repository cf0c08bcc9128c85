/* emulate_fiber.h - fibers: stacks that one thread of the host switches between.
 *
 * A fiber begins in its function when it is first switched to; that function never returns. The
 * thread's own stack is a fiber, too: a zeroed emulate_fiber. Stacks are mapped many at a time,
 * have a guard page below them and begin at staggered addresses, so that those of neighbours do not
 * meet in one set of a cache. */
#ifndef TESSERA_RUNTIME_EMULATE_FIBER_H
#define TESSERA_RUNTIME_EMULATE_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sanitizer.h"
#include "base/status.h"

enum { EMULATE_STACK_BYTES = 65536 };

typedef struct emulate_fiber {
    void *stack_pointer, *frame_pointer, *resume_at; /* as it was left */
#if BUILT_WITH_ASAN || BUILT_WITH_TSAN
    struct emulate_fiber *came_from;
    const void *stack; /* its lowest address; NULL: not known yet */
    size_t stack_bytes;
    void *fake_stack, *tsan;
    bool abandoned; /* it is resumed only to be left for ever */
#endif
} emulate_fiber;

typedef void (*emulate_fiber_fn)(void *argument);

/* Maps stacks for `count` fibers in one piece. NULL on failure. */
void *emulate_stacks_map(size_t count, status *st);
void emulate_stacks_unmap(void *stacks, size_t count);
/* Makes a fiber on stack `index` of the piece, which is in use by no other that was not abandoned.
 * `stagger`: any number, another for its neighbours. */
void emulate_fiber_reset(emulate_fiber *f, void *stacks, size_t index, size_t stagger,
                         emulate_fiber_fn entry, void *argument);
/* Gives up what a fiber was doing, before its stack is used anew or unmapped. Called on `self`. */
void emulate_fiber_abandon(emulate_fiber *f, emulate_fiber *self);

_Static_assert(offsetof(emulate_fiber, frame_pointer) == 8 &&
                   offsetof(emulate_fiber, resume_at) == 16,
               "the assembly knows where fields are");

/* Leaves one stack for another. Inline, and with a jump at its end: a processor predicts that a
 * return goes back to the latest call, and neither a switch that is called nor one that returns
 * would let the returns around it keep their pairs. What registers hold is the compiler's to save,
 * but for the frame pointer, which it may not give away. */
#if defined(__x86_64__)
static inline __attribute__((always_inline)) void emulate_fiber_jump(emulate_fiber *from,
                                                                     const emulate_fiber *to) {
    __asm__ volatile("leaq 1f(%%rip), %%rcx\n\t"
                     "movq %%rsp, 0(%%rdi)\n\t"
                     "movq %%rbp, 8(%%rdi)\n\t"
                     "movq %%rcx, 16(%%rdi)\n\t"
                     "movq 0(%%rsi), %%rsp\n\t"
                     "movq 8(%%rsi), %%rbp\n\t"
                     "movq 16(%%rsi), %%rcx\n\t"
                     "notrack jmpq *%%rcx\n"
                     "1:"
                     : "+D"(from), "+S"(to)
                     :
                     : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                       "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                       "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc",
                       "memory");
}
#elif defined(__aarch64__)
static inline __attribute__((always_inline)) void emulate_fiber_jump(emulate_fiber *from,
                                                                     const emulate_fiber *to) {
    register emulate_fiber *x0 __asm__("x0") = from;
    register const emulate_fiber *x1 __asm__("x1") = to;
    __asm__ volatile("adr x9, 1f\n\t"
                     "mov x10, sp\n\t"
                     "stp x10, x29, [x0]\n\t"
                     "str x9, [x0, #16]\n\t"
                     "ldp x10, x29, [x1]\n\t"
                     "ldr x9, [x1, #16]\n\t"
                     "mov sp, x10\n\t"
                     "br x9\n"
                     "1:"
                     : "+r"(x0), "+r"(x1)
                     :
                     : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                       "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24",
                       "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
                       "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
                       "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                       "v29", "v30", "v31", "cc", "memory");
}
#else
/* Implemented by ucontext: where a fiber is to be resumed is a context on its own stack. */
void emulate_fiber_jump(emulate_fiber *from, const emulate_fiber *to);
#endif

#if BUILT_WITH_ASAN || BUILT_WITH_TSAN
void emulate_fiber_switch(emulate_fiber *from, emulate_fiber *to);
/* First thing that a fiber does. */
void emulate_fiber_begun(emulate_fiber *self);
#else
static inline void emulate_fiber_switch(emulate_fiber *from, emulate_fiber *to) {
    emulate_fiber_jump(from, to);
}
static inline void emulate_fiber_begun(emulate_fiber *self) {
    (void)self;
}
#endif

#endif
