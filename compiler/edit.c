/* edit.c - see tessera/edit.h: the edits, one by one, on a module and the values of its inputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edit_parts.h"
#include "graph/instance.h"
#include "graph/passes.h"
#include "ops/control.h"
#include "ops/dead.h"
#include "ops/tiles.h"
#include "ops/transforms.h"

static const ir_op_data *end_of(const ir_module *m) {
    return ir_op_get(m, ir_kernel_body(m)->last);
}

/* ---- numbers ---- */

/* No more than the end of a block is none. */
static bool is_counted(int opcode) {
    return opcode != GRAPH_RETURN && opcode != GRAPH_NEXT;
}

/* Transforms, branches and loops: what stands in their blocks has numbers, too. */
static bool is_entered(int opcode) {
    return transform_is_one(opcode) || graph_is_control(opcode);
}

/* The next operation that has a number. */
static bool next_counted(ir_walk *w) {
    bool found;
    int opcode;
    do {
        found = ir_walk_next(w);
        opcode = found ? ir_op_get(w->m, w->op)->opcode : 0;
        w->skip = found && !is_entered(opcode);
    } while (found && !is_counted(opcode));
    return found;
}

static ir_walk counted(const ir_module *m) {
    return ir_walk_block(m, ir_op_block(m, ir_module_kernel(m), 0));
}

ir_op edit_operation(const ir_module *m, int64_t number) {
    ir_walk w = counted(m);
    while (number > 0 && next_counted(&w))
        if (--number == 0)
            return w.op;
    return 0;
}

/* One that stands in the kernel itself. */
static ir_op operation(const ir_module *m, int64_t number) {
    const ir_op op = edit_operation(m, number);
    return op && ir_block_parent(m, ir_op_get(m, op)->block) == ir_module_kernel(m) ? op : 0;
}

bool edit_says_nothing(const editor *e, const char *why) {
    return status_set(e->st, STATUS_UNAVAILABLE, "the edit says nothing here: %s", why);
}

/* ---- names of inputs and outputs ---- */

static const char *name_at(const ir_module *m, const char *list, uint32_t i) {
    const ir_attr names = ir_op_attr(m, ir_module_kernel(m), list);
    const ir_attr_data *d = names ? ir_attr_get(m, names) : NULL;
    return d && i < d->count ? ir_attr_get(m, d->items[i])->string : "";
}

/* As a source may have it: those of parts of a record have dots. */
static bool is_identifier(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return strspn(name, letters) > 0 && name[strspn(name, more)] == '\0';
}

static void set_names(ir_module *m, const char *list, const char *const *names, uint32_t count) {
    ir_attr *items = base_calloc((size_t)count + 1, sizeof *items);
    for (uint32_t i = 0; i < count; i++)
        items[i] = ir_attr_string(m, names[i]);
    ir_op_set_attr(m, ir_module_kernel(m), list, ir_attr_array(m, items, count));
    free(items);
}

/* "value3" for the value of that number, which no other name is. */
static const char *own_name(ir_module *m, ir_value v) {
    return arena_printf(ir_module_arena(m), "value%u", v);
}

/* ---- outputs ---- */

/* The kernel's promises are of the outputs that it had; donations are settled behind each edit. */
static void forget_promises(ir_module *m) {
    ir_op_remove_attr(m, ir_module_kernel(m), "effects");
}

static const char *output_name(ir_module *m, ir_value v) {
    const ir_op_data *end = end_of(m);
    for (uint32_t i = 0; i < end->operand_count; i++)
        if (end->operands[i] == v && *name_at(m, "outputs", i))
            return name_at(m, "outputs", i);
    return own_name(m, v);
}

void edit_set_outputs(ir_module *m, const ir_value *values, uint32_t count) {
    const char **names = base_calloc((size_t)count + 1, sizeof *names);
    for (uint32_t i = 0; i < count; i++)
        names[i] = output_name(m, values[i]);
    edit_donate_to(m, values, count);
    ir_op_set_operands(m, ir_kernel_body(m)->last, values, count);
    set_names(m, "outputs", names, count);
    forget_promises(m);
    free(names);
}

/* ---- what nothing needs any more ---- */

