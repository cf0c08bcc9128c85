/* settings.c - see settings.h. */
#include "ops/settings.h"

#include <inttypes.h>

const char *const fetch_memory_names[FETCH_MEMORY_COUNT] = {
    [FETCH_SHARED] = "smem", [FETCH_L1] = "l1", [FETCH_L2] = "l2"};

const setting *setting_at(const settings *s, uint32_t n) {
    return s && n && n <= s->count ? &s->items[n - 1] : NULL;
}

uint32_t setting_find(const settings *s, uint32_t n, setting_kind kind) {
    const setting *one = setting_at(s, n);
    while (one && one->kind != kind) {
        n = one->up;
        one = setting_at(s, n);
    }
    return one ? n : 0;
}

void settings_use_fetch(const settings *s, uint32_t n) {
    for (n = setting_find(s, n, SETTING_PREFETCH); n;
         n = setting_find(s, setting_at(s, n)->up, SETTING_PREFETCH))
        s->used[n - 1] = true;
}

bool settings_schedule_calls(const settings *s, const ir_module *m) {
    bool found = false;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); s && !found && ir_walk_next(&w);)
        found = setting_find(s, ir_op_get(m, w.op)->location.setting, SETTING_SCHEDULE) != 0;
    return found;
}

bool settings_fit(const settings *s, const ir_module *m, const compiler_schedule_entry **at) {
    *at = NULL;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); s && !*at && ir_walk_next(&w);)
        for (uint32_t n = ir_op_get(m, w.op)->location.setting; n; n = setting_at(s, n)->up)
            for (uint32_t i = 0; i < setting_at(s, n)->count; i++)
                if (!(s->fits[n - 1] & 1u << i))
                    *at = &setting_at(s, n)->entries[i];
    return !*at;
}

bool setting_is_in(const settings *s, uint32_t n, uint32_t outer) {
    const setting *one = setting_at(s, n);
    while (one && n != outer) {
        n = one->up;
        one = setting_at(s, n);
    }
    return one != NULL;
}

static void describe(const setting *one, text *out) {
    if (one->word)
        text_printf(out, " %s", one->word);
    if (one->kind == SETTING_PREFETCH)
        text_printf(out, "=%s%d%d%d", fetch_memory_names[one->into], one->overlaps, one->of_left,
                    one->of_right);
    for (uint32_t i = 0; i < one->count; i++) {
        const compiler_schedule_entry *e = &one->entries[i];
        text_printf(out, " %s.%u=%" PRId64 "%s", e->name, e->groups, e->value,
                    e->vectors ? "v" : "");
    }
}

void settings_describe(const settings *s, const ir_module *m, text *out) {
    uint32_t number = 0;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ir_walk_next(&w); number++) {
        const setting *one = setting_at(s, ir_op_get(m, w.op)->location.setting);
        if (!one)
            continue;
        text_printf(out, "setting of %u:", number);
        for (; one; one = setting_at(s, one->up)) {
            text_printf(out, " %d", (int)one->kind);
            describe(one, out);
        }
        text_append_char(out, '\n');
    }
}
