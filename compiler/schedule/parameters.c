/* parameters.c - the parameters of a schedule: what was asked for, held against the space's table
 * and limits, and registered in the kernel's dictionary. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/policy.h"
#include "schedule/scheduler.h"
#include "source/diagnostic.h"

_Static_assert(IN_MAP == 1 << GROUP_MAP && IN_ROW == 1 << GROUP_ROW &&
                   IN_COLUMN == 1 << GROUP_COLUMN && IN_DOT == 1 << GROUP_DOT &&
                   IN_SCAN == 1 << GROUP_SCAN && IN_FOLD == 1 << GROUP_FOLD &&
                   IN_SCATTER == 1 << GROUP_SCATTER,
               "the space numbers the kinds of groups as plan.h does");

/* ---- refusals ---- */

/* Refuses what was asked for, at its place in the source, or as a parameter. */
static void refuse(scheduler *s, const override *o, const char *why) {
    if (s->failed || s->request->loose)
        return;
    s->failed = true;
    if (!o || !o->entry) {
        status_set(s->st, STATUS_INVALID, "the schedule does not fit: %s", why);
        return;
    }
    diagnose_status(s->st, STATUS_INVALID,
                    o->setting ? s->request->settings->source : s->request->written->source,
                    ERROR_SCHEDULE_MISFIT, (span){o->entry->start, o->entry->end}, why, NULL);
}

/* ---- what is asked for ---- */

/* "P0.MR=6" or "NR=4v", up to the comma; returns what follows, NULL where it is neither. */
static const char *read_override(const char *p, override *o) {
    char *end;
    size_t length = strcspn(p, "=,");
    if (p[length] != '=' || length == 0 || length >= sizeof o->name)
        return NULL;
    memcpy(o->name, p, length);
    o->name[length] = '\0';
    errno = 0;
    o->value = strtoll(p + length + 1, &end, 10);
    if (end == p + length + 1 || errno)
        return NULL;
    o->vectors = *end == 'v';
    end += o->vectors;
    return *end == ',' ? end + 1 : *end ? NULL : end;
}

static bool read_overrides(scheduler *s) {
    for (const char *p = s->request->overrides; p && *p;) {
        override o = {.name = ""};
        const char *next = read_override(p, &o);
        if (!next) {
            s->failed = true;
            return status_set(s->st, STATUS_INVALID,
                              "a schedule is NAME=NUMBER,NAME=NUMBER,...; found '%.60s'", p);
        }
        for (size_t i = 0; i < s->overrides.count; i++)
            if (strcmp(s->overrides.items[i].name, o.name) == 0) {
                s->failed = true;
                return status_set(s->st, STATUS_INVALID, "schedule parameter %s is given twice",
                                  o.name);
            }
        vec_push(&s->overrides, o);
        p = next;
    }
    return true;
}

static void add_entries(scheduler *s, const compiler_schedule_entry *entries, uint32_t count,
                        uint32_t number) {
    for (uint32_t i = 0; i < count; i++) {
        const compiler_schedule_entry *e = &entries[i];
        override o = {.value = e->value, .vectors = e->vectors, .entry = e, .setting = number};
        snprintf(o.name, sizeof o.name, "%s", e->name);
        vec_push(&s->overrides, o);
    }
}

/* The text first, then calls' own schedules, inner ones before those around them, then the
 * kernel's. A plain schedule is a CPU's. */
bool scheduler_read_request(scheduler *s) {
    const compiler_schedule *written = s->request->written;
    const settings *all = s->request->settings;
    if (!read_overrides(s))
        return false;
    for (uint32_t n = all && !s->target->policy->threads ? all->count : 0; n > 0; n--)
        if (all->items[n - 1].kind == SETTING_SCHEDULE)
            add_entries(s, all->items[n - 1].entries, all->items[n - 1].count, n);
    if (written)
        add_entries(s, written->entries, written->count, 0);
    return true;
}

const setting *scheduler_fetch(const scheduler *s, bool shared) {
    const settings *all = s->request->settings;
    const setting *found = setting_at(all, setting_find(all, s->setting, SETTING_PREFETCH));
    return found && (found->into == FETCH_SHARED) == shared ? found : NULL;
}

void scheduler_use_fetch(const scheduler *s) {
    settings_use_fetch(s->request->settings, s->setting);
}

bool scheduler_asked(const schedule_request *request, const char *name, int64_t *value) {
    const compiler_schedule *written = request->written;
    override o;
    for (const char *p = request->overrides; p && *p;) {
        p = read_override(p, &o);
        if (p && strcmp(o.name, name) == 0) {
            *value = o.value;
            return true;
        }
    }
    for (uint32_t i = 0; written && i < written->count; i++)
        if (strcmp(written->entries[i].name, name) == 0) {
            *value = written->entries[i].value;
            return true;
        }
    return false;
}

/* The text before the source; there, the name of one phase before the name alone. All that mean
 * this parameter are found useful, where it is for use. */
