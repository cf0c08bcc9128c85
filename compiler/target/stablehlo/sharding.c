/* sharding.c - a program's arguments and results on a mesh of devices, as Shardy says it: the
 * partitioner of XLA cuts the program up, and puts the exchanges in. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/stablehlo/passes.h"

enum { AXES_MAX = 8, WORD_MAX = 32, DEVICES_MAX = 1 << 20 };

typedef struct mesh {
    char names[AXES_MAX][WORD_MAX];
    int64_t extents[AXES_MAX];
    uint32_t count;
    int64_t devices;
} mesh;

/* Four devices, as topologies of 2 x 2 have them. */
static const char usual_mesh[] = "data=2,model=2";

static bool wrong(status *st, const char *words, size_t length, const char *why) {
    return status_set(st, STATUS_INVALID, "annotate-sharding: '%.*s' %s",
                      (int)(length < 60 ? length : 60), words, why);
}

/* ---- the mesh ---- */

static int find_axis(const mesh *m, const char *name, size_t length) {
    for (uint32_t i = 0; i < m->count; i++)
        if (strlen(m->names[i]) == length && memcmp(m->names[i], name, length) == 0)
            return (int)i;
    return -1;
}

static bool add_axis(mesh *m, const char *at, size_t length, status *st) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const size_t name = strspn(at, letters);
    char *end = NULL;
    errno = 0;
    const long long extent =
        name && name < length && at[name] == '=' ? strtoll(at + name + 1, &end, 10) : 0;
    if (end != at + length || errno || extent < 1 || name >= WORD_MAX)
        return wrong(st, at, length, "is no axis of a mesh: data=2");
    if (find_axis(m, at, name) >= 0)
        return wrong(st, at, length, "is an axis that there is already");
    if (m->count == AXES_MAX || extent > DEVICES_MAX / m->devices)
        return wrong(st, at, length, "is one too many: 8 axes and 2^20 devices are the most");
    memcpy(m->names[m->count], at, name);
    m->extents[m->count++] = extent;
    m->devices *= extent;
    return true;
}

/* Up to ';' or the end. */
static bool read_mesh(const char *at, mesh *m, status *st) {
    *m = (mesh){.devices = 1};
    const char *end = at + strcspn(at, ";");
    for (const char *next; at <= end; at = next + 1) {
        next = at + strcspn(at, ",;");
        if (!add_axis(m, at, (size_t)(next - at), st))
            return false;
    }
    return true;
}

/* ---- a tensor ---- */

/* Axes of the mesh that the axis of a tensor is cut along; bit by bit, and in which order. */
typedef struct cuts {
    int axes[SHLO_RANK_MAX][AXES_MAX];
    uint32_t counts[SHLO_RANK_MAX];
    unsigned used; /* axes of the mesh */
} cuts;

static bool add_cut(const mesh *m, cuts *c, const shlo_type *t, uint32_t axis, int of_mesh) {
    int64_t parts = m->extents[of_mesh];
    for (uint32_t i = 0; i < c->counts[axis]; i++)
        parts *= m->extents[c->axes[axis][i]];
    if ((c->used & 1u << of_mesh) || t->dims[axis] <= 0 || t->dims[axis] % parts != 0)
        return false;
    c->used |= 1u << of_mesh;
    c->axes[axis][c->counts[axis]++] = of_mesh;
    return true;
}

/* "data,-" or "data+model,-": a word for each axis. */
static bool read_cuts(const mesh *m, const shlo_type *t, const char *at, cuts *c, status *st) {
    const char *end = at + strcspn(at, ";");
    uint32_t axis = 0;
    for (const char *next; at <= end; at = next + 1) {
        next = at + strcspn(at, ",+;");
        const size_t length = (size_t)(next - at);
        const int of_mesh = find_axis(m, at, length);
        const bool none = length == 1 && *at == '-';
        if (axis >= t->rank)
            return wrong(st, at, length, "is for an axis that the tensor does not have");
        if (!none && of_mesh < 0)
            return wrong(st, at, length, "is no axis of the mesh, and not '-'");
        if (!none && !add_cut(m, c, t, axis, of_mesh))
            return wrong(st, at, length,
                         "cuts the tensor twice, or an axis that it does not divide");
        axis += *next != '+';
    }
    return axis == t->rank || (t->rank == 0 && axis == 0) ||
           wrong(st, at, 0, "is the end, and the tensor has more axes");
}

