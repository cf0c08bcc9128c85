/* plain.c - see plain.h: one walk, and the words of plain.def. */
#include "target/plain/plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/plain/plain_files.h"
#include "tile/tile.h"

typedef enum spelling_kind { INDEX, MEMORY, TILE, EFFECT, RESULTS, NOTHING } spelling_kind;

typedef struct spelling {
    int opcode;
    spelling_kind kind;
    const char *words[PLAIN_LANGUAGES];
} spelling;

static const spelling spellings[] = {
#define S(ENUM, KIND, c, python) {TILE_##ENUM, KIND, {c, python}},
#include "target/plain/plain.def"
};

typedef struct writer {
    const ir_module *m;
    plain_language language;
    text *out;
    int depth;
    ir_value *same_as; /* of a loop's result: the value that it carries; owned */
    status *st;
    bool failed;
} writer;

static const char *const files[PLAIN_LANGUAGES] = {"ops.inc", "ops.py"};
static const char *const names[PLAIN_LANGUAGES] = {"c", "python"};

plain_language plain_language_from_name(const char *name) {
    int i = 0;
    while (i < PLAIN_LANGUAGES && strcmp(names[i], name) != 0)
        i++;
    return (plain_language)i;
}

static const spelling *spelling_of(int opcode) {
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (spellings[i].opcode == opcode)
            return &spellings[i];
    return NULL;
}

static void refuse(writer *w, const char *what) {
    if (!w->failed)
        status_set(w->st, STATUS_UNAVAILABLE, "%s has no form in %s", what,
                   w->language == PLAIN_C ? "plain C" : "Python");
    w->failed = true;
}

/* ---- names ---- */

static bool in_c(const writer *w) {
    return w->language == PLAIN_C;
}

static void begin_line(writer *w) {
    for (int i = 0; i < w->depth; i++)
        text_append(w->out, "    ");
}

static const char *type_name(dtype element) {
    return element == DTYPE_BOOL ? "boolean" : dtype_name(dtype_stored_as(element));
}

static void put_name(writer *w, ir_value v) {
    while (w->same_as[v])
        v = w->same_as[v];
    ir_type_kind kind = ir_type_of(w->m, v)->kind;
    text_printf(w->out, "%c%u",
                kind == IR_TYPE_INDEX    ? 'n'
                : kind == IR_TYPE_MEMORY ? 'm'
                                         : 't',
                v);
}

/* An operand; of a tile in C its element r, c, repeated where it has one row or column. */
static void put_element(writer *w, ir_value v) {
    const ir_type_data *d = ir_type_of(w->m, v);
    put_name(w, v);
    if (in_c(w) && d->kind == IR_TYPE_TILE)
        text_printf(w->out, "[%s][%s]", d->dims[0] == 1 ? "0" : "r", d->dims[1] == 1 ? "0" : "c");
}

/* ---- words ---- */

static void put_affine(writer *w, ir_op op) {
    enum { MOST = 64 };
    const ir_op_data *d = ir_op_get(w->m, op);
    int64_t factors[MOST];
    uint32_t count = ir_op_ints(w->m, op, "coefficients", factors, MOST);
    for (uint32_t i = 0; i < d->operand_count && i < count; i++) {
        text_printf(w->out, "%" PRId64 " * ", factors[i]);
        put_name(w, d->operands[i]);
        text_append(w->out, " + ");
    }
    text_printf(w->out, "%" PRId64, ir_op_int(w->m, op, "constant", 0));
}

static tile_more window_of(const char *name) {
    static const char *const parts[TILE_MORE_COUNT] = {"row_stride", "column_stride", "stride",
                                                       "valid_rows", "valid_columns"};
    int i = 0;
    while (i < TILE_MORE_COUNT && strcmp(parts[i], name) != 0)
        i++;
    return (tile_more)i;
}

static void put_attribute(writer *w, ir_op op, const char *name) {
    tile_more more = window_of(name);
    ir_value index = more == TILE_MORE_COUNT ? 0 : tile_more_of(w->m, op, more);
    ir_attr attr = ir_op_attr(w->m, op, name);
    const ir_attr_data *d = attr ? ir_attr_get(w->m, attr) : NULL;
    if (index)
        put_name(w, index);
    else if (!d)
        text_append_char(w->out, '0');
    else if (d->kind == IR_ATTR_STRING)
        text_append(w->out, d->string);
    else if (d->kind == IR_ATTR_BITS)
        text_printf(w->out, "0x%" PRIx64, d->bits);
    else if (d->kind == IR_ATTR_UNIT)
        text_append_char(w->out, '1');
    else
        text_printf(w->out, "%" PRId64, d->integer);
}

