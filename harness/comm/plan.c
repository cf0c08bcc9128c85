/* plan.c - see plan.h. */
#include "comm/plan.h"

#include "comm/collectives.h"
#include "metadata.h"
#include "module.h"
#include "program.h"

/* A place in blocks within blocks. */
typedef struct walk {
    const program_block *block;
    uint32_t at;
    double turns;
} walk;

static plan_axis *axis_of(plan *p, const program_exchange *e) {
    const uint32_t stride = e->ranks[1] - e->ranks[0];
    uint32_t i = 0;
    while (i < p->axis_count && (p->axes[i].stride != stride || p->axes[i].ranks != e->count))
        i++;
    if (i == PLAN_AXES_MAX)
        return NULL;
    if (i == p->axis_count)
        p->axes[p->axis_count++] = (plan_axis){.stride = stride, .ranks = e->count};
    return &p->axes[i];
}

/* Rank 0 is the first of its group: the one i further is number i. */
static bool add(plan *p, const topology *t, const program_exchange *e, double turns, status *st) {
    if (e->count < 2 || e->ranks[0] != 0)
        return e->count == 1 || status_set(st, STATUS_INTERNAL, "rank 0 is not in its group");
    plan_axis *a = axis_of(p, e);
    if (!a)
        return status_set(st, STATUS_UNAVAILABLE, "exchanges along more than %d axes",
                          PLAN_AXES_MAX);
    a->exchanges += (uint64_t)turns;
    for (uint32_t i = 1; i < e->count; i++)
        a->bytes += turns * (double)e->sent[i];
    a->ns += turns * collective_exchange_ns(t, a->stride, a->ranks, e->sent);
    return true;
}

static bool walk_all(plan *p, const topology *t, const program_block *body, status *st) {
    walk open[PROGRAM_DEPTH_MAX + 1] = {{body, 0, 1}};
    uint32_t depth = 1;
    while (depth) {
        walk *w = &open[depth - 1];
        if (w->at == w->block->count) {
            depth--;
            continue;
        }
        const program_command *c = &w->block->commands[w->at++];
        const double turns = c->kind == PROGRAM_LOOP ? w->turns * (double)c->count : w->turns;
        p->bounded = p->bounded || c->kind == PROGRAM_WHILE || c->kind == PROGRAM_IF;
        if (c->kind == PROGRAM_EXCHANGE && !add(p, t, c->exchange, turns, st))
            return false;
        for (uint32_t i = 0; i < program_block_count(c) && depth <= PROGRAM_DEPTH_MAX; i++)
            open[depth++] = (walk){&c->blocks[i], 0, turns};
    }
    return true;
}

static bool plan_metadata(const topology *t, const metadata *m, plan *out, status *st) {
    const program *p = m->program;
    *out = (plan){.ranks = p ? p->ranks : 1};
    for (uint32_t i = 0; i < m->inputs + m->outputs; i++)
        *(i < m->inputs ? &out->inputs : &out->outputs) += (double)m->parameters[i].size_bytes;
    if (!p)
        return true;
    out->arena = (double)p->arena_bytes;
    for (uint32_t i = 0; i < p->constant_count; i++)
        out->constants += (double)p->constants[i].bytes;
    return walk_all(out, t, &p->body, st);
}

bool plan_of(const topology *t, const void *image, size_t size, plan *out, status *st) {
    module_part part;
    metadata m = {0};
    if (!module_check(image, size, st) || !module_find(image, size, "metadata", &part) ||
        !metadata_parse(&m, part.data, part.size_bytes, st))
        return status_set(st, STATUS_INTERNAL, "the module that was made has no program");
    const bool ok = plan_metadata(t, &m, out, st);
    metadata_release(&m);
    return ok;
}
