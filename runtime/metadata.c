/* metadata.c - reads the metadata document; whoever wrote it is not trusted. */
#include "metadata.h"

#include <jansson.h>
#include <string.h>

#include "base/effect.h"
#include "formula.h"

static const json_int_t memory_limit = METADATA_LIMIT;
enum { MAP_ELEMENT_MOST = 8, MAP_SWIZZLE_MOST = 128, MAP_BOX_MOST = 256 };

static bool wrong(status *st, const char *key, const char *what) {
    return status_set(st, STATUS_CORRUPT, "module metadata: \"%s\" %s", key, what);
}

static bool get_string(metadata *m, const json_t *object, const char *key, const char **out,
                       status *st) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value) || json_string_length(value) == 0)
        return wrong(st, key, "is not a non-empty string");
    *out = arena_strdup(&m->memory, json_string_value(value));
    return true;
}

static bool get_count(const json_t *object, const char *key, json_int_t limit, json_int_t *out,
                      status *st) {
    const json_t *value = json_object_get(object, key);
    *out = json_integer_value(value);
    if (!json_is_integer(value) || *out < 0 || *out > limit)
        return wrong(st, key, "is not an integer in its range");
    return true;
}

static bool get_array(const json_t *object, const char *key, size_t limit, const json_t **out,
                      status *st) {
    *out = json_object_get(object, key);
    if (!json_is_array(*out) || json_array_size(*out) > limit)
        return wrong(st, key, "is not an array, or too long a one");
    return true;
}

/* A formula of the dimensions that a launch gives. Whatever they are, it must read as one. */
static bool read_formula(metadata *m, const json_t *value, const char *key, const char **out,
                         status *st) {
    int64_t ones[METADATA_DIMS_MAX], unused;
    for (uint32_t i = 0; i < m->dims; i++)
        ones[i] = 1;
    formula_names names = {m->dim_names, ones, m->dims};
    *out = arena_strdup(&m->memory, json_string_value(value));
    return formula_evaluate(*out, &names, &unused) != FORMULA_WRONG ||
           status_set(st, STATUS_CORRUPT,
                      "module metadata: \"%s\": '%.80s' is no formula of \"dims\"", key, *out);
}

static bool get_need(metadata *m, const json_t *object, const char *key, metadata_need *out,
                     status *st) {
    const json_t *value = json_object_get(object, key);
    json_int_t number = 0;
    *out = (metadata_need){NULL, 0};
    if (json_is_string(value))
        return read_formula(m, value, key, &out->formula, st);
    if (!get_count(object, key, memory_limit, &number, st))
        return false;
    out->value = number;
    return true;
}

/* A dimension is a number, or a formula in kernels whose shapes are given at launch. */
static bool read_dimension(metadata *m, const json_t *value, int64_t *out, const char **formula,
                           status *st) {
    *out = -1;
    if (json_is_string(value))
        return read_formula(m, value, "shape", formula, st);
    *out = json_integer_value(value);
    return (json_is_integer(value) && *out >= 0) ||
           wrong(st, "shape", "has a dimension that is no size");
}

static bool set_size(metadata_parameter *p, status *st) {
    int64_t bytes = (int64_t)dtype_size(p->type);
    for (uint32_t i = 0; i < p->rank; i++) {
        if (p->dims[i] < 0)
            return true;
        if (__builtin_mul_overflow(bytes, p->dims[i], &bytes))
            return wrong(st, "shape", "has more than 2^63 bytes");
    }
    p->size_bytes = (size_t)bytes;
    return true;
}

static bool read_effect(metadata *m, const json_t *object, metadata_parameter *p, status *st) {
    effect e;
    if (!json_object_get(object, "effect"))
        return true;
    if (!get_string(m, object, "effect", &p->effect, st))
        return false;
    if (effect_read(p->effect, &e) && effect_is_of(e.kind, p->type))
        return true;
    return wrong(st, "effect", "is none that an output can have");
}

