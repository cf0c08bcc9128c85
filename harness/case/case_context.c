/* case_context.c - opens a case and computes what is expected of it. */
#include "case/case_context.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "case/bound.h"
#include "case/case.h"
#include "case/case_sample.h"
#include "case/inputs.h"
#include "launch/launch.h"

static void drop_reference(case_context *s) {
    tensors_clear(s->references);
    tensors_clear(s->bounds);
    tensors_clear(s->limits);
    s->has_reference = false;
    s->sampled = 0;
}

/* Lists of what is expected, one for each output. */
static void make_expected(case_context *s) {
    uint32_t count = s->signature.output_count;
    s->oracle = tensors_new(count);
    s->references = tensors_new(count);
    s->bounds = tensors_new(count);
    s->limits = tensors_new(count);
}

static void free_expected(case_context *s) {
    tensors_free(s->oracle);
    tensors_free(s->references);
    tensors_free(s->bounds);
    tensors_free(s->limits);
    s->oracle = s->references = s->bounds = s->limits = NULL;
    s->has_oracle = s->has_reference = s->by_code = false;
    s->sampled = 0;
}

static void close_named(case_context *s) {
    case_context *named = s->named;
    s->named = NULL;
    if (!named)
        return;
    free_expected(named);
    compiler_instance_free(named->instance);
    free(named);
}

static void close_others(case_context *s) {
    for (uint32_t i = 0; i < s->other_count; i++) {
        close_named(&s->others[i]);
        tensors_free(s->others[i].inputs);
        free_expected(&s->others[i]);
    }
    free(s->others);
    s->others = NULL;
    s->other_count = 0;
}

static void close_case(case_context *s) {
    close_others(s);
    close_named(s);
    free_expected(s);
    tensors_free(s->inputs);
    s->inputs = NULL;
    s->has_escape = false;
    s->sample = (case_sample){.planned = false};
    golden_release(&s->golden);
    compiler_instance_free(s->instance);
    s->instance = NULL;
    free(s->kernel_name);
    free(s->case_name);
    free(s->inputs_folder);
    free(s->dims);
    free(s->space);
    free(s->target);
    s->target = NULL;
    s->specialized = false;
    text_release(&s->unused);
    s->unused = (text){0};
    s->golden_skips = NULL;
    s->kernel_name = s->case_name = s->inputs_folder = s->dims = s->space = NULL;
}

void case_context_close(case_context *s) {
    close_case(s);
    if (s->source)
        compiler_close(s->source);
    free(s->path);
    free(s->source_text);
    memset(s, 0, sizeof *s);
}

/* The file that is open, or the same text. */
static bool same_source(const case_context *s, const char *source) {
    return source ? s->source_text && strcmp(s->source_text, source) == 0 : !s->source_text;
}

static bool same_inputs(const case_context *s, const char *folder) {
    return folder ? s->inputs_folder && strcmp(s->inputs_folder, folder) == 0 : !s->inputs_folder;
}

static bool has_sound_kernel(const compiler_source *source) {
    for (uint32_t i = 0; i < compiler_kernel_count(source); i++)
        if (!compiler_kernel_at(source, i)->broken)
            return true;
    return false;
}

static bool open_source(case_context *s, const char *path, const char *source, status *st) {
    if (s->source && strcmp(s->path, path) == 0 && same_source(s, source))
        return true;
    case_context_close(s);
    text diagnostics;
    text_init(&diagnostics);
    s->path = base_strdup(path);
    s->source_text = source ? base_strdup(source) : NULL;
    s->source = source ? compiler_open_text(path, source, false, &diagnostics)
                       : compiler_open(path, false, &diagnostics, st);
    bool ok = s->source != NULL;
    if (ok && !has_sound_kernel(s->source))
        ok = status_set(st, STATUS_INVALID, "%s has errors: %.800s", path, diagnostics.data);
    text_release(&diagnostics);
    return ok;
}

/* The bound case, or that of the source in these dimensions. False: it has another name. */
static bool take_bound(case_context *s, const char *name) {
    if (strcmp(s->c->name, name) == 0)
        return true;
    for (uint32_t k = 0; k < s->kernel->case_count; k++)
        if (strcmp(s->kernel->cases[k].name, name) == 0) {
            s->like = *s->c;
            s->like.name = s->kernel->cases[k].name;
            s->like.inputs = s->kernel->cases[k].inputs;
            s->like.constants = s->kernel->cases[k].constants;
            s->like.constant_count = s->kernel->cases[k].constant_count;
            s->c = &s->like;
            return true;
        }
    return false;
}