/* The part of a window that is in memory: a condition before the element in C, two arguments in
 * Python. */
static void put_valid(writer *w, ir_op op) {
    static const char *const places[] = {"r", "c"};
    const bool stores = ir_op_get(w->m, op)->opcode == TILE_STORE;
    const tile_more parts[] = {TILE_MORE_VALID_ROWS, TILE_MORE_VALID_COLUMNS};
    for (int i = 0; i < 2; i++) {
        ir_value index = tile_more_of(w->m, op, parts[i]);
        if (in_c(w) && index) {
            text_printf(w->out, stores ? "if (%s < " : "%s >= ", places[i]);
            put_name(w, index);
            text_append(w->out, stores ? ") " : " ? 0 : ");
        } else if (!in_c(w)) {
            text_append(w->out, i ? ", " : "");
            if (index)
                put_name(w, index);
            else
                text_append(w->out, "None");
        }
    }
}

static const char *combining(const writer *w, ir_op op) {
    const char *kind = ir_op_string(w->m, op, "kind", "sum");
    return strcmp(kind, "sum") == 0    ? "add"
           : strcmp(kind, "prod") == 0 ? "mul"
           : strcmp(kind, "max") == 0  ? "maximum"
                                       : "minimum";
}

static void put_parts(writer *w, const ir_op_data *d) {
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const ir_type_data *t = ir_type_of(w->m, d->operands[i]);
        if (in_c(w))
            text_printf(w->out, "EACH(%" PRId64 ", %" PRId64 ") part[at++] = ", t->dims[0],
                        t->dims[1]);
        else
            text_append(w->out, i ? ", " : "");
        put_element(w, d->operands[i]);
        text_append(w->out, in_c(w) ? "; " : "");
    }
}

static int64_t columns_of_all(const writer *w, const ir_op_data *d) {
    int64_t columns = 0;
    for (uint32_t i = 0; i < d->operand_count; i++)
        columns += ir_type_of(w->m, d->operands[i])->dims[1];
    return columns;
}

/* The value of a store: a NaN becomes the canonical one where the operation says so. */
static void put_stored(writer *w, ir_op op) {
    ir_value x = ir_op_get(w->m, op)->operands[2];
    const char *type = type_name(ir_type_of(w->m, x)->element);
    bool canonical = ir_op_attr(w->m, op, "canonical") != 0;
    if (canonical && in_c(w))
        text_printf(w->out, "canonical_%s(", type);
    else if (canonical)
        text_append(w->out, "canonical(");
    put_element(w, x);
    if (canonical && !in_c(w))
        text_printf(w->out, ", '%s'", type);
    text_append(w->out, canonical ? ")" : "");
}

/* Exact conversions go to f64, i64 or u64 first. */
static const char *widest(dtype element) {
    return dtype_is_float(element) ? "real" : dtype_is_unsigned(element) ? "u64" : "i64";
}

static void put_letter(writer *w, ir_op op, char letter) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const ir_type_data *result = d->result_count ? ir_type_of(w->m, d->results[0]) : NULL;
    const ir_type_data *first = d->operand_count ? ir_type_of(w->m, d->operands[0]) : NULL;
    switch (letter) {
    case 'a':
        put_affine(w, op);
        break;
    case 'c':
        put_stored(w, op);
        break;
    case 'f':
        text_append(w->out, type_name(first->element));
        break;
    case 'h':
    case 'w':
        text_printf(w->out, "%" PRId64, result->dims[letter == 'w']);
        break;
    case 'k':
        text_append(w->out, combining(w, op));
        break;
    case 'n':
        text_printf(w->out, "%" PRId64, columns_of_all(w, d));
        break;
    case 'p':
        put_parts(w, d);
        break;
    case 'r':
    case 's':
        put_name(w, d->results[letter == 's']);
        break;
    case 't':
        text_append(w->out, type_name(result->element));
        break;
    case 'v':
        put_valid(w, op);
        break;
    default:
        text_append(w->out, widest(first->element));
    }
}

