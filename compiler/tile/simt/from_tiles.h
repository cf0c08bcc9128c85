/* from_tiles.h - the state shared by the files that lower a kernel of tiles as it stands: a program
 * instance is a workgroup, its loops stay loops, its tiles are tiles of Tile IR.
 *
 * A value of the graph is in registers, in the workgroup's memory, or both: factors of products are
 * read from memory, all else from registers. A tensor of one axis is a row of a tile, or, where it
 * has an element for each row of another tile, a column.
 *
 * What is the same for all rows, or for all columns, has one of them until somebody needs more.
 *
 * A tile that hangs over an edge of the results is whole here, with elements that mean nothing
 * behind the edge: they are never stored, and no sum along that axis has a lowering. Where the last
 * trip of a loop reads what hangs over an edge, that trip is lowered by itself, with shorter tiles;
 * for a matrix unit they are whole steps of it, and what takes part in no sum is left out of it.
 *
 * What has no lowering here is no error: such a kernel goes the long way, as whole tensors. */
#ifndef TESSERA_TILE_SIMT_FROM_TILES_H
#define TESSERA_TILE_SIMT_FROM_TILES_H

#include "ops/graph.h"
#include "ops/reductions.h"
#include "ops/tiles.h"
#include "tile/mma.h"
#include "tile/simt/simt.h"
#include "tile/tile.h"

enum {
    TILES_INDICES = 16, /* of loops in loops */
    TILES_VALUES = 64,  /* buffers; carried by one loop */
    TILES_CUT_UNKNOWN = -1
};

/* A tile in memory. */
typedef struct tiles_view {
    ir_value memory, offset; /* 0: it is in none */
    int64_t rows, columns, row_stride, column_stride;
    ir_value valid_rows, valid_columns; /* how many of them there are; 0: all */
    int64_t true_rows, true_columns;    /* ... where that is known before: behind them are zeros */
    int64_t panel; /* elements of the rows of its swizzled panels (tile/swizzle.h), as a matrix unit
                      reads them by itself, and its longer stride; 0: it has none */
    int64_t swizzle; /* pattern of its rows, of panels too; 0: they lie as they are */
} tiles_view;

/* Fates of the order that rows were said to have, the last one if there are several. */
typedef enum tiles_rows {
    TILES_ROWS_NOWHERE, /* they are in no memory of the workgroup */
    TILES_ROWS_APART,   /* any is the same */
    TILES_ROWS_OF_UNIT, /* a unit has its own */
    TILES_ROWS_AS_SAID,
    TILES_ROWS_COUNT
} tiles_rows;

/* Presence of elements along an axis of a tile: are all there? */
typedef enum tiles_extent {
    TILES_WHOLE,
    TILES_CARRIED, /* as of what a loop carries: where some kernel's load is cut, it may be, too */
    TILES_CUT
} tiles_extent;

typedef struct tiles_value {
    ir_value tile; /* in registers; 0: it is in none */
    tiles_view view;
    tiles_extent rows, columns;
    int64_t true_rows, true_columns; /* of which there are so many: what is behind them, to a whole
                                        number of a matrix unit's steps, means nothing; 0: all */
    bool zeros;                      /* ... or is 0 */
    bool guessed;         /* numbers of columns, of which there are as many as others have */
    const mma_unit *unit; /* its threads hold it as they do the unit's sums; NULL: as any */
} tiles_value;

/* An index of the instances or of a loop around the present operation. */
typedef struct tiles_index {
    const char *name;
    ir_value index;
    int64_t least, most;
    bool last;             /* of the last trip of a loop, which is lowered by itself */
    ir_value first, count; /* ... and end of its trips, where they depend on other indices; 0: at
                              `least`, one after `most` */
} tiles_index;

/* A load that a loop repeats, whose tiles are on their way some trips before they are read. */
typedef struct tiles_stream {
    ir_op load;
    tiles_view far;    /* of the present trip */
    tiles_view slots;  /* the first of them */
    int64_t slot;      /* elements of one */
    int64_t distance;  /* trips ahead */
    int64_t piece;     /* elements that are copied at once; 0: they go through registers */
    bool in_panels;    /* its slots are panels */
    ir_value loaded;   /* ... where the next trip's tile is */
    ir_value barriers; /* memory of a loader's, which copies it; 0: there is none */
} tiles_stream;

