/* schedule.c - schedules in a source: schedule(block=(96, 256)), base.with_block(64, 64), and the
 * decorator @schedule(...). What words there are says the space's table; whether values fit the
 * target is seen when a case is compiled. */
#include <inttypes.h>
#include <string.h>

#include "check/check.h"
#include "check/schedule_words.h"
#include "parameters/parameters.h"

enum { ENTRIES_MAX = 32, WORDS_MAX = 64 };

/* ---- words ---- */

/* The different words of the table, in its order. */
static size_t all_words(const char **out) {
    const parameter_info *table;
    uint32_t count = parameter_table(&table);
    size_t words = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool known = false;
        for (size_t k = 0; k < words; k++)
            known |= strcmp(out[k], table[i].source) == 0;
        if (!known && words < WORDS_MAX)
            out[words++] = table[i].source;
    }
    return words;
}

static void unknown_word(checker *c, const char *word, span at) {
    const char *words[WORDS_MAX];
    size_t count = all_words(words);
    diagnose_error(c->report, ERROR_SCHEDULE_WORD, at, "a schedule has no '%.60s'", word);
    if (!diagnose_nearest(c->report, word, words, count)) {
        text list;
        text_init(&list);
        for (size_t i = 0; i < count; i++)
            text_printf(&list, "%s%s", i ? ", " : "", words[i]);
        diagnose_help(c->report, "there are %s", list.data);
        text_release(&list);
    }
}

/* Count of the numbers the word takes, 0 where there is no such word; -1: one, not in a tuple. The
 * names and the kinds of work that have it follow. */
static int shape_of_word(const char *word, text *names, unsigned *groups) {
    const parameter_info *table;
    uint32_t count = parameter_table(&table);
    int places = 0;
    *groups = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(table[i].source, word) != 0)
            continue;
        *groups |= table[i].groups;
        if (table[i].position < 0) {
            places = -1;
        } else if (places >= 0 && table[i].position >= places) {
            text_printf(names, "%s%s", places ? ", " : "", table[i].name);
            places = table[i].position + 1;
        }
    }
    return places;
}

/* ---- values ---- */

typedef struct schedule_builder {
    checker *c;
    compiler_schedule_entry entries[ENTRIES_MAX];
    uint32_t count;
    bool of_threads; /* it may be for a target with threads */
} schedule_builder;

static void forget_word(schedule_builder *b, const char *word) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (strcmp(b->entries[i].word, word) != 0)
            b->entries[kept++] = b->entries[i];
    b->count = kept;
}

/* The integer that an entity stands for; flags are True and False. */
static bool number_of(checker *c, const entity *e, int64_t *value) {
    if (e->kind == ENTITY_BROKEN)
        return false;
    if ((e->kind == ENTITY_NUMBER && e->is_integer) || e->kind == ENTITY_BOOL) {
        *value = e->integer;
        return true;
    }
    diagnose_error(c->report, ERROR_SCHEDULE_NUMBER, e->at,
                   "a schedule takes whole numbers, not %s",
                   e->kind == ENTITY_NUMBER ? "fractions" : entity_describe(e));
    return false;
}

static bool in_range(const parameter_info *p, int64_t value) {
    return value >= p->minimum && value <= p->maximum;
}

/* One number: an entry for each parameter at this place of the word, where some of them takes it.
 */
static bool put_number(schedule_builder *b, const char *word, int place, const entity *e) {
    const parameter_info *table, *refused = NULL;
    uint32_t count = parameter_table(&table), before = b->count;
    int64_t value;
    text names;
    unsigned groups;
    if (!number_of(b->c, e, &value))
        return false;
    text_init(&names);
    shape_of_word(word, &names, &groups);
    text_release(&names);
    for (uint32_t i = 0; i < count; i++) {
        const parameter_info *p = &table[i];
        bool here = p->position == place || (p->position < 0 && place < 0);
        if (strcmp(p->source, word) != 0 || !here || b->count == ENTRIES_MAX)
            continue;
        if (!in_range(p, value)) {
            refused = p;
            continue;
        }
        b->entries[b->count++] =
            (compiler_schedule_entry){.name = p->name,
                                      .word = p->source,
                                      .groups = p->groups,
                                      .all_groups = groups,
                                      .value = value,
                                      .vectors = strcmp(p->unit, "vectors") == 0,
                                      .start = e->at.start,
                                      .end = e->at.end};
    }
    if (b->count > before || !refused)
        return true;
    diagnose_error(b->c->report, ERROR_SCHEDULE_RANGE, e->at,
                   "%s, %s, must be %" PRId64 " to %" PRId64 ", not %" PRId64, refused->name,
                   refused->summary, refused->minimum, refused->maximum, value);
    return false;
}

