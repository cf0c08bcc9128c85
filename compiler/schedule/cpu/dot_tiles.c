/* dot_tiles.c - register tiles and blocks of a contraction: what registers and caches of a core
 * hold, and what keeps all threads busy. */
#include "schedule/contraction.h"
#include "schedule/cpu/cpu.h"
#include "schedule/integers.h"

/* Trips that are fetched ahead where steps lie side by side: a line or so of each column. Columns
 * that are whole pages apart share sets of the first cache, and those of less than 32 bits take
 * longer to compute than to read: less of them is worth a place there, unless it goes past the
 * caches. */
enum { TURNED_PREFETCH = 8, TURNED_NEAR_PREFETCH = 4, SET_SPAN_BYTES = 4096 };

/* Vectors of sums, of 32 registers. */
enum { MOST_SUMS = 24 };

/* As many vectors as leave registers for the sums of `rows`, a power of two where rows are few: the
 * runs that a tile reads then begin where memory's do. */
static int64_t few_vectors(int64_t rows) {
    int64_t vectors = size_that_fits(16, 4, rows, MOST_SUMS);
    return vectors * rows > MOST_SUMS ? MOST_SUMS / FEW_ROWS : vectors;
}

/* The largest blocks, from those asked for down, that keep all threads busy; or those that come
 * nearest, of workgroups that are worth the wait for them. */
static void even_out(const contraction *c, int64_t rows, int64_t columns, int64_t *sizes) {
    size_search z = contraction_sizes(c, SIZES_CORE_BLOCK);
    int64_t steps = c->shape.steps, mr = c->tiles.mr.size, nr = c->tiles.nr.size;
    z.worth = steps ? (SMALLEST_WORKGROUP + steps - 1) / steps : INT64_MAX;
    z.dims[0] = (size_dim){c->shape.rows, rows, mr, mr};
    z.dims[1] = (size_dim){c->shape.columns, columns, nr, nr};
    size_search_run(&z, sizes);
}

/* Has the right side so few elements that to compile long trips takes longer than they save? */
static bool is_small(const contraction *c) {
    enum { FEW_ELEMENTS = 65536 };
    return ir_dim_is_static(c->shape.n) && ir_dim_is_static(c->shape.k) &&
           c->shape.columns * c->shape.steps <= FEW_ELEMENTS;
}

/* Steps of a block that is turned over in registers: a vector of each column, of 32 bits a lane; of
 * small ones some of its lanes. */
static int64_t turned_steps(const contraction *c) {
    int64_t bytes = (int64_t)dtype_size(contraction_element(c, c->rhs.buffer));
    int64_t steps = c->s->target->vector_lanes * (bytes < 4 ? 4 / bytes : 1);
    if (c->s->target->vector_lanes >= 16 && is_small(c))
        steps /= 4;
    return size_that_fits(steps, 1, 1, c->shape.steps);
}

static bool shares_sets(const contraction *c) {
    ir_dim stride = contraction_along(c, &c->rhs.access, AXIS_N);
    int64_t bytes = (int64_t)dtype_size(contraction_element(c, c->rhs.buffer));
    return !ir_dim_is_static(stride) || stride * bytes % SET_SPAN_BYTES == 0;
}

static bool is_read_once(const contraction *c) {
    int64_t bytes = (int64_t)dtype_size(contraction_element(c, c->rhs.buffer));
    bool known = ir_dim_is_static(c->shape.n) && ir_dim_is_static(c->shape.k);
    return c->turned && known && bytes >= 4 && shares_sets(c) &&
           c->shape.columns * c->shape.steps >= USUAL_CACHE_BYTES / bytes;
}

static int64_t turned_prefetch(const contraction *c) {
    int64_t bytes = (int64_t)dtype_size(contraction_element(c, c->rhs.buffer));
    return c->once || (!shares_sets(c) && bytes >= 4) ? TURNED_PREFETCH : TURNED_NEAR_PREFETCH;
}

void cpu_dot_tiles(contraction *c) {
    scheduler *s = c->s;
    /* A tile fills as many registers whatever it sums: f64 takes two for the lanes of f32. */
    int64_t lanes = s->target->vector_lanes * 4 / (int64_t)dtype_size(c->element);
    bool many = s->target->vector_registers >= 32;
    /* A few rows are one tile, as wide as registers allow: rhs is read once, in long runs. */
    bool few = many && c->shape.rows <= FEW_ROWS;
    bool turns = c->turnable && c->rhs.packing == PACK_NOT;
    int64_t tile_rows = few || turns ? clamp(c->shape.rows, 1, FEW_ROWS) : CONTRACTION_TILE_ROWS;
    int64_t vectors = turns ? 1
                      : few ? few_vectors(tile_rows)
                            : contraction_tile_vectors(c, tile_rows);
    contraction_ask(c, MR, tile_rows, &c->tiles.mr);
    contraction_ask(c, NR, vectors * lanes, &c->tiles.nr);
    if (c->group && c->tiles.nr.size % c->group != 0)
        contraction_refuse(c, "NR=%d is not a multiple of GROUP=%d", (int)c->tiles.nr.size,
                           (int)c->group);
    int64_t block = c->shape.rows <= ONE_BLOCK_ROWS     ? c->shape.rows
                    : c->shape.rows < SMALL_BLOCKS_ROWS ? 16 * c->tiles.mr.size
                                                        : 32 * c->tiles.mr.size;
    int64_t rows = round_up(clamp(block, 1, ONE_BLOCK_ROWS), c->tiles.mr.size);
    /* One block of rows reads rhs once: long runs of it matter more than the cache. */
    int64_t columns = (c->shape.rows <= rows ? 8 : 4) * c->tiles.nr.size * (many ? 1 : 2);
    if (turns) /* all steps of its rows, one run of memory each, before the next */
        columns = c->tiles.nr.size;
    columns = clamp(round_up(c->shape.columns, c->tiles.nr.size), c->tiles.nr.size, columns);
    int64_t sizes[2];
    even_out(c, rows, columns, sizes);
    contraction_ask(c, BM, sizes[0], &c->tiles.bm);
    contraction_ask(c, BN, sizes[1], &c->tiles.bn);
    /* No trip has a remainder; where counts end the loop, a trip is one step. */
    int64_t unroll =
        c->counts.of == COUNTS_STEPS || (c->group && !turns)
            ? 1
            : scheduler_parameter(s, IN_DOT, UNROLL, turns ? turned_steps(c) : 1, NULL);
    bool known = ir_dim_is_static(c->shape.k);
    c->turned = turns && unroll > 1;
    c->once = is_read_once(c);
    if (turns && c->group && unroll % c->group != 0)
        contraction_refuse(c, "UNROLL=%d is not a multiple of GROUP=%d", (int)unroll,
                           (int)c->group);
    c->tiles.unroll = scheduler_int(s, c->turned ? unroll
                                       : known   ? contraction_whole_steps(c, unroll)
                                                 : 1);
    if ((c->group && !c->turned) || !ir_dim_is_static(c->shape.n))
        c->tiles.prefetch = scheduler_int(s, 0);
    else
        scheduler_parameter(s, IN_DOT, PREFETCH,
                            c->turned ? turned_prefetch(c)
                            : few     ? (c->shape.rows > FAR_PREFETCH_ROWS ? 48 : 16)
                                      : c->rhs.packing != PACK_NOT,
                            &c->tiles.prefetch);
}
