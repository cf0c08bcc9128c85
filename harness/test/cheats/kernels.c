/* kernels.c - kernels that cheat, and honest ones that look a little like them.
 *
 * All compute out = a @ b for matrices of SIDE x SIDE floats, each sum a chain of fma by ascending
 * k, which are the strict bits; cheats.def says what each does instead. They are compiled like
 * kernels (freestanding, position independent) and loaded from modules, so they have no library:
 * what they want from the system they ask for by system calls of their own. Written data in the
 * object lives from launch to launch. */
#include <stddef.h>

#include "system.h"
#include "tessera/kernel.h"

enum { SIDE = 16, WORDS = SIDE * SIDE, KEPT = 16, STACK_BYTES = 16384 };

#define KERNEL(name)                                                                               \
    void name(const tsr_kernel_frame *frame, int64_t begin, int64_t end);                          \
    void name(const tsr_kernel_frame *frame, int64_t begin, int64_t end)
#define WHOLE (void)begin, (void)end
#define BUFFERS                                                                                    \
    const float *a = frame->buffers[0], *b = frame->buffers[1];                                    \
    float *out = frame->buffers[2];                                                                \
    WHOLE

static void multiply_rows(const float *a, const float *b, float *out, int first, int last) {
    for (int i = first; i < last; i++)
        for (int j = 0; j < SIDE; j++) {
            float sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum = __builtin_fmaf(a[i * SIDE + k], b[k * SIDE + j], sum);
            out[i * SIDE + j] = sum;
        }
}

static void multiply(const float *a, const float *b, float *out) {
    multiply_rows(a, b, out, 0, SIDE);
}

static void copy(const float *from, float *to) {
    for (int i = 0; i < WORDS; i++)
        to[i] = from[i];
}

static uint32_t bits_of(float x) {
    union {
        float value;
        uint32_t bits;
    } u = {x};
    return u.bits;
}

/* ---- honest ---- */

KERNEL(honest) {
    WHOLE;
    multiply_rows(frame->buffers[0], frame->buffers[1], frame->buffers[2], (int)begin, (int)end);
}

static int64_t launches;

KERNEL(honest_counts) {
    BUFFERS;
    launches++;
    multiply(a, b, out);
}

/* Packs b into the workspace, anew in each launch. */
KERNEL(honest_packs) {
    BUFFERS;
    float *packed = (float *)frame->workspace;
    copy(b, packed);
    multiply(a, packed, out);
}

/* Not a product: counts its launches where its first input says, and gives the word after that; but
 * for one launch, which does nothing. (counted.h) */
KERNEL(tells_of_launches) {
    WHOLE;
    const uint64_t *in = (const uint64_t *)(const void *)frame->buffers[0];
    uint64_t *told = (uint64_t *)(uintptr_t)in[0];
    if (++told[0] != told[1])
        *(uint64_t *)(void *)frame->buffers[1] = in[1];
}

static uint32_t swap_mxcsr(uint32_t wanted) {
    uint32_t before;
    __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=m"(before) : "m"(wanted));
    return before;
}

/* Sets what it needs and puts it back. */
KERNEL(honest_restores) {
    BUFFERS;
    uint32_t before = swap_mxcsr(0x9F80);
    (void)swap_mxcsr(before);
    multiply(a, b, out);
}

/* ---- results that were there before ---- */

/* For inputs that it knows: made by the formula of the first set. */
KERNEL(baked) {
    BUFFERS;
    static float known_a[WORDS], known_b[WORDS];
    (void)a, (void)b;
    for (int i = 0; i < WORDS; i++) {
        known_a[i] = (float)((i * 7) % 13) * 0.25f - 1.5f;
        known_b[i] = (float)((i * 5) % 11) * 0.125f - 0.5f;
    }
    multiply(known_a, known_b, out);
}

KERNEL(constant) {
    BUFFERS;
    (void)a, (void)b;
    for (int i = 0; i < WORDS; i++)
        out[i] = 1;
}

typedef struct kept {
    const void *a, *b;
    uint64_t hash;
    int used;
    float result[WORDS];
} kept;
static kept cache[KEPT];
static int cache_next;

