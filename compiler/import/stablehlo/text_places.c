/* text_places.c - lines and columns that operations have in the text that shlo_print writes, found
 * without writing it: a program in bytecode is long, and its text is only shown where it is wrong.
 */
#include "import/stablehlo/shlo.h"

typedef struct places {
    uint32_t line;   /* the last one */
    uint32_t values; /* with a number, so far */
    uint32_t depth;
} places;

static uint32_t digits(uint32_t number) {
    uint32_t count = 1;
    while (number /= 10)
        count++;
    return count;
}

/* "%12:3 = " */
static uint32_t results_length(const places *p, uint32_t results) {
    const uint32_t colon = results > 1 ? 1 + digits(results) : 0;
    return results ? 1 + digits(p->values) + colon + 3 : 0;
}

static void place_block(places *p, const shlo_block *block);

/* A block in braces, behind its line of arguments where there are `lines` of them. */
static void place_region(places *p, const shlo_block *block, uint32_t lines) {
    p->line += lines;
    p->values += block->argument_count;
    p->depth++;
    place_block(p, block);
    p->depth--;
    p->line++;
}

static void place_block(places *p, const shlo_block *block) {
    for (shlo_op *op = block->first; op; op = op->next) {
        op->line = ++p->line;
        op->column = 2 * p->depth + 1 + results_length(p, op->result_count);
        p->values += op->result_count > 0;
        for (uint32_t i = 0; i < op->region_count; i++)
            place_region(p, op->regions[i], op->regions[i]->argument_count > 0);
    }
}

void shlo_place(shlo_module *m) {
    places p = {.line = 1, .depth = 1};
    for (const char *c = m->meshes; c && *c; c++)
        p.line += *c == '\n' || c[1] == '\0';
    for (shlo_function *f = m->first; f; f = f->next) {
        f->line = ++p.line;
        f->column = 2 * p.depth + 1;
        p.values = 0;
        if (f->body)
            place_region(&p, f->body, 0);
    }
}
