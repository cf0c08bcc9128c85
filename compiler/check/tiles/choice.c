/* choice.c - a space of tiles: what a kernel leaves open, and which of its values are chosen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/source.h"
#include "source/parser.h"

enum { SIZE, HINT };
const tile_knob_name tile_knob_names[TILE_KNOBS] = {
#define KNOB(ENUM, name, word, kind) {name, word, (kind) == HINT},
#include "check/tile_knobs.def"
#undef KNOB
};
_Static_assert((int)TILE_KNOBS <= (int)COMPILER_KNOBS_MAX, "the public list has room");

int64_t tile_knob_value(const kernel_interface *k, const compiler_case *c, int knob) {
    const tile_knob *said = &k->space->knobs[knob];
    return c && c->choice && c->choice[knob] ? c->choice[knob] : said->count ? said->values[0] : 0;
}

span tile_knob_place(const kernel_interface *k, const compiler_case *c, int knob) {
    const tile_knob *said = &k->space->knobs[knob];
    const int64_t value = tile_knob_value(k, c, knob);
    for (uint32_t i = 0; i < said->count; i++)
        if (said->values[i] == value)
            return said->at[i];
    return (span){0};
}

const compiler_knobs *tile_knobs_keep(compiler_source *s, const kernel_interface *k) {
    compiler_knobs *out = ARENA_NEW(&s->memory, compiler_knobs, 1);
    *out = (compiler_knobs){.count = k->in_tiles ? TILE_KNOBS : 0,
                            .budget_ms = k->space->budget_ms,
                            .cache = k->space->cache};
    for (uint32_t i = 0; i < out->count; i++) {
        const tile_knob *said = &k->space->knobs[i];
        out->items[i] = (compiler_knob){tile_knob_names[i].name, said->values, said->count,
                                        tile_knob_names[i].hint};
    }
    return out;
}

void compiler_choice_text(const compiler_kernel *kernel, const compiler_case *c, text *out) {
    const char *comma = "";
    for (uint32_t i = 0; i < kernel->knobs->count; i++) {
        const compiler_knob *knob = &kernel->knobs->items[i];
        if (knob->count) {
            int64_t chosen = c && c->choice ? c->choice[i] : 0;
            text_printf(out, "%s%s=%" PRId64, comma, knob->name, chosen ? chosen : knob->values[0]);
            comma = ",";
        }
    }
}

/* ---- choosing ---- */

/* "BM 64 128, BN 64" */
static void list_space(const compiler_kernel *kernel, text *out) {
    const char *comma = "";
    for (uint32_t i = 0; i < kernel->knobs->count; i++) {
        const compiler_knob *knob = &kernel->knobs->items[i];
        for (uint32_t v = 0; v < knob->count; v++)
            text_printf(out, "%s%s %" PRId64, v ? "" : comma, v ? "" : knob->name, knob->values[v]);
        comma = knob->count ? ", " : comma;
    }
}

static void list_constants(const compiler_source *s, const compiler_kernel *kernel, text *out) {
    const ast_function *f = s->interfaces[kernel - s->kernels].function;
    for (uint32_t i = 0; i < f->parameter_count; i++)
        if (f->parameters[i].keyword_only)
            text_printf(out, "%s%s=...", out->length ? ", " : "", f->parameters[i].name);
}

static const compiler_case *refuse(const compiler_source *s, const compiler_kernel *kernel,
                                   const char *word, int length, status *st) {
    text list;
    text_init(&list);
    list_space(kernel, &list);
    list_constants(s, kernel, &list);
    status_set(st, STATUS_INVALID,
               "kernel %s has no %.*s among its sizes of tiles and constants%s%.700s", kernel->name,
               length < 60 ? length : 60, word, list.length ? ": " : "; it has none", list.data);
    text_release(&list);
    return NULL;
}

static int knob_named(const compiler_kernel *kernel, const char *name, size_t length) {
    for (uint32_t i = 0; i < kernel->knobs->count; i++) {
        const compiler_knob *knob = &kernel->knobs->items[i];
        if (strlen(knob->name) == length && strncmp(knob->name, name, length) == 0)
            return (int)i;
    }
    return -1;
}

static bool has_value(const compiler_knob *knob, const char *word, size_t length, int64_t *out) {
    for (uint32_t v = 0; v < knob->count; v++) {
        char digits[24];
        snprintf(digits, sizeof digits, "%" PRId64, knob->values[v]);
        if (strlen(digits) == length && strncmp(digits, word, length) == 0) {
            *out = knob->values[v];
            return true;
        }
    }
    return false;
}