static bool read_parameter(metadata *m, const json_t *object, metadata_parameter *p, status *st) {
    const char *type = NULL;
    const json_t *shape;
    if (!get_string(m, object, "name", &p->name, st) ||
        !get_string(m, object, "dtype", &type, st) ||
        !get_array(object, "shape", TENSOR_MAX_RANK, &shape, st))
        return false;
    p->type = dtype_from_name(type);
    if (p->type == DTYPE_NONE)
        return status_set(st, STATUS_CORRUPT, "module metadata: '%s' has the unknown type '%.32s'",
                          p->name, type);
    p->rank = (uint32_t)json_array_size(shape);
    for (uint32_t i = 0; i < p->rank; i++)
        if (!read_dimension(m, json_array_get(shape, i), &p->dims[i], &p->formulas[i], st))
            return false;
    return read_effect(m, object, p, st) && set_size(p, st);
}

static bool read_parameters(metadata *m, const json_t *root, status *st) {
    const json_t *inputs, *outputs;
    if (!get_array(root, "inputs", METADATA_PARAMETERS_MAX, &inputs, st) ||
        !get_array(root, "outputs", METADATA_PARAMETERS_MAX, &outputs, st))
        return false;
    m->inputs = (uint32_t)json_array_size(inputs);
    m->outputs = (uint32_t)json_array_size(outputs);
    m->parameters = ARENA_NEW(&m->memory, metadata_parameter, m->inputs + m->outputs);
    for (uint32_t i = 0; i < m->inputs + m->outputs; i++) {
        const json_t *one =
            i < m->inputs ? json_array_get(inputs, i) : json_array_get(outputs, i - m->inputs);
        if (!read_parameter(m, one, &m->parameters[i], st))
            return status_context(st, "parameter %u", i);
    }
    return true;
}