/* Cuts the first axis along the first one of the mesh, and the last along the second, if they
 * divide. */
static void usual_cuts(const mesh *m, const shlo_type *t, cuts *c) {
    if (t->rank > 0)
        (void)add_cut(m, c, t, 0, 0);
    if (t->rank > 1 && m->count > 1)
        (void)add_cut(m, c, t, t->rank - 1, 1);
}

static const shlo_attr *other(shlo_module *m, text *words) {
    shlo_attr a = {.kind = SHLO_ATTR_OTHER,
                   .string = arena_strdup(&m->memory, words->data),
                   .length = words->length};
    text_release(words);
    return arena_copy(&m->memory, &a, sizeof a);
}

static const shlo_attr *sharding(shlo_module *module, const mesh *m, const shlo_type *t,
                                 const cuts *c) {
    text words;
    text_init(&words);
    text_append(&words, "#sdy.sharding<@mesh, [");
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        text_append(&words, axis ? ", {" : "{");
        for (uint32_t i = 0; i < c->counts[axis]; i++)
            text_printf(&words, "%s\"%s\"", i ? ", " : "", m->names[c->axes[axis][i]]);
        text_append_char(&words, '}');
    }
    text_append(&words, "]>");
    return other(module, &words);
}

/* The attributes of an argument or result with one more. NULL: it has that one. */
static const shlo_attr *with_sharding(shlo_module *m, const shlo_attr *before,
                                      const shlo_attr *value) {
    static const char name[] = "sdy.sharding";
    const uint32_t count = before ? before->count : 0;
    const char **keys = ARENA_NEW(&m->memory, const char *, count + 1);
    const shlo_attr **items = ARENA_NEW(&m->memory, const shlo_attr *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(before->keys[i], name) == 0)
            return NULL;
        keys[i] = before->keys[i];
        items[i] = before->items[i];
    }
    keys[count] = name;
    items[count] = value;
    const shlo_attr a = {.kind = SHLO_ATTR_DICT, .count = count + 1, .keys = keys, .items = items};
    return arena_copy(&m->memory, &a, sizeof a);
}

/* ---- main ---- */

/* The words for a tensor: behind ";a0=". NULL: there are none. */
static const char *words_for(const char *arguments, char letter, uint32_t number) {
    char name[32];
    const int length = snprintf(name, sizeof name, ";%c%" PRIu32 "=", letter, number);
    const char *found = strstr(arguments, name);
    return found ? found + length : NULL;
}

/* Each group behind the mesh names a tensor of main, once. */
static bool check_names(const shlo_function *f, const char *arguments, status *st) {
    for (const char *at = strchr(arguments, ';'); at; at = strchr(at + 1, ';')) {
        const size_t length = strcspn(at + 1, "=;");
        char *end = NULL;
        const uint32_t inputs = f->type->inputs, results = f->type->count - inputs;
        const bool digit = at[1] && at[2] >= '0' && at[2] <= '9';
        const unsigned long number = digit ? strtoul(at + 2, &end, 10) : 0;
        if (!digit || *end != '=' || (at[1] != 'a' && at[1] != 'r') ||
            number >= (at[1] == 'a' ? inputs : results))
            return wrong(
                st, at + 1, length,
                "is no tensor of main: a0, a1 ... are its arguments, r0, r1 ... its results");
        if (words_for(arguments, at[1], (uint32_t)number) != end + 1)
            return wrong(st, at + 1, length, "is named twice");
    }
    return true;
}

/* Parameters: the program, its mesh and the words; a function, which of its tensors, and the
 * attributes of all such. */
