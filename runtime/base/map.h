/* map.h - string to pointer-sized value; iteration is in insertion order, so output never depends
 * on hashes. Keys are copied. The caller owns the values. */
#ifndef TESSERA_BASE_MAP_H
#define TESSERA_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct map_entry {
    char *key;
    uint64_t hash;
    intptr_t value;
} map_entry;

typedef struct map {
    map_entry *entries; /* in insertion order, `count` of them */
    size_t count, capacity;
    uint32_t *slots; /* open addressing; index + 1, 0 when empty */
    size_t slot_count;
} map;

void map_init(map *m);
void map_release(map *m);
void map_put(map *m, const char *key, intptr_t value);            /* inserts or replaces */
bool map_get(const map *m, const char *key, intptr_t *value_out); /* value_out may be NULL */

#endif