static bool put_items(schedule_builder *b, const char *word, const entity *items, uint32_t count,
                      span at) {
    text names;
    unsigned groups;
    bool good = true;
    text_init(&names);
    int places = shape_of_word(word, &names, &groups);
    if (places < 0 && count != 1) {
        diagnose_error(b->c->report, ERROR_SCHEDULE_COUNT, at, "%s is one number, not %u", word,
                       count);
        good = false;
    } else if (places >= 0 && (count == 0 || count > (uint32_t)places)) {
        diagnose_error(b->c->report, ERROR_SCHEDULE_COUNT, at, "%s is at most %d numbers, not %u",
                       word, places, count);
        diagnose_help(b->c->report, "write %s=(%s); None leaves one to the scheduler", word,
                      names.data);
        good = false;
    }
    for (uint32_t i = 0; good && i < count; i++)
        if (items[i].kind != ENTITY_NONE)
            good = put_number(b, word, places < 0 ? -1 : (int)i, &items[i]);
    text_release(&names);
    return good;
}

/* A plain schedule is a CPU's; words that only threads have are refused in it. */
static bool is_of_threads(const char *word) {
    return strcmp(word, "stage") == 0 || strcmp(word, "depth") == 0 ||
           strcmp(word, "loader") == 0 || strcmp(word, "warps") == 0;
}

static bool refuse_threads(checker *c, const char *word, span at) {
    diagnose_error(c->report, ERROR_SCHEDULE_WORD, at,
                   "'%s' is of targets whose threads share tiles, and a plain schedule is a CPU's",
                   word);
    diagnose_help(c->report, "write @specialize(when={\"backend\": \"ptx\"}, use=dict(%s=...))",
                  word);
    return false;
}

/* WORD=VALUE replaces what was inherited of the word. */
static bool put_word(schedule_builder *b, const node *keyword) {
    const char *word = keyword->text;
    if (!b->of_threads && is_of_threads(word))
        return refuse_threads(b->c, word, keyword->symbol_at);
    text names;
    unsigned groups;
    text_init(&names);
    int places = shape_of_word(word, &names, &groups);
    text_release(&names);
    if (places == 0) {
        unknown_word(b->c, word, keyword->symbol_at);
        return false;
    }
    entity e = check_expression(b->c, keyword->left);
    if (e.kind == ENTITY_BROKEN)
        return false;
    forget_word(b, word);
    bool tuple = e.kind == ENTITY_TUPLE;
    return put_items(b, word, tuple ? e.items : &e, tuple ? e.count : 1, e.at);
}

static bool inherit(schedule_builder *b, const entity *base) {
    if (base->kind == ENTITY_SCHEDULE) {
        memcpy(b->entries, base->schedule->entries, base->schedule->count * sizeof b->entries[0]);
        b->count = base->schedule->count;
        return true;
    }
    if (base->kind != ENTITY_BROKEN) {
        diagnose_error(b->c->report, ERROR_NOT_A_SCHEDULE, base->at,
                       "expected a schedule or NAME=VALUE, not %s", entity_describe(base));
    }
    return false;
}

static entity finish(schedule_builder *b, bool good, span at) {
    if (!good)
        return entity_broken(at);
    schedule_value *v = ARENA_NEW(&b->c->memory, schedule_value, 1);
    v->count = b->count;
    v->entries = ARENA_NEW(&b->c->memory, compiler_schedule_entry, b->count + 1);
    memcpy(v->entries, b->entries, b->count * sizeof b->entries[0]);
    return (entity){.kind = ENTITY_SCHEDULE, .at = at, .schedule = v};
}

static bool repeated(checker *c, const node *call, uint32_t index) {
    for (uint32_t i = 0; i < index; i++) {
        if (call->items[i]->kind == NODE_KEYWORD &&
            strcmp(call->items[i]->text, call->items[index]->text) == 0) {
            diagnose_error(c->report, ERROR_DUPLICATE_ARGUMENT, call->items[index]->symbol_at,
                           "'%.60s' is given twice", call->items[index]->text);
            return true;
        }
    }
    return false;
}