static void remove_dead_inputs(editor *e) {
    ir_module *m = e->m;
    ir_block_data *body = ir_kernel_body(m);
    uint32_t *uses = ir_count_uses(m), kept = 0, had = body->argument_count;
    const char **names = base_calloc((size_t)had + 1, sizeof *names);
    tensor *inputs = tensors_new(had);
    bool *stays = base_calloc((size_t)had + 1, sizeof *stays);
    for (uint32_t i = 0; i < had; i++) {
        ir_value v = body->arguments[i];
        const char *name = name_at(m, "inputs", i);
        stays[i] = uses[v] > 0;
        if (!stays[i])
            continue;
        names[kept] = is_identifier(name) ? name : own_name(m, v);
        inputs[kept] = e->inputs[i];
        e->inputs[i] = (tensor){0};
        body->arguments[kept] = v;
        ir_value_get(m, v)->index = kept++;
    }
    body->argument_count = kept;
    set_names(m, "inputs", names, kept);
    edit_donate_from(m, stays);
    edit_settle_donated(m);
    tensors_free(e->inputs);
    e->inputs = inputs;
    free(names);
    free(stays);
    free(uses);
}

static void remove_dead_operations(ir_module *m) {
    control_block_list blocks = {0};
    control_blocks(m, &blocks);
    for (size_t i = 0; i < blocks.count; i++)
        if (i == 0 || is_entered(ir_op_get(m, ir_block_parent(m, blocks.items[i]))->opcode))
            graph_remove_dead(m, blocks.items[i]);
    vec_release(&blocks);
}

static void clean(editor *e) {
    do
        remove_dead_operations(e->m);
    while (edit_trim(e->m));
    remove_dead_inputs(e);
}

/* ---- values ---- */

bool edit_values(const editor *e, const ir_value *values, uint32_t count, tensor *out) {
    ir_module *m = ir_module_clone(e->m);
    edit_set_outputs(m, values, count);
    compiler_instance *instance = compiler_instance_new(m, (ir_bindings){0});
    bool ok = compiler_interpret(instance, e->inputs, out, e->st);
    compiler_instance_free(instance);
    return ok;
}

/* ---- the edits ---- */

static bool copy_inputs(editor *e, const tensor *inputs) {
    const uint32_t count = ir_kernel_body(e->m)->argument_count;
    bool ok = true;
    e->inputs = tensors_new(count);
    for (uint32_t i = 0; i < count && ok; i++) {
        const tensor *t = &inputs[i];
        ok = tensor_init(&e->inputs[i], t->type, t->rank, t->dims, e->st);
        if (ok)
            memcpy(e->inputs[i].data, t->data, tensor_bytes(t));
    }
    return ok;
}

typedef struct wanted_run {
    editor *e;
    int64_t number;
    bool found;
} wanted_run;

/* Takes the run's kernel and what it reads, and ends the program there. */
static bool take_run(void *self, const compiler_run *run) {
    wanted_run *w = self;
    if (run->number != w->number)
        return true;
    tensors_free(w->e->inputs);
    ir_module_free(w->e->m);
    w->e->m = ir_module_clone(compiler_instance_graph(run->instance));
    const ir_module *whole = compiler_instance_graph(w->e->whole);
    const char *name = ir_op_string(whole, ir_module_kernel(whole), "name", "");
    ir_op_set_attr(w->e->m, ir_module_kernel(w->e->m), "name", ir_attr_string(w->e->m, name));
    w->found = copy_inputs(w->e, run->inputs);
    return false;
}

static bool edit_dispatch(editor *e, const int64_t *a) {
    wanted_run w = {e, a[0], false};
    tensor *inputs = e->inputs;
    e->inputs = NULL;
    bool ok = compiler_runs(e->whole, e->options, inputs, take_run, &w, e->st);
    if (!w.found)
        e->inputs = inputs;
    else
        tensors_free(inputs);
    return ok && (w.found || edit_says_nothing(e, "the program runs fewer kernels"));
}

/* Numbers that stand in the source are no results. */
static bool is_seen(const ir_module *m, ir_value v) {
    ir_op op = ir_value_get(m, v)->op;
    return op && ir_op_get(m, op)->operand_count > 0;
}

static bool is_among(const ir_value *list, uint32_t count, ir_value v) {
    bool found = false;
    for (uint32_t i = 0; i < count && !found; i++)
        found = list[i] == v;
    return found;
}

/* Values of the operations up to `last` that are read behind it. */
static uint32_t read_behind(const ir_module *m, ir_op last, ir_value *out, uint32_t most) {
    bool *before = base_calloc((size_t)ir_value_count(m) + 1, sizeof *before), behind = false;
    uint32_t count = 0;
    for (ir_op op = ir_kernel_body(m)->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        for (uint32_t i = 0; behind && i < d->operand_count; i++)
            if (before[d->operands[i]] && is_seen(m, d->operands[i]) && count < most &&
                !is_among(out, count, d->operands[i]))
                out[count++] = d->operands[i];
        for (uint32_t i = 0; !behind && i < d->result_count; i++)
            before[d->results[i]] = true;
        behind |= op == last;
    }
    free(before);
    return count;
}

