/* check.c - hardware beside the model: check.h. */
#include "check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "parallel.h"
#include "ptx.h"
#include "record.h"

enum { BATCH_BYTES = 1 << 26, QUADS = 4, RECORDED_TILES = 440, RECIPES_MAX = 64 };

/* One operand's bytes on both sides; each block's together. */
typedef struct side {
    size_t block_bytes;
    unsigned char *host;
    device_address device;
} side;

/* Working memory of one thread of the host. */
typedef struct scratch {
    tile tiles[QUADS];
    matrix_factors rows[TILE_MAX_M], columns[TILE_MAX_N];
    uint64_t d[TILE_MAX_M][TILE_MAX_N];
} scratch;

typedef struct batch {
    const instruction *i;
    side a, b, c, d;
    size_t groups; /* of threads that work on one instruction together */
    uint64_t first_tile;
    scratch *scratch;
    pthread_mutex_t lock;
    uint64_t mismatches, mismatch_tile;
    record mismatch; /* of the mismatching tile with the least index */
    struct {
        char recipe[32];
        uint64_t mismatches;
    } by_recipe[RECIPES_MAX];
} batch;

static int groups_per_block(const instruction *i) {
    return PTX_BLOCK_THREADS / instruction_threads(i);
}

static void put(unsigned char *bytes, const binary_format *format, uint64_t code) {
    memcpy(bytes, &code, (size_t)format->storage_bits / 8);
}

static uint64_t get(const unsigned char *bytes, const binary_format *format) {
    uint64_t code = 0;
    memcpy(&code, bytes, (size_t)format->storage_bits / 8);
    return code;
}

/* Finds the elements of one thread's registers. */
static unsigned char *registers_of(const side *s, const batch *x, size_t group, int thread) {
    size_t each = s->block_bytes / PTX_BLOCK_THREADS, threads = (size_t)instruction_threads(x->i);
    return s->host + (group * threads + (size_t)thread) * each;
}

static void pack_shared(unsigned char *image, const binary_format *format,
                        const uint64_t codes[][MATRIX_UNIT_MAX_K], int lines,
                        const instruction *i) {
    for (int step = 0; step < i->chain; step++)
        for (int line = 0; line < lines; line++)
            for (int k = 0; k < i->k; k++)
                put(image + step * lines * 32 + instruction_shared_byte(format, line, k), format,
                    codes[line][step * i->k + k]);
}

static void pack_a(batch *x, const tile *tiles, size_t group) {
    const instruction *i = x->i;
    if (i->a_shared) {
        pack_shared(x->a.host + group * x->a.block_bytes, i->a, tiles->a, i->m, i);
        return;
    }
    int size = i->a->storage_bits / 8, elements = instruction_a_bytes(i) / size;
    for (int thread = 0; thread < instruction_threads(i); thread++)
        for (int e = 0; e < elements * i->chain; e++) {
            place p = instruction_a_place(i, thread, e % elements);
            put(registers_of(&x->a, x, group, thread) + e * size, i->a,
                tiles[p.tile].a[p.row][e / elements * i->k + p.column]);
        }
}

static void pack_b(batch *x, const tile *tiles, size_t group) {
    const instruction *i = x->i;
    if (i->unit == UNIT_WGMMA) {
        pack_shared(x->b.host + group * x->b.block_bytes, i->b, tiles->b, i->n, i);
        return;
    }
    int size = i->b->storage_bits / 8;
    for (int thread = 0; thread < instruction_threads(i); thread++)
        for (int e = 0; e < instruction_b_bytes(i) / size; e++) {
            place p = instruction_b_place(i, thread, e);
            put(registers_of(&x->b, x, group, thread) + e * size, i->b,
                tiles[p.tile].b[p.column][p.row]);
        }
}

static void pack_c(batch *x, const tile *tiles, size_t group) {
    int size = x->i->c->storage_bits / 8;
    for (int thread = 0; thread < instruction_threads(x->i); thread++)
        for (int e = 0; e < instruction_c_bytes(x->i) / size; e++) {
            place p = instruction_c_place(x->i, thread, e);
            uint64_t code = tiles[p.tile].c[p.row][p.column];
            /* Fills the accumulator with what must not be seen, where c takes no part. */
            put(registers_of(&x->c, x, group, thread) + e * size, x->i->c,
                x->i->without_c ? 0x7bu : code);
        }
}

