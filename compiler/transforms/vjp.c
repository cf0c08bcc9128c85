/* vjp.c - reverse derivatives: the block, and behind it the cotangents of its values from the last
 * to the first.
 *
 * The order in which cotangents are added is a promise (docs/derivatives.md): contributions to a
 * value are one chain in the order of its uses in the block. They are found from the last use to
 * the first, so they wait until the last of them, which is the first use, is there. */
#include <stdlib.h>

#include "ops/control.h"
#include "transforms/engine.h"

typedef struct contribution {
    ir_value cotangent;
    uint32_t later; /* the one of the next use, or 0 */
} contribution;

typedef struct reversal {
    derivation *d;
    value_table first; /* by value: the contribution of its first use so far, or 0 */
    VEC(contribution) all;
} reversal;

static void contribute(reversal *r, ir_value v, ir_value cotangent) {
    if (!cotangent || derive_flow(r->d, v) != FLOW_ACTIVE)
        return;
    contribution one = {cotangent, value_table_get(&r->first, v)};
    vec_push(&r->all, one);
    value_table_set(&r->first, v, (uint32_t)r->all.count);
}

/* The chain of all contributions; 0: there is none. Within a tessera.shard several are each of all
 * shards, as one of them may be what another shard has of it, too. */
static ir_value cotangent_of(const reversal *r, ir_value v) {
    ir_value sum = 0;
    const uint32_t first = value_table_get(&r->first, v);
    const bool several = first && r->all.items[first - 1].later;
    for (uint32_t i = first; i; i = r->all.items[i - 1].later) {
        ir_value own = r->all.items[i - 1].cotangent;
        if (several)
            own = derive_of_shards(r->d, own, v);
        sum = sum ? build_binary(&r->d->b, GRAPH_ADD, sum, own) : own;
    }
    return sum;
}

/* ---- one operation ---- */

static ir_value by_factor(derivation *d, const element *e, const derivative *rule, uint32_t i,
                          ir_value cotangent) {
    const dtype own = build_type(&d->b, ir_op_get(d->m, e->op)->operands[i])->element;
    factor f = rule->factor(e, i);
    ir_value wide = build_convert(&d->b, cotangent, build_type(&d->b, e->y)->element);
    ir_value scaled = derive_scale(&d->b, &f, wide);
    return scaled ? build_convert(&d->b, scaled, own) : 0;
}

static bool transpose_plain(reversal *r, const tape_entry *entry, ir_value cotangent,
                            ir_value *out) {
    derivation *d = r->d;
    const ir_op_data *o = ir_op_get(d->m, entry->op);
    const derivative *rule = derivative_of(o->opcode);
    bool *wanted = base_calloc(o->operand_count + 1, sizeof *wanted);
    for (uint32_t i = 0; i < o->operand_count; i++)
        wanted[i] = derive_flow(d, o->operands[i]) == FLOW_ACTIVE;
    if (rule->factor) {
        element e = derive_element(&d->b, entry->op);
        for (uint32_t i = 0; i < o->operand_count; i++)
            if (wanted[i])
                out[i] = by_factor(d, &e, rule, i, cotangent);
    } else {
        rule->transpose(&d->b, entry->op, cotangent, wanted, out);
    }
    free(wanted);
    return true;
}

static ir_value cotangent_or_zero(derivation *d, ir_value cotangent, ir_value of) {
    return cotangent ? cotangent : build_zero(&d->b, ir_value_get(d->m, of)->type);
}

/* A function's own rule, of the values, the results, and the cotangents of these. */
static bool transpose_vjp(derivation *d, const tape_entry *entry, const ir_value *cotangents,
                          ir_value *out) {
    const transform_shape s = transform_shape_of(d->m, entry->op);
    ir_value *in = base_calloc(s.value_count + s.result_count + s.of_count + 1, sizeof *in),
             *made = base_calloc(s.wrt_count + 1, sizeof *made);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.value_count; i++)
        in[n++] = entry->operands[i];
    for (uint32_t i = 0; i < s.result_count; i++)
        in[n++] = entry->results[i];
    for (uint32_t i = 0; i < s.of_count; i++)
        in[n++] = cotangent_or_zero(d, cotangents[s.of[i]], entry->results[s.of[i]]);
    derivation rule = derive_begin(d->t, &d->b);
    bool ok = derive_plain(&rule, ir_op_block(d->m, entry->op, 1), in, made);
    for (uint32_t i = 0; i < s.wrt_count && ok; i++)
        out[s.wrt[i]] = made[i];
    derive_end(&rule);
    free(in);
    free(made);
    return ok;
}

