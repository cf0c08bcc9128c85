/* emulate_fiber.c - see emulate_fiber.h. */
#include "device/emulate/emulate_fiber.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

#if BUILT_WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if BUILT_WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* ---- the stack of a fiber that has not begun ---- */

#if defined(__x86_64__) || defined(__aarch64__)
void emulate_fiber_start(void); /* in assembly: its function and argument are on the stack */

static void make_unbegun(emulate_fiber *f, unsigned char *top, emulate_fiber_fn entry,
                         void *argument) {
    enum { ARGUMENT, FUNCTION, ABOVE = 4 }; /* above them: zeros, where callers would be */
    void **stack = (void **)((uintptr_t)top / 16 * 16) - ABOVE;
    void (*start)(void) = emulate_fiber_start;
    memset(stack, 0, ABOVE * sizeof *stack);
    stack[ARGUMENT] = argument;
    memcpy(&stack[FUNCTION], &entry, sizeof entry); /* ISO C knows no such cast */
    memcpy(&f->resume_at, &start, sizeof start);
    f->stack_pointer = stack;
}
#endif

#define ASSEMBLY_FUNCTION(name, type, body)                                                        \
    __asm__(".text\n.p2align 4\n.globl " name "\n.hidden " name "\n.type " name ", " type          \
            "\n" name ":\n" body ".size " name ", .-" name "\n")

#if defined(__x86_64__)
ASSEMBLY_FUNCTION("emulate_fiber_start", "@function",
                  "  popq %rdi\n"
                  "  popq %rcx\n"
                  "  callq *%rcx\n"
                  "  ud2\n");
#elif defined(__aarch64__)
ASSEMBLY_FUNCTION("emulate_fiber_start", "%function",
                  "  ldp x0, x9, [sp], #16\n"
                  "  mov x30, #0\n"
                  "  blr x9\n"
                  "  brk #1\n");
#else
void emulate_fiber_jump(emulate_fiber *from, const emulate_fiber *to) {
    ucontext_t here;
    from->resume_at = &here;
    swapcontext(&here, to->resume_at);
}

typedef struct fiber_start {
    ucontext_t context;
    emulate_fiber_fn entry;
    void *argument;
} fiber_start;

static void begin(unsigned high, unsigned low) { /* makecontext passes numbers */
    uintptr_t address = (uintptr_t)((uint64_t)high << 32 | low);
    const fiber_start *b = (const fiber_start *)address;
    b->entry(b->argument);
}

static void make_unbegun(emulate_fiber *f, unsigned char *top, emulate_fiber_fn entry,
                         void *argument) {
    fiber_start *b = (fiber_start *)(((uintptr_t)top - sizeof *b) / 64 * 64);
    uint64_t address = (uintptr_t)b;
    b->entry = entry;
    b->argument = argument;
    getcontext(&b->context);
    b->context.uc_link = NULL;
    b->context.uc_stack.ss_sp = (unsigned char *)b - EMULATE_STACK_BYTES * 3 / 4;
    b->context.uc_stack.ss_size = EMULATE_STACK_BYTES * 3 / 4;
    makecontext(&b->context, (void (*)(void))begin, 2, (unsigned)(address >> 32),
                (unsigned)address);
    f->resume_at = &b->context;
}
#endif

/* ---- stacks ---- */

static size_t guard_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t each_bytes(void) {
    return guard_bytes() + EMULATE_STACK_BYTES;
}

void *emulate_stacks_map(size_t count, status *st) {
    unsigned char *stacks = mmap(NULL, count * each_bytes(), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED) {
        status_set(st, STATUS_OUT_OF_MEMORY, "no memory for the stacks of %zu threads", count);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (mprotect(stacks + i * each_bytes(), guard_bytes(), PROT_NONE) != 0) {
            emulate_stacks_unmap(stacks, count);
            status_set(st, STATUS_OUT_OF_MEMORY, "no guard pages for the stacks of %zu threads",
                       count);
            return NULL;
        }
    }
    return stacks;
}

void emulate_stacks_unmap(void *stacks, size_t count) {
    munmap(stacks, count * each_bytes());
}

/* Shifts the stacks of neighbours against each other by some lines of a cache. */
static size_t staggered(size_t number) {
    enum { STEP = 5 * 64, SPAN = 4096 };
    return number * STEP % SPAN / 64 * 64;
}

void emulate_fiber_reset(emulate_fiber *f, void *stacks, size_t index, size_t stagger,
                         emulate_fiber_fn entry, void *argument) {
    unsigned char *stack = (unsigned char *)stacks + index * each_bytes() + guard_bytes();
#if BUILT_WITH_ASAN
    __asan_unpoison_memory_region(stack, EMULATE_STACK_BYTES);
#endif
    *f = (emulate_fiber){0};
    make_unbegun(f, stack + EMULATE_STACK_BYTES - staggered(stagger), entry, argument);
#if BUILT_WITH_ASAN || BUILT_WITH_TSAN
    f->stack = stack;
    f->stack_bytes = EMULATE_STACK_BYTES;
#endif
#if BUILT_WITH_TSAN
    f->tsan = __tsan_create_fiber(0);
#endif
}

/* ---- what sanitizers are to be told ---- */

#if BUILT_WITH_ASAN || BUILT_WITH_TSAN
/* After a switch: `self` runs, and knows of where it came from what that could not say itself. */
static void arrived(emulate_fiber *self) {
#if BUILT_WITH_ASAN
    emulate_fiber *from = self->came_from;
    __sanitizer_finish_switch_fiber(self->fake_stack, &from->stack, &from->stack_bytes);
#else
    (void)self;
#endif
}

static void jump(emulate_fiber *from, emulate_fiber *to, bool for_ever) {
    to->came_from = from;
#if BUILT_WITH_ASAN
    __sanitizer_start_switch_fiber(for_ever ? NULL : &from->fake_stack, to->stack, to->stack_bytes);
#else
    (void)for_ever;
#endif
#if BUILT_WITH_TSAN
    if (!from->tsan)
        from->tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
    emulate_fiber_jump(from, to);
}

void emulate_fiber_begun(emulate_fiber *self) {
    arrived(self);
}

void emulate_fiber_switch(emulate_fiber *from, emulate_fiber *to) {
    jump(from, to, false);
    arrived(from);
    if (from->abandoned)
        jump(from, from->came_from, true);
}
#endif

/* Sanitizers keep memory of their own for a fiber; the address sanitizer's goes when the fiber is
 * left for ever. */
void emulate_fiber_abandon(emulate_fiber *f, emulate_fiber *self) {
    (void)f, (void)self;
#if BUILT_WITH_ASAN
    if (f->came_from) {
        f->abandoned = true;
        emulate_fiber_switch(self, f);
        f->came_from = NULL;
    }
#endif
#if BUILT_WITH_TSAN
    if (f->tsan)
        __tsan_destroy_fiber(f->tsan);
    f->tsan = NULL;
#endif
}
