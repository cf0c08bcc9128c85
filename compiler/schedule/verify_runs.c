/* verify_runs.c - the runs of a contraction's steps, and the masks that say which of them happen.
 *
 * The place of a step in lhs is a number whose last digits the masks are: line and place of an
 * image. So a step that no mask leaves out reads the element that its masks say, and the wrong
 * limit, coefficient or constant of one is seen. Dimensions that a launch gives are not looked at.
 */
#include "ir/dim.h"
#include "schedule/dot_shape.h"
#include "schedule/schedule.h"

enum { MOST_MASKS = 4, MOST_NUMBERS = 24 };

/* A list of numbers: of an access, the constant and the coefficients of indices, of the run and of
 * the step; of a mask, its limit before them. */
typedef struct numbers {
    ir_dim at[MOST_NUMBERS];
    uint32_t count;
} numbers;

typedef struct run_check {
    const ir_module *m;
    ir_op op;
    uint32_t row, column; /* of an access: where the coefficients of the tile's indices are */
    ir_dim steps;         /* of a run */
    numbers lhs, masks[MOST_MASKS];
    uint32_t mask_count;
    bool known; /* none of them is an expression */
    status *st;
} run_check;

/* False: they are not `count` numbers. */
static bool read_numbers(run_check *c, ir_attr list, uint32_t count, numbers *out) {
    const ir_attr_data *d = ir_attr_get(c->m, list);
    *out = (numbers){.count = count};
    if (d->kind != IR_ATTR_ARRAY || d->count != count || count > MOST_NUMBERS)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const ir_attr_data *one = ir_attr_get(c->m, d->items[i]);
        if (one->kind != IR_ATTR_INT && one->kind != IR_ATTR_DIM)
            return false;
        out->at[i] = one->integer;
        c->known &= ir_dim_is_static(one->integer);
    }
    return true;
}

static bool read_masks(run_check *c) {
    ir_attr attr = ir_op_attr(c->m, c->op, "mask");
    const ir_attr_data *d = attr ? ir_attr_get(c->m, attr) : NULL;
    c->mask_count = d ? d->count : 0;
    bool ok = c->mask_count >= 1 && c->mask_count <= MOST_MASKS;
    for (uint32_t i = 0; ok && i < c->mask_count; i++)
        ok = read_numbers(c, d->items[i], c->lhs.count + 1, &c->masks[i]);
    return ok;
}

/* It bounds the runs, which are the same for all rows, or the steps in a run. */
static bool check_kind(const run_check *c, const numbers *mask) {
    ir_dim run = mask->at[mask->count - 2], step = mask->at[mask->count - 1];
    bool of_runs = run == 1 && step == 0 && mask->at[1 + c->row] == 0;
    bool of_steps = step == 1 && run == 0;
    return (mask->at[1 + c->column] == 0 && (of_runs || of_steps)) ||
           ir_broken(c->st, "a mask is neither one of runs nor one of the steps in a run");
}

/* Number i of lhs's access is that of its digits, or stands for whole ones of the next; of numbers
 * that are too large, as 64 bits have it. */
static bool check_digit(const run_check *c, uint32_t i) {
    uint64_t sum = 0, weight = 1, number = (uint64_t)c->lhs.at[i];
    bool named = i == 0 || i + 2 >= c->lhs.count;
    for (uint32_t j = c->mask_count; j-- > 0; weight *= (uint64_t)c->masks[j].at[0]) {
        sum += weight * (uint64_t)c->masks[j].at[1 + i];
        named |= c->masks[j].at[1 + i] != 0;
    }
    return (named ? number == sum : weight == 0 || number % weight == 0) ||
           ir_broken(c->st, "the masks are not the digits of a place in lhs");
}

/* The steps of a mask are inside for each row of all tiles of its loop. */
static bool check_inside(const run_check *c, const numbers *mask) {
    ir_value row = ir_op_get(c->m, c->op)->operands[c->row - 1];
    ir_op loop = ir_block_parent(c->m, ir_value_get(c->m, row)->block);
    ir_dim first = ir_op_int(c->m, loop, "from", 0);
    ir_dim end = ir_op_int(c->m, loop, "to", ir_op_int(c->m, loop, "extent", 0));
    __int128 along = mask->at[1 + c->row], low = mask->at[1], high = low + c->steps - 1;
    bool alone = ir_op_get(c->m, loop)->opcode == SCHED_FOR && along >= 0,
         known = ir_dim_is_static(first) && ir_dim_is_static(end);
    for (uint32_t i = 2; i + 2 < mask->count; i++)
        alone &= mask->at[i] == 0 || i == 1 + c->row;
    return mask->at[mask->count - 1] == 0 || !known || end <= first ||
           (alone && low + along * first >= 0 && high + along * (end - 1) < mask->at[0]) ||
           ir_broken(c->st, "steps of its rows are not inside of their mask");
}

static bool check_numbers(const run_check *c) {
    bool inside = ir_op_attr(c->m, c->op, "inside") != 0;
    for (uint32_t i = 0; i < c->lhs.count; i++)
        if (!check_digit(c, i))
            return false;
    for (uint32_t i = 0; i < c->mask_count && inside; i++)
        if (!check_inside(c, &c->masks[i]))
            return false;
    return true;
}

bool schedule_verify_runs(const ir_module *m, ir_op op, status *st) {
    run_check c = {.m = m, .op = op, .known = true, .st = st};
    dot_shape shape;
    dot_shape_read(m, op, &shape);
    if (shape.index[AXIS_RUN] < 0)
        return (!ir_op_attr(m, op, "mask") && !ir_op_attr(m, op, "inside")) ||
               ir_broken(st, "masks are those of runs");
    const ir_attr_data *access = ir_attr_get(m, ir_op_attr(m, op, "access"));
    c.steps = ir_op_int(m, dot_loop(m, op, &shape, AXIS_K), "extent", 0);
    c.row = 1 + (uint32_t)shape.index[AXIS_M];
    c.column = 1 + (uint32_t)shape.index[AXIS_N];
    read_numbers(&c, access->items[0], ir_attr_get(m, access->items[0])->count, &c.lhs);
    c.known &= ir_dim_is_static(c.steps);
    if (!read_masks(&c))
        return ir_broken(st, "a mask is a limit and an access");
    for (uint32_t i = 1; i < access->count; i++) {
        const ir_attr_data *one = ir_attr_get(m, access->items[i]);
        ir_dim run = ir_attr_get(m, one->items[one->count - 2])->integer,
               step = ir_attr_get(m, one->items[one->count - 1])->integer;
        if (run != ir_dim_mul((ir_module *)m, c.steps, step))
            return ir_broken(st, "a run of others than lhs does not go on where one ends");
    }
    for (uint32_t i = 0; i < c.mask_count; i++)
        if (!check_kind(&c, &c.masks[i]))
            return false;
    return !c.known || check_numbers(&c);
}