static int find_input(const metadata *m, const char *name) {
    for (uint32_t i = 0; name && i < m->inputs; i++)
        if (strcmp(m->parameters[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool read_constants(metadata *m, const json_t *root, status *st) {
    const json_t *list;
    m->constant = ARENA_NEW(&m->memory, bool, m->inputs);
    if (!json_object_get(root, "constants"))
        return true;
    if (!get_array(root, "constants", m->inputs, &list, st))
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        int input = find_input(m, json_string_value(json_array_get(list, i)));
        if (input < 0)
            return wrong(st, "constants", "names no input");
        m->constant[input] = true;
    }
    return true;
}

static bool read_donation(const metadata *m, const json_t *one, uint32_t *donated, status *st) {
    const json_t *from = json_array_get(one, 0), *to = json_array_get(one, 1);
    json_int_t input = json_integer_value(from), output = json_integer_value(to);
    if (json_array_size(one) != 2 || !json_is_integer(from) || !json_is_integer(to) || input < 0 ||
        input >= m->inputs || output < 0 || output >= m->outputs)
        return wrong(st, "donated", "has one that is not [input, output]");
    bool taken = donated[input] != METADATA_NOT_DONATED;
    for (uint32_t i = 0; i < m->inputs; i++)
        taken |= donated[i] == output;
    if (taken)
        return wrong(st, "donated", "has an input or an output twice");
    if (m->parameters[input].size_bytes != m->parameters[m->inputs + output].size_bytes)
        return wrong(st, "donated", "has an input and an output of other sizes");
    donated[input] = (uint32_t)output;
    return true;
}

static bool read_donations(metadata *m, const json_t *root, status *st) {
    const json_t *list;
    if (!json_object_get(root, "donated"))
        return true;
    if (!get_array(root, "donated", m->inputs, &list, st))
        return false;
    if (m->dims)
        return wrong(st, "donated", "is in a module without fixed shapes");
    uint32_t *donated = ARENA_NEW(&m->memory, uint32_t, m->inputs);
    for (uint32_t i = 0; i < m->inputs; i++)
        donated[i] = METADATA_NOT_DONATED;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!read_donation(m, json_array_get(list, i), donated, st))
            return false;
    m->donated = donated;
    return true;
}

static bool read_constant(const metadata *m, const json_t *one, metadata_phase *phase, status *st) {
    const json_t *name = json_object_get(one, "constant");
    phase->constant = find_input(m, json_string_value(name));
    return !name || (phase->constant >= 0 && m->constant[phase->constant]) ||
           wrong(st, "constant", "is none of \"constants\"");
}

static bool read_copies(const metadata *m, const json_t *one, metadata_image *image, uint32_t i,
                        status *st) {
    const json_t *copies = json_object_get(one, "copies");
    const json_int_t input = json_integer_value(copies);
    const bool known = json_is_integer(copies) && input >= 0 && input < m->inputs,
               donated = known && m->donated && m->donated[input] != METADATA_NOT_DONATED;
    image->phases[i].copies = donated ? (int)input : -1;
    image->copies |= donated;
    return !copies || known || wrong(st, "copies", "is no input");
}

/* A phase that is prepared, or left out of some launches, runs apart. */
static bool read_concurrent(const json_t *one, metadata_image *image, uint32_t i, status *st) {
    const json_t *concurrent = json_object_get(one, "concurrent");
    const metadata_phase *p = &image->phases[i];
    const bool apart = i == 0 || p->constant >= 0 || p->copies >= 0;
    image->concurrent[i] = json_is_true(concurrent);
    return !concurrent || (json_is_boolean(concurrent) && !(image->concurrent[i] && apart)) ||
           wrong(st, "concurrent", "is of a phase that runs apart from others, or no boolean");
}

/* ---- how code of others is called ---- */

static bool read_call_extents(const json_t *call, const char *key, uint32_t out[3], status *st) {
    const json_t *extents;
    if (!get_array(call, key, 3, &extents, st) || json_array_size(extents) != 3)
        return wrong(st, key, "does not have three numbers");
    for (size_t i = 0; i < 3; i++) {
        const json_t *one = json_array_get(extents, i);
        json_int_t value = json_integer_value(one);
        if (!json_is_integer(one) || value < 0 || value > UINT32_MAX)
            return wrong(st, key, "has an extent that is none");
        out[i] = (uint32_t)value;
    }
    return true;
}

/* The bytes of a number, as the entry point finds them. */
static bool read_bits(const char *type, const json_t *value, uint64_t *bits) {
    double number = json_number_value(value);
    float single = (float)number;
    json_int_t whole = json_integer_value(value);
    bool is_i32 = strcmp(type, "i32") == 0, is_f32 = strcmp(type, "f32") == 0;
    if (is_i32 || strcmp(type, "i64") == 0) {
        memcpy(bits, &whole, sizeof whole);
        return json_is_integer(value) && (!is_i32 || (whole >= INT32_MIN && whole <= UINT32_MAX));
    }
    if (is_f32)
        memcpy(bits, &single, sizeof single);
    else
        memcpy(bits, &number, sizeof number);
    return json_is_number(value) && (is_f32 || strcmp(type, "f64") == 0);
}

/* {"buffer": 0}, {"type": "i32", "value": 7} */
static bool read_argument(const metadata *m, const json_t *one, device_argument *out, status *st) {
    const json_t *buffer = json_object_get(one, "buffer");
    const char *type = json_string_value(json_object_get(one, "type"));
    json_int_t index = json_integer_value(buffer);
    if (json_is_integer(buffer) && index >= 0 && index < m->inputs + m->outputs) {
        out->buffer = (int32_t)index;
        return true;
    }
    out->buffer = -1;
    return (!buffer && type && read_bits(type, json_object_get(one, "value"), &out->bits)) ||
           wrong(st, "arguments", "has one that is neither a buffer of the kernel nor a number");
}

static bool read_call(metadata *m, const json_t *object, const device_call **out, status *st) {
    device_call *call = ARENA_NEW(&m->memory, device_call, 1);
    const json_t *list;
    if (!read_call_extents(object, "grid", call->grid, st) ||
        !read_call_extents(object, "block", call->block, st) ||
        !get_array(object, "arguments", DEVICE_CALL_ARGUMENTS_MAX, &list, st))
        return false;
    call->argument_count = (uint32_t)json_array_size(list);
    device_argument *arguments = ARENA_NEW(&m->memory, device_argument, call->argument_count);
    call->arguments = arguments;
    for (uint32_t i = 0; i < call->argument_count; i++)
        if (!read_argument(m, json_array_get(list, i), &arguments[i], st))
            return false;
    *out = call;
    return true;
}

/* All phases have one, or none has. */
static bool read_calls(metadata *m, const json_t *phases, metadata_image *image, status *st) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < image->phase_count; i++)
        count += json_object_get(json_array_get(phases, i), "call") != NULL;
    if (count == 0)
        return true;
    if (count != image->phase_count || m->dims)
        return wrong(st, "call", "is not of all phases of a kernel without dimensions");
    image->calls = ARENA_NEW(&m->memory, const device_call *, count);
    for (uint32_t i = 0; i < count; i++)
        if (!read_call(m, json_object_get(json_array_get(phases, i), "call"), &image->calls[i], st))
            return status_context(st, "phase %u", i);
    return true;
}