static bool find_case(case_context *s, const case_context_request *request, status *st) {
    for (uint32_t i = 0; i < compiler_kernel_count(s->source); i++) {
        s->kernel = compiler_kernel_at(s->source, i);
        if (strcmp(s->kernel->name, request->kernel) != 0)
            continue;
        if (request->dims) {
            s->c = case_bound(s->source, s->kernel, request->dims, st);
            if (!s->c)
                return false;
            if (take_bound(s, request->case_name))
                return true;
        }
        for (uint32_t k = 0; !request->dims && k < s->kernel->case_count; k++) {
            s->c = &s->kernel->cases[k];
            if (strcmp(s->c->name, request->case_name) == 0)
                return true;
        }
    }
    return status_set(st, STATUS_NOT_FOUND, "%s has no case %s/%s any more", request->path,
                      request->kernel, request->case_name);
}

/* ---- choices of a space of tiles ---- */

/* Why the golden of the case's own values says nothing of the chosen ones; NULL: they have its
 * bits. */
static const char *find_golden_skips(case_context *s, compiler_instance *own, bool held) {
    compiler_code first, chosen;
    status ignored = STATUS_INIT;
    if (compiler_code_of(own, &first, &ignored) &&
        compiler_code_of(s->instance, &chosen, &ignored)) {
        compiler_relation relation = compiler_relate(&first, &chosen);
        if (relation == COMPILER_ANOTHER_ORDER)
            return "its tiles are chosen so that it adds in another order than its golden";
        if (relation == COMPILER_SAME_CODE || held)
            return NULL;
    }
    return "its tiles are chosen so that its golden need not have the same bits";
}

/* A choice that has the bits of the kernel's own tiles is the same case: it has that one's key. */
static bool compare_with_own(case_context *s, const case_context_request *request, status *st) {
    compiler_case own = *s->c;
    own.choice = NULL;
    compiler_instance *instance = case_instance(s->source, s->kernel, &own, st);
    if (!instance)
        return false;
    s->golden_skips = find_golden_skips(s, instance, request->space_held || s->specialized);
    if (!s->golden_skips)
        golden_key(instance, &own, s->signature.input_count, request->seed, s->key);
    compiler_instance_free(instance);
    return true;
}

const char *case_context_unused(case_context *s, const compiler_options *options) {
    const char *isa = options->isa ? options->isa : "";
    char of[sizeof s->unused_of];
    snprintf(of, sizeof of, "%s %d", isa, (int)options->profile);
    if (!s->unused.data || strcmp(of, s->unused_of) != 0) {
        text_release(&s->unused);
        text_init(&s->unused);
        compiler_unused_hints(s->source, s->kernel, s->c, options, &s->unused);
        memcpy(s->unused_of, of, sizeof of);
    }
    return s->unused.data;
}

/* Does the source give some targets tiles of their own? */
static bool has_special_tiles(const compiler_kernel *kernel) {
    const compiler_schedule *schedule = kernel->schedule;
    for (uint32_t i = 0; schedule && i < schedule->special_count; i++)
        if (schedule->specials[i].choice)
            return true;
    return false;
}

static bool choose(case_context *s, const case_context_request *request, status *st) {
    const compiler_case *own = s->c;
    if (request->space) {
        s->c = compiler_case_choose(s->source, s->kernel, s->c, request->space, st);
        return s->c != NULL;
    }
    if (!request->target || !has_special_tiles(s->kernel))
        return true;
    s->target = base_strdup(request->target);
    bool ok = compiler_case_specialize(s->source, s->kernel, own, request->target, &s->c, st);
    s->specialized = ok && s->c != own;
    return ok;
}

static uint64_t bytes_of(const struct compiler_buffer *buffers, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = dtype_size(buffers[i].type);
        for (int axis = 0; axis < buffers[i].rank; axis++)
            bytes *= (uint64_t)buffers[i].dims[axis];
        sum += bytes;
    }
    return sum;
}

static bool make_inputs(case_context *s, const case_context_request *request, status *st) {
    const inputs_request made = {&s->signature, s->c, request->seed, NULL};
    s->inputs = tensors_new(s->signature.input_count);
    make_expected(s);
    return request->inputs ? inputs_read(&s->signature, request->inputs, s->inputs, st)
                           : inputs_make_set(&made, request->set, s->inputs, st);
}

