/* imported.c - a source that is a program of StableHLO: each of its public functions is a kernel
 * with one case, and every command takes it like one of a .tsr file.
 *
 * Bytecode is shown as text where it is wrong. Behind the program's text stand the heads of its
 * kernels, which are read like any: names, types and the case. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/modules.h"
#include "import/stablehlo/import.h"
#include "source/lexer.h"
#include "tessera/programs.h"

typedef struct imported_kernel {
    const shlo_function *function;
    ir_module *graph;
} imported_kernel;

typedef struct imported_program {
    shlo_module *module;
    bool has_text; /* the source's text has it: not of bytecode in which nothing is wrong */
    VEC(imported_kernel) kernels;
} imported_program;

/* Messages of the readers and of the importer begin with their place. */
static span place_of(const source_text *t, const char *message, const char **rest) {
    unsigned line = 0, column = 0;
    int read = 0;
    *rest = message;
    if (sscanf(message, "line %u column %u: %n", &line, &column, &read) < 2 || line == 0 ||
        line > t->line_count)
        return (span){0, 0};
    *rest = message + read;
    const uint32_t start = t->lines[line - 1] + (column ? column - 1 : 0);
    uint32_t end = start;
    while (end < t->size && !isspace((unsigned char)t->data[end]) && t->data[end] != '(')
        end++;
    return (span){start, end};
}

static void report(const source_text *t, diagnostics *d, diagnostic_id id, const status *st) {
    const char *what;
    const span at = place_of(t, st->message, &what);
    diagnose_error(d, id, at, "%.600s", what);
}

/* ---- heads ---- */

/* A name of ours: letters, digits and _; one that Python reserves has a _ behind it. */
static void write_name(text *out, const char *name) {
    const size_t before = out->length;
    if (!isalpha((unsigned char)*name) && *name != '_')
        text_append_char(out, '_');
    for (; *name && out->length - before < LIMIT_NAME_BYTES; name++)
        text_append_char(out, isalnum((unsigned char)*name) ? *name : '_');
    if (lexer_is_keyword(out->data + before))
        text_append_char(out, '_');
}

static void write_type(text *out, const ir_type_data *t) {
    text_append(out, "Tensor[");
    for (int i = 0; i < t->rank; i++)
        text_printf(out, "%" PRId64 ", ", t->dims[i]);
    text_printf(out, "%s]", dtype_name(t->element));
}

/* The function that a framework calls main has the name of its module. */
static const char *kernel_name(const imported_program *p, const shlo_function *f) {
    return p->module->name && strcmp(f->name, "main") == 0 ? p->module->name : f->name;
}

/* The graph has the kernel's name, too. */
static void put_name(ir_module *graph, const char *name) {
    text own;
    text_init(&own);
    write_name(&own, name);
    ir_op_set_attr(graph, ir_module_kernel(graph), "name", ir_attr_string(graph, own.data));
    text_release(&own);
}

static void write_head(text *out, const char *name, const ir_module *graph) {
    const ir_block_data *body = ir_kernel_body(graph);
    const ir_op_data *end = ir_op_get(graph, body->last);
    text_append(out, "@cases(case(\"fixed\"))\n@kernel\ndef ");
    write_name(out, name);
    text_append_char(out, '(');
    for (uint32_t i = 0; i < body->argument_count; i++) {
        text_printf(out, "%sa%u: ", i ? ", " : "", i);
        write_type(out, ir_type_of(graph, body->arguments[i]));
    }
    text_append(out, end->operand_count > 1 ? ") -> tuple[" : ") -> ");
    for (uint32_t i = 0; i < end->operand_count; i++) {
        text_append(out, i ? ", " : "");
        write_type(out, ir_type_of(graph, end->operands[i]));
    }
    text_append(out, end->operand_count > 1 ? "]: ...\n" : ": ...\n");
}

/* ---- reading ---- */

