/* prepare.c - writes what the timing processes need: both modules of a case, its input sets, and
 * the digests of the outputs that belong to them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case_context.h"
#include "case/inputs.h"
#include "check/verdict.h"
#include "gate/gate.h"
#include "launch/launch.h"
#include "measure/rotation.h"
#include "module.h"

/* Beyond that interpreter and reference take seconds for each set, so there are as few as tell one
 * from another. */
enum { PLAIN_FLOPS_MAX = 50000000, SET_BYTES_MAX = 256 << 20, LARGE_SETS = 2 };

typedef struct preparation {
    gate *gate;
    case_context contexts[2]; /* of each side's own source */
    json_t *sets, *digests[2];
    size_t set;   /* in hand */
    int side;     /* whose source is in hand */
    bool foreign; /* the case of the corpus is not what the modules were compiled for */
} preparation;

/* One after the other, each at a multiple of 64. */
static bool put_tensors(scratch *s, const tensor *tensors, uint32_t count, json_t *sets,
                        status *st) {
    uint64_t first = 0, at;
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes = tensor_bytes(&tensors[i]);
        if (!scratch_put(s, tensors[i].data, bytes, &at, st))
            return false;
        if (i == 0)
            first = at;
    }
    json_array_append_new(sets, json_integer((json_int_t)first));
    return true;
}

static json_t *digests_of(const tensor *outputs, uint32_t count) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        char hex[20];
        snprintf(hex, sizeof hex, "%016" PRIx64,
                 rotation_digest(outputs[i].data, tensor_bytes(&outputs[i])));
        json_array_append_new(list, json_string(hex));
    }
    return list;
}

/* The sets: `count` of them, the last `held` of which no launch has before the end. The last of all
 * is the first one with one element of an input changed: results that are kept by a part of the
 * inputs do not show that. */
typedef struct set_plan {
    uint32_t count, held;
} set_plan;

typedef struct set_choice {
    uint64_t seed;
    bool perturbed;
} set_choice;

static set_choice choose_set(const gate *g, uint32_t index, set_plan chosen) {
    bool perturbed = index > 0 && index + 1 == chosen.count;
    return (set_choice){g->settings->seed + (perturbed ? 0 : index), perturbed};
}

static bool is_strict(const gate_row *row) {
    return strcmp(row->units[1]->profile, "strict") == 0;
}

static set_plan plan_sets(const gate *g, const gate_row *row, uint64_t bytes) {
    const gate_side_unit *unit = row->units[1]->item ? row->units[1] : row->units[0];
    bool large = bytes > SET_BYTES_MAX || row->facts[1].flops > PLAIN_FLOPS_MAX ||
                 (unit->item && unit->item->c->large);
    uint32_t held = large && !is_strict(row) ? 0 : 1;
    return (set_plan){(large ? LARGE_SETS : g->settings->sets) + held, held};
}

static bool open_context(case_context *s, const gate_side_unit *unit, uint64_t seed, status *st) {
    case_context_request request = {.path = unit->item->path,
                                    .kernel = unit->kernel,
                                    .case_name = unit->case_name,
                                    .dims = unit->item->c->bound,
                                    .seed = seed};
    return case_context_open(s, &request, st);
}

/* The case on the inputs of that set; borrowed from `s`. */
static case_context *open_set(case_context *s, const gate_side_unit *unit, set_choice set,
                              status *st) {
    if (!open_context(s, unit, set.seed, st))
        return NULL;
    return set.perturbed ? case_context_others(s, 1, st) : s;
}

static void drop_digests(preparation *p, int side) {
    json_decref(p->digests[side]);
    p->digests[side] = NULL;
}

/* Whose source says what is right for a side: its own, or where only a module is at hand, the other
 * side's. NULL: there is none. */
static const gate_side_unit *source_of(const gate_row *row, int side) {
    const gate_side_unit *own = row->units[side], *other = row->units[!side];
    return own->item ? own : other->item ? other : NULL;
}

/* Without a formula nobody knows what is right: each side is held against its own bits. */
static bool is_known(const gate_side_unit *unit) {
    return unit && !(unit->item && unit->item->kernel->contract);
}

