/* import_shardings.c - shardings of arguments, results and values between them: that devices have
 * equal parts of them, and which part a rank keeps. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/stablehlo/import.h"
#include "ops/donated.h"
#include "ops/sharding.h"

/* A value of the program, as its devices have it: in equal parts. */
static bool check_sharding(importer *im, const shlo_function *f, uint32_t value) {
    const shlo_op at = import_place(f);
    const shlo_type *t = f->type->parts[value];
    const char *what = value < f->type->inputs ? "argument" : "result";
    const uint32_t number = value < f->type->inputs ? value : value - f->type->inputs;
    shlo_sharding s;
    const char *why = NULL;
    if (t->kind != SHLO_TYPE_TENSOR || !shlo_sharding_of(im->source, f, value, &s, &why))
        return true;
    if (why)
        return import_refuse(im, &at, "%s %u: %s", what, number, why);
    for (uint32_t i = 0; i < s.rank; i++) {
        const int64_t parts = shlo_sharding_parts(&s, i);
        if (parts > 1 && s.mesh.devices != im->shards.partitions)
            return import_refuse(im, &at,
                                 "%s %u: its mesh has %lld devices, and the program is for %lld "
                                 "(mhlo.num_partitions)",
                                 what, number, (long long)s.mesh.devices,
                                 (long long)im->shards.partitions);
        if (t->dims[i] % parts)
            return import_refuse(im, &at,
                                 "%s %u: axis %u, of %lld, does not divide over %lld devices", what,
                                 number, i, (long long)t->dims[i], (long long)parts);
    }
    return true;
}

bool import_check_shardings(importer *im, const shlo_function *f) {
    bool good = true;
    for (uint32_t i = 0; i < f->type->count && good && im->shards.partitions > 1; i++)
        good = check_sharding(im, f, i);
    return good;
}

/* A sharding as graphs write it (ops/sharding.h); parts of axes, and meshes whose devices stand in
 * another order, have none: such a value is whole on each rank. */
static bool write_sharding(const shlo_sharding *s, text *out) {
    bool any = false, good = s->mesh.ids == NULL;
    for (uint32_t d = 0; d < s->rank; d++) {
        text_append(out, d ? "," : "");
        for (uint32_t i = 0; i < s->dims[d].count; i++) {
            const shlo_axis_part *a = &s->dims[d].axes[i];
            text_printf(out, "%s%s=%lld", i ? "+" : "", s->mesh.axes[a->axis].name,
                        (long long)a->size);
            good &= a->size == s->mesh.axes[a->axis].size && s->dims[d].count <= SHARDING_AXES &&
                    strpbrk(s->mesh.axes[a->axis].name, "=,+ ") == NULL;
            any = true;
        }
    }
    return good && any;
}

/* The axes of the devices, which each have one element of. */
static void write_devices(importer *im, const shlo_function *f, text *out) {
    const bool partitions = im->shards.partitions > 1 && import_is_collective(im, f);
    if (im->shards.replicas > 1)
        text_printf(out, "replica=%lld", (long long)im->shards.replicas);
    if (partitions)
        text_printf(out, "%spartition=%lld", out->length ? "," : "",
                    (long long)im->shards.partitions);
}

void import_shardings(importer *im, const shlo_function *f, ir_op kernel) {
    const bool per_device = import_is_per_device(im, f);
    const uint32_t given = f->type->count - f->type->inputs,
                   count = f->type->count + (given == 0); /* a kernel has an output */
    ir_attr *list = base_calloc((size_t)count + 1, sizeof *list);
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        text words;
        shlo_sharding s;
        const char *why;
        text_init(&words);
        if (per_device && i < f->type->count)
            write_devices(im, f, &words);
        else if (im->shards.partitions == 1 || i == f->type->count ||
                 !shlo_sharding_of(im->source, f, i, &s, &why) || why ||
                 !write_sharding(&s, &words))
            text_clear(&words);
        list[i] = ir_attr_string(im->m, words.data);
        any |= words.length > 0;
        text_release(&words);
    }
    for (uint32_t i = 0; i < donated_inputs(im->m, kernel); i++) /* one memory lies one way */
        if (donated_output(im->m, kernel, i) >= 0)
            list[f->type->inputs + donated_output(im->m, kernel, i)] = list[i];
    if (any)
        ir_op_set_attr(im->m, kernel, "shardings", ir_attr_array(im->m, list, count));
    free(list);
}

ir_value import_placed(importer *im, const shlo_op *op, ir_value x) {
    const shlo_attr *a = shlo_op_attr(op, "sharding");
    const shlo_type *t = op->operands[0]->type;
    shlo_sharding s;
    text words;
    text_init(&words);
    if (a && im->shards.partitions > 1 && im->shards.count == 0 &&
        !shlo_sharding_read(im->source, a, t->rank, &s) &&
        s.mesh.devices == im->shards.partitions && write_sharding(&s, &words) &&
        sharding_fits(words.data, import_type_of(im, x))) {
        const ir_named_attr attr = {"sharding", ir_attr_string(im->m, words.data)};
        x = ir_op_result(im->m, graph_build(&im->b, GRAPH_PLACED, &x, 1, &attr, 1), 0);
    }
    text_release(&words);
    return x;
}