/* ---- tensor maps ---- */

/* As many numbers as the map has dimensions, each from 1 to `most`. */
static bool read_numbers(const json_t *map, const char *key, json_int_t most, uint32_t rank,
                         uint64_t out[DEVICE_MAP_RANK_MAX], status *st) {
    const json_t *list;
    if (!get_array(map, key, rank, &list, st))
        return false;
    bool ok = json_array_size(list) == rank;
    for (uint32_t i = 0; i < rank && ok; i++) {
        json_int_t value = json_integer_value(json_array_get(list, i));
        ok = value >= 1 && value <= most;
        out[i] = (uint64_t)value;
    }
    return ok || wrong(st, key, "does not have a number in its range for each dimension");
}

/* {"buffer": 0, "element_bytes": 2, "dims": [...], "strides": [...], "box": [...], "swizzle": 128}
 */
static bool read_map(const metadata *m, const json_t *one, device_map *out, status *st) {
    const json_t *dims;
    json_int_t buffer, bytes, swizzle;
    uint64_t box[DEVICE_MAP_RANK_MAX];
    if (!get_count(one, "buffer", (json_int_t)m->inputs + m->outputs - 1, &buffer, st) ||
        !get_count(one, "element_bytes", MAP_ELEMENT_MOST, &bytes, st) ||
        !get_count(one, "swizzle", MAP_SWIZZLE_MOST, &swizzle, st) ||
        !get_array(one, "dims", DEVICE_MAP_RANK_MAX, &dims, st))
        return false;
    *out = (device_map){.buffer = (uint32_t)buffer,
                        .element_bytes = (uint32_t)bytes,
                        .rank = (uint32_t)json_array_size(dims),
                        .swizzle = (uint32_t)swizzle};
    if (!read_numbers(one, "dims", memory_limit, out->rank, out->dims, st) ||
        !read_numbers(one, "strides", memory_limit, out->rank, out->strides, st) ||
        !read_numbers(one, "box", MAP_BOX_MOST, out->rank, box, st))
        return false;
    for (uint32_t i = 0; i < out->rank; i++)
        out->box[i] = (uint32_t)box[i];
    return true;
}

static bool read_maps(metadata *m, const json_t *phase, const device_maps **out, status *st) {
    const json_t *list;
    *out = NULL;
    if (!json_object_get(phase, "maps"))
        return true;
    if (!get_array(phase, "maps", DEVICE_MAPS_MAX, &list, st))
        return false;
    device_maps *maps = ARENA_NEW(&m->memory, device_maps, 1);
    *maps = (device_maps){.count = (uint32_t)json_array_size(list)};
    *out = maps;
    for (uint32_t i = 0; i < maps->count; i++)
        if (!read_map(m, json_array_get(list, i), &maps->list[i], st))
            return false;
    return true;
}

static bool read_all_maps(metadata *m, const json_t *phases, metadata_image *image, status *st) {
    const device_maps **maps = ARENA_NEW(&m->memory, const device_maps *, image->phase_count);
    for (uint32_t i = 0; i < image->phase_count; i++) {
        if (!read_maps(m, json_array_get(phases, i), &maps[i], st))
            return status_context(st, "phase %u", i);
        image->maps = maps[i] ? maps : image->maps;
    }
    return true;
}

/* A kernel whose outputs are all empty has no phases: a launch does nothing. */
static bool read_phases(metadata *m, const json_t *root, metadata_image *image, status *st) {
    const json_t *phases;
    if (!get_array(root, "phases", METADATA_PHASES_MAX, &phases, st))
        return false;
    image->phase_count = (uint32_t)json_array_size(phases);
    image->phases = ARENA_NEW(&m->memory, metadata_phase, image->phase_count);
    image->symbols = ARENA_NEW(&m->memory, const char *, image->phase_count);
    image->concurrent = ARENA_NEW(&m->memory, bool, image->phase_count);
    for (uint32_t i = 0; i < image->phase_count; i++) {
        const json_t *one = json_array_get(phases, i), *what = json_object_get(one, "what");
        if (!get_string(m, one, "symbol", &image->symbols[i], st) ||
            !get_need(m, one, "grid", &image->phases[i].workgroups, st) ||
            !read_constant(m, one, &image->phases[i], st) || !read_copies(m, one, image, i, st) ||
            !read_concurrent(one, image, i, st))
            return status_context(st, "phase %u", i);
        image->phases[i].what =
            json_is_string(what) ? arena_strdup(&m->memory, json_string_value(what)) : "";
    }
    return read_calls(m, phases, image, st) && read_all_maps(m, phases, image, st);
}

