/* dot_tiles.c - register tiles and blocks of a contraction: what registers and caches of a core
 * hold, and what keeps all threads busy. */
#include "schedule/contraction.h"
#include "schedule/cpu/cpu.h"
#include "schedule/integers.h"

/* Trips that are fetched ahead where steps lie side by side: a line or so of each column. The
 * second cache takes more of them at once than the first does: many cores read twice as fast so,
 * and none much slower. Into the first, if that is asked for, go fewer of columns that are whole
 * pages apart, which share its sets, and of less than 32 bits, which take longer to compute than to
 * read. */
enum { TURNED_PREFETCH = 8, TURNED_NEAR_PREFETCH = 4, SET_SPAN_BYTES = 4096 };

/* Rows of the right side that are fetched ahead, where rows of the left one are few. */
enum { NEAR_PREFETCH = 16, FAR_PREFETCH = 48 };

/* Vectors of sums, of 32 registers. */
enum { MOST_SUMS = 24 };

/* Steps of a trip: more than one, as counting them takes issue slots of some cores' multipliers. */
enum { TRIP_STEPS = 4 };

/* A strip of few rows: its steps, and those of long rows that share sets of the first cache, where
 * many cores have no more ways; the vectors of a tile, the sums that stay in the first cache
 * between strips, and the least run of a row that memory fetches well. */
enum { STRIP_STEPS = 16, SHARED_STRIP_STEPS = 8, STRIP_VECTORS = 4 };
enum { STRIP_SUMS_BYTES = 16384, STRIP_RUN_BYTES = 8192 };

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