static void put_words(writer *w, ir_op op, const char *words) {
    const ir_op_data *d = ir_op_get(w->m, op);
    for (const char *at = words; *at; at++) {
        char name[32];
        bool named = *at == '$' || *at == '%';
        if (named && at[1] >= '0' && at[1] <= '9') {
            ir_value operand = d->operands[at[1] - '0'];
            (*at == '$' ? put_element : put_name)(w, operand);
            at++;
        } else if (*at == '$') {
            put_letter(w, op, *++at);
        } else if (*at == '{' && at[1] != ' ') {
            size_t length = strcspn(at + 1, "}");
            snprintf(name, sizeof name, "%.*s", (int)length, at + 1);
            put_attribute(w, op, name);
            at += length + 1;
        } else {
            text_append_char(w->out, *at);
        }
    }
}

/* ---- statements ---- */

/* A tile that a block will fill. */
static void declare(writer *w, ir_value v) {
    const ir_type_data *d = ir_type_of(w->m, v);
    begin_line(w);
    text_printf(w->out, "%s ", type_name(d->element));
    put_name(w, v);
    text_printf(w->out, "[%" PRId64 "][%" PRId64 "];\n", d->dims[0], d->dims[1]);
}

static void put_each(writer *w, ir_value tile) {
    const ir_type_data *d = ir_type_of(w->m, tile);
    text_printf(w->out, "EACH(%" PRId64 ", %" PRId64 ") ", d->dims[0], d->dims[1]);
}

/* Everything but the words. */
static void put_in_c(writer *w, ir_op op, const spelling *s) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const char *words = s->words[PLAIN_C];
    if (s->kind == TILE || s->kind == RESULTS)
        for (uint32_t i = 0; i < d->result_count; i++)
            declare(w, d->results[i]);
    begin_line(w);
    if (s->kind == INDEX) {
        text_append(w->out, "const i64 ");
        put_name(w, d->results[0]);
        text_append(w->out, " = ");
    } else if (s->kind == MEMORY) {
        const char *type = type_name(ir_type_of(w->m, d->results[0])->element);
        text_printf(w->out, "%s *const ", type);
        put_name(w, d->results[0]);
        text_printf(w->out, " = (%s *)(void *)(", type);
    } else if (s->kind == TILE) {
        put_each(w, d->results[0]);
        put_name(w, d->results[0]);
        text_append(w->out, "[r][c] = ");
    } else if (s->kind == EFFECT) {
        put_each(w, d->operands[2]);
    }
    put_words(w, op, words);
    if (s->kind == MEMORY && d->operand_count) {
        text_append(w->out, " + ");
        put_name(w, d->operands[0]);
    }
    text_append(w->out, s->kind == MEMORY ? ");\n" : ";\n");
}

static void put_in_python(writer *w, ir_op op, const spelling *s) {
    const ir_op_data *d = ir_op_get(w->m, op);
    begin_line(w);
    if (s->kind == INDEX || s->kind == TILE || s->kind == MEMORY) {
        put_name(w, d->results[0]);
        text_append(w->out, s->kind == MEMORY ? " = memory(" : " = ");
    }
    put_words(w, op, s->words[PLAIN_PYTHON]);
    if (s->kind == MEMORY && d->operand_count) {
        text_append(w->out, " + ");
        put_name(w, d->operands[0]);
    }
    if (s->kind == MEMORY)
        text_printf(w->out, ", '%s')", type_name(ir_type_of(w->m, d->results[0])->element));
    text_append_char(w->out, '\n');
}

static void put_op(writer *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const spelling *s = spelling_of(d->opcode);
    bool moved = ir_op_int(w->m, op, "swizzle", 0) != 0;
    if (!s || moved)
        refuse(w, op_info_get(d->opcode)->name);
    else if (s->kind != NOTHING)
        (in_c(w) ? put_in_c : put_in_python)(w, op, s);
}

/* ---- loops ---- */