static shlo_module *read_module(compiler_source *s, const char *name, const char *data, size_t size,
                                diagnostics *d) {
    status st = STATUS_INIT;
    const size_t length = s->program->has_text ? size : 0;
    const char *kept = arena_strndup(&s->memory, data, length);
    source_text_init(&s->text, &s->memory, arena_strdup(&s->memory, name), kept, (uint32_t)length);
    shlo_module *m = s->program->has_text ? shlo_read_text(kept, size, &st)
                                          : shlo_read_bytecode((const uint8_t *)data, size, &st);
    if (!m)
        report(&s->text, d, ERROR_PROGRAM_UNREADABLE, &st);
    else if (!s->program->has_text)
        shlo_place(m);
    return m;
}

/* The text of a program in bytecode, for what is shown of it. */
static void need_text(compiler_source *s) {
    text printed;
    if (s->program->has_text)
        return;
    s->program->has_text = true;
    text_init(&printed);
    shlo_print(s->program->module, &printed);
    source_text_init(&s->text, &s->memory, s->text.name,
                     arena_strndup(&s->memory, printed.data, printed.length),
                     (uint32_t)printed.length);
    text_release(&printed);
}

/* Behind the program's text stand the heads. */
void imported_print(const compiler_source *s, text *out) {
    if (s->program->has_text)
        text_append_bytes(out, s->text.data, s->text.imported[0].start - 1);
    else
        shlo_print(s->program->module, out);
}

static bool is_entry(const imported_program *p, const shlo_function *f) {
    return f->body && (!f->is_private || p->module->first == p->module->last);
}

span imported_read(compiler_source *s, const char *name, const char *data, size_t size,
                   diagnostics *d) {
    text heads;
    imported_program *p = s->program = ARENA_NEW(&s->memory, imported_program, 1);
    p->has_text = !shlo_is_bytecode((const uint8_t *)data, size);
    p->module = read_module(s, name, data, size, d);
    text_init(&heads);
    text_append(&heads, "from tessera import *\n");
    for (const shlo_function *f = p->module ? p->module->first : NULL; f; f = f->next) {
        status st = STATUS_INIT;
        if (!is_entry(p, f))
            continue;
        imported_kernel one = {f, shlo_import(p->module, f->name, &st)};
        if (one.graph) {
            put_name(one.graph, kernel_name(p, f));
            write_head(&heads, kernel_name(p, f), one.graph);
            vec_push(&p->kernels, one);
        } else {
            need_text(s);
            report(&s->text, d, ERROR_PROGRAM_UNSUPPORTED, &st);
        }
    }
    const span at =
        source_text_add(&s->text, &s->memory, s->text.name, heads.data, (uint32_t)heads.length);
    text_release(&heads);
    return at;
}

/* The place of a function is that of its own text, where there is one. */
static const ast_function *at_function(compiler_source *s, const ast_function *head,
                                       const shlo_function *f) {
    ast_function *own = arena_copy(&s->memory, head, sizeof *head);
    const uint32_t at = s->text.lines[f->line - 1] + f->column - 1;
    own->at = own->whole = (span){at, at + (uint32_t)strlen("func.func")};
    return own;
}

void imported_connect(compiler_source *s) {
    for (uint32_t i = 0; s->program && i < s->kernel_count && i < s->program->kernels.count; i++) {
        const imported_kernel *one = &s->program->kernels.items[i];
        kernel_interface *k = &s->interfaces[i];
        k->imported = one->graph;
        k->contract = false;
        if (s->program->has_text)
            k->function = at_function(s, k->function, one->function);
        s->kernels[i].contract = false;
        s->kernels[i].line = one->function->line;
    }
}

/* The type of the kernel's function; NULL: it is of no program. */
static const shlo_type *type_of(const compiler_source *source, const compiler_kernel *kernel) {
    const ptrdiff_t at = kernel - source->kernels;
    if (!source->program || at < 0 || (size_t)at >= source->program->kernels.count)
        return NULL;
    return source->program->kernels.items[at].function->type;
}

/* The buffer's element in the program; SHLO_NO_ELEMENT: it has none there. */
static shlo_element element_of(const compiler_source *source, const compiler_kernel *kernel,
                               uint32_t buffer) {
    const shlo_type *f = type_of(source, kernel);
    return f && buffer < f->count && f->parts[buffer]->kind == SHLO_TYPE_TENSOR
               ? f->parts[buffer]->element
               : SHLO_NO_ELEMENT;
}

