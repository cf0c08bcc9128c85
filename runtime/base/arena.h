/* arena.h - memory that is freed all at once.
 *
 * Everything allocated from an arena lives until arena_release or arena_reset. Allocation never
 * returns NULL: the process ends with a message when memory is gone (workers are disposable,
 * records are durable). Thread rule: one arena, one thread. */
#ifndef TESSERA_BASE_ARENA_H
#define TESSERA_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct arena_block arena_block;
typedef struct arena {
    arena_block *head;
} arena;

void arena_init(arena *a);
void arena_release(arena *a);
void arena_reset(arena *a); /* frees the contents, keeps one block for the next use */
void *arena_alloc(arena *a, size_t size_bytes); /* zeroed, aligned to 16 */
void *arena_copy(arena *a, const void *data, size_t size_bytes);
char *arena_strdup(arena *a, const char *text);
char *arena_strndup(arena *a, const char *text, size_t length);
char *arena_printf(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `count` zeroed elements of TYPE. */
#define ARENA_NEW(a, TYPE, count) ((TYPE *)arena_alloc((a), sizeof(TYPE) * (size_t)(count)))

/* Heap allocation that ends the process with a message instead of returning NULL; freed with
 * free(). */
void *base_malloc(size_t size_bytes);
void *base_calloc(size_t count, size_t size_bytes);
void *base_realloc(void *memory, size_t size_bytes);
char *base_strdup(const char *text);

/* Called instead of abort() once the message is out; does not return. For a whole process. */
void base_when_out_of_memory(void (*end)(void));
void (*base_end_process(void))(void); /* that one, or NULL */
/* The message, and the end; 0: how much was asked for is not known. */
_Noreturn void base_out_of_memory(size_t size_bytes);

#endif
