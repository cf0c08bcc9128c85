/* parse.c - reads what print.c writes: MLIR generic text with our types and attributes.
 *
 * Values may be used only after their definition (there is no control flow but regions), so one
 * pass is enough. Bad text ends in a message with line and column. */
#include "ir/internal.h"
#include "ir/scan.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ATTRIBUTES = 64, MAX_DEPTH = 64 };

typedef struct ir_parser {
    ir_module *m;
    const char *p;
    const char *counted, *line_start; /* lines are counted up to here; the last of them, `line` */
    uint32_t line;
    map values; /* "%3", "%3#1", "%arg0" */
    scan_resources resources;
    status *st;
    bool failed;
    int depth;
} ir_parser;

/* Counts the lines before `p`, which goes back at most to the last place they were counted for: an
 * operation begins after the one before it, and a failure is behind the beginning of its own. */
static void count_lines(ir_parser *s) {
    for (; s->counted < s->p; s->counted++) {
        if (*s->counted == '\n') {
            s->line++;
            s->line_start = s->counted + 1;
        }
    }
}

static bool fail(ir_parser *s, const char *what) {
    if (s->failed)
        return false;
    s->failed = true;
    count_lines(s);
    return status_set(s->st, STATUS_INVALID, "IR text, line %u column %d: %s", s->line,
                      (int)(s->p - s->line_start) + 1, what);
}

static void blanks(ir_parser *s) {
    s->p = scan_blanks(s->p);
}

static bool take(ir_parser *s, const char *token) {
    blanks(s);
    size_t n = strlen(token);
    if (s->failed || strncmp(s->p, token, n) != 0)
        return false;
    s->p += n;
    return true;
}

static bool need(ir_parser *s, const char *token) {
    if (take(s, token))
        return true;
    char message[64];
    snprintf(message, sizeof message, "expected '%s'", token);
    return fail(s, message);
}

static int64_t parse_number(ir_parser *s) {
    blanks(s);
    char *end;
    errno = 0;
    int64_t n = strtoll(s->p, &end, 10);
    if (end == s->p)
        fail(s, "expected a number");
    else if (errno)
        fail(s, "a number that does not fit 64 bits");
    s->p = end;
    return n;
}

/* A run of letters, digits, '_', '.', '$'; in the arena. */
static char *parse_word(ir_parser *s) {
    blanks(s);
    const char *p = scan_word(s->p);
    if (p == s->p)
        fail(s, "expected a name");
    char *word = arena_strndup(&s->m->memory, s->p, (size_t)(p - s->p));
    s->p = p;
    return word;
}

static char *parse_string(ir_parser *s) {
    if (!need(s, "\""))
        return arena_strdup(&s->m->memory, "");
    const char *end = s->p;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    char *out = arena_alloc(&s->m->memory, (size_t)(end - s->p) + 1), *o = out;
    for (const char *p = s->p; p < end; p++) {
        bool escape = *p == '\\' && p + 1 < end;
        if (escape && p + 2 < end && isxdigit((unsigned char)p[1]) &&
            isxdigit((unsigned char)p[2])) {
            *o++ = (char)(scan_hex(p[1]) * 16 + scan_hex(p[2]));
            p += 2;
        } else {
            *o++ = escape ? *++p : *p;
        }
    }
    *o = 0;
    s->p = end;
    need(s, "\"");
    return out;
}

static dtype element_from(const char *word) {
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        if (strcmp(ir_element_text((dtype)t), word) == 0)
            return (dtype)t;
    return DTYPE_NONE;
}

static dtype parse_element(ir_parser *s) {
    dtype element = element_from(parse_word(s));
    if (element == DTYPE_NONE)
        fail(s, "unknown element type");
    return element;
}

