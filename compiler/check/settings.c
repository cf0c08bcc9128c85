/* settings.c - `with` and what stands behind it, the devices that annotations ask for, and the
 * numbers of settings. */
#include "check/settings.h"

#include <string.h>

/* ---- numbers ---- */

static bool same_words(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_entries(const setting *a, const setting *b) {
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        const compiler_schedule_entry *x = &a->entries[i], *y = &b->entries[i];
        same = strcmp(x->name, y->name) == 0 && x->groups == y->groups && x->value == y->value &&
               x->vectors == y->vectors && x->start == y->start;
    }
    return same;
}

/* A device is said where it stands. */
static bool same_setting(const setting *a, const setting *b) {
    return a->kind == b->kind && a->up == b->up && same_words(a->word, b->word) &&
           a->into == b->into && a->overlaps == b->overlaps && a->of_left == b->of_left &&
           a->of_right == b->of_right && same_entries(a, b) &&
           (a->kind != SETTING_DEVICE || a->start == b->start);
}

uint32_t settings_number(checker *c, setting one) {
    compiler_source *s = c->source;
    for (size_t i = 0; i < s->settings.count; i++)
        if (same_setting(&s->settings.items[i], &one))
            return (uint32_t)i + 1;
    if (one.word)
        one.word = arena_strdup(&s->memory, one.word);
    if (one.count)
        one.entries =
            arena_copy(&s->memory, one.entries, one.count * sizeof(compiler_schedule_entry));
    vec_push(&s->settings, one);
    return (uint32_t)s->settings.count;
}

uint32_t settings_schedule(checker *c, const schedule_value *schedule, span at) {
    return settings_number(c, (setting){.kind = SETTING_SCHEDULE,
                                        .up = c->settings.now,
                                        .start = at.start,
                                        .end = at.end,
                                        .entries = schedule->entries,
                                        .count = schedule->count});
}

/* ---- devices ---- */

static const struct {
    const char *name;
    backend_id id;
} backends[] = {
#define BACKEND(id, name, ...) {name, BACKEND_##id},
#include "device/backends.def"
#undef BACKEND
};
enum { BACKENDS = sizeof backends / sizeof *backends };

bool settings_device_is(const char *word, const capability_chip *chip) {
    bool gpu = strcmp(chip->family, "cpu") != 0;
    bool found = (gpu && strcmp(word, "gpu") == 0) || strcmp(word, chip->family) == 0 ||
                 strcmp(word, chip->name) == 0;
    for (int i = 0; i < BACKENDS && !found; i++)
        found = strcmp(word, backends[i].name) == 0 &&
                same_words(capability_family(backends[i].id), chip->family);
    return found;
}

/* Is there code for all of these devices at once? `word` is one more than the checker has. */
static bool exists(const checker *c, const char *word, bool alone) {
    bool found = false;
    const capability_chip *chip;
    for (size_t i = 0; !found && (chip = capability_chip_at(i)); i++) {
        found = settings_device_is(word, chip);
        for (size_t k = 0; k < c->settings.devices.count && found && !alone; k++) {
            const setting *other = &c->source->settings.items[c->settings.devices.items[k] - 1];
            found = settings_device_is(other->word, chip);
        }
    }
    return found;
}

static void refuse_device(checker *c, const char *word, span at) {
    enum { NAMES_MAX = 64 };
    const char *known[NAMES_MAX] = {"cpu", "gpu", "ptx", "rocm", "spirv"};
    size_t count = 5;
    for (int i = 0; i < BACKENDS; i++)
        if (capability_family(backends[i].id))
            known[count++] = backends[i].name;
    const capability_chip *chip;
    for (size_t i = 0; count < NAMES_MAX && (chip = capability_chip_at(i)); i++)
        known[count++] = chip->name;
    diagnose_error(c->report, ERROR_DEVICE_NAME, at, "code is made for no device '%.60s'", word);
    if (!diagnose_nearest(c->report, word, known, count))
        diagnose_help(c->report, "write device(gpu), device(cpu), a backend as device(cuda), or a "
                                 "chip as device(\"sm_90a\")");
}

/* gpu, "gpu", or a name that stands for a string; NULL when reported. */
static const char *device_word(checker *c, const node *call) {
    const node *n = call->count == 1 ? call->items[0] : NULL;
    const local_name *local = n && n->kind == NODE_NAME ? scope_find(c, n->text) : NULL;
    if (local && local->value.kind == ENTITY_STRING)
        return local->value.text;
    if (n && !local && (n->kind == NODE_NAME || n->kind == NODE_STRING))
        return n->text;
    diagnose_error(c->report, ERROR_DEVICE_NAME, n ? n->at : call->at,
                   n && n->kind == NODE_SUBSCRIPT
                       ? "code is for a kind of device, and this is one of several of a kind"
                       : "a device is one name");
    diagnose_help(c->report,
                  n && n->kind == NODE_SUBSCRIPT
                      ? "write device(gpu); a run says which of several it is: --device cuda:1"
                      : "write device(gpu), device(cpu) or device(\"sm_90a\")");
    return NULL;
}

static bool enter_device(checker *c, const node *call) {
    const char *word = device_word(c, call);
    if (!word)
        return false;
    if (!exists(c, word, true)) {
        refuse_device(c, word, call->items[0]->at);
        return false;
    }
    if (!exists(c, word, false)) {
        const setting *other = &c->source->settings.items[c->settings.devices.items[0] - 1];
        diagnose_error(c->report, ERROR_DEVICE_CONFLICT, call->at,
                       "a kernel runs on one device, and none is both '%s' and '%s'", other->word,
                       word);
        diagnose_note(c->report, (span){other->start, other->end},
                      "the other one is asked for here");
        return false;
    }
    c->settings.now = settings_number(c, (setting){.kind = SETTING_DEVICE,
                                                   .up = c->settings.now,
                                                   .start = call->at.start,
                                                   .end = call->at.end,
                                                   .word = word});
    vec_push(&c->settings.devices, c->settings.now);
    return true;
}

bool settings_of_head(checker *c, const ast_function *f) {
    bool good = true;
    for (uint32_t i = 0; i < f->device_count; i++)
        good &= enter_device(c, f->devices[i]);
    return good;
}

/* ---- with ---- */

static bool is_call_of(const node *n, const char *name) {
    return n->kind == NODE_CALL && n->left->kind == NODE_NAME && strcmp(n->left->text, name) == 0;
}

settings_mark settings_begin(const checker *c) {
    return (settings_mark){c->settings.now, c->settings.fetches.count};
}

void settings_end(checker *c, settings_mark mark) {
    while (c->settings.fetches.count > mark.fetches)
        prefetch_end(c);
    c->settings.now = mark.now;
}

/* The first thing behind `with`, then the others inside of it. */
void settings_enter(checker *c, const node *n) {
    const node *list = n->count == 1 && n->items[0]->kind == NODE_TUPLE ? n->items[0] : n;
    for (uint32_t i = 0; i < list->count; i++) {
        const node *one = list->items[i];
        if (is_call_of(one, "device")) {
            enter_device(c, one);
        } else if (is_call_of(one, "prefetch")) {
            prefetch_begin(c, one);
        } else {
            diagnose_error(c->report, ERROR_WITH, one->at,
                           "with takes device(...) and prefetch(...): a launch has one device");
            diagnose_help(c->report, "for example: with device(gpu), prefetch(x, into=\"smem\"):");
        }
    }
}

void settings_with(checker *c, const node *n) {
    const settings_mark mark = settings_begin(c);
    settings_enter(c, n);
    check_block(c, n->third);
    settings_end(c, mark);
}