/* schedule(base, block=..., ...) */
static entity read_call(checker *c, const node *n) {
    schedule_builder b = {.c = c};
    bool good = true;
    for (uint32_t i = 0; i < n->count; i++) {
        const node *item = n->items[i];
        if (item->kind == NODE_KEYWORD) {
            good &= !repeated(c, n, i) && put_word(&b, item);
        } else if (i > 0) {
            diagnose_error(c->report, ERROR_SCHEDULE_BASE, item->at,
                           "a schedule inherits from one other, named first");
            good = false;
        } else {
            entity base = check_expression(c, item);
            good = inherit(&b, &base);
        }
    }
    if (n->count == 0) {
        diagnose_error(c->report, ERROR_EMPTY_SCHEDULE, n->at, "this schedule is empty");
        diagnose_help(c->report, "for example schedule(block=(96, 256), tile=(6, 2))");
        good = false;
    }
    return finish(&b, good, n->at);
}

/* ---- by the names of parameters ---- */

static void unknown_hint(checker *c, const node *keyword) {
    const parameter_info *table;
    uint32_t count = parameter_table(&table);
    const char *names[WORDS_MAX];
    size_t known = 0;
    text list;
    text_init(&list);
    for (uint32_t i = 0; i < count && known < WORDS_MAX; i++) {
        bool again = false;
        for (size_t k = 0; k < known; k++)
            again |= strcmp(names[k], table[i].name) == 0;
        if (!again) {
            text_printf(&list, "%s%s", known ? ", " : "", table[i].name);
            names[known++] = table[i].name;
        }
    }
    diagnose_error(c->report, ERROR_SPECIALIZE_HINT, keyword->symbol_at,
                   "a schedule has no parameter '%.60s'", keyword->text);
    if (!diagnose_nearest(c->report, keyword->text, names, known))
        diagnose_help(c->report, "there are %s; and the words of schedule(...)", list.data);
    text_release(&list);
}

/* BM=64 is what it is in block=(64, None). */
static bool put_named(schedule_builder *b, const node *keyword) {
    const parameter_info *table, *found = NULL;
    uint32_t count = parameter_table(&table);
    for (uint32_t i = 0; i < count && !found; i++)
        if (strcmp(table[i].name, keyword->text) == 0)
            found = &table[i];
    if (!found) {
        unknown_hint(b->c, keyword);
        return false;
    }
    entity e = check_expression(b->c, keyword->left);
    return put_number(b, found->source, found->position, &e);
}

entity schedule_read_hints(checker *c, const node *dict) {
    schedule_builder b = {.c = c, .of_threads = true};
    bool good = true;
    for (uint32_t i = 0; i < dict->count; i++) {
        text names;
        unsigned groups;
        text_init(&names);
        bool word = shape_of_word(dict->items[i]->text, &names, &groups) != 0;
        text_release(&names);
        good &= word ? put_word(&b, dict->items[i]) : put_named(&b, dict->items[i]);
    }
    return finish(&b, good, dict->at);
}

/* ---- base.with_block(64, 64) ---- */

/* Puts the numbers of one word in the place of those that were inherited. */
static bool put_with(schedule_builder *b, const node *n) {
    checker *c = b->c;
    const node *method = n->left;
    const char *word = method->text + strlen("with_");
    entity items[8];
    text names;
    unsigned groups;
    text_init(&names);
    bool good = shape_of_word(word, &names, &groups) != 0;
    text_release(&names);
    if (good && is_of_threads(word))
        good = refuse_threads(c, word, method->symbol_at);
    else if (!good)
        unknown_word(c, word, method->symbol_at);
    uint32_t count = n->count < 8 ? n->count : 8;
    for (uint32_t i = 0; good && i < count; i++) {
        if (n->items[i]->kind == NODE_KEYWORD) {
            diagnose_error(c->report, ERROR_SCHEDULE_NAMES, n->items[i]->at,
                           "%s takes its numbers without names", method->text);
            good = false;
            break;
        }
        items[i] = check_expression(c, n->items[i]);
        good = items[i].kind != ENTITY_BROKEN;
    }
    if (good)
        forget_word(b, word);
    return good && put_items(b, word, items, count, n->at);
}

