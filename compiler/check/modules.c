/* modules.c - imports: the files that a file names, each read once, those that it needs first. */
#include "check/modules.h"
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "library/library_files.h"
#include "source/parser.h"

/* ---- the list ---- */

static source_module *module_keyed(const compiler_source *s, const char *key) {
    for (uint32_t i = 0; i < s->opened.count; i++)
        if (strcmp(s->opened.items[i]->key, key) == 0)
            return s->opened.items[i];
    return NULL;
}

static const char *key_of(compiler_source *s, const char *path) {
    char *real = realpath(path, NULL);
    const char *key = arena_strdup(&s->memory, real ? real : path);
    free(real);
    return key;
}

void modules_release(compiler_source *s) {
    for (uint32_t i = 0; i < s->opened.count; i++)
        vec_release(&s->opened.items[i]->imported);
    vec_release(&s->opened);
    vec_release(&s->bundled);
    vec_release(&s->modules);
}

/* ---- one import ---- */

/* "a/b/" becomes "a/", and what has no folder any more "../". */
static void leave_folder(text *path) {
    size_t end = path->length ? path->length - 1 : 0;
    while (end > 0 && path->data[end - 1] != '/')
        end--;
    bool up = strcmp(path->data + end, "../") == 0 || strcmp(path->data + end, "./") == 0;
    if (path->length == 0 || up || strcmp(path->data, "/") == 0)
        text_append(path, "../");
    else
        path->data[path->length = end] = '\0';
}

/* "../lib/norms.tsr", beside the file that imports it. */
static const char *path_of(compiler_source *s, const source_module *from, const ast_import *n) {
    const char *slash = strrchr(from->path, '/');
    text path;
    text_init(&path);
    text_append_bytes(&path, from->path, slash ? (size_t)(slash + 1 - from->path) : 0);
    for (uint32_t i = 1; i < n->level; i++)
        leave_folder(&path);
    for (const char *c = n->module; *c; c++)
        text_append_char(&path, *c == '.' ? '/' : *c);
    text_append(&path, ".tsr");
    const char *kept = arena_strdup(&s->memory, path.data);
    text_release(&path);
    return kept;
}

static source_module *refuse_circle(const source_module *m, span at, diagnostics *d) {
    diagnose_error(d, ERROR_IMPORT_CIRCLE, at, "'%.200s' is being read: it imports this file",
                   m->path);
    diagnose_help(d, "put what both need into a third file");
    return NULL;
}

/* "tessera.stdlib" is stdlib.tsr of the compiler's own files; NULL: there is none. */
static const embedded_file *library_file(const char *module) {
    static const char own[] = "tessera.";
    const size_t length = sizeof own - 1;
    for (size_t i = 0; i < library_files_count; i++) {
        const char *name = library_files[i].name;
        size_t stem = strlen(name) - strlen(".tsr");
        if (strncmp(module, own, length) == 0 && strlen(module) == length + stem &&
            strncmp(module + length, name, stem) == 0)
            return &library_files[i];
    }
    return NULL;
}

static source_module *load_imported(compiler_source *s, const char *path, span at, diagnostics *d) {
    char *data;
    size_t size;
    status st = STATUS_INIT;
    source_module *known = module_keyed(s, key_of(s, path));
    if (known)
        return known->loading ? refuse_circle(known, at, d) : known;
    if (s->opened.count == LIMIT_FILES) {
        diagnose_error(d, ERROR_IMPORT_MISSING, at, "a source has at most %d files", LIMIT_FILES);
        return NULL;
    }
    const bundled_file *bundled = bundle_find(s, path);
    const embedded_file *library = library_file(path);
    if (bundled || library) {
        span own = bundled
                       ? source_text_add(&s->text, &s->memory, path, bundled->data, bundled->size)
                       : source_text_add(&s->text, &s->memory, path, library->data,
                                         (uint32_t)library->size_bytes);
        return module_load(s, path, own, d);
    }
    if (!file_read(path, LIMIT_SOURCE_BYTES, &data, &size, &st)) {
        diagnose_error(d, ERROR_IMPORT_MISSING, at, "%s", st.message);
        diagnose_help(d,
                      "from .norms import rmsnorm takes it from norms.tsr in this file's folder");
        status_clear(&st);
        return NULL;
    }
    span part = source_text_add(&s->text, &s->memory, path, data, (uint32_t)size);
    free(data);
    return module_load(s, path, part, d);
}

/* The names of the language need no import, and have no others. */
static void check_language(const ast_import *n, diagnostics *d) {
    for (uint32_t i = 0; i < n->count; i++)
        if (n->names[i].local != n->names[i].name)
            diagnose_error(d, ERROR_IMPORT, n->names[i].at,
                           "a name of the language keeps its name: '%.60s'", n->names[i].name);
}