/* "2x?xf32" */
static void parse_shape(ir_parser *s, ir_type_data *d) {
    blanks(s);
    while (!s->failed && (*s->p == '?' || isdigit((unsigned char)*s->p))) {
        if (d->rank == IR_MAX_RANK) {
            fail(s, "rank above 8");
            return;
        }
        if (take(s, "?"))
            d->dims[d->rank++] = -1;
        else
            d->dims[d->rank++] = parse_number(s);
        need(s, "x");
    }
    d->element = parse_element(s);
}

/* One expression for each dimension; those of known dimensions repeat them. */
static void parse_dims(ir_parser *s, ir_type_data *d) {
    need(s, "#tessera.dims<");
    for (int i = 0; i < d->rank && !s->failed; i++) {
        ir_dim dim = 0;
        if (i)
            need(s, ",");
        if (!ir_dim_parse(s->m, parse_string(s), &dim))
            fail(s, "bad dimension expression");
        else if (ir_dim_is_static(dim) ? dim != d->dims[i] || dim < 0 : d->dims[i] >= 0)
            fail(s, "the expression is not that of its dimension");
        d->dims[i] = dim;
    }
    need(s, ">");
}

static ir_type shaped_type(ir_parser *s, const ir_type_data *d, bool has_expressions) {
    for (int i = 0; i < d->rank && !has_expressions; i++)
        if (d->dims[i] < 0)
            fail(s, "a dimension '?' without its expression");
    if (d->kind == IR_TYPE_TILE && d->rank != 2)
        fail(s, "a tile has rows and columns");
    if (s->failed)
        return 0;
    return d->kind == IR_TYPE_TILE
               ? ir_type_laid_out(s->m, ir_type_tile(s->m, d->element, d->dims[0], d->dims[1]),
                                  &d->layout)
               : ir_type_shaped(s->m, d->kind, d->element, d->rank, d->dims);
}

/* A number of a layout. */
static uint16_t parse_extent(ir_parser *s, bool power) {
    int64_t number = parse_number(s);
    if (number < 1 || number > 4096 || (power && (number & (number - 1)) != 0))
        fail(s, "a number of a layout is from 1 to 4096, of threads a power of two");
    return (uint16_t)(s->failed ? 1 : number);
}

static void parse_extents(ir_parser *s, uint16_t *rows, uint16_t *columns) {
    *rows = parse_extent(s, true);
    need(s, "x");
    *columns = parse_extent(s, true);
}

/* A fragment, up to the threads of a subgroup. */
static void parse_fragment(ir_parser *s, ir_layout *l) {
    l->fragment = take(s, "a")   ? IR_FRAGMENT_A
                  : take(s, "b") ? IR_FRAGMENT_B
                  : need(s, "c") ? IR_FRAGMENT_C
                                 : IR_FRAGMENT_NONE;
    need(s, ",");
    parse_extents(s, &l->row_groups, &l->column_groups);
    need(s, ",");
}

static ir_layout parse_layout(ir_parser *s) {
    ir_layout l = {.vector = 0};
    if (take(s, "rows<")) {
        l.vector = parse_extent(s, false);
        need(s, ">");
        return l;
    }
    bool fragment = take(s, "mma<");
    if (fragment)
        parse_fragment(s, &l);
    else
        need(s, "threads<");
    parse_extents(s, &l.row_threads, &l.column_threads);
    l.turned = fragment && take(s, "turned");
    need(s, ",");
    parse_extents(s, &l.row_run, &l.column_run);
    if (fragment) {
        need(s, ",");
        need(s, "lanes");
        l.lanes = parse_extent(s, true);
        if (!s->failed && l.row_threads * l.column_threads > l.lanes)
            fail(s, "more threads than a subgroup has");
    }
    need(s, ">");
    return l;
}