/* Fields: what is lowered and where to; what is known of each of its values, in arrays; what it
 * says of itself; and what was found on the way. */
typedef struct tiles_lowering {
    ir_module *g; /* the graph, of static dimensions */
    ir_module *m; /* Tile IR under construction */
    const simt_tiles_request *request;
    tiles_value *values;         /* by value of the graph */
    bool *is_column, *is_factor; /* likewise: of one axis, a column; a factor of a product */
    bool *is_left, *is_read;     /* likewise: only a left factor; read from registers */
    bool *is_plain;              /* likewise: a factor that no unit reads from memory by itself */
    dtype *wide;                 /* likewise: the type in which products read it; none: its own */
    tiles_rows *rows;            /* likewise, of loads; of value 0: as the kernel said */
    VEC(tiles_index) indices;
    VEC(tiles_stream) streams; /* of the loops around the present operation */
    reduction_list reductions;
    int64_t scratch_bytes, most_bytes; /* of the workgroup's memory: taken now, and at most */
    int64_t loaded_bytes;              /* where the memory ends that a loader fills */
    bool left;                         /* a loop has left memory that threads may still read */
    int64_t threads, stages, vector;   /* of the kernel; vector: 0, as many as can be */
    int64_t
        cut; /* in a last trip: columns of its shorter tiles, or that these are not known; else 0 */
    bool may_stage, stages_products; /* units may read memory by themselves; one does */
    bool whole_rows;                 /* a subgroup has whole rows of sums: some become one element
                                        each, or such a unit has them */
    bool cuts, needs_carried; /* a load is cut along its columns; a carried tile must not be */
    int64_t most_stages, used_stages;  /* of a load: that it may have; that one has */
    ir_op fewer;                       /* has fewer than the source says for it; 0: none has */
    char missed[SIMT_TILES_WHY_BYTES]; /* a product that is too small for a matrix unit; "": none is
                                        */
    simt_tiles_notes *notes;           /* receive the reason why there is no lowering; "" before */
} tiles_lowering;