static const override *find_override(const scheduler *s, const parameter_info *info,
                                     const char *full, bool use) {
    const override *found = NULL;
    bool exact = false;
    for (size_t i = 0; i < s->overrides.count; i++) {
        override *o = &s->overrides.items[i];
        bool whole = strcmp(o->name, full) == 0;
        if (!whole &&
            (strcmp(o->name, info->name) != 0 || (o->entry && !(o->entry->groups & s->kind)) ||
             (o->setting && !setting_is_in(s->request->settings, s->setting, o->setting))))
            continue;
        o->used |= use;
        if (!found || (whole && !exact)) {
            found = o;
            exact = whole;
        }
    }
    return found;
}

/* ---- a group's parameters ---- */

/* Those of the present group, with those of one phase last: the later wins. */
static parameter_values values_of_phase(const scheduler *s, int phase, parameter_value *room) {
    parameter_values v = {room, 0};
    for (int own = 0; own < 2; own++)
        for (size_t i = 0; i < s->parameters.count; i++) {
            const parameter *p = &s->parameters.items[i];
            if (p->group == s->group && (p->phase == phase) == own &&
                v.count < PARAMETER_VALUES_MAX)
                room[v.count++] = (parameter_value){p->info, p->value};
        }
    return v;
}

static int64_t asked_value(scheduler *s, const parameter_info *info, const override *o,
                           int64_t otherwise) {
    parameter_value room[PARAMETER_VALUES_MAX];
    parameter_values values = values_of_phase(s, s->phase, room);
    int64_t value = o->value;
    text why;
    if (o->vectors && __builtin_mul_overflow(value, s->machine.lanes, &value))
        value = INT64_MAX;
    text_init(&why);
    bool ok = parameter_check_value(info, value, &values, &s->machine, &why);
    if (!ok)
        refuse(s, o, why.data);
    text_release(&why);
    return ok ? value : otherwise;
}

int64_t scheduler_foresee(const scheduler *s, const char *name, int64_t otherwise) {
    char full[64];
    const parameter_info *info = parameter_find(name, s->kind);
    snprintf(full, sizeof full, "P%d.%s", s->phase, name);
    const override *o = info ? find_override(s, info, full, false) : NULL;
    return o ? o->value : otherwise;
}

int64_t scheduler_ask(scheduler *s, unsigned groups, const char *name, int64_t otherwise,
                      ir_attr *name_attr) {
    char full[64];
    parameter_value room[PARAMETER_VALUES_MAX];
    const parameter_info *info = s->kind & groups ? parameter_find(name, s->kind) : NULL;
    parameter p = {.info = info,
                   .group = s->group,
                   .phase = s->phase,
                   .kind = s->kind,
                   .value = otherwise,
                   .otherwise = otherwise};
    if (!info) {
        s->failed = true;
        status_set(s->st, STATUS_INTERNAL, "%s was not meant to be asked for by %s", name,
                   parameter_groups_text(s->kind));
        return otherwise;
    }
    if (info->position == PARAMETER_OF_KERNEL) {
        snprintf(full, sizeof full, "%s", name);
        for (size_t i = 0; i < s->parameters.count; i++)
            if (strcmp(s->parameters.items[i].name, full) == 0)
                return s->parameters.items[i].value;
    } else {
        snprintf(full, sizeof full, "P%d.%s", s->phase, name);
    }
    p.from = find_override(s, info, full, true);
    if (p.from)
        p.value = asked_value(s, info, p.from, otherwise);
    parameter_values values = values_of_phase(s, s->phase, room);
    p.candidate_count = parameter_candidates(info, &values, &s->machine, p.candidates);
    p.multiple = parameter_multiple(info, &values, &s->machine);
    ir_attr attr = ir_attr_string(s->m, full);
    p.name = ir_attr_get(s->m, attr)->string;
    vec_push(&s->parameters, p);
    if (name_attr)
        *name_attr = attr;
    return p.value;
}

void scheduler_begin_group(scheduler *s, group_kind kind, dtype element) {
    const schedule_target *t = s->target;
    int64_t bytes = (int64_t)dtype_size(element);
    s->kind = 1u << kind;
    s->setting = s->at.location.setting;
    s->group++;
    s->machine = (parameter_machine){.lanes = t->vector_lanes * 4 / bytes,
                                     .element_bytes = bytes,
                                     .registers = t->vector_registers,
                                     .l1_bytes = t->l1_bytes,
                                     .l2_bytes = t->l2_bytes,
                                     .threads = t->policy->threads};
    if (bytes < 4 || s->machine.lanes < 1) /* sums of narrow types are in four bytes */
        s->machine.lanes = t->vector_lanes, s->machine.element_bytes = 4;
}

/* Parameter to blame for a limit that does not hold: the last one that was asked for. */
static const parameter *asked_of(const scheduler *s, const char *names) {
    for (size_t i = s->parameters.count; i > 0; i--) {
        const parameter *p = &s->parameters.items[i - 1];
        if (p->group == s->group && p->from && parameter_names_have(names, p->info->name))
            return p;
    }
    return NULL;
}