/* Copies of tiles, which Python's names need not be: TO = FROM. */
static void put_copy(writer *w, const char *to_prefix, ir_value to, const char *from_prefix,
                     ir_value from) {
    begin_line(w);
    text_printf(w->out, "memcpy(%s", to_prefix);
    put_name(w, to);
    text_printf(w->out, ", %s", from_prefix);
    put_name(w, from);
    text_printf(w->out, ", sizeof %s", to_prefix);
    put_name(w, to);
    text_append(w->out, ");\n");
}

static void begin_carried(writer *w, const ir_op_data *d, const ir_block_data *block) {
    for (uint32_t i = 0; i < d->result_count; i++) {
        ir_value carried = block->arguments[1 + i], from = d->operands[2 + i];
        if (in_c(w)) {
            declare(w, carried);
            put_copy(w, "", carried, "", from);
        } else {
            begin_line(w);
            put_name(w, carried);
            text_append(w->out, " = ");
            put_name(w, from);
            text_append_char(w->out, '\n');
        }
    }
}

/* All next values are there before the first one is taken. */
static void next_in_c(writer *w, const ir_op_data *end, const ir_block_data *block) {
    for (uint32_t i = 0; i < end->operand_count; i++) {
        const ir_type_data *d = ir_type_of(w->m, end->operands[i]);
        begin_line(w);
        text_printf(w->out, "%s next_", type_name(d->element));
        put_name(w, block->arguments[1 + i]);
        text_printf(w->out, "[%" PRId64 "][%" PRId64 "];\n", d->dims[0], d->dims[1]);
        begin_line(w);
        text_append(w->out, "memcpy(next_");
        put_name(w, block->arguments[1 + i]);
        text_append(w->out, ", ");
        put_name(w, end->operands[i]);
        text_append(w->out, ", sizeof next_");
        put_name(w, block->arguments[1 + i]);
        text_append(w->out, ");\n");
    }
    for (uint32_t i = 0; i < end->operand_count; i++)
        put_copy(w, "", block->arguments[1 + i], "next_", block->arguments[1 + i]);
}

static void next_in_python(writer *w, const ir_op_data *end, const ir_block_data *block) {
    begin_line(w);
    for (uint32_t i = 0; i < end->operand_count; i++) {
        text_append(w->out, i ? ", " : "");
        put_name(w, block->arguments[1 + i]);
    }
    text_append(w->out, end->operand_count ? " = " : "pass");
    for (uint32_t i = 0; i < end->operand_count; i++) {
        text_append(w->out, i ? ", " : "");
        put_name(w, end->operands[i]);
    }
    text_append_char(w->out, '\n');
}

static void begin_for(writer *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const ir_block_data *block = ir_block_get(w->m, ir_op_block(w->m, op, 0));
    int64_t step = ir_op_int(w->m, op, "step", 1);
    begin_carried(w, d, block);
    for (uint32_t i = 0; i < d->result_count; i++)
        w->same_as[d->results[i]] = block->arguments[1 + i];
    begin_line(w);
    text_append(w->out, in_c(w) ? "for (i64 " : "for ");
    put_name(w, block->arguments[0]);
    text_append(w->out, in_c(w) ? " = " : " in range(");
    put_name(w, d->operands[0]);
    text_append(w->out, in_c(w) ? "; " : ", ");
    if (in_c(w)) {
        put_name(w, block->arguments[0]);
        text_append(w->out, " < ");
    }
    put_name(w, d->operands[1]);
    text_append(w->out, in_c(w) ? "; " : ", ");
    if (in_c(w)) {
        put_name(w, block->arguments[0]);
        text_printf(w->out, " += %" PRId64 ") {\n", step);
    } else {
        text_printf(w->out, "%" PRId64 "):\n", step);
    }
    w->depth++;
}

static void put_yield(writer *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const ir_block_data *block = ir_block_get(w->m, d->block);
    if (in_c(w))
        next_in_c(w, d, block);
    else
        next_in_python(w, d, block);
}

