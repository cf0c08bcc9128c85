/* parameters.h - the parameters of schedules as data: which there are (parameters.def), which
 * values each may have on a machine, and what several of them must share.
 *
 * Nothing here knows an IR: the checker reads @schedule by it, the scheduler registers its
 * parameters through it, and a tuner draws from it. Every function only reads. */
#ifndef TESSERA_PARAMETERS_PARAMETERS_H
#define TESSERA_PARAMETERS_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Kinds of groups as bits, in the order of plan.h. */
enum {
    IN_MAP = 1 << 0,
    IN_ROW = 1 << 1,
    IN_COLUMN = 1 << 2,
    IN_DOT = 1 << 3,
    IN_SCAN = 1 << 4,
    IN_FOLD = 1 << 5,
    IN_SCATTER = 1 << 6
};
enum { PARAMETER_CANDIDATES_MAX = 24, PARAMETER_VALUES_MAX = 64 };
/* The kinds that have a parameter. */
enum {
#define PARAMETER(NAME, groups, source, position, unit, minimum, maximum, multiple, candidates,    \
                  summary)                                                                         \
    GROUPS_OF_##NAME = (groups),
#include "parameters/parameters.def"
};

/* The position of a number that is one for all phases: its name stands alone, as CHAIN. */
enum { PARAMETER_OF_KERNEL = -2 };

typedef struct parameter_info {
    const char *name;   /* "MR" */
    unsigned groups;    /* that have it */
    const char *source; /* "tile" in @schedule(tile=(6, 4)) */
    int position;       /* in the tuple; -1: it is a number by itself; PARAMETER_OF_KERNEL */
    const char *unit;
    int64_t minimum, maximum;
    const char *multiple, *candidates, *summary;
} parameter_info;

/* The table; returns its length. */
uint32_t parameter_table(const parameter_info **table);
/* The parameter of that name that groups of one of these kinds have; NULL: none. */
const parameter_info *parameter_find(const char *name, unsigned groups);
/* "an element-wise nest", "a contraction", ... of one bit; "work" for several. */
const char *parameter_groups_text(unsigned groups);

/* The table as a page shows it: a row for each parameter, with its word in @schedule(...). */
void parameter_print_words(text *out);

/* Machine that limits are about: capability data of a target, for elements of one size. */
typedef struct parameter_machine {
    int64_t lanes; /* elements of this size in a vector */
    int64_t element_bytes;
    int64_t registers;
    int64_t l1_bytes, l2_bytes; /* 0: not known, and nothing is held to them */
    bool threads;               /* share a tile: a chip */
} parameter_machine;

typedef struct parameter_value {
    const parameter_info *info;
    int64_t value;
} parameter_value;
/* The values of one group, in the order in which they were chosen. */
typedef struct parameter_values {
    const parameter_value *items;
    size_t count;
} parameter_values;

/* Number that a value must be a multiple of, given those chosen before. */
int64_t parameter_multiple(const parameter_info *info, const parameter_values *values,
                           const parameter_machine *machine);
/* A value by itself: its range, and what it is a multiple of. False with the reason in `why`. */
bool parameter_check_value(const parameter_info *info, int64_t value,
                           const parameter_values *values, const parameter_machine *machine,
                           text *why);
/* Limit number `index` of the table against the values of a group of this kind. *broken: it does
 * not hold, with the reason in `why`; `names` receives the parameters that it binds. False: there
 * is no such limit. */
bool parameter_check_limit(uint32_t index, unsigned group, const parameter_values *values,
                           const parameter_machine *machine, bool *broken, const char **names,
                           text *why);
/* Tells that a list of names ("MR NR") has this one. */
bool parameter_names_have(const char *names, const char *name);
/* The values that a tuner tries, within range, ascending; returns how many. */
uint32_t parameter_candidates(const parameter_info *info, const parameter_values *values,
                              const parameter_machine *machine,
                              int64_t out[PARAMETER_CANDIDATES_MAX]);

#endif
