/* specialize.c - @specialize(when=dict(backend="rocm"), use=dict(BM=64)): values for targets with
 * certain capabilities. What may be asked is a table, device/capability_keys.def, and what targets
 * answer is that of chips (chip/targets.def), so that every machine compiles the same. */
#include "check/specialize.h"

#include <inttypes.h>
#include <string.h>

#include "check/schedule_words.h"

typedef enum asked_kind {
    ASKED_NOTHING,
    ASKED_NAME,
    ASKED_EXACTLY,
    ASKED_COUNT,
    ASKED_FLAG,
    ASKED_TYPE
} asked_kind;

static const struct {
    const char *name;
    asked_kind asked;
} keys[SPECIAL_KEY_COUNT] = {
#define KEY(name, value, asked, meaning) {#name, ASKED_##asked},
#include "device/capability_keys.def"
};

/* ---- which targets it fits ---- */

static bool names_one(const special_condition *c, const char *word) {
    for (uint32_t i = 0; i < c->count; i++)
        if (strcmp(c->words[i], word) == 0)
            return true;
    return false;
}

static bool has_units(const special_condition *c, const capability_chip *chip) {
    const capability_scope scope = {chip->family, chip->name};
    for (uint32_t i = 0; i < c->count; i++)
        if (!capability_unit_at(&scope, dtype_from_name(c->words[i]), 0))
            return false;
    return true;
}

static bool holds(const special_condition *c, const capability_chip *chip) {
    switch (c->key) {
    case SPECIAL_KEY_backend:
        return names_one(c, chip->family);
    case SPECIAL_KEY_isa:
        return names_one(c, chip->chip);
    case SPECIAL_KEY_subgroup:
        return c->number == chip->subgroup;
    case SPECIAL_KEY_shared_bytes:
        return (uint64_t)c->number <= chip->shared_bytes;
    case SPECIAL_KEY_async_copy:
        return (c->number != 0) == chip->copies;
    case SPECIAL_KEY_matrix_unit:
        return has_units(c, chip);
    default:
        return false;
    }
}

const capability_chip *specialize_chip(const char *isa) {
    static const char emulated[] = "-emulated";
    char name[64];
    size_t length = strlen(isa), end = sizeof emulated - 1;
    if (length >= sizeof name)
        return NULL;
    memcpy(name, isa, length + 1);
    if (length > end && strcmp(name + length - end, emulated) == 0)
        name[length - end] = '\0';
    return capability_chip_find(name);
}

bool specialize_fits(const compiler_special *special, const char *isa) {
    const capability_chip *chip = specialize_chip(isa);
    for (uint32_t i = 0; chip && i < special->condition_count; i++)
        if (!holds(&special->conditions[i], chip))
            return false;
    return chip != NULL;
}

/* ---- when ---- */

static bool is_dict(const node *n) {
    return n->kind == NODE_CALL && n->left->kind == NODE_NAME && strcmp(n->left->text, "dict") == 0;
}

static bool wrong_form(checker *c, span at) {
    diagnose_error(c->report, ERROR_SPECIALIZE_FORM, at,
                   "@specialize takes when and use, each a dict");
    diagnose_help(c->report, "for example @specialize(when=dict(backend=\"rocm\"), "
                             "use=dict(BM=64, BN=64))");
    return false;
}

static bool unknown_key(checker *c, const node *keyword) {
    const char *known[SPECIAL_KEY_COUNT];
    size_t count = 0;
    text list;
    text_init(&list);
    for (int i = 0; i < SPECIAL_KEY_COUNT; i++) {
        if (keys[i].asked != ASKED_NOTHING) {
            text_printf(&list, "%s%s", count ? ", " : "", keys[i].name);
            known[count++] = keys[i].name;
        }
    }
    diagnose_error(c->report, ERROR_SPECIALIZE_KEY, keyword->symbol_at,
                   "nothing called '%.60s' is known of a target", keyword->text);
    if (!diagnose_nearest(c->report, keyword->text, known, count))
        diagnose_help(c->report, "there are %s", list.data);
    text_release(&list);
    return false;
}

static bool wrong_value(checker *c, const entity *e, special_key key, const char *wanted) {
    if (e->kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_SPECIALIZE_VALUE, e->at, "%s must be %s", keys[key].name,
                       wanted);
    }
    return false;
}

/* The names that there are: of kinds of code, or of chips and levels of CPUs. */
static size_t known_names(special_key key, const char **out, size_t room) {
    static const char *const families[] = {"cpu", "ptx", "rocm", "spirv"};
    size_t count = 0;
    if (key == SPECIAL_KEY_backend) {
        memcpy(out, families, sizeof families);
        return sizeof families / sizeof *families;
    }
    for (const capability_chip *chip; count < room && (chip = capability_chip_at(count)); count++)
        out[count] = chip->name;
    return count;
}

