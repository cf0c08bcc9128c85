/* export_sharding.c - how values lie on a mesh, for Shardy: sdy.mesh, sdy.sharding of arguments and
 * results, sdy.sharding_constraint of others. */
#include <stdlib.h>
#include <string.h>

#include "ops/sharding.h"
#include "target/stablehlo/export.h"
#include "target/stablehlo/passes.h"

enum { AXES_MAX = 8 };

typedef struct axes {
    sharding_axis list[AXES_MAX];
    uint32_t count;
    status *st;
} axes;

static bool add_axis(const sharding_axis *one, void *context) {
    axes *a = context;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->list[i].length == one->length &&
            strncmp(a->list[i].name, one->name, one->length) == 0)
            return a->list[i].shards == one->shards ||
                   status_set(
                       a->st, STATUS_INVALID,
                       "the axis '%.*s' has %lld shards in one sharding and %lld in another: "
                       "a program of StableHLO has one mesh",
                       (int)one->length, one->name, (long long)a->list[i].shards,
                       (long long)one->shards);
    if (a->count == AXES_MAX)
        return status_set(a->st, STATUS_INVALID, "a mesh has at most %d axes", AXES_MAX);
    a->list[a->count++] = *one;
    return true;
}

/* "dp+tp,-", as the pass annotate-sharding takes it. */
static void put_cuts(text *out, const char *words, int rank) {
    sharding_dim dims[IR_MAX_RANK];
    if (!sharding_read(words, rank, dims))
        return;
    for (int d = 0; d < rank; d++) {
        text_append(out, d ? "," : "");
        for (uint32_t i = 0; i < dims[d].count; i++)
            text_printf(out, "%s%.*s", i ? "+" : "", (int)dims[d].axes[i].length,
                        dims[d].axes[i].name);
        text_append(out, dims[d].count ? "" : "-");
    }
}

bool out_shardings(shlo_writer *w) {
    const ir_module *m = w->m;
    const uint32_t inputs = ir_kernel_body(m)->argument_count;
    axes a = {.st = w->st};
    text words;
    if (!sharding_each_axis(m, add_axis, &a))
        return false;
    if (a.count == 0)
        return true;
    text_init(&words);
    for (uint32_t i = 0; i < a.count; i++)
        text_printf(&words, "%s%.*s=%lld", i ? "," : "", (int)a.list[i].length, a.list[i].name,
                    (long long)a.list[i].shards);
    for (uint32_t i = 0; i < sharding_count(m); i++) {
        const char *own = sharding_of(m, ir_module_kernel(m), i);
        if (!own)
            continue;
        text_printf(&words, ";%c%u=", i < inputs ? 'a' : 'r', i < inputs ? i : i - inputs);
        put_cuts(&words, own, ir_type_of(m, sharding_value(m, i))->rank);
    }
    text_append(&words, strchr(words.data, ';') ? "" : ";");
    const bool ok = shlo_annotate_sharding(w->out, words.data, w->st);
    text_release(&words);
    return ok;
}

bool out_placed(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const ir_type_data *t = ir_type_of(w->m, ir_op_result(w->m, op, 0));
    sharding_dim dims[IR_MAX_RANK];
    text words;
    if (!sharding_read(ir_op_string(w->m, op, "sharding", ""), t->rank, dims))
        return out_refuse(w, op, "it lies on no mesh");
    text_init(&words);
    text_append(&words, "#sdy.sharding<@mesh, [");
    for (int d = 0; d < t->rank; d++) {
        text_append(&words, d ? ", {" : "{");
        for (uint32_t i = 0; i < dims[d].count; i++)
            text_printf(&words, "%s\"%.*s\"", i ? ", " : "", (int)dims[d].axes[i].length,
                        dims[d].axes[i].name);
        text_append(&words, "}");
    }
    text_append(&words, "]>");
    const shlo_named_attr attr = {"sharding", out_word(w, SHLO_ATTR_OTHER, words.data)};
    text_release(&words);
    results[0] = out_with(w, "sdy.sharding_constraint", in[0], in[0]->type, &attr);
    return true;
}
