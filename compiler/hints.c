/* hints.c - what of a source no code of a target depends on: hints and sizes of a kernel of tiles,
 * and of whole tensors what they fetch ahead, and on chips their schedules. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/source.h"
#include "device/host/host.h"
#include "graph/instance.h"
#include "pipeline.h"
#include "pipeline_passes.h"

typedef struct lowered_for {
    const compiler_options *options;
    const target_info *target;
} lowered_for;

static bool identify(void *context, const ir_module *specialized, sha256 *out) {
    const lowered_for *l = context;
    ir_module *m;
    simt_tiles_notes notes;
    if (!pipeline_lower_tiles(specialized, l->options, l->target, &notes, &m))
        return false;
    *out = ir_identity(m);
    ir_module_free(m);
    return true;
}

/* ---- what is fetched ahead ---- */

/* Schedules a kernel, which notes what it looks at. *program: it is more than one. */
static bool schedule_kernel(compiler_instance *instance, const compiler_options *options,
                            bool *program) {
    status ignored = STATUS_INIT;
    pipeline p;
    bool ok = pipeline_open(&p, instance, options, &ignored) && pipeline_run(&p, "schedule");
    *program = pipeline_is_too_much(&p, ok);
    pipeline_close(&p);
    status_clear(&ignored);
    return ok;
}

static bool schedule_part(compiler_instance *instance, const compiler_options *options) {
    bool program;
    return schedule_kernel(instance, options, &program);
}

/* False: no code can be made. */
static bool schedule_all(compiler_instance *instance, const compiler_options *options) {
    status ignored = STATUS_INIT;
    compiler_options own = *options;
    own.emit = NULL;
    bool program = compiler_instance_is_program(instance);
    bool ok = !program && schedule_kernel(instance, &own, &program);
    if (program)
        ok = program_each(instance, &own, schedule_part, &ignored);
    status_clear(&ignored);
    return ok;
}

/* One `with` may be settings of several operations. */
static bool is_used(const settings *s, const setting *one) {
    bool used = false;
    for (uint32_t i = 0; i < s->count; i++)
        used |= s->used[i] && s->items[i].start == one->start && s->items[i].end == one->end;
    return used;
}

static void say_unused(const settings *s, const setting *one, text *out) {
    char words[160];
    if (is_used(s, one))
        return;
    snprintf(words, sizeof words, "prefetch(%.100s)=%s", one->word, fetch_memory_names[one->into]);
    if (!strstr(out->data, words))
        text_printf(out, "%s%s", out->length ? "," : "", words);
}

/* Settings are known since the source was opened. */
static bool has_settings(const compiler_source *source, setting_kind kind) {
    bool found = false;
    for (size_t i = 0; i < source->settings.count; i++)
        found |= source->settings.items[i].kind == kind;
    return found;
}

/* Schedules of calls are a CPU's, as a plain @schedule is. */
static void say_schedule(const compiler_schedule_entry *entries, uint32_t count, const char *what,
                         text *out) {
    for (uint32_t i = 0; i < count; i++) {
        char words[80];
        snprintf(words, sizeof words, "%s(%s)=%" PRId64, what, entries[i].name, entries[i].value);
        if (!strstr(out->data, words))
            text_printf(out, "%s%s", out->length ? "," : "", words);
    }
}

static void unused_schedules(const settings *s, const ir_module *m, text *out) {
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ir_walk_next(&w);)
        for (uint32_t n = setting_find(s, ir_op_get(m, w.op)->location.setting, SETTING_SCHEDULE);
             n; n = setting_find(s, setting_at(s, n)->up, SETTING_SCHEDULE))
            say_schedule(setting_at(s, n)->entries, setting_at(s, n)->count, "with_schedule", out);
}

/* Says the schedules of calls, too, of a chip. */
static void unused_settings(compiler_source *source, const compiler_kernel *kernel,
                            const compiler_case *c, const compiler_options *options, bool chip,
                            text *out) {
    text ignored;
    text_init(&ignored);
    compiler_instance *instance = compiler_instance_open(source, kernel, c, &ignored);
    const settings *s = instance ? instance->settings : NULL;
    const ir_module *m = instance ? instance->graph : NULL;
    bool known = s != NULL, scheduled = false;
    if (known && chip)
        unused_schedules(s, m, out);
    for (ir_walk w = ir_walk_block(m, s ? ir_module_body(m) : 0); known && ir_walk_next(&w);) {
        uint32_t n = setting_find(s, ir_op_get(m, w.op)->location.setting, SETTING_PREFETCH);
        if (n && !scheduled)
            known = schedule_all(instance, options);
        scheduled |= n != 0;
        for (; n && known; n = setting_find(s, setting_at(s, n)->up, SETTING_PREFETCH))
            say_unused(s, setting_at(s, n), out);
    }
    compiler_instance_free(instance);
    text_release(&ignored);
}

void compiler_unused_hints(compiler_source *source, const compiler_kernel *kernel,
                           const compiler_case *c, const compiler_options *options, text *out) {
    const char *isa = options->isa ? options->isa : host_isa();
    lowered_for l = {options, isa ? target_find(isa) : NULL};
    const choices_lowering lowering = {&l, identify};
    compiler_init();
    choices_unused(source, kernel, c, l.target ? &lowering : NULL, out);
    if (kernel->knobs->count || !l.target)
        return;
    const bool chip = l.target->class == TARGET_SIMT;
    if (chip && kernel->schedule)
        say_schedule(kernel->schedule->entries, kernel->schedule->count, "schedule", out);
    if (has_settings(source, SETTING_PREFETCH) || (chip && has_settings(source, SETTING_SCHEDULE)))
        unused_settings(source, kernel, c, options, chip, out);
}
