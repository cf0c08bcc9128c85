/* print.c - a module as MLIR generic text, byte for byte as mlir-opt --mlir-print-op-generic prints
 * it.
 *
 * Values are numbered the way MLIR does it: all of a region first, then the regions inside it from
 * the last to the first; entry arguments are %argN; several results share one number (%3:2, %3#1).
 */
#include "ir/internal.h"
#include "ir/irdl.h"

#include <inttypes.h>
#include <string.h>

typedef struct ir_spelling ir_spelling;

/* From here on the text is of an operation that comes from that line of the source. */
typedef struct line_mark {
    size_t offset;
    uint32_t line;
} line_mark;
typedef VEC(line_mark) line_marks;

typedef struct printer {
    const ir_module *m;
    text *out;
    line_marks *marks; /* or NULL */
    uint32_t *numbers;
    bool *printed; /* by attribute: a dense one that the text names */ /* by value id: number, or
                                                                          argument number */
    uint32_t next_value, next_argument;
    const ir_spelling *spelling;
} printer;

/* Spelling of types, attributes and operations: our own text, and the one that IRDL can check
 * (irdl.h). */
struct ir_spelling {
    const char *buffer, *memory, *tile, *dims, *dim, *bits;
    bool irdl;
};
static const ir_spelling canonical = {
    "!sched.buf<",   "!tile.mem<",     "!tile.t<", "#tessera.dims<",
    "#tessera.dim<", "#tessera.bits<", false};
static const ir_spelling checkable = {"!tsr.buf<", "!tsr.mem<",  "!tsr.tile<", "#tsr.dims<",
                                      "#tsr.dim<", "#tsr.bits<", true};

const char *ir_element_text(dtype element) {
    switch (element) {
    case DTYPE_BOOL:
        return "i1";
    case DTYPE_F8E4M3FN:
        return "f8E4M3FN";
    case DTYPE_F8E5M2:
        return "f8E5M2";
    case DTYPE_U64:
        return "ui64";
    case DTYPE_U32:
        return "ui32";
    case DTYPE_U16:
        return "ui16";
    case DTYPE_U8:
        return "ui8";
    default:
        return dtype_name(element);
    }
}

static void print_quoted(const char *s, text *out) {
    text_append_char(out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f)
            text_printf(out, c == '\\' ? "\\\\" : "\\%02X", c);
        else
            text_append_char(out, (char)c);
    }
    text_append_char(out, '"');
}

static void print_shape(const ir_type_data *d, text *out) {
    for (int i = 0; i < d->rank; i++)
        if (d->dims[i] < 0)
            text_append(out, "?x");
        else
            text_printf(out, "%" PRId64 "x", d->dims[i]);
    text_append(out, ir_element_text(d->element));
}

/* The shape of a tensor or buffer, with the expressions of dimensions that are no numbers. */
static void print_dims(const ir_module *m, ir_type type, const ir_spelling *spelling, text *out) {
    const ir_type_data *d = ir_type_get(m, type);
    print_shape(d, out);
    if (!ir_type_is_static(m, type)) {
        text_printf(out, ", %s", spelling->dims);
        for (int i = 0; i < d->rank; i++) {
            text_append(out, i ? ", " : "");
            print_quoted(ir_dim_text((ir_module *)m, d->dims[i]), out);
        }
        text_append_char(out, '>');
    }
}

void ir_layout_print(const ir_layout *l, text *out) {
    static const char *const names[] = {"", "a", "b", "c"};
    if (l->vector)
        text_printf(out, "rows<%d>", l->vector);
    else if (l->row_groups)
        text_printf(out, "mma<%s, %dx%d, %dx%d%s, %dx%d, lanes %d>", names[l->fragment],
                    l->row_groups, l->column_groups, l->row_threads, l->column_threads,
                    l->turned ? " turned" : "", l->row_run, l->column_run, l->lanes);
    else
        text_printf(out, "threads<%dx%d, %dx%d>", l->row_threads, l->column_threads, l->row_run,
                    l->column_run);
}