static ir_type parse_type(ir_parser *s) {
    ir_type_data d = {0};
    if (take(s, "index"))
        return ir_type_index(s->m);
    if (take(s, "!tile.mem<")) {
        dtype element = parse_element(s);
        need(s, ">");
        return ir_type_memory(s->m, element);
    }
    if (take(s, "tensor<"))
        d.kind = IR_TYPE_TENSOR;
    else if (take(s, "!sched.buf<"))
        d.kind = IR_TYPE_BUFFER;
    else if (take(s, "!tile.t<"))
        d.kind = IR_TYPE_TILE;
    else
        return ir_type_scalar(s->m, parse_element(s));
    parse_shape(s, &d);
    bool has_expressions = d.kind != IR_TYPE_TILE && take(s, ",");
    if (has_expressions)
        parse_dims(s, &d);
    if (d.kind == IR_TYPE_TILE && take(s, ","))
        d.layout = parse_layout(s);
    need(s, ">");
    return shaped_type(s, &d, has_expressions);
}

static ir_attr parse_attr(ir_parser *s);

static ir_attr parse_dict(ir_parser *s) {
    VEC(const char *) keys = {0};
    VEC(ir_attr) values = {0};
    map seen;
    map_init(&seen);
    while (!s->failed && !take(s, "}")) {
        if (keys.count)
            need(s, ",");
        const char *key = parse_word(s);
        intptr_t before;
        if (map_get(&seen, key, &before))
            fail(s, "a key that is given twice");
        map_put(&seen, key, 1);
        need(s, "=");
        vec_push(&keys, key);
        vec_push(&values, parse_attr(s));
    }
    ir_attr dict =
        s->failed ? 0 : ir_attr_dict(s->m, keys.items, values.items, (uint32_t)keys.count);
    map_release(&seen);
    vec_release(&keys);
    vec_release(&values);
    return dict;
}

static ir_attr parse_array(ir_parser *s) {
    VEC(ir_attr) items = {0};
    while (!s->failed && !take(s, "]")) {
        if (items.count && !need(s, ","))
            break;
        ir_attr item = parse_attr(s);
        vec_push(&items, item);
    }
    ir_attr result = s->failed ? 0 : ir_attr_array(s->m, items.items, (uint32_t)items.count);
    vec_release(&items);
    return result;
}

static ir_attr parse_bits(ir_parser *s) {
    dtype element = parse_element(s);
    need(s, ",");
    blanks(s);
    char *end;
    errno = 0;
    uint64_t bits = strtoull(s->p, &end, 16);
    size_t width = 8 * dtype_size(element);
    if (end == s->p)
        fail(s, "expected bits in hex");
    else if (errno || (width < 64 && bits >> width))
        fail(s, "bits that the element does not have");
    s->p = end;
    need(s, ">");
    return ir_attr_bits(s->m, element, bits);
}

static ir_attr parse_dim_attr(ir_parser *s) {
    ir_dim dim = 0;
    if (!ir_dim_parse(s->m, parse_string(s), &dim))
        fail(s, "bad dimension expression");
    need(s, ">");
    return ir_attr_dim(s->m, dim);
}

/* Behind "dense_resource<". */
static ir_attr parse_dense(ir_parser *s) {
    intptr_t index;
    const char *key = parse_word(s);
    if (!need(s, ">") || !need(s, ":"))
        return 0;
    if (!map_get(&s->resources.by_key, key, &index))
        return fail(s, "a resource that does not stand behind the module"), 0;
    ir_type type = parse_type(s);
    return s->failed ? 0 : ir_attr_dense(s->m, type, s->resources.blobs.items[index]);
}

static ir_attr parse_attr(ir_parser *s) {
    blanks(s);
    if (s->failed || ++s->depth > MAX_DEPTH)
        return fail(s, "attributes nest too deep"), 0;
    ir_attr result;
    if (*s->p == '"')
        result = ir_attr_string(s->m, parse_string(s));
    else if (take(s, "["))
        result = parse_array(s);
    else if (take(s, "{"))
        result = parse_dict(s);
    else if (take(s, "#tessera.bits<"))
        result = parse_bits(s);
    else if (take(s, "#tessera.dim<"))
        result = parse_dim_attr(s);
    else if (take(s, "dense_resource<"))
        result = parse_dense(s);
    else if (take(s, "true"))
        result = ir_attr_bool(s->m, true);
    else if (take(s, "false"))
        result = ir_attr_bool(s->m, false);
    else if (take(s, "unit"))
        result = ir_attr_unit(s->m);
    else if (*s->p == '-' || isdigit((unsigned char)*s->p)) {
        result = ir_attr_int(s->m, parse_number(s));
        if (take(s, ":"))
            need(s, "i64");
    } else
        result = ir_attr_type(s->m, parse_type(s));
    s->depth--;
    return s->failed ? 0 : result;
}