static void fill_tiles(const batch *x, tile *tiles, size_t group) {
    size_t each = (size_t)instruction_tiles(x->i);
    for (size_t t = 0; t < each; t++)
        tile_fill(&tiles[t], x->i, x->first_tile + group * each + t);
}

static void pack_group(void *context, size_t worker, size_t group) {
    batch *x = context;
    tile *tiles = x->scratch[worker].tiles;
    fill_tiles(x, tiles, group);
    pack_a(x, tiles, group);
    pack_b(x, tiles, group);
    pack_c(x, tiles, group);
}

/* Tile `which` of a group's results, in rows. */
static void unpack_d(const batch *x, size_t group, int which, uint64_t d[TILE_MAX_M][TILE_MAX_N]) {
    int size = x->i->c->storage_bits / 8;
    for (int thread = 0; thread < instruction_threads(x->i); thread++)
        for (int e = 0; e < instruction_c_bytes(x->i) / size; e++) {
            place p = instruction_c_place(x->i, thread, e);
            if (p.tile == which)
                d[p.row][p.column] = get(registers_of(&x->d, x, group, thread) + e * size, x->i->c);
        }
}

static record record_of(const instruction *i, const tile *t,
                        const uint64_t d[TILE_MAX_M][TILE_MAX_N], int row, int column) {
    record r = {.instruction = i, .result = d[row][column], .c = t->c[row][column]};
    snprintf(r.recipe, sizeof r.recipe, "%s", t->recipe);
    memcpy(r.a, t->a[row], sizeof r.a);
    memcpy(r.b, t->b[column], sizeof r.b);
    return r;
}

static void note_mismatches(batch *x, uint64_t index, uint64_t count, const record *first) {
    pthread_mutex_lock(&x->lock);
    if (!x->mismatches || index < x->mismatch_tile)
        x->mismatch = *first, x->mismatch_tile = index;
    x->mismatches += count;
    size_t r = 0;
    while (x->by_recipe[r].recipe[0] && strcmp(x->by_recipe[r].recipe, first->recipe) != 0)
        r++;
    memcpy(x->by_recipe[r].recipe, first->recipe, sizeof first->recipe);
    x->by_recipe[r].mismatches += count;
    pthread_mutex_unlock(&x->lock);
}

static void compare_tile(batch *x, scratch *s, const tile *t, uint64_t index) {
    const instruction *i = x->i;
    uint64_t count = 0;
    record first = {0};
    for (int row = 0; row < i->m; row++)
        matrix_factors_decode(&s->rows[row], i->model, i->a, t->a[row], (size_t)tile_k(i));
    for (int column = 0; column < i->n; column++)
        matrix_factors_decode(&s->columns[column], i->model, i->b, t->b[column], (size_t)tile_k(i));
    for (int row = 0; row < i->m; row++)
        for (int column = 0; column < i->n; column++) {
            uint64_t expected =
                matrix_unit_dot(i->model, &s->rows[row], &s->columns[column], t->c[row][column]);
            if (expected != s->d[row][column] && !count++)
                first = record_of(i, t, s->d, row, column);
        }
    if (count)
        note_mismatches(x, index, count, &first);
}

static void compare_group(void *context, size_t worker, size_t group) {
    batch *x = context;
    scratch *s = &x->scratch[worker];
    fill_tiles(x, s->tiles, group);
    for (int t = 0; t < instruction_tiles(x->i); t++) {
        unpack_d(x, group, t, s->d);
        compare_tile(x, s, &s->tiles[t],
                     x->first_tile + group * (size_t)instruction_tiles(x->i) + (size_t)t);
    }
}

/* One element of each of the first tiles. */
static void record_tiles(const batch *x, FILE *file) {
    scratch *s = x->scratch;
    size_t each = (size_t)instruction_tiles(x->i);
    for (size_t group = 0; group < x->groups && group * each < RECORDED_TILES; group++) {
        fill_tiles(x, s->tiles, group);
        for (size_t t = 0; t < each; t++) {
            unpack_d(x, group, (int)t, s->d);
            int element = (int)(group * each + t) * 7;
            record r =
                record_of(x->i, &s->tiles[t], s->d, element % x->i->m, element / x->i->m % x->i->n);
            record_write(file, &r);
        }
    }
}

static void side_allocate(side *s, size_t block_bytes, size_t blocks) {
    s->block_bytes = block_bytes;
    s->host = malloc(block_bytes * blocks + 1);
    if (!s->host)
        abort();
    s->device = cuda_allocate(block_bytes * blocks);
}

