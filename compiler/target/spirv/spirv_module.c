/* spirv_module.c - words of a SPIR-V module. */
#include "target/spirv/spirv_module.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256, WORD_COUNT_SHIFT = 16, GENERATOR = 0, SCHEMA = 0 };
/* First word of keys that are not those of an instruction. */
enum { KEY_CAPABILITY = 0x10000 };

void spirv_open(spirv_module *m) {
    *m = (spirv_module){.known_room = FIRST_ROOM};
    m->known = base_calloc(FIRST_ROOM, sizeof *m->known);
}

void spirv_close(spirv_module *m) {
    for (int i = 0; i < SPIRV_SECTION_COUNT; i++)
        vec_release(&m->sections[i]);
    vec_release(&m->keys);
    free(m->known);
}

uint32_t spirv_id(spirv_module *m) {
    return ++m->last_id;
}

/* ---- instructions ---- */

static void push(spirv_words *w, const uint32_t *words, uint32_t count) {
    vec_reserve(w, w->count + count);
    if (count)
        memcpy(w->items + w->count, words, count * sizeof *words);
    w->count += count;
}

void spirv_op(spirv_module *m, spirv_section section, uint16_t opcode, const uint32_t *operands,
              uint32_t count) {
    uint32_t head = (count + 1) << WORD_COUNT_SHIFT | opcode;
    push(&m->sections[section], &head, 1);
    push(&m->sections[section], operands, count);
}

/* Parameters: the words of an instruction in the order in which they stand: before, the string,
 * behind. */
void spirv_op_string(spirv_module *m, spirv_section section, uint16_t opcode,
                     const uint32_t *operands, uint32_t count, const char *string,
                     const uint32_t *more, uint32_t more_count) {
    size_t length = strlen(string);
    uint32_t words = (uint32_t)(length / sizeof(uint32_t)) + 1;
    uint32_t head = (1 + count + words + more_count) << WORD_COUNT_SHIFT | opcode;
    spirv_words *w = &m->sections[section];
    push(w, &head, 1);
    push(w, operands, count);
    vec_reserve(w, w->count + words);
    memset(w->items + w->count, 0, words * sizeof(uint32_t));
    memcpy(w->items + w->count, string, length);
    w->count += words;
    push(w, more, more_count);
}

/* ---- what there is once ---- */

static uint32_t hash(const uint32_t *words, uint32_t count) {
    uint32_t h = 2166136261u; /* FNV-1a, by words */
    for (uint32_t i = 0; i < count; i++)
        h = (h ^ words[i]) * 16777619u, h ^= h >> 15;
    return h;
}

static spirv_known *slot_for(const spirv_module *m, const uint32_t *words, uint32_t count) {
    for (uint32_t at = hash(words, count);; at++) {
        spirv_known *k = &m->known[at & (m->known_room - 1)];
        if (!k->id ||
            (k->count == count && memcmp(m->keys.items + k->at, words, count * sizeof *words) == 0))
            return k;
    }
}

static void grow(spirv_module *m) {
    spirv_known *before = m->known;
    uint32_t room = m->known_room;
    m->known_room = 2 * room;
    m->known = base_calloc(m->known_room, sizeof *m->known);
    for (uint32_t i = 0; i < room; i++)
        if (before[i].id)
            *slot_for(m, m->keys.items + before[i].at, before[i].count) = before[i];
    free(before);
}

uint32_t spirv_of(spirv_module *m, const uint32_t *words, uint32_t count, bool *fresh) {
    if (2 * m->known_count >= m->known_room)
        grow(m);
    spirv_known *k = slot_for(m, words, count);
    *fresh = !k->id;
    if (*fresh) {
        *k = (spirv_known){(uint32_t)m->keys.count, count, spirv_id(m)};
        push(&m->keys, words, count);
        m->known_count++;
    }
    return k->id;
}

enum { MOST_OPERANDS = 160 };

static void copy_words(uint32_t *to, const uint32_t *from, uint32_t count) {
    if (count)
        memcpy(to, from, count * sizeof *from);
}

uint32_t spirv_once(spirv_module *m, uint16_t opcode, uint32_t type, const uint32_t *operands,
                    uint32_t count) {
    uint32_t key[MOST_OPERANDS + 2] = {opcode, type}, words[MOST_OPERANDS + 2], n = 0;
    bool fresh;
    copy_words(key + 2, operands, count);
    uint32_t id = spirv_of(m, key, count + 2, &fresh);
    if (!fresh)
        return id;
    if (type)
        words[n++] = type;
    words[n++] = id;
    copy_words(words + n, operands, count);
    spirv_op(m, SPIRV_GLOBALS, opcode, words, n + count);
    return id;
}

void spirv_capability(spirv_module *m, uint32_t capability) {
    const uint32_t key[] = {KEY_CAPABILITY, capability};
    bool fresh;
    spirv_of(m, key, 2, &fresh);
    if (fresh)
        spirv_op(m, SPIRV_CAPABILITIES, SpvOpCapability, &capability, 1);
}

/* ---- the whole ---- */

void spirv_write(const spirv_module *m, uint32_t version, text *out) {
    const uint32_t head[] = {SpvMagicNumber, version, GENERATOR, m->last_id + 1, SCHEMA};
    text_append_bytes(out, head, sizeof head);
    for (int i = 0; i < SPIRV_SECTION_COUNT; i++)
        text_append_bytes(out, m->sections[i].items,
                          m->sections[i].count * sizeof *m->sections[i].items);
}
