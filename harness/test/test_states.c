/* test_states.c - states in parts: the shards of a rank's part lie where the part has them, and
 * what some ranks keep others take, each no more than it has. */
#include "harness/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/tensor.h"
#include "state/grid.h"
#include "state/part.h"
#include "state/part_file.h"

/* A matrix of 8 by 6, its rows along two axes of 2 shards, its columns along one of 3. */
static const state_grid grid = {DTYPE_I32, 2, {8, 6}, {4, 3}};

static shard_part part(int axes, shard_span first, shard_span second, shard_span columns) {
    shard_part p = {.element_bytes = 4, .rank = 2, .dims = {8, 6}, .whole = {8, 6}};
    p.axes[0] = (uint32_t)axes;
    p.spans[0][0] = first;
    p.spans[0][1] = second;
    p.axes[1] = columns.total > 1;
    p.spans[1][0] = columns;
    for (int i = 0; i < axes; i++)
        p.dims[0] = p.dims[0] * p.spans[0][i].count / p.spans[0][i].total;
    p.dims[1] = 6 * columns.count / columns.total;
    return p;
}

static const shard_span all = {0, 1, 1};

static void count(int32_t matrix[48]) {
    for (int i = 0; i < 48; i++)
        matrix[i] = i;
}

/* Shard by shard, a part has what is cut out of it at once. */
static void holds_its_shards(const shard_part *p, int shards) {
    int32_t whole[48], own[48] = {0}, other[48] = {0}, shard[4];
    int found = 0;
    count(whole);
    part_take(p, whole, own);
    for (int64_t s = 0; s < grid_count(&grid); s++) {
        shard_part in_part, in_whole;
        if (!grid_place(&grid, p, s, &in_part))
            continue;
        found++;
        assert_true(grid_place(&grid, NULL, s, &in_whole));
        assert_int_equal(part_whole_bytes(&in_part), part_bytes(p));
        part_take(&in_whole, whole, shard);
        part_put(&in_part, shard, other);
    }
    assert_int_equal(found, shards);
    assert_memory_equal(own, other, part_bytes(p));
}

static void shards_lie_in_parts(void **state) {
    (void)state;
    const shard_part parts[] = {
        part(0, all, all, all),
        part(2, (shard_span){1, 1, 2}, (shard_span){0, 1, 2}, (shard_span){1, 2, 3}),
        part(2, (shard_span){0, 2, 2}, (shard_span){1, 1, 2}, all),
        part(1, (shard_span){1, 1, 2}, all, (shard_span){2, 1, 3}), /* one axis has one rank */
    };
    const int shards[] = {12, 2, 6, 2};
    for (size_t i = 0; i < 4; i++)
        holds_its_shards(&parts[i], shards[i]);
}

static void shards_have_names(void **state) {
    (void)state;
    const state_grid one = {DTYPE_F32, 1, {5}, {1}};
    text name;
    text_init(&name);
    grid_shard_name(&grid, "w", 7, &name);
    grid_shard_name(&one, "/b", 0, &name);
    assert_string_equal(name.data, "w@2,1/b");
    text_release(&name);
}

/* ---- through a file ---- */

static bool read_own(void *context, uint32_t input, void *to, status *st) {
    (void)st;
    assert_int_equal(input, 3);
    memcpy(to, context, 16);
    return true;
}

static bool write_own(void *context, uint32_t input, const void *from, status *st) {
    (void)st;
    assert_int_equal(input, 3);
    memcpy(context, from, 8);
    return true;
}

static const char metadata[] = "\"metadata\": {\"step\": \"4\"}";

/* Two shards of two elements each are kept; a rank that has one of them. */
static void take_one(const char *path, const char *name, const char *hash, int32_t *to,
                     status *st) {
    const part_buffers own = {read_own, write_own, to};
    text order;
    text_init(&order);
    text_printf(&order,
                "{\"index\": \"state.json\", %s, \"tensors\": [{\"input\": 3, \"type\": \"i32\", "
                "\"shards\": [{\"name\": \"%s\", \"dims\": [2], \"at\": [[0, 1]], \"file\": "
                "\"%s\", \"sha256\": \"%.64s\"}]}]}",
                metadata, name, path, hash);
    const bool taken = part_file_take(order.data, &own, st);
    assert_int_equal(taken, st->code == STATUS_OK);
    text_release(&order);
}

static void ranks_take_no_more_than_they_have(void **state) {
    (void)state;
    char folder[] = "/tmp/tsr-states-XXXXXX", path[64];
    int32_t kept[] = {1, 2, 3, 4}, taken[2] = {0};
    const part_buffers own = {read_own, write_own, kept};
    status st = STATUS_INIT;
    text order, hashes;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/part", folder);
    text_init(&order);
    text_init(&hashes);
    text_printf(&order,
                "{\"file\": \"%s\", %s, \"tensors\": [{\"input\": 3, \"type\": \"i32\", "
                "\"shards\": [{\"name\": \"w@0\", \"dims\": [2], \"at\": [[0, 2]]}, "
                "{\"name\": \"w@1\", \"dims\": [2], \"at\": [[1, 2]]}]}]}",
                path, metadata);
    assert_true(part_file_keep(order.data, &own, &hashes, &st));
    assert_int_equal(hashes.length, 2 * 65);
    FILE *file = fopen(path, "r+b"); /* the last element, which is of the second shard */
    assert_true(file && fseek(file, -1, SEEK_END) == 0 && fputc(99, file) == 99);
    fclose(file);

    take_one(path, "w@0", hashes.data, taken, &st); /* reads nothing of the second one */
    assert_int_equal(st.code, STATUS_OK);
    assert_int_equal(taken[0], 1);
    assert_int_equal(taken[1], 2);
    take_one(path, "w@1", hashes.data + 65, taken, &st);
    assert_int_equal(st.code, STATUS_CORRUPT);
    assert_non_null(strstr(st.message, "'w@1' is not what was kept"));
    assert_int_equal(taken[0], 1);
    text_release(&order);
    text_release(&hashes);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_lie_in_parts),
        cmocka_unit_test(shards_have_names),
        cmocka_unit_test(ranks_take_no_more_than_they_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