static bool open_case(case_context *s, const case_context_request *request, status *st) {
    s->instance = case_instance(s->source, s->kernel, s->c, st);
    status ignored = STATUS_INIT; /* a pass that fails does so again where it is asked for */
    bool ok = s->instance && compiler_signature_of(s->instance, &s->signature, st);
    if (ok)
        compiler_cost(s->instance, &s->flops, &s->bytes, &ignored);
    ok = ok && make_inputs(s, request, st) && compiler_check_values(s->instance, s->inputs, st);
    if (!ok)
        return false;
    s->working_set_bytes = bytes_of(s->signature.inputs, s->signature.input_count) +
                           bytes_of(s->signature.outputs, s->signature.output_count);
    /* Elements that a gather leaves alone take no room in a cache. */
    if (s->bytes < s->working_set_bytes)
        s->working_set_bytes = s->bytes;
    golden_key(s->instance, s->c, s->signature.input_count, request->seed, s->key);
    if (s->c->choice && !compare_with_own(s, request, st))
        return false;
    s->golden_state = GOLDEN_MISSING;
    if (request->golden && !request->set.number) {
        json_t *digests = json_loads(request->golden, 0, NULL);
        golden_of_digests(digests, &s->golden);
        s->golden_state = GOLDEN_PRESENT;
        json_decref(digests);
        return true;
    }
    return !request->golden_path || s->golden_skips || request->set.number ||
           golden_read(request->golden_path, s->key, &s->golden, &s->golden_state, st);
}

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool case_context_open(case_context *s, const case_context_request *request, status *st) {
    if (s->source && same_source(s, request->source) && s->kernel_name &&
        s->seed == request->seed && s->set.number == request->set.number &&
        s->set.perturbed == request->set.perturbed && same_inputs(s, request->inputs) &&
        strcmp(s->path, request->path) == 0 && strcmp(s->kernel_name, request->kernel) == 0 &&
        strcmp(s->case_name, request->case_name) == 0 && same_text(s->dims, request->dims) &&
        same_text(s->space, request->space) &&
        (!has_special_tiles(s->kernel) || same_text(s->target, request->target)))
        return true;
    if (!open_source(s, request->path, request->source, st))
        return false;
    close_case(s);
    if (!find_case(s, request, st) || !choose(s, request, st))
        return false;
    if (!open_case(s, request, st)) {
        close_case(s);
        return false;
    }
    s->seed = request->seed;
    s->set = request->set;
    s->sampled_from = request->sampled_from;
    s->inputs_folder = request->inputs ? base_strdup(request->inputs) : NULL;
    s->kernel_name = base_strdup(request->kernel);
    s->case_name = base_strdup(request->case_name);
    s->dims = request->dims ? base_strdup(request->dims) : NULL;
    s->space = request->space ? base_strdup(request->space) : NULL;
    return true;
}

const tensor *case_context_oracle(case_context *s, status *st) {
    if (s->has_oracle)
        return s->oracle;
    s->has_oracle = s->by_code = case_sample_applies(s) && case_sample_oracle(s);
    return s->has_oracle ? s->oracle : case_context_interpret(s, st);
}

const tensor *case_context_interpret(case_context *s, status *st) {
    if (s->by_code) {
        tensors_clear(s->oracle);
        s->has_oracle = s->by_code = false;
    }
    if (!s->has_oracle)
        s->has_oracle = compiler_interpret(s->instance, s->inputs, s->oracle, st);
    return s->has_oracle ? s->oracle : NULL;
}

static bool refer_to_all(case_context *s, status *st) {
    const compiler_references out = {
        .values = s->references, .bounds = s->bounds, .limits = s->limits, .whole = &s->whole};
    return compiler_reference(s->instance, s->inputs, &out, st);
}

bool case_context_reference(case_context *s, status *st) {
    if (s->has_reference)
        return true;
    if (case_sample_applies(s) && case_context_oracle(s, st) && s->by_code)
        s->has_reference = case_sample_reference(s, st);
    else
        s->has_reference = st->code == STATUS_OK && refer_to_all(s, st);
    if (!s->has_reference)
        drop_reference(s);
    return s->has_reference;
}

bool case_context_exact(case_context *s, uint32_t output, int64_t element, status *st) {
    return s->sampled == 0 || case_sample_exact(s, output, element, st);
}

bool case_context_exact_all(case_context *s, status *st) {
    if (s->sampled)
        drop_reference(s);
    if (!s->has_reference)
        s->has_reference = refer_to_all(s, st);
    return s->has_reference;
}

bool case_context_unlimited(case_context *s, tensor *values, status *st) {
    tensor *bounds = tensors_new(s->signature.output_count);
    const compiler_references out = {.values = values, .bounds = bounds, .unlimited = true};
    memset(values, 0, sizeof *values * s->signature.output_count);
    bool ok = compiler_reference(s->instance, s->inputs, &out, st);
    tensors_free(bounds);
    if (!ok)
        tensor_release_all(values, s->signature.output_count);
    return ok;
}