static void begin_phase(writer *w, ir_op op) {
    const ir_block_data *block = ir_block_get(w->m, ir_op_block(w->m, op, 0));
    int64_t grid = ir_op_int(w->m, op, "grid", 1);
    bool formula = ir_op_attr(w->m, op, "workgroups") || ir_op_attr(w->m, op, "code_of");
    if (formula)
        refuse(w, "a kernel for any dimensions");
    text_append_char(w->out, '\n');
    begin_line(w);
    text_printf(w->out, "%s phase %" PRId64 ": %s%s\n", in_c(w) ? "/*" : "#",
                ir_op_int(w->m, op, "index", 0), ir_op_string(w->m, op, "what", ""),
                in_c(w) ? " */" : "");
    begin_line(w);
    text_append(w->out, in_c(w) ? "for (i64 " : "for ");
    put_name(w, block->arguments[0]);
    if (in_c(w)) {
        text_append(w->out, " = 0; ");
        put_name(w, block->arguments[0]);
        text_printf(w->out, " < %" PRId64 "; ", grid);
        put_name(w, block->arguments[0]);
        text_append(w->out, "++) {\n");
    } else {
        text_printf(w->out, " in range(%" PRId64 "):\n", grid);
    }
    w->depth++;
}

static void end_block(writer *w, bool filled) {
    if (!in_c(w) && !filled) {
        begin_line(w);
        text_append(w->out, "pass\n");
    }
    w->depth--;
    if (in_c(w)) {
        begin_line(w);
        text_append(w->out, "}\n");
    }
}

/* ---- the kernel ---- */

static void put_arguments(writer *w, const ir_block_data *body) {
    for (uint32_t i = 0; i < body->argument_count; i++) {
        const char *type = type_name(ir_type_of(w->m, body->arguments[i])->element);
        begin_line(w);
        if (in_c(w))
            text_printf(w->out, "%s *const ", type);
        put_name(w, body->arguments[i]);
        text_printf(w->out, in_c(w) ? " = arrays[%u];\n" : " = arrays[%u].reshape(-1)\n", i);
    }
}

static void put_room(writer *w, ir_op kernel, const char *name, const char *attribute) {
    int64_t bytes = ir_op_int(w->m, kernel, attribute, 0);
    begin_line(w);
    if (in_c(w))
        text_printf(w->out, "u8 *const %s = calloc(%" PRId64 ", 1);\n", name, bytes + 64);
    else
        text_printf(w->out, "%s = np.zeros(%" PRId64 ", np.uint8)\n", name, bytes + 64);
}

static void put_body(writer *w, ir_op kernel) {
    for (ir_walk walk = ir_walk_op(w->m, kernel); !w->failed && ir_walk_step(&walk);) {
        const ir_op_data *d = ir_op_get(w->m, walk.op);
        const bool loop = d->opcode == TILE_FOR, phase = d->opcode == TILE_PHASE;
        if (walk.op == kernel)
            continue;
        if ((loop || phase) && walk.leaving)
            end_block(w, loop || ir_block_get(w->m, ir_op_block(w->m, walk.op, 0))->first != 0);
        else if (loop)
            begin_for(w, walk.op);
        else if (phase)
            begin_phase(w, walk.op);
        else if (!walk.leaving && d->opcode == TILE_YIELD)
            put_yield(w, walk.op);
        else if (!walk.leaving)
            put_op(w, walk.op);
    }
}

static void put_kernel(writer *w) {
    ir_op kernel = ir_module_kernel(w->m);
    const ir_block_data *body = ir_block_get(w->m, ir_op_block(w->m, kernel, 0));
    text_append(w->out, in_c(w) ? "\nstatic void kernel(void *const *arrays) {\n"
                                : "\n\ndef kernel(arrays):\n");
    w->depth = 1;
    put_arguments(w, body);
    put_room(w, kernel, "workspace", "workspace_bytes");
    put_room(w, kernel, "scratch", "scratch_bytes");
    if (ir_op_attr(w->m, kernel, "rounding"))
        refuse(w, "rounding on purpose");
    put_body(w, kernel);
    if (in_c(w))
        text_append(w->out, "    free(workspace);\n    free(scratch);\n}\n");
}

bool plain_export(const ir_module *m, plain_language language, text *out, status *st) {
    writer w = {.m = m, .language = language, .out = out, .st = st};
    w.same_as = calloc(ir_value_count(m) + 1, sizeof *w.same_as);
    if (!w.same_as)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory to write a kernel");
    for (size_t i = 0; i < plain_files_count; i++)
        if (strcmp(plain_files[i].name, files[language]) == 0)
            text_append_bytes(out, plain_files[i].data, plain_files[i].size_bytes);
    put_kernel(&w);
    free(w.same_as);
    return !w.failed;
}