/* ---- constants ---- */

static const ast_parameter *constant_named(const compiler_source *s, const compiler_kernel *kernel,
                                           const char *name, size_t length) {
    const ast_function *f = s->interfaces[kernel - s->kernels].function;
    for (uint32_t i = 0; i < f->parameter_count; i++)
        if (f->parameters[i].keyword_only && strlen(f->parameters[i].name) == length &&
            strncmp(f->parameters[i].name, name, length) == 0)
            return &f->parameters[i];
    return NULL;
}

/* The value as an expression of a file of its own; NULL where it is none. */
static const node *read_value(compiler_source *s, const char *word, size_t length) {
    text said;
    diagnostics d;
    text_init(&said);
    span part = source_text_add(&s->text, &s->memory, "--constants", word, (uint32_t)length);
    diagnostics_init(&d, &s->text, false, &said);
    const node *n = length ? parse_quoted(&s->text, part, &s->memory, &d) : NULL;
    const node *value = n && n->kind == NODE_UNARY ? n->left : n;
    bool constant = value && (value->kind == NODE_INT || value->kind == NODE_FLOAT ||
                              value->kind == NODE_BOOL || value->kind == NODE_NAME);
    diagnostics_release(&d);
    text_release(&said);
    return constant ? n : NULL;
}

/* In place of the case's value, or behind the others. */
static void put_constant(compiler_source *s, compiler_case *c, const compiler_constant *one) {
    compiler_constant *list = ARENA_NEW(&s->memory, compiler_constant, c->constant_count + 1);
    uint32_t at = c->constant_count;
    for (uint32_t i = 0; i < c->constant_count; i++) {
        list[i] = c->constants[i];
        at = strcmp(list[i].name, one->name) == 0 ? i : at;
    }
    c->constant_count += at == c->constant_count;
    list[at] = *one;
    c->constants = list;
}

/* "causal=True": a constant of the kernel. False, without a message: it has none of that name. */
static bool choose_constant(compiler_source *s, const compiler_kernel *kernel, compiler_case *c,
                            const char *word, size_t length, status *st) {
    size_t name = strcspn(word, "=,");
    const ast_parameter *p = name < length ? constant_named(s, kernel, word, name) : NULL;
    if (!p)
        return false;
    const char *value = word + name + 1;
    size_t bytes = length - name - 1;
    const node *n = read_value(s, value, bytes);
    if (!n || (p->fallback && (p->fallback->kind == NODE_BOOL) != (n->kind == NODE_BOOL)))
        return status_set(st, STATUS_INVALID, "constant %s of kernel %s cannot be '%.*s'", p->name,
                          kernel->name, (int)bytes, value);
    compiler_constant one = {p->name, arena_strndup(&s->memory, value, bytes), n};
    put_constant(s, c, &one);
    return true;
}

/* ---- a choice ---- */

const compiler_case *compiler_case_choose(compiler_source *source, const compiler_kernel *kernel,
                                          const compiler_case *c, const char *words, status *st) {
    compiler_case *out = ARENA_NEW(&source->memory, compiler_case, 1);
    int64_t *choice = ARENA_NEW(&source->memory, int64_t, TILE_KNOBS);
    bool named[TILE_KNOBS] = {false};
    *out = c ? *c : (compiler_case){.name = NULL};
    if (out->choice)
        memcpy(choice, out->choice, sizeof *choice * TILE_KNOBS);
    for (const char *word = words; *word;) {
        size_t length = strcspn(word, ","), name = strcspn(word, "=,");
        int knob = knob_named(kernel, word, name);
        if (knob < 0 && choose_constant(source, kernel, out, word, length, st)) {
            word += length + (word[length] == ',');
            continue;
        }
        if (st && st->code != STATUS_OK)
            return NULL;
        if (knob < 0 || name == length ||
            !has_value(&kernel->knobs->items[knob], word + name + 1, length - name - 1,
                       &choice[knob]))
            return refuse(source, kernel, word, (int)length, st);
        if (named[knob]) {
            status_set(st, STATUS_INVALID, "%s is chosen twice", kernel->knobs->items[knob].name);
            return NULL;
        }
        named[knob] = true;
        word += length + (word[length] == ',');
    }
    out->choice = choice;
    out->space = arena_strdup(&source->memory, words);
    return out;
}