/* Equal keys: what is right for one side is right for the other. */
static bool is_same_case(const preparation *p) {
    return p->contexts[0].key[0] && strcmp(p->contexts[0].key, p->contexts[1].key) == 0;
}

static void no_stage(void *context, const char *stage) {
    (void)context;
    (void)stage;
}

/* Strict outputs are right where the kernel that @same_as names says so. */
static bool holds_as_named(case_context *s, const tensor *outputs, status *st) {
    verdict v = {.holds = true, .max_error_over_bound = -1};
    const verdict_request request = {
        .profile = PROFILE_STRICT, .outputs = outputs, .stage = no_stage};
    text_init(&v.why);
    bool ok = verdict_same_as(s, &request, &v, st);
    if (ok && !v.holds)
        ok = status_set(st, STATUS_MISMATCH, "%s", v.why.data);
    verdict_release(&v);
    return ok;
}

/* The interpreter's bits are those of every strict module of the same graph. */
static bool add_oracle(preparation *p, gate_row *row, int side, set_choice set, status *st) {
    const gate_side_unit *unit = source_of(row, side);
    p->side = side;
    if (!p->digests[side])
        return true;
    if (!is_known(unit) || !is_strict(row)) {
        drop_digests(p, side);
        return true;
    }
    case_context *s = open_set(&p->contexts[side], unit, set, st);
    if (s && side == 1 && is_same_case(p)) {
        json_array_append(p->digests[1], json_array_get(p->digests[0], p->set));
        return true;
    }
    const tensor *outputs = s ? case_context_oracle(s, st) : NULL;
    if (!outputs || !holds_as_named(s, outputs, st))
        return false;
    json_array_append_new(p->digests[side], digests_of(outputs, s->signature.output_count));
    return true;
}

/* ---- bounds, where a profile may have other bits ---- */

static bool put_tensor(preparation *p, const tensor *t, json_t *places, status *st) {
    uint64_t place;
    if (!scratch_put(&p->gate->data, t->data, tensor_bytes(t), &place, st))
        return false;
    json_array_append_new(places, json_integer((json_int_t)place));
    return true;
}

/* Limits, and the strict bits, where the bounds do not judge every element. */
static bool put_output(preparation *p, case_context *s, uint32_t output, json_t *places,
                       status *st) {
    const tensor *limits = &s->limits[output], *oracle;
    if (!put_tensor(p, &s->references[output], places, st) ||
        !put_tensor(p, &s->bounds[output], places, st))
        return false;
    if (!limits->data)
        return true;
    if (!put_tensor(p, limits, places, st))
        return false;
    if (s->c->large && !s->has_oracle)
        return true;
    oracle = case_context_oracle(s, st);
    return oracle && put_tensor(p, &oracle[output], places, st);
}

static bool put_bounds(preparation *p, case_context *s, json_t *list, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < s->signature.output_count && ok; i++) {
        json_t *places = json_array();
        ok = put_output(p, s, i, places, st);
        json_array_append_new(list, places);
    }
    return ok;
}

/* Bounds of each set; null where the interpreter's bits are expected, or there is no source. */
static json_t *bounds_of(preparation *p, const gate_row *row, int side, set_plan chosen,
                         status *st) {
    const gate_side_unit *unit = source_of(row, side);
    json_t *list = json_array();
    bool ok = is_known(unit) && !is_strict(row);
    p->side = side;
    for (uint32_t i = 0; i < chosen.count && ok; i++) {
        case_context *s = open_set(&p->contexts[side], unit, choose_set(p->gate, i, chosen), st);
        case_context *named = NULL;
        json_t *of_set = json_array();
        ok = s && case_context_named(s, &named, st);
        s = named ? named : s;
        ok = ok && case_context_reference(s, st) && put_bounds(p, s, of_set, st);
        json_array_append_new(list, of_set);
    }
    if (ok)
        return list;
    json_decref(list);
    return json_null();
}

static json_t *types_of(const compiler_signature *signature) {
    json_t *types = json_array();
    for (uint32_t i = 0; i < signature->output_count; i++)
        json_array_append_new(types, json_string(dtype_name(signature->outputs[i].type)));
    return types;
}

/* ---- inputs where only a module is at hand ---- */