/* Notes why the operation has no lowering. Returns false. */
bool tiles_refuse(tiles_lowering *t, ir_op op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* from_tiles_room.c: notes that the source asks for what no chip does, and what better to ask for:
 * once, of the first such operation. It is refused if nothing else stands against its lowering. */
void tiles_forbid(tiles_lowering *t, ir_op op, simt_refusal kind, const char *help,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Looks at the registers of a lowered tile. False: the kernel has no lowering. */
bool tiles_have_registers(tiles_lowering *t, ir_op op, ir_value v);
/* ... at a product of rows, columns and steps that no unit of the chip multiplies, with the unit
 * that would. */
void tiles_check_unit(tiles_lowering *t, ir_op op, const int64_t sizes[3], const mma_unit *here);
/* ... at stages for which there are only so many bytes, though they would need more. */
void tiles_check_stages(tiles_lowering *t, int64_t bytes);

/* from_tiles_uses.c: fills is_column, is_factor, is_plain, is_read and wide. */
bool tiles_find_uses(tiles_lowering *t, ir_block block);

/* The value that a product reads for a factor: a narrow float itself, in place of its f32. */
ir_value tiles_factor(const tiles_lowering *t, ir_value v);
bool tiles_widens(const tiles_lowering *t, ir_op op);

/* The rows and columns of a tile for a tensor of up to two axes. */
void tiles_shape(const tiles_lowering *t, ir_value v, int64_t *rows, int64_t *columns);
/* constant + sum of coefficient * index. False: the dimension is another function of indices. */
bool tiles_affine(tiles_lowering *t, ir_builder *b, ir_attr dim, ir_value *out);
/* Is it greater at the last place of one of the indices than at the first? */
bool tiles_grows(const tiles_lowering *t, ir_attr dim, size_t index);
/* Any dimension as an index, 0 where it is a number, and bounds of it. False: an index is
 * multiplied by another one. */
bool tiles_number_of(tiles_lowering *t, ir_builder *b, ir_attr dim, ir_value *out, int64_t *least,
                     int64_t *most);
/* The least and the greatest value of it. */
bool tiles_bounds(const tiles_lowering *t, ir_attr dim, int64_t *least, int64_t *most);

/* Replaces elements behind the true columns of a tile (rows: `rows`). */
ir_value tiles_masked(ir_builder *b, ir_value x, bool rows, int64_t count, uint64_t bits);

/* Does it depend on the trip of a loop whose last one is lowered by itself? */
bool tiles_is_of_last(const tiles_lowering *t, ir_attr dim);
/* Finds the place of a tessera.load's tile; its results and how it is cut. */
bool tiles_find_load(tiles_lowering *t, ir_builder *b, ir_op op, tiles_view *view);
/* from_tiles_shift.c: a load whose elements lie beside its tile's places, which are `far`, in
 * memory of the workgroup: all of them are there. *zeros: those that an edge cuts off are 0.
 * Parameters: the operation, and its three results. */
bool tiles_load_shifted(tiles_lowering *t, ir_builder *b, ir_op op, const tiles_view *far,
                        tiles_view *near, bool *zeros);
/* from_tiles_hints.c: a number among the hints of an operation; `otherwise` where there is none. */
int64_t tiles_hint(const tiles_lowering *t, ir_op op, const char *name, int64_t otherwise);
/* Is a hint of the operation this word? */
bool tiles_says(const tiles_lowering *t, ir_op op, const char *name, const char *word);
/* The order of a value's rows in the workgroup's memory, said or not; 0: of one that is made here.
 */
tile_swizzle tiles_swizzle_of(const tiles_lowering *t, ir_value v);
void tiles_note_rows(tiles_lowering *t, ir_value v, tiles_rows rows);
/* ... of one in panels, which are swizzled whatever is said. */
void tiles_note_panels(tiles_lowering *t, ir_value v);
/* Do rows lie as was said, wherever it was? Else that is forbidden. */
bool tiles_follow_hints(tiles_lowering *t);

/* Gives an accumulation of the kernel its number and the operation its mark. */
int64_t tiles_number(tiles_lowering *t, const char *kind, const char *order, int64_t extent,
                     int64_t results);
void tiles_mark(tiles_lowering *t, ir_op op, const char *order, int64_t number);

/* from_tiles_memory.c: memory of the workgroup for a tile. Parameters: those of a tile, and the
 * value whose rows lie as is said of it. */
tiles_view tiles_room(tiles_lowering *t, ir_builder *b, dtype element, int64_t rows,
                      int64_t columns, ir_value of);
/* Rows after which another such tile may begin, in the same room. */
int64_t tiles_rows_of_slot(const tiles_lowering *t, dtype element, int64_t rows, int64_t columns,
                           ir_value of);
/* Some rows and columns of a tile there, from a place on; a tile is put there. */
ir_value tiles_take(ir_builder *b, const tiles_view *v, ir_value offset, int64_t rows,
                    int64_t columns);
void tiles_put(ir_builder *b, const tiles_view *v, ir_value offset, ir_value tile);
/* Plain memory of the workgroup. */
ir_value tiles_scratch(tiles_lowering *t, ir_builder *b, dtype element, int64_t elements);
/* Memory of the workgroup for so many slots of a tile, one behind the other, in panels; *slot:
 * elements of one. */
tiles_view tiles_panels(tiles_lowering *t, ir_builder *b, dtype element, int64_t slots,
                        int64_t rows, int64_t columns, int64_t *slot);
/* A value in registers with all rows and columns that it has; 0, with a reason for `op`, where the
 * last trip of a loop does not tell how many these are. */
ir_value tiles_whole(tiles_lowering *t, ir_builder *b, ir_op op, ir_value v);
/* Tiles of as many rows side by side, which are the factor v, in memory of the workgroup. */
tiles_view tiles_put_beside(tiles_lowering *t, ir_builder *b, ir_value v, const ir_value *tiles,
                            uint32_t count);
/* A tile in memory of the workgroup that is its own; `of`: as of tiles_room. */
tiles_view tiles_put_down(tiles_lowering *t, ir_builder *b, ir_value tile, ir_value of);
/* The value in memory; it is stored there where it is in registers alone. */
bool tiles_view_of(tiles_lowering *t, ir_builder *b, ir_op op, ir_value v, tiles_view *out);

/* from_tiles_stream.c: finds the loads of a loop that can be on their way ahead of it, and begins
 * their first copies; `all` has no index yet. Behind them the loop's own block begins with
 * tiles_next_trip, whose index and number of trips are the last of t->indices. */
bool tiles_open_streams(tiles_lowering *t, ir_builder *b, ir_op loop, const tiles_index *all);
/* The first trip of the loop that has the index, and the one behind the last. */
ir_value tiles_first(ir_builder *b, const tiles_index *index);
ir_value tiles_trips(ir_builder *b, const tiles_index *index);
/* The place of a trip's slot: a number of slots from the first on. */
ir_value tiles_slot_at(const tiles_stream *s, ir_builder *b, ir_value trip);
bool tiles_next_trip(tiles_lowering *t, ir_builder *b, size_t first);
/* Behind the loop's own block. */
void tiles_end_trip(const tiles_lowering *t, ir_builder *b, size_t first);
/* All copies have arrived, and all threads have met. */
void tiles_meet(ir_builder *b);
/* The slot of the present trip, of a load that is on its way ahead; NULL: it is none. */
const tiles_stream *tiles_stream_of(const tiles_lowering *t, ir_op load);

/* from_tiles_loader.c: may a loader copy what a loop repeats that begins here? */
bool tiles_may_fetch(const tiles_lowering *t, const ir_builder *b);
/* ... and can it, all streams from the first on, which have no slots yet? */
bool tiles_are_fetched(const tiles_lowering *t, const ir_builder *b, size_t first);
/* Begins it, in slots that nothing else uses; the last of t->indices is the loop's. */
bool tiles_open_loader(tiles_lowering *t, ir_builder *b, size_t first, const tiles_index *all);
/* A trip's slots, from its beginning to its end. */
void tiles_wait_for_slots(tiles_lowering *t, ir_builder *b, size_t first);
void tiles_free_slots(const tiles_lowering *t, ir_builder *b, size_t first);

/* Copies the tile of a load that no trip is ahead of. False, with nothing done: it cannot be
 * copied as it lies, or is not to be. */
bool tiles_copy_now(tiles_lowering *t, ir_builder *b, ir_op load, const tiles_view *far,
                    tiles_view *out);

/* from_tiles_parts.c: how an f32 becomes parts of a narrow type, whose products with that type are
 * added as one. */
enum { TILES_PARTS = 3 };
typedef struct tiles_parting {
    dtype to;
    int opcode; /* that makes a part of what the parts before it leave */
    int count;
    bool of_weights;         /* numbers from 0 to 1 alone */
    uint32_t scale, unscale; /* f32: factors of the number and of the sum of products; 0: none */
} tiles_parting;

/* That of a left factor of the graph; NULL: it has none, or needs none. */
const tiles_parting *tiles_parting_of(const tiles_lowering *t, ir_value left, dtype right,
                                      dtype sum);
/* Makes parts of x, which is `of` in registers. */
void tiles_part(const tiles_lowering *t, ir_builder *b, const tiles_parting *p, ir_value of,
                ir_value x, ir_value parts[TILES_PARTS]);
/* The sum of products of such parts; p may be NULL. */
ir_value tiles_unscaled(ir_builder *b, const tiles_parting *p, ir_value sum);

bool tiles_lower_block(tiles_lowering *t, ir_builder *b, ir_block block);
/* from_tiles_load.c: tessera.load and tessera.give. */
bool tiles_lower_load(tiles_lowering *t, ir_builder *b, ir_op op);
bool tiles_lower_give(tiles_lowering *t, ir_builder *b, ir_op op);
/* from_tiles_loop.c: tessera.for. */
bool tiles_lower_loop(tiles_lowering *t, ir_builder *b, ir_op op);
/* from_tiles_value.c: an operation whose results are in registers. */
bool tiles_lower_value(tiles_lowering *t, ir_builder *b, ir_op op);
/* from_tiles_dot.c: the unit that multiplies these whole tiles and reads the right one, or both,
 * from memory by itself; NULL: there is none. */
const mma_unit *tiles_stage_unit(const tiles_lowering *t, ir_op product);
/* The wider type in which a unit reads both factors, beyond strict; DTYPE_NONE: it is their own. */
dtype tiles_read_as(const tiles_lowering *t, ir_op product);
/* A product of two tiles. */
bool tiles_lower_product(tiles_lowering *t, ir_builder *b, ir_op op);

#endif
