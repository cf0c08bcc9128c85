/* parameters.c - the table of schedule parameters, and the arithmetic of its limits. */
#include "parameters/parameters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const parameter_info parameters[] = {
#define PARAMETER(NAME, groups, source, position, unit, minimum, maximum, multiple, candidates,    \
                  summary)                                                                         \
    {#NAME, groups, source, position, unit, minimum, maximum, multiple, candidates, summary},
#include "parameters/parameters.def"
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

uint32_t parameter_table(const parameter_info **table) {
    *table = parameters;
    return PARAMETERS;
}

const parameter_info *parameter_find(const char *name, unsigned groups) {
    for (int i = 0; i < PARAMETERS; i++)
        if ((parameters[i].groups & groups) && strcmp(parameters[i].name, name) == 0)
            return &parameters[i];
    return NULL;
}

const char *parameter_groups_text(unsigned groups) {
    switch (groups) {
    case IN_MAP:
        return "an element-wise nest";
    case IN_ROW:
        return "a reduction along rows";
    case IN_COLUMN:
        return "a reduction down columns";
    case IN_DOT:
        return "a contraction";
    case IN_SCAN:
        return "a scan along an axis";
    case IN_FOLD:
        return "rows that are carried from turn to turn";
    case IN_SCATTER:
        return "updates at indices";
    case IN_MAP | IN_ROW | IN_FOLD | IN_SCATTER:
        return "an element-wise nest, a reduction along rows, rows that are carried, or updates at "
               "indices";
    case IN_MAP | IN_ROW:
        return "an element-wise nest or a reduction along rows";
    default:
        return "such work";
    }
}

/* `tile=(MR, NR)`, or `vector=N`. */
static void print_word(const char *word, text *out) {
    bool tuple = false;
    text_printf(out, "`%s=", word);
    for (int i = 0; i < PARAMETERS; i++) {
        if (strcmp(parameters[i].source, word) != 0 || parameters[i].position < 0)
            continue;
        text_printf(out, "%s%s", tuple ? ", " : "(", parameters[i].name);
        tuple = true;
    }
    text_append(out, tuple ? ")`" : "N`");
}

void parameter_print_words(text *out) {
    static const unsigned kinds[] = {IN_MAP,  IN_ROW,  IN_COLUMN, IN_DOT,
                                     IN_SCAN, IN_FOLD, IN_SCATTER};
    static const char *const names[] = {"element-wise nests",
                                        "reductions along rows",
                                        "reductions down columns",
                                        "contractions",
                                        "scans",
                                        "carried rows",
                                        "updates at indices"};
    text_append(out,
                "| word | parameter | unit | from, to | of | what |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < PARAMETERS; i++) {
        const parameter_info *p = &parameters[i];
        bool first = true;
        text_append(out, "| ");
        print_word(p->source, out);
        text_printf(out, " | `%s` | %s | %" PRId64 ", %" PRId64 " | ", p->name,
                    *p->unit ? p->unit : "-", p->minimum, p->maximum);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if (p->groups & kinds[k]) {
                text_printf(out, "%s%s", first ? "" : ", ", names[k]);
                first = false;
            }
        }
        text_printf(out, " | %s |\n", p->summary);
    }
}

/* The latest value of that name; -1 where there is none. */
static int64_t value_of(const parameter_values *values, const char *name) {
    for (size_t i = values->count; i > 0; i--)
        if (strcmp(values->items[i - 1].info->name, name) == 0)
            return values->items[i - 1].value;
    return -1;
}

/* The number that "/64" says a value must divide; 0: it need not. */
static int64_t divided_by(const parameter_info *info) {
    return info->multiple[0] == '/' ? strtoll(info->multiple + 1, NULL, 10) : 0;
}

/* Value of "V" or a parameter's name; 1 where there is nothing to be a multiple of. */
static int64_t factor_of(const char *name, const parameter_values *values,
                         const parameter_machine *machine) {
    if (!*name)
        return 1;
    int64_t value = strcmp(name, "V") == 0 ? machine->lanes : value_of(values, name);
    return value > 0 ? value : 1;
}

int64_t parameter_multiple(const parameter_info *info, const parameter_values *values,
                           const parameter_machine *machine) {
    return factor_of(info->multiple, values, machine);
}

bool parameter_check_value(const parameter_info *info, int64_t value,
                           const parameter_values *values, const parameter_machine *machine,
                           text *why) {
    int64_t factor = parameter_multiple(info, values, machine);
    if (value < info->minimum || value > info->maximum) {
        text_printf(why, "%s, %s, must be %" PRId64 " to %" PRId64 ", not %" PRId64, info->name,
                    info->summary, info->minimum, info->maximum, value);
        return false;
    }
    if (divided_by(info) && value != 0 && divided_by(info) % value != 0) {
        text_printf(why, "%s must divide %" PRId64 ", and %" PRId64 " does not", info->name,
                    divided_by(info), value);
        return false;
    }
    if (value % factor == 0)
        return true;
    text_printf(why, "%s must be a multiple of %s%s%" PRId64 ", and %" PRId64 " is not", info->name,
                strcmp(info->multiple, "V") == 0 ? "the vector's " : info->multiple,
                strcmp(info->multiple, "V") == 0 ? "" : ", ", factor, value);
    if (value > factor)
        text_printf(why, ": %" PRId64 " or %" PRId64 " would be", value / factor * factor,
                    (value / factor + 1) * factor);
    return false;
}

