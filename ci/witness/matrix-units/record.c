/* record.c - elements as lines of text: record.h. */
#include "record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void write_codes(FILE *file, const uint64_t *codes, int count) {
    for (int k = 0; k < count; k++)
        fprintf(file, "%c%" PRIx64, k ? ',' : ' ', codes[k]);
}

void record_write(FILE *file, const record *r) {
    fprintf(file, "%s %s %" PRIx64 " %" PRIx64, r->instruction->name, r->recipe, r->result, r->c);
    write_codes(file, r->a, tile_k(r->instruction));
    write_codes(file, r->b, tile_k(r->instruction));
    fputc('\n', file);
}

/* `count` codes and the blank or end that follows. */
static bool read_codes(const char **text, uint64_t *codes, int count) {
    for (int k = 0; k < count; k++) {
        char *end;
        codes[k] = strtoull(*text, &end, 16);
        char expected = k + 1 < count ? ',' : ' ';
        if (end == *text || (*end != expected && (k + 1 < count || (*end != '\n' && *end))))
            return false;
        *text = *end ? end + 1 : end;
    }
    return true;
}

bool record_read(const char *line, const instruction *list, size_t count, record *r) {
    char name[sizeof list->name];
    int used = 0;
    if (sscanf(line, "%63s %31s %n", name, r->recipe, &used) != 2)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) != 0)
            continue;
        const char *text = line + used;
        r->instruction = &list[i];
        return read_codes(&text, &r->result, 1) && read_codes(&text, &r->c, 1) &&
               read_codes(&text, r->a, tile_k(&list[i])) &&
               read_codes(&text, r->b, tile_k(&list[i]));
    }
    return false;
}

uint64_t record_model(const record *r, const matrix_unit *model) {
    matrix_factors a, b;
    matrix_factors_decode(&a, model, r->instruction->a, r->a, (size_t)tile_k(r->instruction));
    matrix_factors_decode(&b, model, r->instruction->b, r->b, (size_t)tile_k(r->instruction));
    return matrix_unit_dot(model, &a, &b, r->c);
}
