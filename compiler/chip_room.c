/* chip_room.c - tiles that ask a chip for something: a memory, which may not be large enough, an
 * order of their rows, which may change nothing there, or to be fetched ahead, which a loop does.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/instance.h"
#include "ops/tiles.h"
#include "pipeline.h"

typedef struct room_check {
    const target_info *target;
    const compiler_instance *instance;
    status *st;
} room_check;

static memory_space space_of(const ir_module *m, ir_op load) {
    const ir_attr_data *hint = tiles_hint_of(m, load, "space");
    int space = 0;
    while (space < MEMORY_SPACE_COUNT &&
           !(hint && hint->string && strcmp(memory_space_names[space], hint->string) == 0))
        space++;
    return (memory_space)space;
}

static int64_t stages_of(const ir_module *m, ir_op load) {
    const ir_attr_data *hint = tiles_hint_of(m, tiles_fetch_asker(m, load), "stages");
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

/* The word there; empty: no place of it is known. */
static span word_at(const room_check *a, ir_location at) {
    const source_text *source = a->instance->source;
    if (!source || !at.line)
        return (span){0};
    uint32_t start = source_offset_of(source, at.line, at.column), end = start;
    while (end < source->size &&
           (isalnum((unsigned char)source->data[end]) || strchr("_.", source->data[end])))
        end++;
    return (span){start, end};
}

/* Parameters: what is checked, and a diagnostic. */
static void refuse(const room_check *a, span at, diagnostic_id id, const char *why,
                   const char *help) {
    if (at.end == 0)
        status_set(a->st, STATUS_UNAVAILABLE, "%s", why);
    else
        diagnose_status(a->st, STATUS_UNAVAILABLE, a->instance->source, id, at, why, help);
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
    refuse(a, word_at(a, ir_op_get(m, op)->location), ERROR_TILE_CHIP, why,
           "take smaller tiles, or leave space= out");
}

/* ---- what is fetched ahead ---- */

/* A hint that holds for no load, in words: of which operation, and where it is said. */
typedef struct asked_ahead {
    const char *who, *lacks, *what;
    span at;
} asked_ahead;

static asked_ahead asked_of(const ir_module *m, ir_op op, const room_check *a) {
    const span own = word_at(a, ir_op_get(m, op)->location);
    switch (ir_op_get(m, op)->opcode) {
    case GRAPH_TILES:
        return (asked_ahead){"a tile", "loop", "repeats a load", a->instance->stages};
    case GRAPH_FOR:
        return (asked_ahead){"this loop", "load", "stands in it and leaves that to it", own};
    default:
        return (asked_ahead){"this tile", "loop", "repeats its load", own};
    }
}

/* Is a load of the kernel repeated, a load that goes by the loop, or the load? */
static bool is_followed(const ir_module *m, ir_op op) {
    const int opcode = ir_op_get(m, op)->opcode;
    bool found = opcode == GRAPH_LOAD && tiles_loop_of(m, op);
    for (ir_walk w = ir_walk_op(m, op); !found && opcode != GRAPH_LOAD && ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == GRAPH_LOAD)
            found = opcode == GRAPH_TILES ? tiles_loop_of(m, w.op) != 0
                                          : tiles_fetch_asker(m, w.op) == op;
    return found;
}

/* A single load may say how far ahead it is fetched, and be asked for once. */
static const char *word_of(const ir_module *m, ir_op op) {
    const bool ahead = ir_op_get(m, op)->opcode == GRAPH_FOR && tiles_hint_of(m, op, "prefetch");
    return tiles_hint_of(m, op, "stages") ? "stages" : ahead ? "prefetch" : NULL;
}

static void look_ahead(const ir_module *m, ir_op op, const room_check *a) {
    char why[240], help[120];
    const char *word = word_of(m, op);
    if (!word || a->st->code != STATUS_OK || is_followed(m, op))
        return;
    const asked_ahead asked = asked_of(m, op, a);
    snprintf(why, sizeof why, "%s has no %s: no %s of kernel '%.60s' %s", asked.who, word,
             asked.lacks, ir_op_string(m, ir_module_kernel(m), "name", "kernel"), asked.what);
    snprintf(help, sizeof help,
             "leave %s out, or load in a loop: for k in tile.range_k(x.shape, T.k)", word);
    refuse(a, asked.at, ERROR_TILE_STAGES, why, help);
}

bool chip_follows_hints(const simt_tiles_notes *notes, const target_info *target,
                        const compiler_instance *instance, status *st) {
    room_check a = {target, instance, st};
    static const diagnostic_id ids[] = {[SIMT_REFUSES_HINT] = ERROR_TILE_HINT,
                                        [SIMT_REFUSES_ROOM] = ERROR_TILE_CHIP,
                                        [SIMT_REFUSES_UNIT] = ERROR_TILE_UNIT};
    if (notes->refused[0])
        refuse(&a, notes->by_stages ? instance->stages : word_at(&a, notes->at), ids[notes->kind],
               notes->refused, notes->help);
    return !notes->refused[0];
}

bool chip_has_room(const ir_module *m, const target_info *target, const compiler_instance *instance,
                   status *st) {
    room_check a = {target, instance, st};
    for (ir_walk w = ir_walk_op(m, tiles_of(m)); ir_walk_next(&w);) {
        look(m, w.op, &a);
        look_ahead(m, w.op, &a);
    }
    return st->code == STATUS_OK;
}