static void import_name(source_module *m, const imported_name *one, diagnostics *d) {
    const char *name = one->name;
    vec_push(&m->imported, *one);
    if (!one->module || module_of_name(one->module, &name))
        return;
    m->imported.items[m->imported.count - 1].module = NULL;
    diagnose_error(d, ERROR_IMPORT_MISSING, one->at, "'%.200s' has no '%.60s'", one->module->path,
                   one->name);
    const ast_module *from = one->module->ast;
    const char **known = base_malloc((from->function_count + 1) * sizeof *known);
    for (uint32_t i = 0; i < from->function_count; i++)
        known[i] = from->functions[i].name;
    diagnose_nearest(d, one->name, known, from->function_count);
    free(known);
}

static void import_all(source_module *m, source_module *from, span at) {
    for (uint32_t i = 0; i < from->function_count; i++)
        vec_push(&m->imported, ((imported_name){from->functions[i].ast->name,
                                                from->functions[i].ast->name, from, at}));
    for (uint32_t i = 0; i < from->record_count; i++)
        vec_push(&m->imported, ((imported_name){from->records[i].ast->name,
                                                from->records[i].ast->name, from, at}));
    for (uint32_t i = 0; i < from->ast->constant_count; i++) {
        const node *assign = from->ast->constants[i];
        for (uint32_t k = 0; k < assign->count; k++)
            if (assign->items[k]->kind == NODE_NAME)
                vec_push(&m->imported, ((imported_name){assign->items[k]->text,
                                                        assign->items[k]->text, from, at}));
    }
}

static void import_names(source_module *m, source_module *from, const ast_import *n,
                         diagnostics *d) {
    if (from && n->all)
        import_all(m, from, n->at);
    m->lacks_all |= !from && n->all;
    for (uint32_t i = 0; i < n->count; i++) {
        imported_name one = {n->names[i].local, n->names[i].name, from, n->names[i].at};
        import_name(m, &one, d);
    }
}

static void import_from(compiler_source *s, source_module *m, const ast_import *n, diagnostics *d) {
    if (n->level == 0 && strcmp(n->module, "tessera") == 0) {
        check_language(n, d);
        return;
    }
    bool of_library = n->level == 0 && (library_file(n->module) || bundle_find(s, n->module));
    if (of_library) {
        import_names(m, load_imported(s, n->module, n->at, d), n, d);
        return;
    }
    if (n->level == 0) {
        import_names(m, NULL, n, d);
        diagnose_error(d, ERROR_IMPORT, n->at, "there is no '%.60s' to import from", n->module);
        if (strncmp(n->module, "tessera.", strlen("tessera.")) == 0)
            diagnose_help(d, "there is tessera.stdlib");
        else
            diagnose_help(d, "a file of this folder has a dot before its name: from .%s import ...",
                          n->module);
        return;
    }
    import_names(m, load_imported(s, path_of(s, m, n), n->at, d), n, d);
}

/* Records of the language, whose names need no import: those of tessera.state. */
static void import_states(compiler_source *s, source_module *m, span part, diagnostics *d) {
    static const char *const names[] = {"KVCache", "OptimizerState", "ScaleState"},
                             module[] = "tessera.state";
    bool named = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        named |= memmem(s->text.data + part.start, part.end - part.start, names[i],
                        strlen(names[i])) != NULL;
    source_module *states =
        named && strcmp(m->path, module) != 0 ? load_imported(s, module, part, d) : NULL;
    if (states)
        import_all(m, states, (span){part.start, part.start});
}

/* ---- the functions of the language by their own names ---- */

static const char library_module[] = "tessera.stdlib";