/* ---- limits ---- */

bool parameter_names_have(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *p = names; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == length && strncmp(p, name, length) == 0)
            return true;
    return false;
}

static bool has_all(const parameter_values *values, const char *names) {
    char name[32];
    for (const char *p = names; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        memcpy(name, p, length < sizeof name ? length : sizeof name - 1);
        name[length < sizeof name ? length : sizeof name - 1] = '\0';
        if (value_of(values, name) < 0)
            return false;
    }
    return true;
}

typedef struct limit_values {
    unsigned groups;
    const char *names, *resource, *summary;
    int64_t need, limit;
} limit_values;

static int64_t at_least_1(int64_t value) {
    return value < 1 ? 1 : value;
}

/* Limit number `index`, with what it comes to; false where there is none. */
static bool limit_at(uint32_t index, const parameter_values *values,
                     const parameter_machine *machine, limit_values *out) {
    uint32_t at = 0;
#define P(NAME) at_least_1(value_of(values, #NAME))
#define VECTORS(NAME) ((P(NAME) + machine->lanes - 1) / machine->lanes)
/* Two beside a loader have 240 registers of 255 each (schedule/simt/simt.h). */
#define WARP_GROUPS ((P(WARPS) + 3) / 4)
#define LESSER(a, b) ((a) < (b) ? (a) : (b))
#define ELEMENT_BYTES machine->element_bytes
#define REGISTERS machine->registers
#define L1_BYTES (machine->l1_bytes > 0 ? machine->l1_bytes : INT64_MAX)
#define L2_BYTES (machine->l2_bytes > 0 ? machine->l2_bytes : INT64_MAX)
#define LIMIT(groups, names, need, limit, resource, summary)                                       \
    if (at++ == index) {                                                                           \
        *out = (limit_values){groups, names, resource, summary, need, limit};                      \
        return true;                                                                               \
    }
#include "parameters/parameters.def"
#undef P
#undef VECTORS
#undef WARP_GROUPS
#undef LESSER
#undef ELEMENT_BYTES
#undef REGISTERS
#undef L1_BYTES
#undef L2_BYTES
    return false;
}

static void describe_limit(text *why, const limit_values *l, const parameter_values *values) {
    const char *separator = "";
    for (size_t i = 0; i < values->count; i++)
        if (parameter_names_have(l->names, values->items[i].info->name)) {
            text_printf(why, "%s%s = %" PRId64, separator, values->items[i].info->name,
                        values->items[i].value);
            separator = ", ";
        }
    text_printf(why, " need %" PRId64 " %s, and the limit is %" PRId64 ": %s", l->need, l->resource,
                l->limit, l->summary);
}

/* Parameters: three answers, of which the text is made only where the limit is broken. */
bool parameter_check_limit(uint32_t index, unsigned group, const parameter_values *values,
                           const parameter_machine *machine, bool *broken, const char **names,
                           text *why) {
    limit_values l;
    if (!limit_at(index, values, machine, &l))
        return false;
    *names = l.names;
    *broken = (l.groups & group) && has_all(values, l.names) && l.need > l.limit;
    if (*broken)
        describe_limit(why, &l, values);
    return true;
}

/* ---- candidates ---- */

static void insert_sorted(int64_t *list, uint32_t *count, int64_t value) {
    uint32_t at = *count;
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == value)
            return;
    if (*count == PARAMETER_CANDIDATES_MAX)
        return;
    for (; at > 0 && list[at - 1] > value; at--)
        list[at] = list[at - 1];
    list[at] = value;
    ++*count;
}

static const char *candidates_of(const parameter_info *info, const parameter_machine *machine) {
    static const char *const of_chips[][2] = {
#define OF_CHIPS(NAME, candidates) {#NAME, candidates},
#include "parameters/parameters.def"
    };
    for (size_t i = 0; machine->threads && i < sizeof of_chips / sizeof *of_chips; i++)
        if (strcmp(of_chips[i][0], info->name) == 0)
            return of_chips[i][1];
    return info->candidates;
}

uint32_t parameter_candidates(const parameter_info *info, const parameter_values *values,
                              const parameter_machine *machine,
                              int64_t out[PARAMETER_CANDIDATES_MAX]) {
    uint32_t count = 0;
    for (const char *p = candidates_of(info, machine); *p; p += strspn(p, " ")) {
        char *end, name[32] = {0};
        int64_t value = strtoll(p, &end, 10);
        size_t length = strcspn(end, " ");
        memcpy(name, end, length < sizeof name ? length : sizeof name - 1);
        value *= factor_of(name, values, machine);
        if (value >= info->minimum && value <= info->maximum &&
            value % parameter_multiple(info, values, machine) == 0 &&
            (!divided_by(info) || (value > 0 && divided_by(info) % value == 0)))
            insert_sorted(out, &count, value);
        p = end + length;
    }
    return count;
}
