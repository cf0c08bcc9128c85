/* chip_room.c - tiles that ask a chip for something: a memory, which may not be large enough, or an
 * order of their rows, which may change nothing there. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ops/tiles.h"
#include "pipeline.h"

typedef struct room_check {
    const target_info *target;
    const source_text *source;
    status *st;
} room_check;

/* A hint of a load; NULL: it has none of that name. */
static const ir_attr_data *hint_of(const ir_module *m, ir_op load, const char *name) {
    ir_attr attr = ir_op_attr(m, load, "hints");
    const ir_attr_data *hints = attr ? ir_attr_get(m, attr) : NULL;
    for (uint32_t i = 0; hints && i < hints->count; i++)
        if (strcmp(hints->keys[i], name) == 0)
            return ir_attr_get(m, hints->items[i]);
    return NULL;
}

static memory_space space_of(const ir_module *m, ir_op load) {
    const ir_attr_data *hint = hint_of(m, load, "space");
    int space = 0;
    while (space < MEMORY_SPACE_COUNT &&
           !(hint && hint->string && strcmp(memory_space_names[space], hint->string) == 0))
        space++;
    return (memory_space)space;
}

static int64_t stages_of(const ir_module *m, ir_op load) {
    const ir_attr_data *hint = hint_of(m, load, "stages");
    return hint && hint->kind == IR_ATTR_INT && hint->integer > 1 ? hint->integer : 1;
}

/* INT64_MAX: more than can be said; 0: it is not known here. */
static int64_t bytes_of(const ir_module *m, ir_op load) {
    ir_type type = ir_value_get(m, ir_op_get(m, load)->results[0])->type;
    int64_t bytes, count = ir_type_is_static(m, type) ? ir_type_count(m, type) : 0;
    bool fits = !__builtin_mul_overflow(count, (int64_t)dtype_size(ir_type_get(m, type)->element),
                                        &bytes) &&
                !__builtin_mul_overflow(bytes, stages_of(m, load), &bytes);
    return fits ? bytes : INT64_MAX;
}

/* Parameters: what is checked, and a diagnostic. */
static void refuse(const room_check *a, ir_location at, diagnostic_id id, const char *why,
                   const char *help) {
    if (!a->source || !at.line) {
        status_set(a->st, STATUS_UNAVAILABLE, "%s", why);
        return;
    }
    uint32_t start = source_offset_of(a->source, at.line, at.column), end = start;
    while (end < a->source->size &&
           (isalnum((unsigned char)a->source->data[end]) || strchr("_.", a->source->data[end])))
        end++;
    diagnose_status(a->st, STATUS_UNAVAILABLE, a->source, id, (span){start, end}, why, help);
}

static void look(const ir_module *m, ir_op op, const room_check *a) {
    char why[240];
    if (ir_op_get(m, op)->opcode != GRAPH_LOAD || a->st->code != STATUS_OK)
        return;
    memory_space space = space_of(m, op);
    int64_t bytes = bytes_of(m, op), stages = stages_of(m, op),
            room = space < MEMORY_SPACE_COUNT ? target_space_bytes(a->target, space) : INT64_MAX;
    if (bytes <= room)
        return;
    snprintf(why, sizeof why,
             "this tile has %" PRId64 " bytes in %" PRId64
             " stage%s, and a workgroup of %s has %" PRId64 " of space '%s': %s",
             bytes, stages, stages == 1 ? "" : "s", a->target->name, room,
             memory_space_names[space], target_space_what(a->target, space));
    refuse(a, ir_op_get(m, op)->location, ERROR_TILE_CHIP, why,
           "take smaller tiles, or leave space= out");
}

bool chip_follows_hints(const simt_tiles_notes *notes, const target_info *target,
                        const source_text *source, status *st) {
    room_check a = {target, source, st};
    char why[2 * SIMT_TILES_WHY_BYTES];
    snprintf(why, sizeof why, "swizzle changes nothing on %s: %s", target->name, notes->refused);
    if (notes->refused[0])
        refuse(&a, notes->at, ERROR_TILE_HINT, why, "leave swizzle out");
    return !notes->refused[0];
}

bool chip_has_room(const ir_module *m, const target_info *target, const source_text *source,
                   status *st) {
    room_check a = {target, source, st};
    ir_op tiles = tiles_of(m);
    for (ir_walk w = ir_walk_op(m, tiles); ir_walk_next(&w);)
        look(m, w.op, &a);
    return st->code == STATUS_OK;
}