static bool mark(shlo_module *module, const mesh *m, const char *arguments, shlo_function *f,
                 uint32_t i, const shlo_attr **attrs, status *st) {
    const bool result = i >= f->type->inputs;
    const shlo_type *t = f->type->parts[i];
    const char letter = result ? 'r' : 'a';
    const uint32_t number = result ? i - f->type->inputs : i;
    const char *words = words_for(arguments, letter, number);
    cuts c = {0};
    if (t->kind != SHLO_TYPE_TENSOR)
        return true;
    if (words && !read_cuts(m, t, words, &c, st))
        return false;
    if (!words && !result && !strchr(arguments, ';'))
        usual_cuts(m, t, &c);
    else if (!words)
        return true;
    attrs[number] = with_sharding(module, attrs[number], sharding(module, m, t, &c));
    if (attrs[number])
        return true;
    return status_set(st, STATUS_INVALID, "annotate-sharding: %c%" PRIu32 " has a sharding", letter,
                      number);
}

static const shlo_attr **copy_of(shlo_module *m, const shlo_attr *const *list, uint32_t count) {
    const shlo_attr **own = ARENA_NEW(&m->memory, const shlo_attr *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        own[i] = list ? list[i] : NULL;
    return own;
}

static void write_mesh(shlo_module *module, const mesh *m) {
    text words;
    text_init(&words);
    text_append(&words, "sdy.mesh @mesh = <[");
    for (uint32_t i = 0; i < m->count; i++)
        text_printf(&words, "%s\"%s\"=%" PRId64, i ? ", " : "", m->names[i], m->extents[i]);
    text_append(&words, "]>");
    module->meshes = arena_strdup(&module->memory, words.data);
    text_release(&words);
}

/* Counts of partitions and replicas are the module's. */
static void write_counts(shlo_module *module, const mesh *m) {
    static const char *const names[] = {"mhlo.num_partitions", "mhlo.num_replicas"};
    shlo_named_attr *attrs = ARENA_NEW(&module->memory, shlo_named_attr, module->attr_count + 2);
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->attr_count; i++)
        if (strcmp(module->attrs[i].name, names[0]) != 0 &&
            strcmp(module->attrs[i].name, names[1]) != 0)
            attrs[count++] = module->attrs[i];
    for (int i = 0; i < 2; i++) {
        text words;
        text_init(&words);
        text_printf(&words, "%" PRId64 " : i32", i == 0 ? m->devices : 1);
        attrs[count++] = (shlo_named_attr){names[i], other(module, &words)};
    }
    module->attrs = attrs;
    module->attr_count = count;
}

bool shlo_annotate_sharding(shlo_module *module, const char *arguments, status *st) {
    const char *words = arguments && *arguments ? arguments : usual_mesh;
    shlo_function *f = shlo_function_named(module, "main");
    mesh m;
    if (!f)
        return status_set(st, STATUS_INVALID, "annotate-sharding: no function is called main");
    if (module->meshes)
        return status_set(st, STATUS_INVALID, "annotate-sharding: the program has a mesh");
    if (!read_mesh(words, &m, st) || !check_names(f, words, st))
        return false;
    const uint32_t results = f->type->count - f->type->inputs;
    const shlo_attr **in = copy_of(module, f->argument_attrs, f->type->inputs);
    const shlo_attr **out = copy_of(module, f->result_attrs, results);
    for (uint32_t i = 0; i < f->type->count; i++)
        if (!mark(module, &m, words, f, i, i < f->type->inputs ? in : out, st))
            return false;
    f->argument_attrs = in;
    f->result_attrs = out;
    write_mesh(module, &m);
    write_counts(module, &m);
    return true;
}

/* ---- the table ---- */

const shlo_pass shlo_passes[] = {
    {"pad-for-tpu", shlo_pad_for_tpu, "rows=8,columns=128",
     "of StableHLO: factors of products get zeros up to multiples of a matrix unit's sizes, and "
     "results are cut"},
    {"annotate-sharding", shlo_annotate_sharding, "data=2,model=2;a0=data,-",
     "of StableHLO: a mesh of devices, and how arguments (a0) and results (r0) lie on it; without "
     "such, first axes along its first and last ones along its second axis"}};
const size_t shlo_pass_count = sizeof shlo_passes / sizeof *shlo_passes;
