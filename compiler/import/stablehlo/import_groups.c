/* import_groups.c - which devices work together: the four ways in which the specification of
 * StableHLO names groups of them, as places in the shards around an operation. */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import_shard.h"

/* ---- places ---- */

int64_t groups_places(const importer *im) {
    int64_t places = 1;
    for (uint32_t i = 0; i < im->shards.count; i++)
        places *= im->shards.axes[i].size;
    return places;
}

int64_t groups_stride(const importer *im, uint32_t axis) {
    int64_t stride = 1;
    for (uint32_t i = axis + 1; i < im->shards.count; i++)
        stride *= im->shards.axes[i].size;
    return stride;
}

/* The place of a device along the axes around; *rest: its number without them, which differs where
 * others have axes that are not around. -1: there is no such device. */
static int64_t place_of(const importer *im, int64_t device, int64_t *rest) {
    const import_shards *s = &im->shards;
    int64_t partition = device % s->partitions, place = 0;
    if (device < 0 || device >= s->replicas * s->partitions)
        return -1;
    for (int64_t i = 0; s->ids && i < s->partitions; i++)
        if (s->ids[i] == device % s->partitions)
            partition = i;
    *rest = device = device / s->partitions * s->partitions + partition;
    for (uint32_t i = 0; i < s->count; i++) {
        const int64_t at = device / s->axes[i].stride % s->axes[i].size;
        place = place * s->axes[i].size + at;
        *rest -= at * s->axes[i].stride;
    }
    return place;
}

/* ---- numbers of devices ---- */

typedef VEC(int64_t) number_list;

/* Names of devices in an operation: replicas in each partition, partitions in each replica,
 * replicas with all their partitions, or by one number. */
typedef enum group_mode {
    CROSS_REPLICA,
    CROSS_PARTITION,
    CROSS_REPLICA_AND_PARTITION,
    FLATTENED_IDS
} group_mode;

bool groups_flag(const shlo_op *op, const char *name) {
    const shlo_attr *a = shlo_op_attr(op, name);
    return a && (a->kind == SHLO_ATTR_UNIT || a->integer != 0);
}

static group_mode mode_of(const shlo_op *op) {
    const bool channel = shlo_op_int(op, "channel_id", 0) > 0;
    switch (op->info->opcode) {
    case SHLO_OP_ALL_TO_ALL:
    case SHLO_OP_COLLECTIVE_BROADCAST:
    case SHLO_OP_COLLECTIVE_PERMUTE:
        return channel ? CROSS_PARTITION : CROSS_REPLICA;
    default:
        return !channel                                   ? CROSS_REPLICA
               : groups_flag(op, "use_global_device_ids") ? FLATTENED_IDS
                                                          : CROSS_REPLICA_AND_PARTITION;
    }
}

/* The groups of devices that come of one row of the attribute. */
static void spread_row(const importer *im, group_mode mode, const int64_t *row, uint32_t count,
                       number_list *out, number_list *ends) {
    const int64_t replicas = im->shards.replicas, partitions = im->shards.partitions;
    const int64_t outer = mode == CROSS_REPLICA     ? partitions
                          : mode == CROSS_PARTITION ? replicas
                                                    : 1;
    const int64_t inner = mode == CROSS_REPLICA_AND_PARTITION ? partitions : 1;
    for (int64_t i = 0; i < outer; i++) {
        for (int64_t p = 0; p < inner; p++)
            for (uint32_t k = 0; k < count; k++)
                vec_push(out, mode == CROSS_REPLICA     ? row[k] * partitions + i
                              : mode == CROSS_PARTITION ? i * partitions + row[k]
                              : mode == FLATTENED_IDS   ? row[k]
                                                        : row[k] * partitions + p);
        vec_push(ends, (int64_t)out->count);
    }
}

static bool is_number(const importer *im, group_mode mode, int64_t id) {
    return id >= 0 && id < (mode == CROSS_PARTITION ? im->shards.partitions
                            : mode == FLATTENED_IDS ? im->shards.replicas * im->shards.partitions
                                                    : im->shards.replicas);
}