/* The scheduler's own choices may be beyond a limit that is there to keep others from folly. */
static void check_limits(scheduler *s, const parameter_values *values) {
    const char *names;
    bool broken;
    text why;
    text_init(&why);
    for (uint32_t i = 0; !s->failed && parameter_check_limit(i, s->kind, values, &s->machine,
                                                             &broken, &names, &why);
         i++) {
        const parameter *p = broken ? asked_of(s, names) : NULL;
        if (p)
            refuse(s, p->from, why.data);
        text_clear(&why);
    }
    text_release(&why);
}

void scheduler_end_group(scheduler *s) {
    parameter_value room[PARAMETER_VALUES_MAX];
    for (size_t i = 0; i < s->parameters.count; i++) {
        const parameter *p = &s->parameters.items[i];
        bool last = i + 1 == s->parameters.count || p[1].phase != p->phase;
        if (p->group != s->group || !last)
            continue;
        parameter_values values = values_of_phase(s, p->phase, room);
        check_limits(s, &values);
    }
}

/* ---- the kernel's parameters ---- */

static void refuse_unknown(scheduler *s, const override *o) {
    text known;
    text_init(&known);
    for (size_t i = 0; i < s->parameters.count; i++)
        text_printf(&known, "%s%s", i ? ", " : "", s->parameters.items[i].name);
    s->failed = true;
    status_set(s->st, STATUS_INVALID, "no schedule parameter '%s' here; there are: %.700s", o->name,
               known.data);
    text_release(&known);
}

/* Work of the entry's kind: 1 where the kernel, or the call, has some, 0 where it has none; -1:
 * none of the call is here. */
static int has_work(const scheduler *s, const override *o) {
    int found = o->setting ? -1 : 0;
    for (int i = 0; i < s->p->group_count && found < 1; i++) {
        const plan_group *group = &s->p->groups[i];
        uint32_t own = o->setting ? scheduler_location(s, group).setting : 0;
        if (!o->setting || setting_is_in(s->request->settings, own, o->setting))
            found = (o->entry->all_groups & (1u << group->kind)) != 0;
    }
    return found;
}

/* A parameter that the source gives is for all cases: some need not have it, as a vector has no
 * rows. But work of its kind must be there. */
static void check_entry(scheduler *s, const override *o) {
    text why;
    const int work = has_work(s, o);
    const setting *of = setting_at(s->request->settings, o->setting);
    const bool fits = o->used || work > 0;
    schedule_fits *all = s->request->fits;
    if (of && fits)
        s->request->settings->fits[o->setting - 1] |= 1u << (o->entry - of->entries);
    if (!of && all && fits)
        all->written |= UINT64_C(1) << (o->entry - s->request->written->entries);
    if (fits || work != 0 || (of ? s->request->is_part : all != NULL))
        return;
    text_init(&why);
    text_printf(&why, "'%s' is of %s, and this %s has none", o->entry->word,
                parameter_groups_text(o->entry->all_groups), of ? "call" : "kernel");
    refuse(s, o, why.data);
    text_release(&why);
}

static void set_parameters(scheduler *s) {
    uint32_t n = (uint32_t)s->parameters.count;
    const char **keys = base_malloc(sizeof *keys * (n + 1));
    ir_attr *values = base_malloc(sizeof *values * (n + 1));
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = s->parameters.items[i].name;
        values[i] = ir_attr_int(s->m, s->parameters.items[i].value);
    }
    ir_op_set_attr(s->m, ir_module_kernel(s->m), "parameters", ir_attr_dict(s->m, keys, values, n));
    free(keys);
    free(values);
}

static void fill_space(const scheduler *s, compiler_space *space) {
    space->count = (uint32_t)s->parameters.count;
    space->items = base_calloc(space->count + 1, sizeof *space->items);
    for (uint32_t i = 0; i < space->count; i++) {
        const parameter *p = &s->parameters.items[i];
        compiler_parameter *out = &space->items[i];
        *out = (compiler_parameter){.work = parameter_groups_text(p->kind),
                                    .unit = strcmp(p->info->unit, "vectors") == 0 ? "elements"
                                                                                  : p->info->unit,
                                    .summary = p->info->summary,
                                    .written = p->from && p->from->entry,
                                    .value = p->value,
                                    .otherwise = p->otherwise,
                                    .minimum = p->info->minimum,
                                    .maximum = p->info->maximum,
                                    .multiple = p->multiple,
                                    .candidate_count = p->candidate_count};
        snprintf(out->name, sizeof out->name, "%s", p->name);
        memcpy(out->candidates, p->candidates, sizeof p->candidates);
    }
}

void scheduler_end_parameters(scheduler *s) {
    for (size_t i = 0; i < s->overrides.count && !s->failed; i++) {
        const override *o = &s->overrides.items[i];
        if (o->entry)
            check_entry(s, o);
        else if (o->used && s->request->fits && i < 64)
            s->request->fits->given |= UINT64_C(1) << i;
        else if (!o->used && !s->request->fits && !s->request->loose)
            refuse_unknown(s, o);
    }
    set_parameters(s);
    if (s->request->space && !s->failed)
        fill_space(s, s->request->space);
}
