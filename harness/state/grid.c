/* grid.c - see grid.h. */
#include "state/grid.h"

int64_t grid_count(const state_grid *g) {
    int64_t all = 1;
    for (int d = 0; d < g->rank; d++)
        all *= g->shards[d];
    return all;
}

void grid_shard_dims(const state_grid *g, int64_t out[TENSOR_MAX_RANK]) {
    for (int d = 0; d < g->rank; d++)
        out[d] = g->dims[d] / g->shards[d];
}

/* Its number along each dimension. */
static void numbers_of(const state_grid *g, int64_t shard, int64_t out[TENSOR_MAX_RANK]) {
    for (int d = g->rank - 1; d >= 0; d--) {
        out[d] = shard % g->shards[d];
        shard /= g->shards[d];
    }
}

void grid_shard_name(const state_grid *g, const char *name, int64_t shard, text *out) {
    int64_t at[TENSOR_MAX_RANK];
    numbers_of(g, shard, at);
    text_append(out, name);
    for (int d = 0; d < g->rank && grid_count(g) > 1; d++) {
        text_append(out, d ? "," : "@");
        text_append_integer(out, at[d]);
    }
}

/* The shards of one dimension that a part has, and where this one is among them; false: not there.
 * Axes along which all ranks have everything are not among the spans, so one step of the innermost
 * span is some shards. */
static bool place_along(const shard_part *part, uint32_t d, int64_t shard, int64_t shards,
                        shard_span *out) {
    const uint32_t axes = part ? part->axes[d] : 0;
    int64_t steps = 1, own = 0, scale = 1, count = 1;
    for (uint32_t i = 0; i < axes; i++)
        steps *= part->spans[d][i].total;
    const int64_t each = shards / steps;
    int64_t step = shard / each;
    for (uint32_t i = axes; i-- > 0; step /= part->spans[d][i].total) {
        const shard_span *s = &part->spans[d][i];
        const int64_t digit = step % s->total - s->first;
        if (digit < 0 || digit >= s->count)
            return false;
        own += digit * scale;
        scale *= s->count;
        count *= s->count;
    }
    *out = (shard_span){own * each + shard % each, 1, count * each};
    return true;
}

bool grid_place(const state_grid *g, const shard_part *part, int64_t shard, shard_part *out) {
    int64_t at[TENSOR_MAX_RANK];
    bool there = true;
    numbers_of(g, shard, at);
    *out = (shard_part){.element_bytes = (uint32_t)dtype_size(g->type), .rank = (uint32_t)g->rank};
    for (int d = 0; d < g->rank && there; d++) {
        shard_span *s = &out->spans[d][0];
        there = place_along(part, (uint32_t)d, at[d], g->shards[d], s);
        out->axes[d] = 1;
        out->dims[d] = g->dims[d] / g->shards[d];
        out->whole[d] = out->dims[d] * s->total;
    }
    return there;
}