static void side_release(side *s) {
    free(s->host);
    CUDA_CHECK(cuda.cuMemFree_v2(s->device));
}

static void allocate_sides(batch *x, size_t blocks) {
    const instruction *i = x->i;
    size_t chain = (size_t)i->chain;
    size_t a = (size_t)(i->a_shared ? instruction_a_shared_bytes(i)
                                    : PTX_BLOCK_THREADS * instruction_a_bytes(i));
    size_t b = (size_t)(i->unit == UNIT_WGMMA ? instruction_b_shared_bytes(i)
                                              : PTX_BLOCK_THREADS * instruction_b_bytes(i));
    size_t c = (size_t)(PTX_BLOCK_THREADS * instruction_c_bytes(i));
    side_allocate(&x->a, a * chain, blocks);
    side_allocate(&x->b, b * chain, blocks);
    side_allocate(&x->c, c, blocks);
    side_allocate(&x->d, c, blocks);
}

static void run_batch(batch *x, cuda_function function, size_t blocks) {
    x->groups = blocks * (size_t)groups_per_block(x->i);
    parallel_for(x->groups, pack_group, x);
    const side *in[] = {&x->a, &x->b, &x->c};
    for (size_t s = 0; s < 3; s++)
        CUDA_CHECK(cuda.cuMemcpyHtoD_v2(in[s]->device, in[s]->host, in[s]->block_bytes * blocks));
    CUDA_CHECK(cuda.cuMemsetD8_v2(x->d.device, 0x55, x->d.block_bytes * blocks));
    void *arguments[] = {&x->a.device, &x->b.device, &x->c.device, &x->d.device};
    CUDA_CHECK(cuda.cuLaunchKernel(function, (unsigned)blocks, 1, 1, PTX_BLOCK_THREADS, 1, 1, 0,
                                   NULL, arguments, NULL));
    CUDA_CHECK(cuda.cuCtxSynchronize());
    CUDA_CHECK(cuda.cuMemcpyDtoH_v2(x->d.host, x->d.device, x->d.block_bytes * blocks));
    parallel_for(x->groups, compare_group, x);
}

static void print_mismatches(batch *x) {
    for (size_t r = 0; x->by_recipe[r].recipe[0]; r++)
        printf("    %s: %" PRIu64 " mismatches\n", x->by_recipe[r].recipe,
               x->by_recipe[r].mismatches);
    if (!x->mismatches)
        return;
    printf("    first, tile %" PRIu64 ": model %" PRIx64 ", instruction recipe result c a b:\n    ",
           x->mismatch_tile, record_model(&x->mismatch, x->i->model));
    record_write(stdout, &x->mismatch);
}

check_result check_instruction(const instruction *i, uint64_t tiles, FILE *record_file) {
    static char text[PTX_BYTES];
    batch x = {.i = i, .scratch = malloc(parallel_workers() * sizeof(scratch))};
    if (!x.scratch)
        abort();
    pthread_mutex_init(&x.lock, NULL);
    ptx_of_instruction(i, text);
    cuda_module module;
    cuda_function function = cuda_assemble(text, "tiles", &module);
    size_t block_tiles = (size_t)(groups_per_block(i) * instruction_tiles(i));
    size_t c_bytes = (size_t)(PTX_BLOCK_THREADS * instruction_c_bytes(i));
    size_t most = BATCH_BYTES / c_bytes, blocks = (size_t)((tiles + block_tiles - 1) / block_tiles);
    allocate_sides(&x, blocks < most ? blocks : most);
    for (size_t done = 0; done < blocks; done += most) {
        x.first_tile = done * block_tiles;
        run_batch(&x, function, blocks - done < most ? blocks - done : most);
        if (record_file && done == 0)
            record_tiles(&x, record_file);
    }
    check_result result = {blocks * block_tiles, blocks * block_tiles * (size_t)(i->m * i->n),
                           x.mismatches};
    printf("%-44s %-18s %9" PRIu64 " tiles %12" PRIu64 " elements %10" PRIu64 " mismatches\n",
           i->name, i->model->name, result.tiles, result.elements, result.mismatches);
    print_mismatches(&x);
    fflush(stdout);
    side_release(&x.a), side_release(&x.b), side_release(&x.c), side_release(&x.d);
    CUDA_CHECK(cuda.cuModuleUnload(module));
    pthread_mutex_destroy(&x.lock);
    free(x.scratch);
    return result;
}