/* ---- values and operations ---- */

/* "%3", "%3#1", "%arg0" as a key into s->values. */
static const char *parse_value_name(ir_parser *s) {
    if (!need(s, "%"))
        return "";
    const char *p = s->p;
    while (isalnum((unsigned char)*p) || *p == '_' || *p == '#')
        p++;
    char *name = arena_strndup(&s->m->memory, s->p, (size_t)(p - s->p));
    s->p = p;
    return name;
}

static ir_value parse_use(ir_parser *s) {
    intptr_t value = 0;
    const char *name = parse_value_name(s);
    if (!s->failed && !map_get(&s->values, name, &value))
        fail(s, "use of a value that is not defined before");
    return (ir_value)value;
}

typedef VEC(ir_type) type_list;

/* A parenthesised list of types, or one type without parentheses. */
static void parse_types(ir_parser *s, type_list *types) {
    bool list = take(s, "(");
    while (!s->failed && !(list && take(s, ")"))) {
        if (types->count && !need(s, ","))
            break;
        ir_type type = parse_type(s);
        vec_push(types, type);
        if (!list)
            break;
    }
}

static void define(ir_parser *s, const char *name, ir_value value) {
    intptr_t before;
    if (map_get(&s->values, name, &before))
        fail(s, "a value that is defined twice");
    else
        map_put(&s->values, name, (intptr_t)value);
}

static void parse_ops(ir_parser *s, ir_block block);

static void parse_region(ir_parser *s, ir_block block) {
    need(s, "{");
    if (take(s, "^bb0(")) {
        bool first = true;
        while (!s->failed && !take(s, ")")) {
            if (!first)
                need(s, ",");
            first = false;
            const char *name = parse_value_name(s);
            need(s, ":");
            ir_type type = parse_type(s);
            if (!s->failed)
                define(s, name, ir_block_add_argument(s->m, block, type, NULL));
        }
        need(s, ":");
    }
    parse_ops(s, block);
    need(s, "}");
}

typedef struct op_text {
    VEC(ir_value) operands;
    VEC(ir_named_attr) attrs;
    type_list operand_types, result_types;
} op_text;

static void release_op_text(op_text *o) {
    vec_release(&o->operands);
    vec_release(&o->attrs);
    vec_release(&o->operand_types);
    vec_release(&o->result_types);
}

static void parse_operands(ir_parser *s, op_text *o) {
    need(s, "(");
    while (!s->failed && !take(s, ")")) {
        if (o->operands.count && !need(s, ","))
            break;
        ir_value operand = parse_use(s);
        vec_push(&o->operands, operand);
    }
}

static void parse_properties(ir_parser *s, op_text *o) {
    if (!take(s, "<{"))
        return;
    while (!s->failed && !take(s, "}>")) {
        if (o->attrs.count == MAX_ATTRIBUTES || (o->attrs.count && !need(s, ","))) {
            fail(s, "too many attributes");
            return;
        }
        const char *name = parse_word(s);
        for (size_t i = 0; i < o->attrs.count; i++)
            if (strcmp(o->attrs.items[i].name, name) == 0)
                fail(s, "an attribute that is given twice");
        ir_attr value = take(s, "=") ? parse_attr(s) : ir_attr_unit(s->m);
        ir_named_attr attr = {name, value};
        vec_push(&o->attrs, attr);
    }
}

