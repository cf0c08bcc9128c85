/* settings.h - `with` around statements, and devices in annotations: settings of operations
 * (ops/settings.h). */
#ifndef TESSERA_CHECK_SETTINGS_H
#define TESSERA_CHECK_SETTINGS_H

#include "check/check.h"
#include "device/capability.h"
#include "ops/settings.h"

/* Settings from a mark on, whose statements end: those of a `with`, and of a function's body, whose
 * last statement may be a `with` that ends in the return. */
typedef struct settings_mark {
    uint32_t now;
    size_t fetches;
} settings_mark;
settings_mark settings_begin(const checker *c);
void settings_end(checker *c, settings_mark mark);
/* Enters what stands behind `with`; and checks it with its statements. */
void settings_enter(checker *c, const node *n);
void settings_with(checker *c, const node *n);
/* Statements are in the settings that annotations of the function ask for, from now on. False when
 * reported. */
bool settings_of_head(checker *c, const ast_function *f);
/* The number of this schedule in the present setting. */
uint32_t settings_schedule(checker *c, const schedule_value *schedule, span at);
/* prefetch.c: statements between begin and end fetch what the call says; the end marks operations
 * that read it. */
void prefetch_begin(checker *c, const node *call);
void prefetch_end(checker *c);
/* The hints of a load of tiles from `memory`, behind those that are given, of which there are
 * `count`: at most so many more. Returns how many there are now. */
enum { PREFETCH_HINTS = 2 };
uint32_t prefetch_hints(checker *c, ir_value memory, const char **names, ir_attr *values,
                        uint32_t count);
/* The number of a setting in the present one, which equal ones share. */
uint32_t settings_number(checker *c, setting one);

/* Is it the device of this name: a class (cpu, gpu), a kind of code or a backend (cuda), a chip or
 * a level of CPUs? */
bool settings_device_is(const char *word, const capability_chip *chip);

#endif