bool compiler_is_complex(const compiler_source *source, const compiler_kernel *kernel,
                         uint32_t buffer) {
    return shlo_element_is_complex(element_of(source, kernel, buffer));
}

uint32_t compiler_element_bits(const compiler_source *source, const compiler_kernel *kernel,
                               uint32_t buffer) {
    const shlo_element e = element_of(source, kernel, buffer);
    return import_small_as(e) ? (uint32_t)shlo_element_get(e)->bits : 0;
}

bool compiler_is_placeholder(const compiler_source *source, const compiler_kernel *kernel,
                             uint32_t buffer) {
    const shlo_type *f = type_of(source, kernel);
    return f && f->count == f->inputs && buffer == f->count;
}

/* ---- devices ---- */

static const imported_kernel *kernel_of(const compiler_source *source,
                                        const compiler_kernel *kernel) {
    return type_of(source, kernel) ? &source->program->kernels.items[kernel - source->kernels]
                                   : NULL;
}

/* Axes that the kernel's buffer has in front of those of the program's value. */
static uint32_t device_axes(const imported_kernel *k, uint32_t buffer) {
    const shlo_type *t = k->function->type->parts[buffer];
    const ir_block_data *body = ir_kernel_body(k->graph);
    const ir_value v =
        buffer < body->argument_count
            ? body->arguments[buffer]
            : ir_op_get(k->graph, body->last)->operands[buffer - body->argument_count];
    const uint32_t own = t->kind == SHLO_TYPE_TOKEN ? 1 : t->rank; /* of no elements */
    return (uint32_t)ir_type_of(k->graph, v)->rank - own - shlo_element_is_complex(t->element);
}

static bool sharding_of(const compiler_source *source, const imported_kernel *k, uint32_t buffer,
                        shlo_sharding *out) {
    const char *why;
    return shlo_partitions(source->program->module) > 1 &&
           shlo_sharding_of(source->program->module, k->function, buffer, out, &why) && !why;
}

compiler_lying compiler_lies_on(const compiler_source *source, const compiler_kernel *kernel,
                                uint32_t buffer) {
    const imported_kernel *k = kernel_of(source, kernel);
    compiler_lying l = {1, 1, 0, {1, 1, 1, 1, 1, 1, 1, 1}};
    shlo_sharding s;
    if (!k)
        return l;
    l.replicas = (uint32_t)shlo_replicas(source->program->module);
    l.partitions = (uint32_t)shlo_partitions(source->program->module);
    if (buffer >= k->function->type->count)
        return l;
    l.device_axes = device_axes(k, buffer);
    if (l.device_axes == 2 || (l.device_axes == 1 && l.replicas > 1))
        l.parts[0] = l.replicas;
    if (l.device_axes == 2 || (l.device_axes == 1 && l.replicas == 1))
        l.parts[l.device_axes - 1] = l.partitions;
    else if (sharding_of(source, k, buffer, &s))
        for (uint32_t i = 0; i < s.rank; i++)
            l.parts[l.device_axes + i] = (uint32_t)shlo_sharding_parts(&s, i);
    return l;
}

void compiler_part_on(const compiler_source *source, const compiler_kernel *kernel, uint32_t buffer,
                      uint32_t device, uint32_t part[8]) {
    const compiler_lying l = compiler_lies_on(source, kernel, buffer);
    const imported_kernel *k = kernel_of(source, kernel);
    shlo_sharding s;
    memset(part, 0, 8 * sizeof *part);
    if (l.device_axes == 2 || (l.device_axes == 1 && l.replicas > 1))
        part[0] = device / l.partitions;
    if (l.device_axes == 2 || (l.device_axes == 1 && l.replicas == 1))
        part[l.device_axes - 1] = device % l.partitions;
    else if (k && buffer < k->function->type->count && sharding_of(source, k, buffer, &s))
        for (uint32_t i = 0; i < s.rank; i++)
            part[l.device_axes + i] = (uint32_t)shlo_sharding_part(&s, i, device % l.partitions);
}

void imported_release(compiler_source *s) {
    if (!s->program)
        return;
    for (size_t i = 0; i < s->program->kernels.count; i++)
        ir_module_free(s->program->kernels.items[i].graph);
    vec_release(&s->program->kernels);
    shlo_module_free(s->program->module);
}