static bool edit_prefix(editor *e, const int64_t *a) {
    ir_op last = operation(e->m, a[0]);
    if (!last)
        return edit_says_nothing(e, "the kernel has fewer operations");
    ir_value *values = base_calloc(COMPILER_MAX_PARAMETERS, sizeof *values);
    const uint32_t count = read_behind(e->m, last, values, COMPILER_MAX_PARAMETERS);
    if (count)
        edit_set_outputs(e->m, values, count);
    free(values);
    return count || edit_says_nothing(
                        e, "nothing but constants of the operations up to it is read behind it");
}

/* Those inputs that a kernel has keep their names. */
static void take_values(editor *e, const ir_value *values, uint32_t count, tensor *all,
                        const char **names) {
    ir_module *m = e->m;
    const uint32_t had = ir_kernel_body(m)->argument_count;
    for (uint32_t i = 0; i < had; i++) {
        names[i] = name_at(m, "inputs", i);
        all[i] = e->inputs[i];
        e->inputs[i] = (tensor){0};
    }
    for (uint32_t i = 0; i < count; i++) {
        names[had + i] = own_name(m, values[i]);
        ir_replace_uses(m, values[i],
                        ir_block_add_argument(m, ir_op_block(m, ir_module_kernel(m), 0),
                                              ir_value_get(m, values[i])->type, names[had + i]));
    }
    set_names(m, "inputs", names, had + count);
    forget_promises(m);
}

tensor *edit_add_input(editor *e, ir_type type, ir_value *out) {
    ir_module *m = e->m;
    const uint32_t had = ir_kernel_body(m)->argument_count;
    if (had == COMPILER_MAX_PARAMETERS)
        return NULL;
    const char **names = base_calloc((size_t)had + 1, sizeof *names);
    tensor *all = tensors_new(had + 1);
    for (uint32_t i = 0; i < had; i++) {
        names[i] = name_at(m, "inputs", i);
        all[i] = e->inputs[i];
        e->inputs[i] = (tensor){0};
    }
    *out = ir_block_add_argument(m, ir_op_block(m, ir_module_kernel(m), 0), type, NULL);
    names[had] = own_name(m, *out);
    set_names(m, "inputs", names, had + 1);
    tensors_free(e->inputs);
    e->inputs = all;
    free(names);
    return &all[had];
}

/* These values come in from outside. */
static bool become_inputs(editor *e, const ir_value *values, uint32_t count) {
    const uint32_t had = ir_kernel_body(e->m)->argument_count;
    if (had + count > COMPILER_MAX_PARAMETERS)
        return edit_says_nothing(e, "a kernel has no more inputs");
    tensor *all = tensors_new(had + count);
    const char **names = base_calloc((size_t)had + count + 1, sizeof *names);
    bool ok = edit_values(e, values, count, all + had);
    if (ok) {
        take_values(e, values, count, all, names);
        tensor *before = e->inputs;
        e->inputs = all;
        all = before;
    }
    tensors_free(all);
    free(names);
    return ok;
}

static bool edit_input(editor *e, const int64_t *a) {
    ir_op op = operation(e->m, a[0]);
    const ir_op_data *d = op ? ir_op_get(e->m, op) : NULL;
    return d && d->operand_count
               ? become_inputs(e, d->results, d->result_count)
               : edit_says_nothing(e, "there is no such operation, or it is a constant");
}

static bool edit_suffix(editor *e, const int64_t *a) {
    ir_op last = operation(e->m, a[0]);
    if (!last || ir_op_get(e->m, ir_op_get(e->m, last)->next)->opcode == GRAPH_RETURN)
        return edit_says_nothing(e, "there is no operation behind it");
    ir_value *values = base_calloc(COMPILER_MAX_PARAMETERS, sizeof *values);
    const uint32_t count = read_behind(e->m, last, values, COMPILER_MAX_PARAMETERS);
    bool ok = count ? become_inputs(e, values, count)
                    : edit_says_nothing(e, "nothing of the operations up to it is read behind it");
    free(values);
    return ok;
}

static bool edit_primitives(editor *e, const int64_t *a) {
    (void)a;
    return graph_decompose_all(e->m, e->st);
}