static bool is_known_name(checker *c, special_key key, const char *word, span at) {
    enum { NAMES_MAX = 64 };
    const char *known[NAMES_MAX];
    size_t count = known_names(key, known, NAMES_MAX);
    text list;
    for (size_t i = 0; i < count; i++)
        if (strcmp(known[i], word) == 0)
            return true;
    diagnose_error(c->report, ERROR_SPECIALIZE_VALUE, at, "no %s is called '%.60s'", keys[key].name,
                   word);
    if (diagnose_nearest(c->report, word, known, count))
        return false;
    text_init(&list);
    for (size_t i = 0; i < count; i++)
        text_printf(&list, "%s%s", i ? ", " : "", known[i]);
    diagnose_help(c->report, "there are %s", list.data);
    text_release(&list);
    return false;
}

static bool read_word(checker *c, compiler_source *s, const entity *e, special_condition *out) {
    const char *word = e->kind == ENTITY_TYPE     ? dtype_name(e->type)
                       : e->kind == ENTITY_STRING ? e->text
                                                  : NULL;
    bool type = keys[out->key].asked == ASKED_TYPE;
    if (!word || (!type && e->kind != ENTITY_STRING)) {
        return wrong_value(c, e, out->key,
                           type ? "an element type, or several" : "a name in quotes, or several");
    }
    if (type ? type_named(word, e->at, c->report) == DTYPE_NONE
             : !is_known_name(c, out->key, word, e->at))
        return false;
    out->words[out->count++] = arena_strdup(&s->memory, word);
    return true;
}

static bool read_words(checker *c, compiler_source *s, const entity *e, special_condition *out) {
    const entity *items = e->kind == ENTITY_TUPLE ? e->items : e;
    uint32_t count = e->kind == ENTITY_TUPLE ? e->count : 1;
    bool good = count > 0 && count <= SPECIAL_WORDS_MAX;
    if (!good)
        return wrong_value(c, e, out->key, "a name, or 1 to 16 of them");
    for (uint32_t i = 0; i < count && good; i++)
        good = read_word(c, s, &items[i], out);
    return good;
}

static bool read_number(checker *c, const entity *e, special_condition *out) {
    bool flag = keys[out->key].asked == ASKED_FLAG;
    out->number = e->integer;
    if (flag)
        return e->kind == ENTITY_BOOL || wrong_value(c, e, out->key, "True or False");
    return (e->kind == ENTITY_NUMBER && e->is_integer && e->integer > 0) ||
           wrong_value(c, e, out->key, "a whole number from 1 on");
}

static bool read_condition(checker *c, compiler_source *s, const node *keyword,
                           special_condition *out) {
    int key = 0;
    while (key < SPECIAL_KEY_COUNT && (keys[key].asked == ASKED_NOTHING || !keyword->text ||
                                       strcmp(keys[key].name, keyword->text) != 0))
        key++;
    if (key == SPECIAL_KEY_COUNT)
        return unknown_key(c, keyword);
    *out = (special_condition){.key = (special_key)key};
    entity e = check_expression(c, keyword->left);
    bool words = keys[key].asked == ASKED_NAME || keys[key].asked == ASKED_TYPE;
    return e.kind != ENTITY_BROKEN && (words ? read_words(c, s, &e, out) : read_number(c, &e, out));
}

static void print_condition(const special_condition *c, text *out) {
    text_printf(out, "%s%s=", out->length ? "," : "", keys[c->key].name);
    for (uint32_t i = 0; i < c->count; i++)
        text_printf(out, "%s%s", i ? "|" : "", c->words[i]);
    if (c->count == 0)
        text_printf(out, "%" PRId64, c->number);
}

/* Names in a dict stand once, and have values. */
static bool is_sound_dict(checker *c, const node *n) {
    if (!is_dict(n) || n->count == 0)
        return wrong_form(c, n->at);
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->items[i]->kind != NODE_KEYWORD)
            return wrong_form(c, n->items[i]->at);
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(n->items[k]->text, n->items[i]->text) == 0) {
                diagnose_error(c->report, ERROR_DUPLICATE_ARGUMENT, n->items[i]->symbol_at,
                               "'%.60s' is given twice", n->items[i]->text);
                return false;
            }
        }
    }
    return true;
}

static bool read_when(checker *c, compiler_source *s, const node *n, compiler_special *out) {
    bool good = is_sound_dict(c, n);
    text words;
    if (!good)
        return false;
    text_init(&words);
    special_condition *conditions = ARENA_NEW(&s->memory, special_condition, n->count);
    for (uint32_t i = 0; i < n->count; i++) {
        bool read = read_condition(c, s, n->items[i], &conditions[i]);
        good &= read;
        if (read)
            print_condition(&conditions[i], &words);
    }
    out->conditions = conditions;
    out->condition_count = n->count;
    out->when = arena_strdup(&s->memory, words.data);
    text_release(&words);
    return good;
}

/* ---- use ---- */