/* f.with_schedule(s) */
static bool put_schedule(schedule_builder *b, const node *n) {
    if (n->count != 1 || n->items[0]->kind == NODE_KEYWORD) {
        diagnose_error(b->c->report, ERROR_NOT_A_SCHEDULE, n->at, "with_schedule takes a schedule");
        diagnose_help(b->c->report, "write with_schedule(schedule(block=(96, 256)))");
        return false;
    }
    entity e = check_expression(b->c, n->items[0]);
    schedule_builder given = {.c = b->c};
    if (!inherit(&given, &e))
        return false;
    for (uint32_t i = 0; i < given.count; i++)
        forget_word(b, given.entries[i].word);
    for (uint32_t i = 0; i < given.count && b->count < ENTRIES_MAX; i++)
        b->entries[b->count++] = given.entries[i];
    return true;
}

/* A call has parameters of its own operations alone. */
static bool fits_call(checker *c, const schedule_builder *b) {
    const parameter_info *table;
    const uint32_t count = parameter_table(&table);
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t k = 0; k < count; k++)
            if (table[k].position == PARAMETER_OF_KERNEL &&
                strcmp(table[k].name, b->entries[i].name) == 0) {
                diagnose_error(c->report, ERROR_SCHEDULE_WORD,
                               (span){b->entries[i].start, b->entries[i].end},
                               "'%s' is of a whole kernel, not of one call", b->entries[i].word);
                diagnose_help(c->report, "write @schedule(%s=...) on the kernel",
                              b->entries[i].word);
                return false;
            }
    return true;
}

static bool is_with(const node *n) {
    return n->kind == NODE_CALL && n->left->kind == NODE_ATTRIBUTE &&
           strncmp(n->left->text, "with_", 5) == 0;
}

static entity function_of(checker *c, const node *n) {
    const local_name *local = n->kind == NODE_NAME ? scope_find(c, n->text) : NULL;
    return local                  ? local->value
           : n->kind == NODE_NAME ? scope_function(c, n->text, n->at)
                                  : call_operation_of(c, n);
}

bool schedule_is_function(checker *c, const node *n) {
    const node *base = n;
    while (is_with(base))
        base = base->left->left;
    return base != n && function_of(c, base).kind == ENTITY_FUNCTION;
}

/* Reads a chain from its base on: each link replaces words of the one before. */
static entity read_with(checker *c, const node *n) {
    schedule_builder b = {.c = c};
    const node *of = n->left->left;
    const bool of_function = schedule_is_function(c, n), around = c->constants_only;
    entity base = is_with(of)   ? read_with(c, of)
                  : of_function ? function_of(c, of)
                                : check_expression(c, of);
    if (of_function && base.schedule)
        inherit(&b, &(entity){.kind = ENTITY_SCHEDULE, .schedule = base.schedule});
    else if (!of_function && !inherit(&b, &base))
        return entity_broken(n->at);
    c->constants_only = true;
    bool good = base.kind != ENTITY_BROKEN &&
                (of_function && strcmp(n->left->text, "with_schedule") == 0 ? put_schedule(&b, n)
                                                                            : put_with(&b, n));
    c->constants_only = around;
    good = good && (!of_function || fits_call(c, &b));
    entity e = finish(&b, good, n->at);
    if (!of_function || !good)
        return e;
    base.schedule = e.schedule;
    base.at = n->at;
    return base;
}

bool schedule_is_call(const node *n) {
    const node *callee = n->kind == NODE_CALL ? n->left : NULL;
    return callee && ((callee->kind == NODE_NAME && strcmp(callee->text, "schedule") == 0) ||
                      (callee->kind == NODE_ATTRIBUTE && strncmp(callee->text, "with_", 5) == 0));
}

entity schedule_read(checker *c, const node *n) {
    return n->left->kind == NODE_NAME ? read_call(c, n) : read_with(c, n);
}

const compiler_schedule *schedule_keep(compiler_source *s, const entity *e) {
    compiler_schedule *kept = ARENA_NEW(&s->memory, compiler_schedule, 1);
    kept->source = &s->text;
    kept->count = e->schedule->count;
    kept->entries = arena_copy(&s->memory, e->schedule->entries,
                               (e->schedule->count + 1) * sizeof(compiler_schedule_entry));
    return kept;
}
