/* special.c - which of a kernel's @specialize counts for a target, and the tiles that it gives. */
#include "special.h"

#include <string.h>

#include "check/specialize.h"
#include "device/host/host.h"
#include "graph/instance.h"

const compiler_special *compiler_special_of(const compiler_schedule *schedule, const char *isa) {
    const char *target = isa ? isa : host_isa();
    for (uint32_t i = 0; schedule && i < schedule->special_count; i++)
        if (specialize_fits(&schedule->specials[i], target))
            return &schedule->specials[i];
    return NULL;
}

bool compiler_is_scheduled(const compiler_instance *i, const compiler_schedule *s,
                           const char *isa) {
    const compiler_special *special = compiler_special_of(s, isa);
    const char *family = compiler_chip_family(isa ? isa : host_isa());
    bool calls = settings_schedule_calls(i->settings, i->graph);
    return (special && special->count) || (((s && s->count) || calls) && !family);
}

/* ---- schedules ---- */

static bool says(const compiler_special *special, const compiler_schedule_entry *e) {
    for (uint32_t i = 0; i < special->count; i++)
        if (strcmp(special->entries[i].name, e->name) == 0)
            return true;
    return false;
}

const compiler_schedule *special_join(const compiler_schedule *schedule, const char *isa,
                                      bool is_chip, special_room *room) {
    const compiler_special *special = compiler_special_of(schedule, isa);
    if (!schedule || (!special && !is_chip))
        return schedule;
    *room = (special_room){.schedule = {.source = schedule->source}};
    for (uint32_t i = 0; special && i < special->count; i++)
        vec_push(&room->entries, special->entries[i]);
    for (uint32_t i = 0; !is_chip && i < schedule->count; i++)
        if (!special || !says(special, &schedule->entries[i]))
            vec_push(&room->entries, schedule->entries[i]);
    room->schedule.entries = room->entries.items;
    room->schedule.count = (uint32_t)room->entries.count;
    return &room->schedule;
}

void special_room_release(special_room *room) {
    vec_release(&room->entries);
}

/* ---- tiles ---- */

static bool has_sizes(const compiler_kernel *kernel, const compiler_special *special) {
    for (uint32_t i = 0; i < kernel->knobs->count; i++)
        if (special->choice[i] && !kernel->knobs->items[i].hint &&
            special->choice[i] != kernel->knobs->items[i].values[0])
            return true;
    return false;
}

static bool code_of(compiler_source *source, const compiler_kernel *kernel, const compiler_case *c,
                    compiler_code *out, status *st) {
    text said;
    text_init(&said);
    compiler_instance *instance = compiler_instance_open(source, kernel, c, &said);
    bool ok = instance ? compiler_code_of(instance, out, st)
                       : status_set(st, STATUS_INVALID, "%.900s", said.data);
    compiler_instance_free(instance);
    text_release(&said);
    return ok;
}

static bool refuse(const compiler_kernel *kernel, const compiler_special *special, status *st) {
    text why;
    text_init(&why);
    text_printf(&why,
                "with %s the kernel adds in another order than with its own tiles, so its bits "
                "would depend on the target",
                special->use);
    diagnose_status(st, STATUS_INVALID, kernel->schedule->source, ERROR_SPECIALIZE_ORDER,
                    (span){special->start, special->end}, why.data,
                    "choose such tiles for all targets, or with --space");
    text_release(&why);
    return false;
}

bool compiler_case_specialize(compiler_source *source, const compiler_kernel *kernel,
                              const compiler_case *c, const char *isa, const compiler_case **out,
                              status *st) {
    const compiler_special *special = compiler_special_of(kernel->schedule, isa);
    compiler_code own, other;
    *out = c;
    if (!c || c->choice || !special || !special->choice)
        return true;
    const compiler_case *chosen = compiler_case_choose(source, kernel, c, special->use, st);
    if (!chosen)
        return false;
    if (has_sizes(kernel, special)) {
        if (!code_of(source, kernel, c, &own, st) || !code_of(source, kernel, chosen, &other, st))
            return false;
        if (compiler_relate(&own, &other) == COMPILER_ANOTHER_ORDER)
            return refuse(kernel, special, st);
    }
    *out = chosen;
    return true;
}