static bool buffer_of(const json_t *from, struct compiler_buffer *out) {
    const json_t *shape = json_object_get(from, "shape"), *extent;
    const char *type = json_string_value(json_object_get(from, "dtype"));
    size_t axis;
    *out = (struct compiler_buffer){.name = "", .type = type ? dtype_from_name(type) : DTYPE_NONE};
    if (out->type == DTYPE_NONE || json_array_size(shape) > TENSOR_MAX_RANK)
        return false;
    out->rank = (int)json_array_size(shape);
    json_array_foreach(shape, axis, extent) {
        if (!json_is_integer(extent) || json_integer_value(extent) < 0)
            return false;
        out->dims[axis] = json_integer_value(extent);
    }
    return true;
}

/* False: the module is for any dimensions, or says something strange. `buffers` is the caller's. */
static bool signature_of(const gate_side_unit *unit, compiler_signature *out,
                         compiler_buffer **buffers) {
    module_part part;
    *out = (compiler_signature){0};
    if (!module_find(unit->image, unit->image_bytes, "metadata", &part))
        return false;
    json_t *root = json_loadb(part.data, part.size_bytes, 0, NULL);
    const json_t *inputs = json_object_get(root, "inputs"), *item;
    const json_t *outputs = json_object_get(root, "outputs");
    size_t i, count = json_array_size(inputs);
    bool ok = true;
    compiler_buffer *list = *buffers =
        base_calloc(count + json_array_size(outputs) + 1, sizeof *list);
    json_array_foreach(inputs, i, item) ok = ok && buffer_of(item, &list[i]);
    json_array_foreach(outputs, i, item) ok = ok && buffer_of(item, &list[count + i]);
    *out = (compiler_signature){.input_count = (uint32_t)count,
                                .output_count = (uint32_t)json_array_size(outputs),
                                .inputs = list,
                                .outputs = list + count};
    json_decref(root);
    return ok;
}

/* Standard normal floats; zeros and ones for whole numbers, which are indices that always fit. */
static bool plain_inputs(const compiler_signature *signature, set_choice set, tensor *inputs,
                         status *st) {
    compiler_input *kinds = base_calloc((size_t)signature->input_count + 1, sizeof *kinds);
    compiler_case c = {.name = "module", .inputs = kinds};
    for (uint32_t i = 0; i < signature->input_count; i++) {
        dtype type = signature->inputs[i].type;
        bool floats = dtype_is_float(type);
        kinds[i] = (compiler_input){floats ? INPUT_NORMAL : INPUT_INTEGERS, 0, floats ? 1 : 2};
    }
    tensor *first = tensors_new(signature->input_count);
    bool ok =
        inputs_make(signature, &c, set.seed, set.perturbed ? first : inputs, st) &&
        (!set.perturbed || inputs_make_perturbed(signature, &c, first, set.seed + 1, inputs, st));
    tensors_free(first);
    free(kinds);
    return ok;
}

/* ---- a row ---- */

static uint64_t bytes_of(const struct compiler_buffer *b) {
    uint64_t bytes = dtype_size(b->type);
    for (int axis = 0; axis < b->rank; axis++)
        bytes *= (uint64_t)b->dims[axis];
    return bytes;
}

static json_t *sizes_of(const compiler_signature *s, uint64_t *total) {
    json_t *sizes = json_array();
    *total = 0;
    for (uint32_t i = 0; i < s->input_count + s->output_count; i++) {
        uint64_t bytes =
            bytes_of(i < s->input_count ? &s->inputs[i] : &s->outputs[i - s->input_count]);
        json_array_append_new(sizes, json_integer((json_int_t)bytes));
        *total += bytes;
    }
    return sizes;
}

static json_t *dims_of(const gate_side_unit *unit) {
    json_t *dims = json_object();
    for (uint32_t i = 0; unit->item && i < unit->item->c->dim_count; i++)
        json_object_set_new(dims, unit->item->c->dims[i].name,
                            json_integer((json_int_t)unit->item->c->dims[i].value));
    return dims;
}

static bool put_module(gate *g, const gate_side_unit *unit, json_t *modules, status *st) {
    uint64_t at;
    if (!scratch_put(&g->data, unit->image, unit->image_bytes, &at, st))
        return false;
    json_array_append_new(modules,
                          json_pack("[I, I]", (json_int_t)at, (json_int_t)unit->image_bytes));
    return true;
}

