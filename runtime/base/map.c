/* map.c - open addressing over an array in insertion order (FNV-1a, linear probing, at most half
 * full). */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static uint64_t hash_of(const char *key) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const unsigned char *p = (const unsigned char *)key; *p; p++)
        hash = (hash ^ *p) * 0x100000001b3u;
    return hash;
}

void map_init(map *m) {
    *m = (map){0};
}

void map_release(map *m) {
    for (size_t i = 0; i < m->count; i++)
        free(m->entries[i].key);
    free(m->entries);
    free(m->slots);
    map_init(m);
}

/* The slot that holds `key`, or the empty one where it belongs. slot_count is a power of two. */
static uint32_t *slot_of(const map *m, const char *key, uint64_t hash) {
    for (size_t i = (size_t)hash;; i++) {
        uint32_t *slot = &m->slots[i & (m->slot_count - 1)];
        if (*slot == 0)
            return slot;
        const map_entry *entry = &m->entries[*slot - 1];
        if (entry->hash == hash && strcmp(entry->key, key) == 0)
            return slot;
    }
}

static void grow_slots(map *m) {
    m->slot_count = m->slot_count ? m->slot_count * 2 : 16;
    free(m->slots);
    m->slots = base_calloc(m->slot_count, sizeof *m->slots);
    for (size_t i = 0; i < m->count; i++)
        *slot_of(m, m->entries[i].key, m->entries[i].hash) = (uint32_t)i + 1;
}

void map_put(map *m, const char *key, intptr_t value) {
    if ((m->count + 1) * 2 > m->slot_count)
        grow_slots(m);
    uint64_t hash = hash_of(key);
    uint32_t *slot = slot_of(m, key, hash);
    if (*slot) {
        m->entries[*slot - 1].value = value;
        return;
    }
    if (m->count == m->capacity) {
        m->capacity = m->capacity ? m->capacity * 2 : 8;
        m->entries = base_realloc(m->entries, m->capacity * sizeof *m->entries);
    }
    m->entries[m->count] = (map_entry){base_strdup(key), hash, value};
    *slot = (uint32_t)++m->count;
}

bool map_get(const map *m, const char *key, intptr_t *value_out) {
    if (m->count == 0)
        return false;
    uint32_t slot = *slot_of(m, key, hash_of(key));
    if (slot == 0)
        return false;
    if (value_out)
        *value_out = m->entries[slot - 1].value;
    return true;
}