static bool is_letter(char c) {
    return c == '_' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

bool modules_is_operations(const char *name) {
    return strcmp(name, "op") == 0 || strcmp(name, "ops") == 0;
}

/* A file with op.NAME or ops.NAME may mean a function of the library. */
static bool names_operations(const char *source, uint32_t size) {
    for (const char *at = source; (at = memmem(at, (size_t)(source + size - at), "op", 2)); at++) {
        const char *end = at + 2 + (at + 2 < source + size && at[2] == 's');
        if (end < source + size && *end == '.' && (at == source || !is_letter(at[-1])))
            return true;
    }
    return false;
}

static void import_operations(compiler_source *s, const source_module *m, span part,
                              diagnostics *d) {
    if (!library_file(m->path) &&
        names_operations(s->text.data + part.start, part.end - part.start))
        load_imported(s, library_module, part, d);
}

callable *modules_library_function(compiler_source *s, const char *name) {
    source_module *library = module_keyed(s, library_module);
    return library ? module_function(library, name) : NULL;
}

bool modules_library_has(const char *name) {
    const embedded_file *f = library_file(library_module);
    text head;
    text_init(&head);
    text_printf(&head, "\ndef %s(", name);
    const bool has = memmem(f->data, f->size_bytes, head.data, head.length) != NULL;
    text_release(&head);
    return has;
}

/* ---- a file ---- */

static bool names_tile(const node *n) {
    bool tile = n && n->kind == NODE_NAME && strcmp(n->text, "Tile") == 0;
    bool several = n && interface_is_shaped(n, "tuple");
    for (uint32_t i = 0; several && i < n->count; i++)
        tile |= names_tile(n->items[i]);
    return tile;
}

static bool is_of_tiles(const ast_function *f) {
    bool tile = names_tile(f->returns);
    for (uint32_t i = 0; i < f->parameter_count; i++)
        tile |= names_tile(f->parameters[i].annotation);
    return tile;
}

static bool is_decorated(const ast_function *f) {
    bool decorated = false;
    for (uint32_t i = 0; i < f->decorator_count; i++)
        decorated |= !numerics_is_one(f->decorators[i]) && !rules_is_one(f->decorators[i]);
    return decorated;
}

static void list_parts(compiler_source *s, source_module *m) {
    const ast_module *ast = m->ast;
    m->function_count = ast->function_count;
    m->functions = ARENA_NEW(&s->memory, callable, ast->function_count + 1);
    for (uint32_t i = 0; i < ast->function_count; i++) {
        const ast_function *f = &ast->functions[i];
        bool tiles = is_of_tiles(f);
        m->functions[i] = (callable){
            .ast = f, .module = m, .in_tiles = tiles, .is_kernel = !tiles && is_decorated(f)};
    }
    m->record_count = ast->record_count;
    m->records = ARENA_NEW(&s->memory, record_type, ast->record_count + 1);
    for (uint32_t i = 0; i < ast->record_count; i++)
        m->records[i] = (record_type){.ast = &ast->records[i], .module = m};
}

source_module *module_load(compiler_source *s, const char *path, span part, diagnostics *d) {
    source_module *m = ARENA_NEW(&s->memory, source_module, 1);
    m->path = path;
    m->key = key_of(s, path);
    m->loading = true;
    vec_push(&s->opened, m);
    m->ast = parse_module(&s->text, part, &s->memory, d);
    list_parts(s, m);
    rules_connect(m, &s->memory, d);
    import_states(s, m, part, d);
    import_operations(s, m, part, d);
    for (uint32_t i = 0; i < m->ast->import_count; i++)
        import_from(s, m, &m->ast->imports[i], d);
    m->loading = false;
    m->number = (uint32_t)s->modules.count;
    vec_push(&s->modules, m);
    return m;
}

/* ---- names ---- */

callable *module_function(source_module *m, const char *name) {
    for (uint32_t i = 0; i < m->function_count; i++)
        if (strcmp(m->functions[i].ast->name, name) == 0)
            return &m->functions[i];
    return NULL;
}

record_type *module_record(source_module *m, const char *name) {
    for (uint32_t i = 0; i < m->record_count; i++)
        if (strcmp(m->records[i].ast->name, name) == 0)
            return &m->records[i];
    return NULL;
}

const node *module_constant(const source_module *m, const char *name) {
    for (uint32_t i = 0; i < m->ast->constant_count; i++) {
        const node *assign = m->ast->constants[i];
        for (uint32_t k = 0; k < assign->count; k++)
            if (assign->items[k]->kind == NODE_NAME && strcmp(assign->items[k]->text, name) == 0)
                return assign->left;
    }
    return NULL;
}

source_module *module_of_name(source_module *m, const char **name) {
    if (module_function(m, *name) || module_record(m, *name) || module_constant(m, *name))
        return m;
    for (size_t i = m->imported.count; i > 0; i--) {
        const imported_name *one = &m->imported.items[i - 1];
        if (strcmp(one->local, *name) == 0) {
            *name = one->name;
            return one->module ? module_of_name(one->module, name) : NULL;
        }
    }
    return NULL;
}

bool module_lacks(source_module *m, const char *name) {
    const char *own = name;
    bool lacks = m->lacks_all;
    for (size_t i = 0; i < m->imported.count; i++)
        lacks |= !m->imported.items[i].module && strcmp(m->imported.items[i].local, name) == 0;
    return lacks && !module_of_name(m, &own);
}