static bool edit_forward(editor *e, const int64_t *a) {
    ir_op op = edit_operation(e->m, a[0]);
    const ir_op_data *d = op ? ir_op_get(e->m, op) : NULL;
    if (!d || d->result_count != 1 || a[1] >= d->operand_count ||
        ir_value_get(e->m, d->operands[a[1]])->type != ir_value_get(e->m, d->results[0])->type)
        return edit_says_nothing(e, "it has no operand of its result's type there");
    ir_replace_uses(e->m, d->results[0], d->operands[a[1]]);
    forget_promises(e->m);
    return true;
}

static bool edit_same(editor *e, const int64_t *a) {
    ir_op op = edit_operation(e->m, a[0]), other = a[1] < a[0] ? edit_operation(e->m, a[1]) : 0;
    const ir_op_data *d = op ? ir_op_get(e->m, op) : NULL,
                     *o = other ? ir_op_get(e->m, other) : NULL;
    if (!d || !o || d->block != o->block || d->result_count != 1 || o->result_count != 1 ||
        ir_value_get(e->m, d->results[0])->type != ir_value_get(e->m, o->results[0])->type)
        return edit_says_nothing(e, "there is no operation of its result's type before it there");
    ir_replace_uses(e->m, d->results[0], o->results[0]);
    forget_promises(e->m);
    return true;
}

static bool edit_output(editor *e, const int64_t *a) {
    const ir_op_data *end = end_of(e->m);
    if (a[0] >= end->operand_count || end->operand_count == 1)
        return edit_says_nothing(e, "a kernel has an output");
    ir_value *values = base_calloc(end->operand_count, sizeof *values);
    uint32_t count = 0;
    for (uint32_t i = 0; i < end->operand_count; i++)
        if (i != a[0])
            values[count++] = end->operands[i];
    edit_set_outputs(e->m, values, count);
    free(values);
    return true;
}

/* The first positions along an axis. */
static bool shorten(tensor *t, int axis, int64_t positions, status *st) {
    tensor part;
    int64_t dims[TENSOR_MAX_RANK], inner = (int64_t)dtype_size(t->type), outer = 1;
    memcpy(dims, t->dims, sizeof dims);
    dims[axis] = positions;
    for (int i = 0; i < t->rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : t->dims[i];
    if (!tensor_init(&part, t->type, t->rank, dims, st))
        return false;
    for (int64_t i = 0; i < outer; i++)
        memcpy((char *)part.data + i * positions * inner,
               (const char *)t->data + i * t->dims[axis] * inner, (size_t)(positions * inner));
    tensor_release(t);
    *t = part;
    return true;
}

/* Shapes stand in attributes, too. */
static void reshape_attributes(ir_module *m) {
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        if (d->result_count != 1 || !ir_op_attr(m, w.op, "shape"))
            continue;
        const ir_type_data *t = ir_type_of(m, d->results[0]);
        ir_op_set_attr(m, w.op, "shape", ir_attr_dim_array(m, t->dims, (uint32_t)t->rank));
    }
}

static bool edit_part(editor *e, const int64_t *a) {
    compiler_instance *whole = compiler_instance_new(ir_module_clone(e->m), (ir_bindings){0}),
                      *part = NULL;
    enum { AXES = 16 };
    compiler_axis axes[AXES];
    uint32_t count = 0;
    bool ok = compiler_axes(whole, axes, AXES, &count, e->st);
    if (ok && (a[0] >= count || a[1] < 1 || a[1] >= axes[a[0]].extent))
        ok = edit_says_nothing(e, "no such axis is longer");
    if (ok)
        part = compiler_part(whole, &axes[a[0]], &a[1], 1, e->st);
    ok = part != NULL;
    for (uint32_t i = 0; ok && i < ir_kernel_body(e->m)->argument_count; i++)
        if (axes[a[0]].inputs[i] >= 0)
            ok = shorten(&e->inputs[i], axes[a[0]].inputs[i], a[1], e->st);
    if (ok) {
        ir_module_free(e->m);
        e->m = ir_module_clone(compiler_instance_graph(part));
        reshape_attributes(e->m);
        forget_promises(e->m);
    }
    compiler_instance_free(part);
    compiler_instance_free(whole);
    return ok;
}

static bool edit_fill(editor *e, const int64_t *a) {
    const uint32_t count = ir_kernel_body(e->m)->argument_count;
    tensor *t = a[0] < count ? &e->inputs[a[0]] : NULL;
    if (!t || a[1] >= a[2] || a[2] > tensor_count(t))
        return edit_says_nothing(e, "the input has no such elements");
    for (int64_t i = a[1]; i < a[2]; i++)
        dtype_store(t->type, t->data, (size_t)i, (double)a[3]);
    return true;
}