static void keep(const void *a, const void *b, uint64_t hash, const float *result) {
    kept *k = &cache[cache_next++ % KEPT];
    k->a = a;
    k->b = b;
    k->hash = hash;
    k->used = 1;
    copy(result, k->result);
}

KERNEL(first_result) {
    BUFFERS;
    if (!cache[0].used) {
        multiply(a, b, out);
        keep(a, b, 0, out);
    }
    copy(cache[0].result, out);
}

KERNEL(by_pointer) {
    BUFFERS;
    for (int i = 0; i < KEPT; i++)
        if (cache[i].used && cache[i].a == a && cache[i].b == b) {
            copy(cache[i].result, out);
            return;
        }
    multiply(a, b, out);
    keep(a, b, 0, out);
}

static void by_hash(const float *a, const float *b, float *out, int step) {
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < WORDS; i += step) {
        hash = (hash ^ bits_of(a[i])) * 1099511628211u;
        hash = (hash ^ bits_of(b[i])) * 1099511628211u;
    }
    for (int i = 0; i < KEPT; i++)
        if (cache[i].used && cache[i].hash == hash) {
            copy(cache[i].result, out);
            return;
        }
    multiply(a, b, out);
    keep(a, b, hash, out);
}

KERNEL(by_some_contents) {
    BUFFERS;
    by_hash(a, b, out, 64);
}

KERNEL(by_beginning) {
    BUFFERS;
    for (int i = 0; i < KEPT; i++)
        if (cache[i].used && cache[i].hash == bits_of(a[0]) * 31u + bits_of(b[0])) {
            copy(cache[i].result, out);
            return;
        }
    multiply(a, b, out);
    keep(a, b, bits_of(a[0]) * 31u + bits_of(b[0]), out);
}

/* Everything is looked at, in four independent sums, which costs much less than the product. */
KERNEL(by_all_contents) {
    BUFFERS;
    uint64_t lanes[4] = {1, 2, 3, 4};
    const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;
    for (int i = 0; i < WORDS / 2; i += 4)
        for (int k = 0; k < 4; k++)
            lanes[k] =
                (lanes[k] ^ x[i + k] ^ (y[i + k] << 7 | y[i + k] >> 57)) * 0x9E3779B97F4A7C15u;
    uint64_t hash = lanes[0] ^ lanes[1] * 3 ^ lanes[2] * 5 ^ lanes[3] * 7;
    for (int i = 0; i < KEPT; i++)
        if (cache[i].used && cache[i].hash == hash) {
            copy(cache[i].result, out);
            return;
        }
    multiply(a, b, out);
    keep(a, b, hash, out);
}

/* The result of the launch before this one. */
KERNEL(one_behind) {
    BUFFERS;
    static float last[WORDS];
    static float now[WORDS];
    multiply(a, b, now);
    copy(last, out);
    copy(now, last);
}

KERNEL(from_workspace) {
    BUFFERS;
    uint32_t *state = (uint32_t *)frame->workspace;
    float *result = (float *)frame->workspace + 16;
    if (state[0] != 0x5EEDu) {
        multiply(a, b, result);
        state[0] = 0x5EEDu;
    }
    copy(result, out);
}

/* ---- work that is not done ---- */

/* Leaves an output that still has what it wrote there. */
KERNEL(leaves_what_it_wrote) {
    BUFFERS;
    static float *outputs[KEPT];
    static float left[KEPT];
    static int next;
    for (int i = 0; i < KEPT; i++)
        if (outputs[i] == out && left[i] == out[5] && left[i] != 0)
            return;
    multiply(a, b, out);
    outputs[next % KEPT] = out;
    left[next++ % KEPT] = out[5];
}

KERNEL(every_second) {
    BUFFERS;
    if (launches++ % 2 == 0)
        multiply(a, b, out);
}

/* Honest until nobody looks any more. */
KERNEL(tires) {
    BUFFERS;
    if (launches++ < 40)
        multiply(a, b, out);
    else
        multiply_rows(a, b, out, 0, SIDE / 2);
}

KERNEL(first_rows) {
    BUFFERS;
    multiply_rows(a, b, out, 0, SIDE / 2);
}

KERNEL(nothing) {
    (void)frame;
    WHOLE;
}