static void print_type(const ir_module *m, ir_type type, const ir_spelling *spelling, text *out) {
    const ir_type_data *d = ir_type_get(m, type);
    switch (d->kind) {
    case IR_TYPE_SCALAR:
        text_append(out, ir_element_text(d->element));
        return;
    case IR_TYPE_INDEX:
        text_append(out, "index");
        return;
    case IR_TYPE_TENSOR:
        text_append(out, "tensor<");
        print_dims(m, type, spelling, out);
        break;
    case IR_TYPE_BUFFER:
        text_append(out, spelling->buffer);
        print_dims(m, type, spelling, out);
        break;
    case IR_TYPE_MEMORY:
        text_printf(out, "%s%s", spelling->memory, ir_element_text(d->element));
        break;
    case IR_TYPE_TILE:
        text_append(out, spelling->tile);
        print_shape(d, out);
        if (d->layout.vector || d->layout.row_threads) {
            text_append(out, ", ");
            ir_layout_print(&d->layout, out);
        }
        break;
    case IR_TYPE_NONE:
    case IR_TYPE_KIND_COUNT:
        text_append(out, "none");
        return;
    }
    text_append_char(out, '>');
}

void ir_print_type(const ir_module *m, ir_type type, text *out) {
    print_type(m, type, &canonical, out);
}

static void print_attr(const ir_module *m, ir_attr attr, const ir_spelling *spelling, text *out);

static void print_attr_items(const ir_module *m, const ir_attr_data *d, const ir_spelling *spelling,
                             text *out) {
    text_append_char(out, d->kind == IR_ATTR_DICT ? '{' : '[');
    for (uint32_t i = 0; i < d->count; i++) {
        text_append(out, i ? ", " : "");
        if (d->kind == IR_ATTR_DICT)
            text_printf(out, "%s = ", d->keys[i]);
        const ir_attr_data *item = ir_attr_get(m, d->items[i]);
        if (d->kind == IR_ATTR_ARRAY &&
            item->kind == IR_ATTR_INT) /* mlir-opt leaves the i64 of elements out */
            text_printf(out, "%" PRId64, item->integer);
        else
            print_attr(m, d->items[i], spelling, out);
    }
    text_append_char(out, d->kind == IR_ATTR_DICT ? '}' : ']');
}

static void print_attr(const ir_module *m, ir_attr attr, const ir_spelling *spelling, text *out) {
    const ir_attr_data *d = ir_attr_get(m, attr);
    switch (d->kind) {
    case IR_ATTR_UNIT:
        text_append(out, "unit");
        break;
    case IR_ATTR_BOOL:
        text_append(out, d->integer ? "true" : "false");
        break;
    case IR_ATTR_INT:
        text_printf(out, "%" PRId64 " : i64", d->integer);
        break;
    case IR_ATTR_BITS:
        text_printf(out, "%s%s, 0x%" PRIx64 ">", spelling->bits, ir_element_text(d->element),
                    d->bits);
        break;
    case IR_ATTR_STRING:
        print_quoted(d->string, out);
        break;
    case IR_ATTR_DIM:
        text_append(out, spelling->dim);
        print_quoted(ir_dim_text((ir_module *)m, d->integer), out);
        text_append_char(out, '>');
        break;
    case IR_ATTR_TYPE:
        print_type(m, d->type, spelling, out);
        break;
    case IR_ATTR_ARRAY:
    case IR_ATTR_DICT:
        print_attr_items(m, d, spelling, out);
        break;
    case IR_ATTR_DENSE:
        text_printf(out, "dense_resource<%s> : ", d->string);
        print_type(m, d->type, spelling, out);
        break;
    case IR_ATTR_NONE:
    case IR_ATTR_KIND_COUNT:
        break;
    }
}

void ir_print_attr(const ir_module *m, ir_attr attr, text *out) {
    print_attr(m, attr, &canonical, out);
}

/* ---- numbering ---- */

static void number_block(printer *p, ir_block block) {
    const ir_block_data *b = ir_block_get(p->m, block);
    for (uint32_t i = 0; i < b->argument_count; i++)
        p->numbers[b->arguments[i]] = p->next_argument++;
    for (ir_op op = b->first; op; op = ir_op_get(p->m, op)->next) {
        const ir_op_data *d = ir_op_get(p->m, op);
        for (uint32_t i = 0; i < d->result_count; i++)
            p->numbers[d->results[i]] = p->next_value;
        p->next_value += d->result_count > 0;
    }
    for (ir_op op = b->last; op; op = ir_op_get(p->m, op)->previous)
        for (uint32_t r = ir_op_get(p->m, op)->region_count; r-- > 0;)
            number_block(p, ir_op_block(p->m, op, r));
}

static void print_value(const printer *p, ir_value value) {
    const ir_value_data *v = ir_value_get(p->m, value);
    text_printf(p->out, v->op ? "%%%u" : "%%arg%u", p->numbers[value]);
    if (v->op && ir_op_get(p->m, v->op)->result_count > 1)
        text_printf(p->out, "#%u", v->index);
}

/* ---- operations ---- */

