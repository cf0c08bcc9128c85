/* settings.h - what a source says of how, or where, some of a kernel's operations are computed: a
 * schedule of a call, what is fetched ahead, the device that code is for.
 *
 * The location of an operation has the number of its setting, and a setting that of the one around
 * it. Passes keep locations, so what they make of an operation keeps its setting. Settings are no
 * part of what a kernel means: they stand in no text and in no hash of a graph. */
#ifndef TESSERA_OPS_SETTINGS_H
#define TESSERA_OPS_SETTINGS_H

#include "ir/ir.h"
#include "tessera/compiler.h"

typedef enum setting_kind { SETTING_SCHEDULE, SETTING_PREFETCH, SETTING_DEVICE } setting_kind;

/* Memories that tensors are fetched into: of a workgroup's threads, or caches of a core. */
typedef enum fetch_memory { FETCH_SHARED, FETCH_L1, FETCH_L2, FETCH_MEMORY_COUNT } fetch_memory;
extern const char *const fetch_memory_names[FETCH_MEMORY_COUNT]; /* "smem", "l1", "l2" */

typedef struct setting {
    setting_kind kind;
    uint32_t up;         /* the setting around it, whose number is less; 0: there is none */
    uint32_t start, end; /* bytes of the source */
    const char *word;    /* of a prefetch: the tensor's name; of a device: its own */
    const compiler_schedule_entry *entries; /* of a schedule */
    uint32_t count;
    fetch_memory into;      /* of a prefetch ... */
    bool overlaps;          /* it is on its way while others are multiplied */
    bool of_left, of_right; /* it is the left side of a contraction, another operand */
} setting;

/* Those of a source. */
typedef struct settings {
    const setting *items; /* number n is items[n - 1] */
    uint32_t count;
    const struct source_text *source; /* for diagnostics */
    bool *used;                       /* by item: code that was made depends on the prefetch */
    uint32_t *fits; /* by item, a bit for each entry of the schedule: work of its kind was there */
} settings;

/* Setting number n; NULL of 0, and where there are none. */
const setting *setting_at(const settings *s, uint32_t n);
/* The innermost one of that kind, of number n and those around it; its number, 0: there is none. */
uint32_t setting_find(const settings *s, uint32_t n, setting_kind kind);
/* Code depends on what is fetched by setting number n and those around it. */
void settings_use_fetch(const settings *s, uint32_t n);
/* Has any operation of the module a schedule of its call? */
bool settings_schedule_calls(const settings *s, const ir_module *m);
/* Tells whether all entries of the module's schedules fit some work; else *at is one that does not.
 */
bool settings_fit(const settings *s, const ir_module *m, const compiler_schedule_entry **at);
/* Is `n` the setting `outer`, or does it stand in it? */
bool setting_is_in(const settings *s, uint32_t n, uint32_t outer);
/* Appends a line for each operation of the module that has one: its number among all, and what it
 * says. What code is made depends on nothing else of them. */
void settings_describe(const settings *s, const ir_module *m, text *out);

#endif