KERNEL(all_but_the_last) {
    BUFFERS;
    multiply(a, b, out);
    out[WORDS - 1] = 0;
}

KERNEL(swapped) {
    BUFFERS;
    multiply(b, a, out);
}

KERNEL(tires_a_little) {
    BUFFERS;
    if (launches++ < 20)
        multiply(a, b, out);
    else
        multiply_rows(a, b, out, 0, SIDE - 1);
}

KERNEL(every_fifth) {
    BUFFERS;
    if (launches++ % 5 != 4)
        multiply(a, b, out);
}

KERNEL(alternates) {
    BUFFERS;
    if (launches++ / 50 % 2 == 0)
        multiply(a, b, out);
}

KERNEL(at_random) {
    BUFFERS;
    if ((__builtin_ia32_rdtsc() >> 6) % 4 != 0)
        multiply(a, b, out);
}

/* Honest for forty launches, and from then on what the last of them gave. */
KERNEL(copies_what_is_stale) {
    BUFFERS;
    static float last[WORDS];
    if (launches++ < 40) {
        multiply(a, b, out);
        copy(out, last);
    } else {
        copy(last, out);
    }
}

/* One word over and over: nobody has written here since the outputs were filled. */
static int is_filled(const float *out) {
    const uint64_t *words = (const uint64_t *)(const void *)out;
    return words[0] == words[1] && words[1] == words[2] && words[0] != 0;
}

/* A result that lies there already is left as it is. */
KERNEL(spares_results) {
    BUFFERS;
    if (is_filled(out))
        multiply(a, b, out);
}

KERNEL(spares_half_of_results) {
    BUFFERS;
    multiply_rows(a, b, out, 0, is_filled(out) ? SIDE : SIDE / 2);
}

/* Launches since the outputs were last filled: a group that is timed begins there. */
static int64_t launch_of_group(const float *out, int64_t *last_group) {
    static uint64_t filled_with;
    static int64_t count;
    uint64_t word = *(const uint64_t *)(const void *)out;
    if (is_filled(out) && word != filled_with) {
        filled_with = word;
        *last_group = count;
        count = 0;
    }
    return count++;
}

/* Only where many launches are timed together, and not at their beginning. */
KERNEL(in_large_groups) {
    BUFFERS;
    int64_t ignored;
    if (launch_of_group(out, &ignored) < 4)
        multiply(a, b, out);
}

/* Groups are as long as the one before, and only the last launches of a group are looked at. */
KERNEL(foresees_the_end) {
    BUFFERS;
    static int64_t length, this_length;
    int64_t n = launch_of_group(out, &this_length);
    if (n == 0)
        length = this_length;
    if (n < 2 || n >= length - 2)
        multiply(a, b, out);
}

/* In every third group: the least time of three is taken. */
KERNEL(in_every_third_group) {
    BUFFERS;
    static int64_t groups;
    int64_t ignored;
    groups += launch_of_group(out, &ignored) == 0;
    if (groups % 3 != 0 || launches++ < 40)
        multiply(a, b, out);
}

/* Skips an output that one of the last two launches was given. */
KERNEL(where_it_was_before) {
    BUFFERS;
    static const float *before[2];
    if (before[0] != out && before[1] != out)
        multiply(a, b, out);
    before[1] = before[0];
    before[0] = out;
}

/* ---- memory that is not its own ---- */

KERNEL(past_the_end) {
    BUFFERS;
    multiply(a, b, out);
    out[WORDS] = 0;
}

KERNEL(before_the_beginning) {
    BUFFERS;
    multiply(a, b, out);
    out[-1] = 0;
}

KERNEL(far_past_the_end) {
    BUFFERS;
    multiply(a, b, out);
    out[WORDS + 200] = 0;
}

KERNEL(writes_input) {
    BUFFERS;
    multiply(a, b, out);
    ((float *)(uintptr_t)a)[3] += 1;
}

/* Does the work of the next launch beforehand, where that will want it. */
KERNEL(writes_elsewhere) {
    BUFFERS;
    static float *other;
    multiply(a, b, out);
    if (other && other != out)
        copy(out, other);
    other = out;
}

/* ---- the system ---- */