static void indent(const printer *p, int depth) {
    for (int i = 0; i < depth; i++)
        text_append(p->out, "  ");
}

static void mark(const printer *p, const ir_op_data *d) {
    if (p->marks)
        vec_push(p->marks, ((line_mark){p->out->length, d->location.line}));
}

static void print_op(const printer *p, ir_op op, int depth);

static void print_block(const printer *p, ir_block block, int depth) {
    const ir_block_data *b = ir_block_get(p->m, block);
    if (b->argument_count) {
        indent(p, depth);
        text_append(p->out, "^bb0(");
        for (uint32_t i = 0; i < b->argument_count; i++) {
            text_append(p->out, i ? ", " : "");
            print_value(p, b->arguments[i]);
            text_append(p->out, ": ");
            print_type(p->m, ir_value_get(p->m, b->arguments[i])->type, p->spelling, p->out);
        }
        text_append(p->out, "):\n");
    }
    for (ir_op op = b->first; op; op = ir_op_get(p->m, op)->next)
        print_op(p, op, depth + 1);
    if (p->spelling->irdl) {
        indent(p, depth + 1);
        text_append(p->out, "\"tsr.end\"() : () -> ()\n");
    }
}

static void print_attr_named(const printer *p, const ir_named_attr *attr) {
    text_append(p->out, attr->name);
    if (ir_attr_get(p->m, attr->value)->kind == IR_ATTR_UNIT)
        return;
    text_append(p->out, " = ");
    print_attr(p->m, attr->value, p->spelling, p->out);
    if (ir_attr_get(p->m, attr->value)->kind == IR_ATTR_DENSE)
        p->printed[attr->value] = true;
}

static void print_attrs(const printer *p, const ir_op_data *d) {
    for (uint32_t i = 0; i < d->attr_count; i++) {
        text_append(p->out, i ? ", " : " <{");
        print_attr_named(p, &d->attrs[i]);
    }
    text_append(p->out, d->attr_count ? "}>" : "");
}

/* Values as segments: `fixed` ones of their own, then runs of one type; the rest are empty. */
static void print_segments(const printer *p, const char *name, const ir_value *values,
                           uint32_t count, uint32_t fixed) {
    uint32_t segments = 0, next;
    text_printf(p->out, "%s = array<i32: ", name);
    for (uint32_t i = 0; i < count || segments < fixed + IRDL_RUNS; i = next, segments++) {
        next = i + 1;
        while (i >= fixed && next < count &&
               ir_value_get(p->m, values[next])->type == ir_value_get(p->m, values[i])->type)
            next++;
        next = next > count ? count : next;
        text_printf(p->out, segments ? ", %u" : "%u", next - i);
    }
    text_append_char(p->out, '>');
}

/* Attributes up to, not including, `name` (NULL: all that are left); what follows them is written
 * after a comma. */
static void print_attrs_before(const printer *p, const ir_op_data *d, uint32_t *next,
                               const char *name) {
    for (; *next < d->attr_count && (!name || strcmp(d->attrs[*next].name, name) < 0); ++*next) {
        print_attr_named(p, &d->attrs[*next]);
        text_append(p->out, ", ");
    }
}

/* Attributes as a sorted dictionary, with the segment sizes that variadic operands and results
 * need. */
static void print_dictionary(const printer *p, const ir_op_data *d) {
    const op_info *info = op_info_get(d->opcode);
    const char *cursor = info->operands;
    op_operand_info operand = {.variadic = false};
    uint32_t fixed = 0, next = 0;
    while (op_next_operand(&cursor, &operand))
        fixed += !operand.variadic;
    if (!d->attr_count && !operand.variadic && info->results >= 0)
        return;
    text_append(p->out, " {");
    print_attrs_before(p, d, &next, "operand_segment_sizes");
    if (operand.variadic) {
        print_segments(p, "operand_segment_sizes", d->operands, d->operand_count, fixed);
        text_append(p->out, ", ");
    }
    print_attrs_before(p, d, &next, "result_segment_sizes");
    if (info->results < 0) {
        print_segments(p, "result_segment_sizes", d->results, d->result_count, 0);
        text_append(p->out, ", ");
    }
    print_attrs_before(p, d, &next, NULL);
    p->out->length -= 2; /* the last comma */
    p->out->data[p->out->length] = 0;
    text_append_char(p->out, '}');
}

