/* simt.h - Tile IR for targets whose workgroups are many threads: where memory is, which thread
 * holds which elements of a tile, and where threads have to wait for each other.
 *
 * All threads of a workgroup run the same operations, but those of a tile.loader; indices, and so
 * the control flow, are the same in all of them. Tiles are spread over them by their layouts
 * (ir.h). */
#ifndef TESSERA_TILE_SIMT_H
#define TESSERA_TILE_SIMT_H

#include "schedule/schedule.h"
#include "tile/tile.h"

/* Threads of a workgroup, where a kernel does not say how many. */
enum { SIMT_THREADS = 128, SIMT_MOST_THREADS = 1024 };

/* Room of a workgroup. */
typedef struct simt_room {
    int64_t shared_bytes;
    int64_t thread_registers, registers; /* of 32 bits: of a thread, of all of them, at most */
} simt_room;

/* Conditions that a kernel of tiles is lowered for. */
typedef struct simt_tiles_request {
    const char *profile;
    const char *chip;          /* whose matrix units may multiply */
    bool probed;               /* target_info.probed */
    int threads, most_threads; /* of a workgroup: where it does not say; at most */
    simt_room room, most;      /* of the chip; of any chip */
    bool copies;               /* into that memory without going through registers */
} simt_tiles_request;
enum { SIMT_TILES_WHY_BYTES = 200 };
typedef enum simt_refusal {
    SIMT_REFUSES_HINT, /* it would change nothing */
    SIMT_REFUSES_ROOM, /* no chip has so much */
    SIMT_REFUSES_UNIT, /* no unit multiplies such a product */
} simt_refusal;
/* Reasons why there is no lowering; each is "" where it is none. */
typedef struct simt_tiles_notes {
    char why[SIMT_TILES_WHY_BYTES];     /* it has none */
    char refused[SIMT_TILES_WHY_BYTES]; /* the source asks for what no chip does */
    char help[SIMT_TILES_WHY_BYTES];    /* ... and better asks for this */
    simt_refusal kind;
    ir_location at; /* ... of this operation */
    bool by_stages; /* ... or of the kernel's stages */
} simt_tiles_notes;
/* Lowers a kernel of tiles as it stands: a program instance is a workgroup. The graph is that of a
 * kernel with static dimensions, without composites other than products. NULL, with the reason in
 * the notes: it has no such lowering, and is to be lowered as operations on whole tensors, if it is
 * not refused. */
ir_module *simt_from_tiles(ir_module *graph, const simt_tiles_request *request,
                           simt_tiles_notes *notes);

/* cost.c: cycles of such a kernel behind the last pass, comparable with those of schedules of the
 * same target. */
double simt_tiles_cost(const ir_module *m, const schedule_target *target);

/* pressure.c: the most registers of 32 bits that a thread of any phase needs for its tiles, behind
 * the same pass. */
int64_t simt_most_registers(const ir_module *m);

/* turns.c: tells whether the loops of a thread turn more often than that in some phase, where
 * bounds are numbers. */
bool simt_turns_beyond(const ir_module *m, int64_t most);

/* Several rows are each in neighbouring threads of one subgroup, which hand each other lanes
 * without memory, and nobody waits: chips have subgroups of at least so many threads, or do not do
 * it. */
enum { SIMT_FOLD_THREADS = 32, SIMT_FOLD_ROWS = 8 };
/* Does a fold hand lanes through memory, at which all threads wait? */
bool simt_fold_waits(const ir_module *m, ir_op fold);

/* Takes the rest of each row in the workgroup's memory from registers where it is at hand. */
bool simt_forward_stores(ir_module *m, status *st);
/* Gives folds the place in a workgroup's memory by which they exchange lanes. Of that memory there
 * are at most `shared_bytes`: STATUS_UNAVAILABLE where more is needed. */
bool simt_place_memory(ir_module *m, int64_t shared_bytes, status *st);
/* Every tile gets a layout threads<...> of so many threads, in subgroups of so many. */
bool simt_assign_layout(ir_module *m, int threads, int subgroup, status *st);
/* A tile.barrier wherever a thread may touch what another one has written, or is yet to read, since
 * the last one. */
bool simt_insert_barriers(ir_module *m, status *st);
/* More of them, one before each access: to tell whether one is missing. */
void simt_more_barriers(ir_module *m);
/* join_launches.c: element-wise phases that may run at once become one launch. */
bool simt_join_launches(ir_module *m, status *st);
/* The phases of a launch, from its first one on; returns how many there are, at most `most`. */
uint32_t simt_launch(const ir_module *m, ir_op phase, ir_op *out, uint32_t most);
/* ... and their workgroups. */
int64_t simt_launch_grid(const ir_module *m, ir_op phase);

#endif