static bool read_extents(metadata *m, const json_t *launch, const char *key, metadata_need out[3],
                         status *st) {
    const json_t *extents;
    bool ok = get_array(launch, key, 3, &extents, st);
    if (ok && json_array_size(extents) != 3)
        return wrong(st, key, "does not have three numbers");
    for (size_t i = 0; i < 3 && ok; i++) {
        json_t *one = json_pack("{s:O}", key, json_array_get(extents, i));
        ok = get_need(m, one, key, &out[i], st);
        json_decref(one);
    }
    return ok;
}

/* Reads the launch; by default the workgroups of the last phase, each by itself. */
static bool read_launch(metadata *m, const json_t *root, metadata_image *image, status *st) {
    const json_t *launch = json_object_get(root, "launch");
    metadata_need *l = image->launch;
    for (int i = 0; i < METADATA_LAUNCH_COUNT; i++)
        l[i] = (metadata_need){NULL, i < 6};
    if (image->phase_count)
        l[0] = image->phases[image->phase_count - 1].workgroups;
    return !launch ||
           (read_extents(m, launch, "grid", l, st) && read_extents(m, launch, "block", l + 3, st) &&
            get_need(m, launch, "smem_bytes", &l[6], st));
}

static bool read_prepared(const json_t *root, metadata_image *image, status *st) {
    json_int_t bytes = 0;
    if (json_object_get(root, "prepared_bytes") &&
        !get_count(root, "prepared_bytes", memory_limit, &bytes, st))
        return false;
    image->prepared_bytes = (size_t)bytes;
    return true;
}

static bool read_needs(metadata *m, const json_t *root, metadata_image *image, status *st) {
    return read_prepared(root, image, st) &&
           get_need(m, root, "workspace_bytes", &image->workspace_bytes, st) &&
           get_need(m, root, "scratch_bytes", &image->scratch_bytes, st) &&
           read_phases(m, root, image, st) && read_launch(m, root, image, st);
}

/* Code of emulated threads is known by the CPU that runs it ("elf/ptx-emulated+x86-64-v4"). */
static bool is_emulated(const char *level, const char *isa) {
    static const char suffix[] = "-emulated";
    const char *at = strstr(isa, suffix);
    return at && at[sizeof suffix - 1] == '\0' && strstr(level, "-emulated+");
}

/* "<format>/<isa>", or a further image of that level, "<format>/<isa>:<number>". */
static bool is_section_of(const char *section, const char *isa) {
    const char *level = strchr(section, '/');
    size_t length = strlen(isa);
    return level &&
           (is_emulated(level, isa) || (strncmp(level + 1, isa, length) == 0 &&
                                        (level[1 + length] == '\0' || level[1 + length] == ':')));
}

/* The dimensions that an image is for: each has a number. */
static bool read_when(metadata *m, const json_t *one, metadata_image *image, status *st) {
    const json_t *when = json_object_get(one, "when");
    if (!when)
        return true;
    if (!json_is_object(when) || json_object_size(when) != m->dims || m->dims == 0)
        return wrong(st, "when", "does not have the names of \"dims\"");
    int64_t *values = ARENA_NEW(&m->memory, int64_t, m->dims);
    image->when = values;
    for (uint32_t i = 0; i < m->dims; i++) {
        json_int_t value;
        if (!get_count(when, m->dim_names[i], memory_limit, &value, st))
            return status_context(st, "\"when\"");
        values[i] = value;
    }
    return true;
}

static bool read_image(metadata *m, const json_t *one, uint32_t index, status *st) {
    metadata_image *image = &m->images[index];
    if (!get_string(m, one, "isa", &image->isa, st) ||
        !get_string(m, one, "section", &image->section, st) || !read_needs(m, one, image, st) ||
        !read_when(m, one, image, st))
        return false;
    if (!is_section_of(image->section, image->isa))
        return wrong(st, "section", "is not a target of the image's \"isa\"");
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(m->images[i].section, image->section) == 0)
            return status_set(st, STATUS_CORRUPT, "module metadata: two images in '%.40s'",
                              image->section);
    return true;
}