static void print_signature(const printer *p, const ir_op_data *d) {
    text_append(p->out, " : (");
    for (uint32_t i = 0; i < d->operand_count; i++) {
        text_append(p->out, i ? ", " : "");
        print_type(p->m, ir_value_get(p->m, d->operands[i])->type, p->spelling, p->out);
    }
    text_append(p->out, d->result_count == 1 ? ") -> " : ") -> (");
    for (uint32_t i = 0; i < d->result_count; i++) {
        text_append(p->out, i ? ", " : "");
        print_type(p->m, ir_value_get(p->m, d->results[i])->type, p->spelling, p->out);
    }
    text_append(p->out, d->result_count == 1 ? "\n" : ")\n");
}

static void print_op(const printer *p, ir_op op, int depth) {
    const ir_op_data *d = ir_op_get(p->m, op);
    mark(p, d);
    indent(p, depth);
    if (d->result_count) {
        text_printf(p->out, "%%%u", p->numbers[d->results[0]]);
        if (d->result_count > 1)
            text_printf(p->out, ":%u", d->result_count);
        text_append(p->out, " = ");
    }
    text_printf(p->out, "\"%s\"(", op_info_get(d->opcode)->name);
    for (uint32_t i = 0; i < d->operand_count; i++) {
        text_append(p->out, i ? ", " : "");
        print_value(p, d->operands[i]);
    }
    text_append_char(p->out, ')');
    if (!p->spelling->irdl)
        print_attrs(p, d);
    for (uint32_t r = 0; r < d->region_count; r++) {
        text_append(p->out, r ? ", {\n" : " ({\n");
        print_block(p, ir_op_block(p->m, op, r), depth);
        mark(p, d);
        indent(p, depth);
        text_append(p->out, r + 1 == d->region_count ? "})" : "}");
    }
    if (p->spelling->irdl)
        print_dictionary(p, d);
    print_signature(p, d);
}

/* The bytes of the constants that were printed, each once. */
static void print_resources(const printer *p) {
    enum { ALIGNMENT = 64 };
    static const char digits[] = "0123456789ABCDEF";
    const ir_module *m = p->m;
    map seen;
    intptr_t before;
    map_init(&seen);
    for (size_t i = 1; i < m->attrs.count; i++) {
        const ir_blob *blob = m->attrs.items[i]->blob;
        if (!p->printed[i] || map_get(&seen, blob->name, &before))
            continue;
        text_append(p->out, seen.count ? ",\n" : "{-#\n  dialect_resources: {\n    builtin: {\n");
        map_put(&seen, blob->name, 1);
        text_printf(p->out, "      %s: \"0x%02X000000", blob->name, ALIGNMENT);
        for (size_t k = 0; k < blob->size_bytes; k++) {
            text_append_char(p->out, digits[blob->bytes[k] >> 4]);
            text_append_char(p->out, digits[blob->bytes[k] & 15]);
        }
        text_append_char(p->out, '"');
    }
    if (seen.count)
        text_append(p->out, "\n    }\n  }\n#-}\n");
    map_release(&seen);
}

static void print_module(const ir_module *m, const ir_spelling *spelling, text *out,
                         line_marks *marks) {
    printer p = {.m = m,
                 .out = out,
                 .marks = marks,
                 .numbers = base_calloc(m->values.count, sizeof(uint32_t)),
                 .printed = base_calloc(m->attrs.count + 1, sizeof(bool)),
                 .spelling = spelling};
    number_block(&p, m->body);
    text_append(out, "\"builtin.module\"() ({\n");
    for (ir_op op = ir_block_get(m, m->body)->first; op; op = ir_op_get(m, op)->next)
        print_op(&p, op, 1);
    text_append(out, "}) : () -> ()\n\n");
    print_resources(&p);
    free(p.numbers);
    free(p.printed);
}

void ir_print(const ir_module *m, text *out) {
    print_module(m, &canonical, out, NULL);
}

void ir_print_lines(const ir_module *m, text *out, ir_line_list *lines) {
    line_marks marks = {0};
    size_t start = out->length, next = 0;
    uint32_t line = 0;
    print_module(m, &canonical, out, &marks);
    for (size_t i = start; i < out->length; i++) {
        while (next < marks.count && marks.items[next].offset <= i)
            line = marks.items[next++].line;
        if (out->data[i] == '\n')
            vec_push(lines, line);
    }
    vec_release(&marks);
}

void irdl_print_module(const ir_module *m, text *out) {
    print_module(m, &checkable, out, NULL);
}

sha256 ir_hash(const ir_module *m) {
    text t;
    text_init(&t);
    ir_print(m, &t);
    sha256 digest = sha256_of(t.data, t.length);
    text_release(&t);
    return digest;
}