static int knob_named(const char *name) {
    for (int i = 0; i < TILE_KNOBS; i++)
        if (strcmp(tile_knob_names[i].name, name) == 0)
            return i;
    return -1;
}

static bool no_such_hint(checker *c, const kernel_interface *k, const node *keyword) {
    const char *known[TILE_KNOBS];
    size_t count = 0;
    text list;
    text_init(&list);
    for (int i = 0; i < TILE_KNOBS; i++) {
        if (k->space->knobs[i].count) {
            text_printf(&list, "%s%s", count ? ", " : "", tile_knob_names[i].name);
            known[count++] = tile_knob_names[i].name;
        }
    }
    diagnose_error(c->report, ERROR_SPECIALIZE_HINT, keyword->symbol_at,
                   "the kernel's space has no '%.60s'", keyword->text);
    if (!diagnose_nearest(c->report, keyword->text, known, count)) {
        diagnose_help(c->report,
                      count ? "it has %s"
                            : "@kernel.autotune(space=dict(BM=[64, 32])) gives it one%s",
                      list.data);
    }
    text_release(&list);
    return false;
}

/* A value of the space: what stands in no list was never checked. */
static bool read_knob(checker *c, const kernel_interface *k, const node *keyword, int64_t *choice) {
    int knob = knob_named(keyword->text);
    const tile_knob *said = knob < 0 ? NULL : &k->space->knobs[knob];
    if (!said || said->count == 0)
        return no_such_hint(c, k, keyword);
    entity e = check_expression(c, keyword->left);
    text list;
    text_init(&list);
    for (uint32_t i = 0; i < said->count; i++) {
        if (e.kind == ENTITY_NUMBER && e.is_integer && e.integer == said->values[i])
            choice[knob] = e.integer;
        text_printf(&list, "%s%" PRId64, i ? ", " : "", said->values[i]);
    }
    if (!choice[knob] && e.kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_SPECIALIZE_HINT, e.at,
                       "the kernel's space has no such value of %s", keyword->text);
        diagnose_help(c->report, "it has %s", list.data);
    }
    text_release(&list);
    return choice[knob] != 0;
}

static bool use_tiles(checker *c, compiler_source *s, const kernel_interface *k, const node *n,
                      compiler_special *out) {
    bool good = is_sound_dict(c, n);
    if (!good)
        return false;
    text words;
    text_init(&words);
    int64_t *choice = ARENA_NEW(&s->memory, int64_t, TILE_KNOBS);
    for (uint32_t i = 0; i < n->count; i++)
        good &= read_knob(c, k, n->items[i], choice);
    for (int i = 0; i < TILE_KNOBS; i++) {
        if (choice[i]) {
            text_printf(&words, "%s%s=%" PRId64, words.length ? "," : "", tile_knob_names[i].name,
                        choice[i]);
        }
    }
    out->choice = choice;
    out->use = arena_strdup(&s->memory, words.data);
    text_release(&words);
    return good;
}

static bool use_schedule(checker *c, compiler_source *s, const node *n, compiler_special *out) {
    text words;
    if (is_dict(n) && !is_sound_dict(c, n))
        return false;
    entity e = is_dict(n) ? schedule_read_hints(c, n) : check_expression(c, n);
    if (e.kind != ENTITY_SCHEDULE)
        return e.kind != ENTITY_BROKEN && wrong_form(c, n->at);
    const compiler_schedule *kept = schedule_keep(s, &e);
    text_init(&words);
    for (uint32_t i = 0; i < kept->count; i++) {
        const compiler_schedule_entry *entry = &kept->entries[i];
        text_printf(&words, "%s%s=%" PRId64 "%s", i ? "," : "", entry->name, entry->value,
                    entry->vectors ? "v" : "");
    }
    out->entries = kept->entries;
    out->count = kept->count;
    out->use = arena_strdup(&s->memory, words.data);
    text_release(&words);
    return true;
}

/* ---- the decorator ---- */

const compiler_special *specialize_read(checker *c, compiler_source *s, const kernel_interface *k,
                                        const node *n) {
    const node *when = NULL, *use = NULL;
    compiler_special *out = ARENA_NEW(&s->memory, compiler_special, 1);
    bool good = n->kind == NODE_CALL;
    for (uint32_t i = 0; good && i < n->count; i++) {
        const node *word = n->items[i];
        bool is_when = word->kind == NODE_KEYWORD && strcmp(word->text, "when") == 0,
             is_use = word->kind == NODE_KEYWORD && strcmp(word->text, "use") == 0;
        const node **place = is_when ? &when : &use;
        good = (is_when || is_use) && !*place;
        if (good)
            *place = word->left;
    }
    *out = (compiler_special){.start = n->at.start, .end = n->at.end};
    if (!good || !when || !use) {
        wrong_form(c, n->at);
        return NULL;
    }
    good = read_when(c, s, when, out);
    good &= k->in_tiles ? use_tiles(c, s, k, use, out) : use_schedule(c, s, use, out);
    return good ? out : NULL;
}