/* A rule of tangents is linear in them: it is taken back at tangents of 0. */
static bool transpose_jvp(derivation *d, const tape_entry *entry, const ir_value *cotangents,
                          ir_value *out) {
    const transform_shape s = transform_shape_of(d->m, entry->op);
    const uint32_t known = s.value_count + s.result_count;
    ir_value *in = base_calloc(known + s.wrt_count + 1, sizeof *in),
             *of = base_calloc(s.of_count + 1, sizeof *of),
             *tangents = base_calloc(s.of_count + 1, sizeof *tangents),
             *made = base_calloc(s.wrt_count + 1, sizeof *made);
    int64_t *wrt = base_calloc(s.wrt_count + 1, sizeof *wrt);
    for (uint32_t i = 0; i < known; i++)
        in[i] = i < s.value_count ? entry->operands[i] : entry->results[i - s.value_count];
    for (uint32_t i = 0; i < s.wrt_count; i++) {
        wrt[i] = known + i;
        in[known + i] = build_zero(&d->b, ir_value_get(d->m, entry->operands[s.wrt[i]])->type);
    }
    for (uint32_t i = 0; i < s.of_count; i++)
        of[i] = cotangents[s.of[i]];
    const derived_function rule = {ir_op_block(d->m, entry->op, 1), in, wrt, s.wrt_count};
    bool ok = derive_pull(d->t, &d->b, &rule, tangents, of, made);
    for (uint32_t i = 0; i < s.wrt_count && ok; i++)
        out[s.wrt[i]] = made[i];
    free(in);
    free(of);
    free(tangents);
    free(made);
    free(wrt);
    return ok;
}

/* ---- all of them ---- */

static bool transpose(reversal *r, const tape_entry *entry) {
    derivation *d = r->d;
    const ir_op_data *o = ir_op_get(d->m, entry->op);
    ir_value *cotangents = base_calloc(o->result_count + 1, sizeof *cotangents),
             *out = base_calloc(o->operand_count + 1, sizeof *out);
    bool any = false, ok = true;
    derive_at(d, entry->op);
    for (uint32_t i = 0; i < o->result_count; i++) {
        cotangents[i] = cotangent_of(r, entry->results[i]);
        any |= cotangents[i] != 0;
    }
    if (any)
        ok = o->opcode == GRAPH_CUSTOM_VJP   ? transpose_vjp(d, entry, cotangents, out)
             : o->opcode == GRAPH_CUSTOM_JVP ? transpose_jvp(d, entry, cotangents, out)
             : control_has_blocks(o->opcode) && !derivative_of(o->opcode)
                 ? derive_control_transpose(d, entry, cotangents, out)
                 : transpose_plain(r, entry, cotangents[0], out);
    for (uint32_t i = o->operand_count; any && ok && i > 0; i--)
        contribute(r, entry->operands[i - 1], out[i - 1]);
    free(cotangents);
    free(out);
    return ok;
}

bool derive_pull(transforming *t, const ir_builder *b, const derived_function *f, ir_value *results,
                 const ir_value *cotangents, ir_value *out) {
    derivation d = derive_begin(t, b);
    reversal r = {.d = &d};
    const uint32_t count = derived_result_count(t->m, f->block);
    d.reverse = true;
    const ir_value *own = derive_bind(&d, f);
    bool ok = derive_block(&d, f->block, results);
    d.b.location = b->location;
    for (uint32_t i = count; i > 0 && ok; i--)
        contribute(&r, results[i - 1],
                   d.sharded && cotangents[i - 1]
                       ? shard_as(&d.b, GRAPH_VARY, cotangents[i - 1], results[i - 1])
                       : cotangents[i - 1]);
    for (size_t i = d.tape.count; i > 0 && ok; i--)
        ok = transpose(&r, &d.tape.items[i - 1]);
    for (uint32_t i = 0; i < f->wrt_count && ok; i++)
        out[i] = cotangent_of(&r, own[i]);
    vec_release(&r.first);
    vec_release(&r.all);
    derive_end(&d);
    return ok;
}

bool expand_vjp(transforming *t, ir_op op) {
    ir_module *m = t->m;
    const ir_op_data *o = ir_op_get(m, op);
    const transform_shape s = transform_shape_of(m, op);
    ir_builder b = {.m = m, .block = o->block, .before = op, .location = o->location};
    ir_value *results = base_calloc(s.result_count + s.wrt_count + 1, sizeof *results),
             *cotangents = base_calloc(s.result_count + 1, sizeof *cotangents),
             *out = results + s.result_count;
    for (uint32_t i = 0; i < s.of_count; i++)
        cotangents[s.of[i]] = o->operands[i];
    const derived_function f = {ir_op_block(m, op, 0), s.values, s.wrt, s.wrt_count};
    bool ok = derive_pull(t, &b, &f, results, cotangents, out);
    for (uint32_t i = 0; i < s.wrt_count && ok; i++) {
        const ir_value v = s.values[s.wrt[i]];
        out[i] = out[i] ? shard_as(&b, GRAPH_COTANGENT, out[i], v)
                        : build_zero(&b, ir_value_get(m, v)->type);
    }
    if (ok)
        transform_replace(m, op, results);
    free(results);
    free(cotangents);
    return ok;
}