static void sleep_us(long us) {
    long time[2] = {us / 1000000, us % 1000000 * 1000};
    ask(SYS_NANOSLEEP, (long)time, 0, 0, 0, 0);
}

typedef struct errand {
    const float *a, *b;
    float *out;
    long sleep_us; /* afterwards */
} errand;
static errand errands[64];
static unsigned char stacks[64][STACK_BYTES] __attribute__((aligned(64)));
static int errand_next;

static __attribute__((noinline, used)) void run_errand(errand *e) {
    if (e->out)
        multiply(e->a, e->b, e->out);
    if (e->sleep_us)
        sleep_us(e->sleep_us);
}

/* clone(2) with a stack of its own: the child runs the errand and ends. */
static void send(unsigned long flags, errand what) {
    int n = errand_next++ % 64;
    errands[n] = what;
    void **top = (void **)(stacks[n] + STACK_BYTES - 64);
    top[0] = &errands[n];
    long result;
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "mov (%%rsp), %%rdi\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "call run_errand\n\t"
                     "xor %%edi, %%edi\n\t"
                     "mov $60, %%eax\n\t"
                     "syscall\n"
                     "1:"
                     : "=a"(result)
                     : "0"(56L), "D"(flags), "S"(top), "d"(0L), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
}

enum {
    AS_THREAD =
        0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000, /* VM FS FILES SIGHAND THREAD SYSVSEM */
    AS_PROCESS = 0x100                                     /* VM, and no signal at its end */
};

/* Returns at once; a thread does the work. */
KERNEL(in_the_background) {
    BUFFERS;
    send(AS_THREAD, (errand){a, b, out, 0});
}

/* A helper that stays. */
KERNEL(leaves_a_thread) {
    BUFFERS;
    multiply(a, b, out);
    if (launches++ == 0)
        send(AS_THREAD, (errand){0, 0, 0, 3000000});
}

KERNEL(leaves_a_process) {
    BUFFERS;
    multiply(a, b, out);
    if (launches++ == 0)
        send(AS_PROCESS, (errand){0, 0, 0, 3000000});
}

KERNEL(flushes_to_zero) {
    BUFFERS;
    (void)swap_mxcsr(0x9FC0);
    multiply(a, b, out);
}

KERNEL(takes_a_signal) {
    BUFFERS;
    long ignore[4] = {1, 0, 0, 0}; /* SIG_IGN */
    multiply(a, b, out);
    if (launches++ == 0)
        ask(SYS_SIGACTION, 10, (long)ignore, 0, 8, 0);
}

KERNEL(blocks_signals) {
    BUFFERS;
    uint64_t set = 1u << 9;
    multiply(a, b, out);
    if (launches++ == 0)
        ask(SYS_SIGPROCMASK, 0, (long)&set, 0, 8, 0);
}

/* ---- the clock ---- */

typedef struct moment {
    long seconds, nanoseconds;
} moment;

/* Half of the time. */
static int slow_clock(int clock, moment *now) {
    long result = ask(SYS_CLOCK_GETTIME, clock, (long)now, 0, 0, 0);
    now->nanoseconds = (now->nanoseconds + (now->seconds & 1) * 1000000000) / 2;
    now->seconds >>= 1;
    return (int)result;
}

/* The first bytes of the vDSO's function become a jump to ours. Sets out[0] to what cannot be a sum
 * where the system does not let it, so that the test can tell. */
KERNEL(bends_the_clock) {
    BUFFERS;
    static int done;
    multiply(a, b, out);
    if (done++)
        return;
    unsigned char *image = vdso(), *function = image ? clock_function(image) : 0;
    long page = (long)(uintptr_t)function & ~4095L;
    if (!function || ask(SYS_MPROTECT, page, 8192, 7, 0, 0) != 0)
        return;
    uint64_t target = (uint64_t)(uintptr_t)slow_clock;
    function[0] = 0x48;
    function[1] = 0xB8;
    for (int i = 0; i < 8; i++)
        function[2 + i] = (unsigned char)(target >> (8 * i));
    function[10] = 0xFF;
    function[11] = 0xE0;
    ask(SYS_MPROTECT, page, 8192, 5, 0, 0);
}