/* A module keeps its name when the corpus goes on. */
static bool check_fit(preparation *p, const case_context *s, const compiler_signature *module,
                      status *st) {
    bool fits = s->signature.input_count == module->input_count &&
                s->signature.output_count == module->output_count;
    for (uint32_t i = 0; fits && i < module->input_count; i++)
        fits = tensor_bytes(&s->inputs[i]) == bytes_of(&module->inputs[i]) &&
               s->inputs[i].type == module->inputs[i].type;
    p->foreign = !fits;
    return fits || status_set(st, STATUS_INVALID,
                              "the modules take other arrays than their case of the corpus: "
                              "compile it again, or give the corpus that they are of");
}

/* One set: its inputs, and what each side makes of them. */
static bool add_set(preparation *p, gate_row *row, const compiler_signature *signature,
                    set_choice set, status *st) {
    const gate_side_unit *unit = row->units[1]->item ? row->units[1] : row->units[0];
    tensor *plain = tensors_new(signature->input_count);
    const tensor *inputs = plain;
    bool ok;
    p->side = unit == row->units[1];
    if (unit->item) {
        case_context *s = open_set(&p->contexts[p->side], unit, set, st);
        ok = s != NULL;
        inputs = ok ? s->inputs : plain;
        ok = ok && check_fit(p, s, signature, st);
    } else {
        ok = plain_inputs(signature, set, plain, st);
    }
    ok = ok && put_tensors(&p->gate->data, inputs, signature->input_count, p->sets, st);
    for (int side = 0; side < 2 && ok; side++)
        ok = add_oracle(p, row, side, set, st);
    tensors_free(plain);
    return ok;
}

static json_t *or_null(json_t *value) {
    return value ? json_incref(value) : json_null();
}

/* Checks that both promise the same bits. */
static bool means_the_same(const gate_row *row) {
    return is_strict(row) && strcmp(row->units[0]->work, row->units[1]->work) == 0;
}

/* Bits of the baseline are right where there is no source. Others are then not known to be wrong,
 * unless both promise the same. */
static bool must_agree(const gate_row *row) {
    return !source_of(row, 1) && !means_the_same(row);
}

/* Both sides must give the same bits. */
static bool is_shared(const preparation *p, const gate_row *row) {
    if (p->digests[0] || p->digests[1])
        return json_equal(p->digests[0], p->digests[1]);
    return !source_of(row, 1);
}

/* Their keys tell whether they are the same. */
static bool open_both(preparation *p, const gate_row *row, status *st) {
    bool ok = true;
    for (int side = 0; side < 2 && ok; side++) {
        const gate_side_unit *unit = source_of(row, side);
        p->side = side;
        ok = !unit || open_context(&p->contexts[side], unit, p->gate->settings->seed, st);
    }
    return ok;
}

static bool put_spec(preparation *p, gate_row *row, const compiler_signature *signature,
                     set_plan chosen, status *st) {
    bool both = open_both(p, row, st);
    json_t *a = both ? bounds_of(p, row, 0, chosen, st) : json_null();
    json_t *b = st->code != STATUS_OK ? json_null()
                : is_same_case(p)     ? json_incref(a)
                                      : bounds_of(p, row, 1, chosen, st);
    json_object_update_new(
        row->spec,
        json_pack("{s:I, s:o, s:[o, o], s:b, s:b, s:s, s:[o, o], s:o, s:[f, f]}", "held",
                  (json_int_t)chosen.held, "dims", dims_of(row->units[1]), "digests",
                  or_null(p->digests[0]), or_null(p->digests[1]), "shared", is_shared(p, row),
                  "agree", must_agree(row), "profile", row->units[1]->profile, "bounds", a, b,
                  "types", types_of(signature), "slowdown", 0.0, p->gate->settings->slowdown));
    return st->code == STATUS_OK;
}