static bool read_dims(metadata *m, const json_t *root, status *st) {
    const json_t *dims = json_object_get(root, "dims");
    if (dims && (!json_is_array(dims) || json_array_size(dims) > METADATA_DIMS_MAX))
        return wrong(st, "dims", "is not a short array of names");
    m->dims = (uint32_t)json_array_size(dims);
    m->dim_names = ARENA_NEW(&m->memory, const char *, m->dims);
    for (uint32_t i = 0; i < m->dims; i++) {
        const json_t *name = json_array_get(dims, i);
        if (!json_is_string(name) || json_string_length(name) == 0)
            return wrong(st, "dims", "is not a short array of names");
        m->dim_names[i] = arena_strdup(&m->memory, json_string_value(name));
    }
    return true;
}

static bool read_constraints(metadata *m, const json_t *root, status *st) {
    const json_t *list;
    if (!json_object_get(root, "constraints"))
        return true;
    if (!get_array(root, "constraints", METADATA_CONSTRAINTS_MAX, &list, st))
        return false;
    m->constraint_count = (uint32_t)json_array_size(list);
    m->constraints = ARENA_NEW(&m->memory, metadata_constraint, m->constraint_count);
    for (uint32_t i = 0; i < m->constraint_count; i++) {
        const json_t *one = json_array_get(list, i), *formula = json_object_get(one, "formula");
        if (!json_is_string(formula) || !get_string(m, one, "what", &m->constraints[i].what, st))
            return wrong(st, "constraints", "has one without formula or words");
        if (!read_formula(m, formula, "constraints", &m->constraints[i].formula, st))
            return false;
    }
    return true;
}

/* One image for each level, or one description that holds for every image. */
static bool read_images(metadata *m, const json_t *root, status *st) {
    const json_t *images;
    bool several = json_object_get(root, "images") != NULL;
    if (several && !get_array(root, "images", METADATA_IMAGES_MAX, &images, st))
        return false;
    m->image_count = several ? (uint32_t)json_array_size(images) : 1;
    if (m->image_count == 0)
        return wrong(st, "images", "is empty");
    m->images = ARENA_NEW(&m->memory, metadata_image, m->image_count);
    if (!several)
        return read_needs(m, root, &m->images[0], st);
    for (uint32_t i = 0; i < m->image_count; i++)
        if (!read_image(m, json_array_get(images, i), i, st))
            return status_context(st, "image %u", i);
    return true;
}

/* A program has no code of its own; a launch of it needs the arena. */
static bool read_program(metadata *m, const json_t *root, status *st) {
    static const char *const others[] = {"dims", "constants", "images", "phases"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (json_object_get(root, others[i]))
            return wrong(st, others[i], "is in the module of a program");
    if (!program_read(m, json_object_get(root, "program"), st))
        return false;
    m->image_count = 1;
    m->images = ARENA_NEW(&m->memory, metadata_image, 1);
    m->images[0].workspace_bytes.value = m->program->arena_bytes;
    return read_launch(m, root, &m->images[0], st);
}

static bool read_code(metadata *m, const json_t *root, status *st) {
    return json_object_get(root, "program") ? read_program(m, root, st) : read_images(m, root, st);
}

static bool read_root(metadata *m, const json_t *root, status *st) {
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (!schema || strcmp(schema, "tsr.module/2") != 0)
        return wrong(st, "schema", "is not \"tsr.module/2\"");
    return get_string(m, root, "name", &m->name, st) && read_dims(m, root, st) &&
           read_constraints(m, root, st) && read_parameters(m, root, st) &&
           read_constants(m, root, st) && read_donations(m, root, st) && read_code(m, root, st);
}

bool metadata_parse(metadata *m, const char *json, size_t size_bytes, status *st) {
    json_error_t error;
    *m = (metadata){0};
    json_t *root = json_loadb(json, size_bytes, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return status_set(st, STATUS_CORRUPT, "module metadata: line %d: %s", error.line,
                          error.text);
    arena_init(&m->memory);
    m->json = arena_strndup(&m->memory, json, size_bytes);
    bool ok = read_root(m, root, st);
    json_decref(root);
    if (!ok)
        metadata_release(m);
    return ok;
}

void metadata_release(metadata *m) {
    arena_release(&m->memory);
    *m = (metadata){0};
}