static void parse_signature(ir_parser *s, op_text *o) {
    need(s, ":");
    parse_types(s, &o->operand_types);
    need(s, "->");
    parse_types(s, &o->result_types);
    if (!s->failed && o->operand_types.count != o->operands.count)
        fail(s, "as many operand types as operands");
    for (size_t i = 0; i < o->operand_types.count && !s->failed; i++)
        if (ir_value_get(s->m, o->operands.items[i])->type != o->operand_types.items[i])
            fail(s, "the operand's type differs from its definition");
}

static void define_results(ir_parser *s, ir_op op, const char *name, uint32_t count) {
    const ir_op_data *d = ir_op_get(s->m, op);
    if (d->result_count != count) {
        fail(s, "as many names as results");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        define(s, count == 1 ? name : arena_printf(&s->m->memory, "%s#%u", name, i), d->results[i]);
}

static void parse_op(ir_parser *s, ir_block block) {
    count_lines(s);
    ir_location location = {.line = s->line};
    op_text o = {0};
    const char *result_name = NULL;
    uint32_t named = 0;
    if (*s->p == '%') {
        result_name = parse_value_name(s);
        named = take(s, ":") ? (uint32_t)parse_number(s) : 1;
        need(s, "=");
    }
    char *name = parse_string(s);
    int opcode = op_from_name(name);
    if (!s->failed && opcode < 0)
        fail(s, arena_printf(&s->m->memory, "unknown operation '%s'", name));
    parse_operands(s, &o);
    parse_properties(s, &o);
    blanks(s);
    const char *regions = *s->p == '(' ? s->p : NULL;
    uint32_t region_count = regions ? scan_count_regions(regions) : 0;
    if (regions && !s->failed) {
        const char *after = scan_region(s->p);
        if (!region_count || !after)
            fail(s, "a region that does not end");
        else
            s->p = after;
    }
    if (!s->failed)
        parse_signature(s, &o);
    if (!s->failed && ++s->depth <= MAX_DEPTH) {
        ir_builder b = {.m = s->m, .block = block, .location = location};
        ir_op_spec spec = {.opcode = opcode,
                           .operands = o.operands.items,
                           .operand_count = (uint32_t)o.operands.count,
                           .results = o.result_types.items,
                           .result_count = (uint32_t)o.result_types.count,
                           .attrs = o.attrs.items,
                           .attr_count = (uint32_t)o.attrs.count,
                           .region_count = region_count};
        ir_op op = ir_build(&b, &spec);
        const char *after = s->p;
        s->p = regions ? regions + 1 : s->p;
        for (uint32_t r = 0; r < region_count && !s->failed; r++) {
            if (r)
                need(s, ",");
            parse_region(s, ir_op_block(s->m, op, r));
        }
        if (!s->failed)
            s->p = after;
        define_results(s, op, result_name, named);
        s->depth--;
    } else {
        fail(s, "operations nest too deep");
    }
    release_op_text(&o);
}

static void parse_ops(ir_parser *s, ir_block block) {
    blanks(s);
    while (!s->failed && (*s->p == '"' || *s->p == '%')) {
        parse_op(s, block);
        blanks(s);
    }
}

ir_module *ir_parse(const char *source, status *st) {
    ir_parser s = {.m = ir_module_new(),
                   .p = source,
                   .counted = source,
                   .line_start = source,
                   .line = 1,
                   .st = st};
    const char *at, *what;
    map_init(&s.values);
    if (!scan_resources_read(source, &s.resources, &at, &what)) {
        s.p = at;
        fail(&s, what);
    }
    need(&s, "\"builtin.module\"()");
    need(&s, "(");
    parse_region(&s, s.m->body);
    need(&s, ")");
    need(&s, ": () -> ()");
    blanks(&s);
    if (s.p == s.resources.begin)
        s.p = scan_blanks(s.resources.end);
    if (!s.failed && *s.p)
        fail(&s, "text after the end of the module");
    map_release(&s.values);
    scan_resources_release(&s.resources);
    if (s.failed) {
        ir_module_free(s.m);
        return NULL;
    }
    return s.m;
}