static const struct edit_info {
    const char *name;
    int arguments;
    bool (*apply)(editor *e, const int64_t *arguments);
} infos[] = {
#define EDIT(id, name, arguments, summary) {name, arguments, edit_##id},
#include "edit.def"
};

static const struct edit_info *info_of(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
        if (strlen(infos[i].name) == length && memcmp(infos[i].name, name, length) == 0)
            return &infos[i];
    return NULL;
}

/* One edit off the text. False: it has another form. */
static bool read_edit(const char **cursor, const struct edit_info **info, int64_t *arguments) {
    const char *words = *cursor;
    size_t length = strcspn(words, " ;");
    *info = info_of(words, length);
    words += length;
    for (int i = 0; *info && i < (*info)->arguments; i++) {
        char *end;
        arguments[i] = *words == ' ' ? strtoll(words + 1, &end, 10) : -1;
        if (*words != ' ' || end == words + 1 || arguments[i] < 0)
            return false;
        words = end;
    }
    *cursor = words + (*words == ';');
    return *info && (*words == ';' || *words == '\0');
}

static bool apply_all(editor *e, const char *edits) {
    const struct edit_info *info;
    int64_t arguments[COMPILER_EDIT_ARGUMENTS];
    bool ok = true;
    while (ok && *edits) {
        if (!read_edit(&edits, &info, arguments))
            return status_set(e->st, STATUS_INVALID, "there is no such edit: '%.40s'", edits);
        ok = info->apply(e, arguments);
        e->changed = true;
        if (ok)
            clean(e);
        ok = ok && ir_verify(e->m, e->st); /* what the next edit evaluates */
    }
    return ok;
}

/* ---- the case ---- */

/* Composites are as they were written; a kernel of tiles is written out. */
static ir_module *module_of(compiler_instance *whole, status *st) {
    const ir_module *m = instance_specialized(whole, st);
    if (m && tiles_of(m))
        m = compiler_primitives(whole, st);
    return m ? ir_module_clone(m) : NULL;
}

bool compiler_edit(compiler_instance *whole, const compiler_options *options, const tensor *inputs,
                   const char *edits, compiler_edited *out, status *st) {
    *out = (compiler_edited){0};
    editor e = {.whole = whole, .options = options, .m = module_of(whole, st), .st = st};
    bool ok = e.m && graph_require_formula(e.m, st) && copy_inputs(&e, inputs) &&
              apply_all(&e, edits) && ir_verify(e.m, st);
    out->inputs = e.inputs;
    if (!ok) {
        ir_module_free(e.m);
        return false;
    }
    out->input_count = ir_kernel_body(e.m)->argument_count;
    out->output_count = end_of(e.m)->operand_count;
    for (ir_walk w = counted(e.m); next_counted(&w);)
        out->operation_count++;
    out->instance = compiler_instance_new(e.m, (ir_bindings){0});
    return true;
}

void compiler_edited_release(compiler_edited *e) {
    compiler_instance_free(e->instance);
    tensors_free(e->inputs);
    *e = (compiler_edited){0};
}

/* Those in its blocks, which have the numbers behind its own. */
static uint32_t operations_inside(const ir_module *m, ir_op op) {
    uint32_t count = 0;
    ir_walk w = ir_walk_op(m, op);
    while (is_entered(ir_op_get(m, op)->opcode) && next_counted(&w))
        count += w.op != op;
    return count;
}

bool compiler_operation_at(const compiler_instance *instance, uint32_t number,
                           compiler_operation *out) {
    const ir_module *m = instance->graph;
    const ir_op op = edit_operation(m, number);
    if (!op)
        return false;
    const ir_op_data *d = ir_op_get(m, op);
    *out = (compiler_operation){.name = op_info_get(d->opcode)->name,
                                .line = d->location.line,
                                .column = d->location.column,
                                .operand_count = d->operand_count,
                                .result_count = d->result_count,
                                .inside = operations_inside(m, op),
                                .has_block = is_entered(d->opcode),
                                .generates = d->operand_count == 0};
    return true;
}

uint32_t compiler_output_operation(const compiler_instance *instance, uint32_t output) {
    const ir_module *m = instance->graph;
    const ir_op_data *end = end_of(m);
    ir_op made = output < end->operand_count ? ir_value_get(m, end->operands[output])->op : 0;
    uint32_t number = 0;
    for (ir_walk w = counted(m); made && next_counted(&w);) {
        number++;
        if (w.op == made)
            return number;
    }
    return 0;
}