static bool no_device(importer *im, const shlo_op *op, group_mode mode, int64_t id) {
    return import_refuse(im, op,
                         "names %s %lld among several devices, and the program has %lld "
                         "(mhlo.num_replicas, mhlo.num_partitions)",
                         mode == CROSS_PARTITION ? "partition"
                         : mode == FLATTENED_IDS ? "device"
                                                 : "replica",
                         (long long)id,
                         (long long)(mode == CROSS_PARTITION ? im->shards.partitions
                                     : mode == FLATTENED_IDS
                                         ? im->shards.replicas * im->shards.partitions
                                         : im->shards.replicas));
}

/* The attribute's rows, each without the -1 that fill it up. No row is one of all. */
static bool read_rows(importer *im, const shlo_op *op, number_list *out, number_list *ends) {
    const shlo_attr *a = shlo_op_attr(op, "replica_groups");
    const group_mode mode = mode_of(op);
    const uint32_t count = shlo_ints(a, NULL, 0);
    const int64_t width = a && a->type && a->type->rank == 2 ? a->type->dims[1] : count ? count : 1;
    int64_t *ids =
        base_calloc((size_t)count + (size_t)im->shards.replicas * (size_t)im->shards.partitions + 1,
                    sizeof *ids);
    bool good = true;
    shlo_ints(a, ids, count);
    for (int64_t row = 0; width > 0 && row * width < count && good; row++) {
        uint32_t n = 0;
        int64_t *at = ids + row * width;
        while (n < width && at[n] != -1)
            n++;
        for (uint32_t k = 0; k < n && good; k++)
            good = is_number(im, mode, at[k]) || no_device(im, op, mode, at[k]);
        if (good)
            spread_row(im, mode, at, n, out, ends);
    }
    if (count == 0) {
        uint32_t n = 0;
        while (is_number(im, mode, n)) {
            ids[n] = n;
            n++;
        }
        spread_row(im, mode, ids, n, out, ends);
    }
    free(ids);
    return good;
}

/* ---- groups of places ---- */

void groups_release(device_groups *g) {
    free(g->members);
    free(g->group);
    free(g->position);
}

static bool crossing(importer *im, const shlo_op *op) {
    return import_refuse(im, op,
                         "its groups cross axes of the mesh that are not manual, or differ along "
                         "them");
}

/* One group: noted when it is met first, and the same along all other axes. */
static bool note_group(importer *im, const shlo_op *op, const int64_t *devices, int64_t count,
                       device_groups *g) {
    int64_t first_rest = 0, *row = g->members + (size_t)g->count * g->size;
    int64_t known = -2;
    for (int64_t k = 0; k < count; k++) {
        int64_t rest;
        const int64_t place = place_of(im, devices[k], &rest);
        if (place < 0)
            return no_device(im, op, FLATTENED_IDS, devices[k]);
        if (k == 0) {
            first_rest = rest;
            known = g->group[place];
        }
        if (rest != first_rest || g->group[place] != known ||
            (known >= 0 && (g->position[place] != k)))
            return known == -1 && rest == first_rest
                       ? import_refuse(im, op, "a device is in two groups")
                       : crossing(im, op);
        if (known >= 0)
            continue;
        for (int64_t i = 0; i < k; i++)
            if (row[i] == place)
                return import_refuse(im, op, "a device is in a group twice");
        row[k] = place;
    }
    for (int64_t k = 0; k < count && known == -1; k++) {
        g->group[row[k]] = g->count;
        g->position[row[k]] = k;
    }
    g->count += count > 0 && known == -1;
    return true;
}

static bool note_groups(importer *im, const shlo_op *op, const number_list *devices,
                        const number_list *ends, device_groups *g) {
    int64_t begin = 0, covered = 0, ordered = 0;
    for (size_t i = 0; i < ends->count; i++) {
        const int64_t size = ends->items[i] - begin;
        g->size = size > g->size ? (uint32_t)size : g->size;
        begin = ends->items[i];
    }
    g->members = base_malloc((ends->count * g->size + 1) * sizeof *g->members);
    for (size_t i = 0; i < ends->count * g->size; i++)
        g->members[i] = -1;
    begin = 0;
    for (size_t i = 0; i < ends->count; i++) {
        if (!note_group(im, op, devices->items + begin, ends->items[i] - begin, g))
            return false;
        begin = ends->items[i];
    }
    for (int64_t i = 0; i < g->places; i++)
        covered += g->group[i] >= 0;
    for (int64_t i = 0; i < (int64_t)g->count * g->size; i++)
        ordered += g->members[i] >= 0;
    g->uniform = covered == g->places && ordered == (int64_t)g->count * g->size;
    return true;
}

