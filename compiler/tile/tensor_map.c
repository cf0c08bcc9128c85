/* tensor_map.c - see tensor_map.h. Limits: CUDA Driver API, "Tensor Map Object Managment". */
#include "tile/tensor_map.h"

#include <string.h>

#include "tile/swizzle.h"

enum { BOX_MOST = 256, STRIDE_UNIT = 16 };
static const int64_t most_extent = INT64_C(1) << 32, most_stride = INT64_C(1) << 40;

/* All elements of an argument; 0: they are not a number. */
static int64_t elements_of(const ir_module *m, uint32_t argument) {
    ir_attr shapes = ir_op_attr(m, ir_module_kernel(m), "shapes");
    const ir_attr_data *dims = ir_attr_get(m, ir_attr_get(m, shapes)->items[argument]);
    int64_t count = 1;
    for (uint32_t i = 0; i < dims->count; i++) {
        const ir_attr_data *d = ir_attr_get(m, dims->items[i]);
        count *= d->kind == IR_ATTR_INT ? d->integer : 0;
    }
    return count;
}

static bool is_valid(const tensor_map *map) {
    int64_t size = (int64_t)dtype_size(map->element);
    bool valid = swizzle_of_unit(map->box[0] * size) && map->box[0] > 0;
    for (uint32_t i = 0; i < map->rank; i++) {
        int64_t stride = map->strides[i] * size;
        valid &= map->box[i] > 0 && map->box[i] <= BOX_MOST && map->dims[i] > 0 &&
                 map->dims[i] <= most_extent;
        valid &= i == 0 || (stride % STRIDE_UNIT == 0 && stride > 0 && stride < most_stride);
    }
    return valid && map->box[0] <= map->dims[0];
}

bool tensor_map_of(const ir_module *m, ir_op fetch, tensor_map *out) {
    const ir_op_data *d = ir_op_get(m, fetch);
    const ir_value_data *from = ir_value_get(m, d->operands[2]);
    int64_t row = ir_op_int(m, fetch, "from_stride", 0), rows = ir_op_int(m, fetch, "rows", 0),
            blocks = ir_op_int(m, fetch, "blocks", 1),
            apart = ir_op_int(m, fetch, "block_stride", 0), columns;
    columns = ir_op_int(m, fetch, "columns", 0);
    if (from->op || from->block != ir_op_block(m, ir_module_kernel(m), 0) || row <= 0 || rows <= 0)
        return false;
    int64_t all = elements_of(m, from->index) / row;
    *out = (tensor_map){from->index, ir_type_of(m, d->operands[2])->element,
                        2,           {row, all},
                        {1, row},    {columns, rows}};
    if (blocks > 1) {
        if (apart <= 0 || apart % (rows * row) != 0)
            return false;
        int64_t between = apart / (rows * row);
        *out = (tensor_map){out->argument,
                            out->element,
                            4,
                            {row, rows, between, all / (rows * between)},
                            {1, row, rows * row, apart},
                            {columns, rows, 1, blocks}};
    }
    return is_valid(out);
}

static bool is_same(const tensor_map *x, const tensor_map *y) {
    return x->argument == y->argument && x->element == y->element && x->rank == y->rank &&
           memcmp(x->dims, y->dims, sizeof x->dims) == 0 &&
           memcmp(x->strides, y->strides, sizeof x->strides) == 0 &&
           memcmp(x->box, y->box, sizeof x->box) == 0;
}

static uint32_t place_of(const tensor_map *maps, uint32_t count, const tensor_map *map) {
    uint32_t i = 0;
    while (i < count && !is_same(&maps[i], map))
        i++;
    return i;
}

uint32_t tensor_map_list(const ir_module *m, ir_op phase, tensor_map maps[TENSOR_MAPS_MOST]) {
    uint32_t count = 0;
    for (ir_walk w = ir_walk_op(m, phase); ir_walk_next(&w);) {
        tensor_map map;
        if (ir_op_get(m, w.op)->opcode == TILE_FETCH && tensor_map_of(m, w.op, &map) &&
            count < TENSOR_MAPS_MOST && place_of(maps, count, &map) == count)
            maps[count++] = map;
    }
    return count;
}

uint32_t tensor_map_number(const ir_module *m, ir_op phase, ir_op fetch) {
    tensor_map maps[TENSOR_MAPS_MOST], map = {0};
    uint32_t count = tensor_map_list(m, phase, maps);
    tensor_map_of(m, fetch, &map);
    return place_of(maps, count, &map);
}

int tile_loaders(const ir_module *m) {
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == TILE_LOADER)
            return simt_loaders_beside(ir_op_int(m, ir_module_kernel(m), "threads", SIMT_GROUP));
    return 0;
}
