/* identity.c - the structural hash of a module: equal for two modules if and only if their texts
 * are.
 *
 * What text leaves out is left out: locations, names of values, ids, and what was interned or
 * erased. It is made from numbers and not from text, so it costs a fraction of a print. */
#include <string.h>

#include "ir/internal.h"

typedef struct hasher {
    const ir_module *m;
    sha256_stream *out;
    uint32_t *numbers; /* by value id: its place in the walk, from 1 on */
    uint32_t last;     /* number so far */
    uint32_t before;   /* ... where the present block began: what it has not read has none above */
    const char *without; /* an attribute that does not count; NULL: all do */
} hasher;

static void put(hasher *h, uint64_t word) {
    sha256_stream_update(h->out, &word, sizeof word);
}

static void put_text(hasher *h, const char *words) {
    size_t length = strlen(words);
    put(h, length);
    sha256_stream_update(h->out, words, length);
}

static void put_dim(hasher *h, ir_dim d) {
    put(h, ir_dim_is_static(d));
    if (ir_dim_is_static(d))
        put(h, (uint64_t)d);
    else
        put_text(h, ir_dim_text((ir_module *)h->m, d));
}

static void put_type(hasher *h, ir_type type) {
    const ir_type_data *t = ir_type_get(h->m, type);
    const ir_layout *l = &t->layout;
    const uint16_t layout[] = {l->vector,     l->row_threads, l->column_threads, l->row_run,
                               l->column_run, l->row_groups,  l->column_groups,  l->lanes,
                               l->fragment,   l->turned};
    put(h, (uint64_t)t->kind);
    put(h, (uint64_t)t->element);
    put(h, (uint64_t)t->rank);
    for (int i = 0; i < t->rank; i++)
        put_dim(h, t->dims[i]);
    sha256_stream_update(h->out, layout, sizeof layout);
}

static void put_attr(hasher *h, ir_attr attr) {
    const ir_attr_data *d = ir_attr_get(h->m, attr);
    put(h, (uint64_t)d->kind);
    switch (d->kind) {
    case IR_ATTR_BOOL:
    case IR_ATTR_INT:
        put(h, (uint64_t)d->integer);
        break;
    case IR_ATTR_DIM:
        put_dim(h, d->integer);
        break;
    case IR_ATTR_BITS:
        put(h, (uint64_t)d->element);
        put(h, d->bits);
        break;
    case IR_ATTR_STRING:
        put_text(h, d->string);
        break;
    case IR_ATTR_TYPE:
        put_type(h, d->type);
        break;
    case IR_ATTR_DENSE:
        put_text(h, d->string);
        put_type(h, d->type);
        break;
    case IR_ATTR_ARRAY:
    case IR_ATTR_DICT:
        put(h, d->count);
        for (uint32_t i = 0; i < d->count; i++) {
            if (d->kind == IR_ATTR_DICT)
                put_text(h, d->keys[i]);
            put_attr(h, d->items[i]);
        }
        break;
    default:
        break;
    }
}

static void define(hasher *h, ir_value v) {
    h->numbers[v] = ++h->last;
    put_type(h, ir_value_get(h->m, v)->type);
}

static void put_operand(hasher *h, ir_value v) {
    const bool known = h->numbers[v] > h->before;
    put(h, known ? h->numbers[v] - h->before : 0);
    if (!known)
        define(h, v);
}

static void put_op(hasher *h, ir_op op);

static void put_block(hasher *h, ir_block block) {
    const ir_block_data *b = ir_block_get(h->m, block);
    put(h, b->argument_count);
    for (uint32_t i = 0; i < b->argument_count; i++)
        define(h, b->arguments[i]);
    for (ir_op op = b->first; op; op = ir_op_get(h->m, op)->next)
        put_op(h, op);
    put(h, UINT64_MAX); /* no opcode: the block ends */
}

static void put_op(hasher *h, ir_op op) {
    const ir_op_data *d = ir_op_get(h->m, op);
    put(h, (uint64_t)d->opcode);
    put(h, (uint64_t)d->operand_count << 32 | d->result_count);
    const bool less = h->without && ir_op_attr(h->m, op, h->without);
    put(h, (uint64_t)(d->attr_count - less) << 32 | d->region_count);
    for (uint32_t i = 0; i < d->operand_count; i++)
        put_operand(h, d->operands[i]);
    for (uint32_t i = 0; i < d->attr_count; i++) {
        if (less && strcmp(d->attrs[i].name, h->without) == 0)
            continue;
        put_text(h, d->attrs[i].name);
        put_attr(h, d->attrs[i].value);
    }
    for (uint32_t i = 0; i < d->result_count; i++)
        define(h, d->results[i]);
    for (uint32_t r = 0; r < d->region_count; r++)
        put_block(h, ir_op_block(h->m, op, r));
}

static hasher begin(const ir_module *m) {
    return (hasher){.m = m,
                    .out = sha256_stream_new(),
                    .numbers = base_calloc(m->values.count, sizeof(uint32_t))};
}

static sha256 end(hasher *h) {
    free(h->numbers);
    return sha256_stream_finish(h->out);
}

sha256 ir_identity(const ir_module *m) {
    hasher h = begin(m);
    put_block(&h, m->body);
    return end(&h);
}

sha256 ir_op_identity(const ir_module *m, ir_op op) {
    hasher h = begin(m);
    put_op(&h, op);
    return end(&h);
}

void ir_block_identities(const ir_module *m, const ir_block *blocks, uint32_t count,
                         const char *without, sha256 *out) {
    hasher h = {
        .m = m, .numbers = base_calloc(m->values.count, sizeof(uint32_t)), .without = without};
    for (uint32_t i = 0; i < count; i++) {
        h.out = sha256_stream_new();
        h.before = h.last;
        put_block(&h, blocks[i]);
        out[i] = sha256_stream_finish(h.out);
    }
    free(h.numbers);
}