bool groups_read(importer *im, const shlo_op *op, device_groups *g) {
    number_list devices = {0}, ends = {0};
    *g = (device_groups){.places = groups_places(im)};
    g->group = base_malloc((size_t)g->places * sizeof *g->group);
    g->position = base_calloc((size_t)g->places, sizeof *g->position);
    for (int64_t i = 0; i < g->places; i++)
        g->group[i] = -1;
    const bool good = read_rows(im, op, &devices, &ends) && note_groups(im, op, &devices, &ends, g);
    vec_release(&devices);
    vec_release(&ends);
    return good;
}

/* Is a group all places along these axes, the last one first? */
static bool is_along(const importer *im, const device_groups *g, uint32_t group, uint32_t axes) {
    const int64_t *row = g->members + (size_t)group * g->size;
    for (int64_t k = 0; k < g->size; k++) {
        int64_t place = row[0], rest = k;
        for (uint32_t i = im->shards.count; i-- > 0;) {
            if (!(axes >> i & 1))
                continue;
            const int64_t size = im->shards.axes[i].size, stride = groups_stride(im, i);
            if (row[0] / stride % size != 0)
                return false;
            place += rest % size * stride;
            rest /= size;
        }
        if (row[k] != place)
            return false;
    }
    return true;
}

uint32_t groups_axes(const importer *im, const device_groups *g) {
    for (uint32_t axes = 1; g->uniform && axes < 1u << im->shards.count; axes++) {
        int64_t places = 1;
        bool all = true;
        for (uint32_t i = 0; i < im->shards.count; i++)
            places *= axes >> i & 1 ? im->shards.axes[i].size : 1;
        for (uint32_t i = 0; i < g->count && all; i++)
            all = places == g->size && is_along(im, g, i, axes);
        if (all)
            return axes;
    }
    return 0;
}

/* ---- pairs ---- */

/* Notes for a device the place that it gets from. */
static bool note_pair(importer *im, const shlo_op *op, int64_t from, int64_t to, int64_t *of) {
    int64_t rest_from, rest_to;
    const int64_t place = place_of(im, from, &rest_from);
    if (place < 0 || place_of(im, to, &rest_to) < 0)
        return no_device(im, op, FLATTENED_IDS, place < 0 ? from : to);
    if (rest_from != rest_to)
        return crossing(im, op);
    if (of[to] >= 0)
        return import_refuse(im, op, "two devices send to device %lld", (long long)to);
    of[to] = place;
    return true;
}

static bool read_pairs(importer *im, const shlo_op *op, int64_t *of) {
    const group_mode mode = mode_of(op);
    const shlo_attr *a = shlo_op_attr(op, "source_target_pairs");
    const uint32_t count = shlo_ints(a, NULL, 0) / 2 * 2;
    const int64_t replicas = im->shards.replicas, partitions = im->shards.partitions;
    int64_t *ids = base_calloc((size_t)count + 1, sizeof *ids);
    bool good = true;
    shlo_ints(a, ids, count);
    for (uint32_t k = 0; k < count && good; k++)
        good = is_number(im, mode, ids[k]) || no_device(im, op, mode, ids[k]);
    for (uint32_t k = 0; k < count && good; k += 2)
        for (int64_t i = 0; good && i < (mode == CROSS_REPLICA ? partitions : replicas); i++)
            good =
                mode == CROSS_REPLICA
                    ? note_pair(im, op, ids[k] * partitions + i, ids[k + 1] * partitions + i, of)
                    : note_pair(im, op, i * partitions + ids[k], i * partitions + ids[k + 1], of);
    free(ids);
    return good;
}

int64_t *groups_sources(importer *im, const shlo_op *op) {
    const int64_t places = groups_places(im), devices = im->shards.replicas * im->shards.partitions;
    int64_t *of = base_malloc((size_t)devices * sizeof *of),
            *sources = base_malloc((size_t)places * sizeof *sources), rest;
    for (int64_t i = 0; i < devices; i++)
        of[i] = -1;
    bool good = read_pairs(im, op, of);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < devices && good; i++) {
            const int64_t place = place_of(im, i, &rest);
            if (pass == 0 && rest == 0)
                sources[place] = of[i];
            else if (sources[place] != of[i] && pass)
                good = crossing(im, op);
        }
    free(of);
    if (good)
        return sources;
    free(sources);
    return NULL;
}
