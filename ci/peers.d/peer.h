/* peer.h - a program of ci/peers: one library in a process of its own, which a driver tells what to
 * run.
 *
 * serve.c reads commands from stdin and answers each with one line; a library's file provides the
 * functions at the end of this header. All buffers live until the next `prepare`. One thread calls
 * everything here. */
#ifndef TESSERA_CI_PEER_H
#define TESSERA_CI_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum peer_type { PEER_F32, PEER_BF16, PEER_I8, PEER_I32, PEER_TYPE_COUNT } peer_type;

enum { PEER_WORDS_MAX = 16, PEER_WHY_BYTES = 256 };

/* What the driver asked for, and what came of it. */
typedef struct peer_case {
    const char *words[PEER_WORDS_MAX]; /* the kernel's name, then its arguments; NULL at the end */
    int count;
    int threads;
    bool positive; /* inputs in (0, 1] instead of [-1, 1) */
    /* set by peer_prepare */
    const void *output;
    peer_type output_type;
    size_t output_count;
    double work; /* operations or bytes of one call, where the program is a ceiling */
    char why[PEER_WHY_BYTES];
} peer_case;

/* Argument `index` as a number, 0 where there is none. */
int64_t peer_number(const peer_case *c, int index);
/* "f32", "bf16", "i8", "i32"; false with c->why for another. */
bool peer_type_of(peer_case *c, const char *name, peer_type *type);
size_t peer_type_bytes(peer_type type);
/* Zeroed memory on huge pages where the system has them; freed before the next case. Aborts without
 * memory. */
void *peer_buffer(size_t bytes);
/* Values of parameter `index`, the same in every program. */
void *peer_input(const peer_case *c, int index, peer_type type, size_t count);
/* The result's memory, noted in the case. */
void *peer_output_buffer(peer_case *c, peer_type type, size_t count);
/* c->why in printf's manner; returns false. */
__attribute__((format(printf, 2, 3))) bool peer_refuse(peer_case *c, const char *format, ...);

/* ---- of the library ---- */
/* Its name and version, for the report. */
const char *peer_version(void);
/* Makes ready for peer_run; false with c->why where the library has no such kernel. */
bool peer_prepare(peer_case *c);
/* One call of what was prepared, to its end. */
void peer_run(void);
/* Frees what peer_prepare made; also called after one that refused. */
void peer_release(void);

#endif