static bool make_spec(preparation *p, gate_row *row, const compiler_signature *signature,
                      status *st) {
    gate *g = p->gate;
    uint64_t total;
    json_t *sizes = sizes_of(signature, &total), *modules = json_array();
    set_plan chosen = plan_sets(g, row, total);
    p->sets = json_array();
    p->digests[0] = json_array();
    p->digests[1] = json_array();
    row->working_set_bytes = total;
    bool ok =
        put_module(g, row->units[0], modules, st) && put_module(g, row->units[1], modules, st);
    for (uint32_t i = 0; i < chosen.count && ok; i++) {
        p->set = i;
        ok = add_set(p, row, signature, choose_set(g, i, chosen), st);
    }
    if (ok) {
        row->spec = json_pack("{s:s, s:[s, s], s:O, s:I, s:I, s:O, s:O}", "case", row->key,
                              "kernel", row->units[0]->kernel, row->units[1]->kernel, "modules",
                              modules, "inputs", (json_int_t)signature->input_count, "outputs",
                              (json_int_t)signature->output_count, "sizes", sizes, "sets", p->sets);
        ok = put_spec(p, row, signature, chosen, st);
    }
    json_decref(sizes);
    json_decref(modules);
    json_decref(p->sets);
    drop_digests(p, 0);
    drop_digests(p, 1);
    return ok;
}

static void note_element(preparation *p, gate_row *row) {
    int side = row->units[1]->item ? 1 : 0;
    if (!row->units[side]->item)
        return;
    row->element = dtype_name(case_context_element(&p->contexts[side]));
    row->pairs = case_context_pairs(&p->contexts[side]);
    row->working_set_bytes = p->contexts[side].working_set_bytes;
}

/* Not enough disk or memory ends the gate; a source that cannot be run is a result of its side. */
static bool settle_unprepared(const preparation *p, gate_row *row, const status *why, status *st) {
    if (why->code == STATUS_IO || why->code == STATUS_OUT_OF_MEMORY)
        return status_set(st, why->code, "%s: %s", row->key, why->message);
    if (p->foreign)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_OTHER_WORK, "%s", why->message);
    else if (p->side == 0)
        gate_settle(row, GATE_INCONCLUSIVE, REASON_BASELINE_FAILS,
                    "the baseline cannot be prepared: %s", why->message);
    else
        gate_settle(row, GATE_FAILED, REASON_NEWLY_FAILING, "it cannot be prepared: %s",
                    why->message);
    return true;
}

/* False where there is no room: the gate cannot go on. */
static bool prepare_arrays(preparation *p, gate_row *row, const compiler_signature *signature,
                           status *st) {
    status why = STATUS_INIT;
    uint64_t outputs = 0;
    for (uint32_t i = 0; i < signature->output_count; i++)
        outputs += bytes_of(&signature->outputs[i]);
    if (outputs == 0) {
        gate_settle(row, GATE_EQUIVALENT, REASON_STATIC, "it has no output to compute");
        return true;
    }
    if (!make_spec(p, row, signature, &why))
        return settle_unprepared(p, row, &why, st);
    note_element(p, row);
    return true;
}

static bool prepare_row(preparation *p, gate_row *row, status *st) {
    compiler_signature signature;
    compiler_buffer *buffers = NULL;
    bool ok = true;
    p->foreign = false;
    if (signature_of(row->units[1], &signature, &buffers))
        ok = prepare_arrays(p, row, &signature, st);
    else
        gate_settle(row, GATE_INCONCLUSIVE, REASON_OTHER_WORK,
                    "the module does not say what arrays it takes (code for any dimensions cannot "
                    "be gated: compile the case)");
    free(buffers);
    return ok;
}

bool gate_prepare(gate *g, status *st) {
    preparation p = {.gate = g};
    bool ok = true;
    for (size_t i = 0; i < g->rows.count && !g->interrupted && ok; i++) {
        if (gate_is_over_budget(g))
            gate_settle(&g->rows.items[i], GATE_INCONCLUSIVE, REASON_BUDGET,
                        "before it was timed the %.0f s of --budget were over",
                        g->settings->budget_seconds);
        if (!gate_is_settled(&g->rows.items[i]))
            ok = prepare_row(&p, &g->rows.items[i], st);
        g->interrupted |= *g->stop != 0;
    }
    case_context_close(&p.contexts[0]);
    case_context_close(&p.contexts[1]);
    return ok;
}