const compiler_escape *case_context_escape(case_context *s, status *st) {
    if (!s->has_escape)
        s->has_escape = compiler_find_escape(s->instance, s->inputs, &s->escape, st);
    return s->has_escape ? &s->escape : NULL;
}

/* Everything is borrowed from `s`, and nothing is expected yet. */
static void borrow(const case_context *s, case_context *out) {
    *out = *s;
    out->oracle = out->references = out->bounds = out->limits = NULL;
    out->has_oracle = out->has_reference = out->has_escape = out->by_code = false;
    out->sampled = 0;
    out->golden_state = GOLDEN_MISSING;
    out->others = out->named = NULL;
    out->other_count = 0;
}

bool case_context_like(const case_context *s, compiler_instance *instance, case_context *out,
                       status *st) {
    borrow(s, out);
    out->sample = (case_sample){.planned = false};
    out->unused = (text){0};
    out->instance = instance;
    if (!instance || !compiler_signature_of(instance, &out->signature, st))
        return false;
    make_expected(out);
    return true;
}

void case_context_release_like(case_context *out) {
    free_expected(out);
}

/* ---- the kernel that @same_as names ---- */

static bool open_named(const case_context *s, case_context *out, status *st) {
    compiler_case own = *s->c;
    own.choice = NULL;
    compiler_instance *instance = case_instance(s->source, s->kernel->same_as, &own, st);
    bool ok = case_context_like(s, instance, out, st);
    out->kernel = s->kernel->same_as;
    return ok && compiler_check_values(out->instance, out->inputs, st);
}

bool case_context_named(case_context *s, case_context **out, status *st) {
    if (!s->named && s->kernel->same_as) {
        s->named = base_calloc(1, sizeof *s->named);
        status why = STATUS_INIT;
        if (!open_named(s, s->named, &why)) {
            close_named(s);
            return status_set(st, why.code, "@same_as: kernel %s has no such case: %s",
                              s->kernel->same_as->name, why.message);
        }
    }
    if (s->named)
        s->named->tolerance = s->tolerance;
    *out = s->named;
    return true;
}

bool case_context_adds_alike(case_context *s, case_context *named) {
    compiler_code own, other;
    status ignored = STATUS_INIT;
    return compiler_code_of(s->instance, &own, &ignored) &&
           compiler_code_of(named->instance, &other, &ignored) &&
           compiler_relate(&own, &other) != COMPILER_ANOTHER_ORDER;
}

/* ---- other inputs ---- */

static bool make_other(const case_context *s, input_set set, case_context *out, status *st) {
    borrow(s, out);
    out->inputs = tensors_new(s->signature.input_count);
    make_expected(out);
    out->set = set;
    const inputs_request made = {&s->signature, s->c, s->seed, s->inputs};
    return inputs_make_set(&made, set, out->inputs, st) &&
           compiler_check_values(s->instance, out->inputs, st);
}

case_context *case_context_others(case_context *s, uint32_t count, status *st) {
    for (uint32_t i = 0; s->others && i < s->other_count; i++)
        s->others[i].tolerance = s->tolerance;
    if (s->others && s->other_count == count)
        return s->others;
    close_others(s);
    (void)case_sample_applies(s); /* its plan is shared */
    s->others = base_calloc(count, sizeof *s->others);
    for (; s->other_count < count; s->other_count++) {
        const input_set set = {s->other_count + 1, s->other_count + 1 == count};
        if (!make_other(s, set, &s->others[s->other_count], st)) {
            s->other_count++; /* it is closed, too */
            close_others(s);
            return NULL;
        }
    }
    return s->others;
}

dtype case_context_element(const case_context *s) {
    uint64_t most = 0;
    dtype element = s->signature.outputs[0].type;
    for (uint32_t i = 0; i < s->signature.input_count; i++) {
        uint64_t bytes =
            bytes_of(&s->signature.inputs[i], 1) / dtype_size(s->signature.inputs[i].type);
        if (bytes > most) {
            most = bytes;
            element = s->signature.inputs[i].type;
        }
    }
    return element;
}

bool case_context_pairs(const case_context *s) {
    const ir_module *m = compiler_instance_graph(s->instance);
    for (ir_op op = ir_kernel_body(m)->first; op; op = ir_op_get(m, op)->next)
        if (strcmp(ir_op_string(m, op, "order", ""), "pairs512") == 0)
            return true;
    return false;
}