/* Have all right sides so few elements that to compile long trips takes longer than they save? */
static bool is_small(const contraction *c) {
    enum { FEW_ELEMENTS = 65536 };
    int64_t sides = contraction_sizes(c, SIZES_CORE_BLOCK).around;
    return contraction_has_known_size(c) &&
           sides * c->shape.columns * c->shape.steps <= FEW_ELEMENTS;
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

/* Do places of rhs along an axis fall on the same sets of the first cache? */
static bool shares_sets(const contraction *c, contraction_axis axis) {
    ir_dim stride = contraction_along(c, &c->rhs.access, axis);
    int64_t bytes = (int64_t)dtype_size(contraction_element(c, c->rhs.buffer));
    return !ir_dim_is_static(stride) || stride * bytes % SET_SPAN_BYTES == 0;
}

/* Finds what the source says of the right side; NULL: nothing. */
static const setting *fetched(const contraction *c) {
    const setting *one = scheduler_fetch(c->s, false);
    return one && (c->exchanged ? one->of_left : one->of_right) ? one : NULL;
}

/* Is the first cache what is fetched into? Of steps side by side a workgroup's memory is, too. */
static bool fetches_near(const contraction *c) {
    const setting *asked = fetched(c);
    return asked && (c->turned ? asked->into != FETCH_L2 : asked->into == FETCH_L1);
}

/* Steps ahead: `best`, or as the source says, where `usual` is far enough to be of use. */
static int64_t distance(const contraction *c, int64_t best, int64_t usual) {
    const setting *asked = fetched(c);
    if (!asked)
        return best;
    scheduler_use_fetch(c->s);
    return !asked->overlaps ? 0 : best ? best : usual;
}

static int64_t turned_prefetch(const contraction *c) {
    int64_t bytes = (int64_t)dtype_size(contraction_element(c, c->rhs.buffer));
    return !c->near || (!shares_sets(c, AXIS_N) && bytes >= 4) ? TURNED_PREFETCH
                                                               : TURNED_NEAR_PREFETCH;
}

void cpu_turned_tile(contraction *c) {
    c->turned = true;
    c->near = fetches_near(c);
    c->tiles.nr = tile_number(c->s, c->s->target->vector_lanes);
    c->tiles.unroll = scheduler_int(c->s, turned_steps(c));
    c->tiles.prefetch = scheduler_int(c->s, distance(c, turned_prefetch(c), 0));
}

/* Few rows by a right side that has its columns side by side and is read as it lies. */
static bool has_strips(const contraction *c) {
    return c->shape.rows <= FEW_ROWS && ir_dim_is_static(c->shape.m) &&
           contraction_has_known_size(c) && c->rhs.packing == PACK_NOT && !c->group &&
           c->counts.of == COUNTS_NONE && c->order != ORDER_PAIRS512 &&
           contraction_along(c, &c->rhs.access, AXIS_N) == 1;
}

/* Rows of rhs that are read side by side: all of them are streams of memory. Few sums are soon
 * fetched again for the next ones. */
static int64_t strip_steps(const contraction *c) {
    int64_t bytes = (int64_t)dtype_size(contraction_element(c, c->rhs.buffer));
    int64_t run = c->shape.columns / c->s->target->threads * bytes;
    bool shared = c->shape.rows <= FAR_PREFETCH_ROWS && run >= STRIP_RUN_BYTES;
    return shared && shares_sets(c, AXIS_K) ? SHARED_STRIP_STEPS : STRIP_STEPS;
}

/* Steps of a strip: whole rows of rhs are read one after the other, as memory has them, where they
 * are longer than what registers hold of them. */
static void choose_strip(contraction *c) {
    c->tiles.strip = (tile_size){0};
    if (!has_strips(c))
        return;
    bool worth = c->shape.columns > STRIP_COLUMNS && c->shape.steps > STRIP_STEPS &&
                 contraction_whole_steps(c, STRIP_STEPS) > 1;
    int64_t asked = scheduler_parameter(c->s, IN_DOT, STRIP, worth ? strip_steps(c) : 0, NULL);
    int64_t steps = asked ? contraction_whole_steps(c, asked) : 0;
    if (steps && steps < c->shape.steps)
        c->tiles.strip = tile_number(c->s, steps);
}

static bool has_many_registers(const contraction *c) {
    return c->s->target->vector_registers >= 32;
}

/* A few rows are one tile, as wide as registers allow: rhs is read once, in long runs. */
static bool is_few(const contraction *c) {
    return c->shape.rows <= FEW_ROWS && (has_many_registers(c) || c->tiles.strip.size);
}

/* Is rhs turned over in registers? */
static bool turns(const contraction *c) {
    return c->turnable && c->rhs.packing == PACK_NOT;
}

static void choose_register_tile(contraction *c) {
    /* A tile fills as many registers whatever it sums: f64 takes two for the lanes of f32. */
    int64_t lanes = c->s->target->vector_lanes * 4 / (int64_t)dtype_size(c->element);
    bool few = is_few(c), turned = turns(c);
    int64_t rows = few || turned ? clamp(c->shape.rows, 1, FEW_ROWS) : CONTRACTION_TILE_ROWS;
    int64_t sums = has_many_registers(c) ? MOST_SUMS : MOST_SUMS / 2;
    int64_t vectors = turned                ? 1
                      : c->tiles.strip.size ? size_that_fits(STRIP_VECTORS, 1, rows, sums)
                      : few                 ? few_vectors(rows)
                                            : contraction_tile_vectors(c, rows);
    contraction_ask(c, MR, rows, &c->tiles.mr);
    contraction_ask(c, NR, vectors * lanes, &c->tiles.nr);
    if (c->group && c->tiles.nr.size % c->group != 0)
        contraction_refuse(c, "NR=%d is not a multiple of GROUP=%d", (int)c->tiles.nr.size,
                           (int)c->group);
}

/* One block of rows reads rhs once: long runs of it matter more than the cache. */
static int64_t block_columns(const contraction *c, int64_t rows) {
    int64_t nr = c->tiles.nr.size, size = (int64_t)dtype_size(c->element);
    if (turns(c)) /* all steps of its rows, one run of memory each, before the next */
        return nr;
    int64_t sums = STRIP_SUMS_BYTES / size / rows, run = STRIP_RUN_BYTES / size;
    if (c->tiles.strip.size)
        return round_up(sums > run ? sums : run, nr);
    if (c->rhs.packing == PACK_BLOCK && contraction_along(c, &c->rhs.access, AXIS_N) != 1)
        return 2 * nr; /* what is turned around is used while it is near */
    return (c->shape.rows <= rows ? 8 : 4) * nr * (has_many_registers(c) ? 1 : 2);
}

static void choose_block(contraction *c) {
    int64_t mr = c->tiles.mr.size, nr = c->tiles.nr.size, sizes[2];
    bool all = c->rhs.packing == PACK_BLOCK ? cpu_is_one_block(c) : c->shape.rows <= ONE_BLOCK_ROWS;
    int64_t block = all ? c->shape.rows : c->shape.rows < SMALL_BLOCKS_ROWS ? 16 * mr : 32 * mr;
    int64_t rows = round_up(clamp(block, 1, all ? INT64_MAX : ONE_BLOCK_ROWS), mr);
    int64_t columns = clamp(round_up(c->shape.columns, nr), nr, block_columns(c, rows));
    even_out(c, rows, columns, sizes);
    contraction_ask(c, BM, sizes[0], &c->tiles.bm);
    contraction_ask(c, BN, sizes[1], &c->tiles.bn);
}

static int64_t best_trip(const contraction *c) {
    int64_t group = c->group ? c->group : 1;
    return turns(c)              ? turned_steps(c)
           : c->tiles.strip.size ? c->tiles.strip.size
                                 : TRIP_STEPS * group;
}

/* No trip has a remainder, or a part of a group; where counts end the loop, a trip is one step. */
static int64_t choose_trip(contraction *c) {
    int64_t strip = c->tiles.strip.size, group = c->group ? c->group : 1, unroll = 1;
    if (c->counts.of != COUNTS_STEPS) {
        unroll = scheduler_parameter(c->s, IN_DOT, UNROLL, best_trip(c), NULL);
        c->turned = turns(c) && unroll > 1;
        if (unroll % group != 0 && (turns(c) || unroll > group))
            contraction_refuse(c, "UNROLL=%d is not a multiple of GROUP=%d", (int)unroll,
                               (int)group);
    }
    if (!c->turned)
        unroll = strip                          ? greatest_divisor(strip, unroll)
                 : ir_dim_is_static(c->shape.k) ? contraction_whole_steps(c, unroll)
                                                : 1;
    if (!c->turned && unroll % group != 0)
        unroll = 1; /* a group */
    c->tiles.unroll = scheduler_int(c->s, unroll);
    return unroll;
}

/* Steps that a right side is fetched ahead; of panels, a line of the next one with each step. */
static int64_t best_prefetch(const contraction *c, int64_t unroll) {
    if (c->turned)
        return distance(c, turned_prefetch(c), 0);
    int64_t rows = c->shape.rows > FAR_PREFETCH_ROWS ? FAR_PREFETCH : NEAR_PREFETCH;
    if (c->tiles.strip.size)
        return distance(c, 0, rows);
    return c->rhs.packing != PACK_NOT && !is_few(c) ? distance(c, unroll, unroll)
                                                    : distance(c, is_few(c) ? rows : 0, rows);
}

void cpu_dot_tiles(contraction *c) {
    choose_strip(c);
    choose_register_tile(c);
    choose_block(c);
    int64_t unroll = choose_trip(c);
    c->near = fetches_near(c);
    if ((!c->group || c->turned) && ir_dim_is_static(c->shape.n))
        scheduler_parameter(c->s, IN_DOT, PREFETCH, best_prefetch(c, unroll), &c->tiles.prefetch);
}
