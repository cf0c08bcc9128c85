/* tsr-opt.c - named passes over IR text: reads a module of any level (or the kernels of a source
 * file), runs the passes that it is told, prints what results.
 *
 * Exit codes: 0 done, 2 wrong command line, 3 wrong input, 70 a pass broke the IR. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "ir/irdl.h"
#include "ops/graph.h"
#include "ops/reductions.h"
#include "program/build.h"
#include "program/outline.h"
#include "tessera/compiler.h"
#include "tool/passes.h"
#include "tool/stablehlo.h"
#include "tool/tables.h"

enum { DONE = 0, WRONG_USAGE = 2, WRONG_INPUT = 3, OUR_BUG = 70 };

static const char usage[] =
    "usage: tsr-opt [options] FILE...\n"
    "\n"
    "FILE is IR text of any level ('-': standard input), or a source (.tsr), of which each kernel "
    "is a module;\n"
    "or a program of StableHLO, for passes of StableHLO.\n"
    "\n"
    "  --pass NAME[=ARGUMENTS]  run this pass; may be repeated, passes run in the order given,\n"
    "                           those behind outline on each dispatch of a program\n"
    "  -tessera-NAME[=ARGUMENTS]  the same, as tessera-tpu-opt, another name of this program, has "
    "it\n"
    "  --list-passes            the passes and their arguments; behind lower-to-stablehlo, and on "
    "files of\n"
    "                           StableHLO, those of StableHLO\n"
    "  --split-input-file       FILE holds several modules between lines of '// -----'; a wrong "
    "one does not stop the others\n"
    "  --verify                 verify only: print nothing\n"
    "  --hash                   print the SHA-256 of the text instead of the text\n"
    "  --checkable              print the spelling that `mlir-opt --irdl-file` verifies\n"
    "  --emit-stablehlo         print Graph IR, whose dimensions are numbers, as StableHLO\n"
    "  --kernel NAME            of a source: this kernel only\n"
    "  --case NAME              of a source: this case instead of each kernel's first; 'all' for "
    "every one\n"
    "  --summary                FILE is a StableHLO program as MLIR bytecode: print its functions, "
    "and how often it has each operation\n"
    "  --irdl                   print the IRDL file of all operations\n"
    "  --docs                   print the reference of all operations\n"
    "  --functions              print the sequences of the specified functions\n"
    "  --parameters             print the table of schedule parameters\n"
    "  --matrix-units           print the table of matrix units, as docs/numerics.md has it\n"
    "  --capabilities           print the table of what a device says of itself, as "
    "docs/devices.md has it\n"
    "  --limits                 print the limits of the language, as docs/language.md has them\n"
    "  --batches                print the rules of batches, as docs/batches.md has them\n"
    "  --stablehlo              print the operations of StableHLO, as docs/stablehlo.md has them\n"
    "  --pyi                    print the names of the language with their parameters, as "
    "harness/python/tessera/language.pyi has them\n"
    "  -h, --help               print this\n";

/* ---- the command line ---- */

typedef struct options {
    VEC(const char *) passes;    /* NAME[=ARGUMENTS] */
    stablehlo_pass_list lowered; /* the same, of StableHLO: they come last */
    bool split, verify, hash, checkable, stablehlo, summary, list_passes, help;
    const char *page; /* the option of a page that is printed */
    const char *kernel, *case_name;
    VEC(const char *) files;
    const char *file; /* the one in hand */
} options;

/* The value of `--name VALUE` or `--name=VALUE` at argv[*i]; NULL when it is another option. */
static const char *option_value(char **argv, int argc, int *i, const char *name) {
    size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0)
        return NULL;
    if (argv[*i][length] == '=')
        return argv[*i] + length + 1;
    return argv[*i][length] || *i + 1 == argc ? NULL : argv[++*i];
}

/* lower-to-stablehlo, and what comes behind it. */
static bool add_lowered_pass(options *o, const char *pass) {
    if (strcmp(pass, "lower-to-stablehlo") == 0 && !o->stablehlo)
        return o->stablehlo = true;
    if (!stablehlo_pass_find(pass))
        return false;
    vec_push(&o->lowered, pass);
    return true;
}

static bool add_pass(options *o, const char *pass) {
    const bool known = pass_find(pass, strcspn(pass, "=")) != NULL;
    if (known && (o->stablehlo || o->lowered.count)) {
        fprintf(stderr,
                "tsr-opt: pass %s takes IR, and stands behind one that takes or makes "
                "StableHLO\n",
                pass);
        return false;
    }
    if (known) {
        vec_push(&o->passes, pass);
        return true;
    }
    if (add_lowered_pass(o, pass))
        return true;
    VEC(const char *) names = {0};
    char wanted[64];
    for (size_t i = 0; i < pass_count; i++)
        vec_push(&names, passes[i].name);
    vec_push(&names, "lower-to-stablehlo");
    for (size_t i = 0; i < shlo_pass_count; i++)
        vec_push(&names, shlo_passes[i].name);
    snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(pass, "="), pass);
    const char *nearest = text_nearest(wanted, names.items, names.count);
    vec_release(&names);
    fprintf(stderr, "tsr-opt: no pass is called '%s'%s%s%s; see --list-passes\n", wanted,
            nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "");
    return false;
}

static bool parse_flag(options *o, const char *argument) {
    const struct {
        const char *name;
        bool *value;
    } flags[] = {{"--verify", &o->verify},
                 {"--hash", &o->hash},
                 {"--checkable", &o->checkable},
                 {"--summary", &o->summary},
                 {"--emit-stablehlo", &o->stablehlo},
                 {"--list-passes", &o->list_passes},
                 {"--split-input-file", &o->split},
                 {"--help", &o->help},
                 {"-h", &o->help}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(flags[i].name, argument) == 0)
            return *flags[i].value = true;
    if (page_find(argument))
        o->page = argument;
    return o->page == argument;
}

static bool parse_options(options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (parse_flag(o, argv[i]))
            continue;
        const bool spelled = strncmp(argv[i], "-tessera-", strlen("-tessera-")) == 0;
        if (spelled || (value = option_value(argv, argc, &i, "--pass"))) {
            if (!add_pass(o, spelled ? argv[i] + strlen("-tessera-") : value))
                return false;
        } else if ((value = option_value(argv, argc, &i, "--kernel"))) {
            o->kernel = value;
        } else if ((value = option_value(argv, argc, &i, "--case"))) {
            o->case_name = value;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            fprintf(stderr, "tsr-opt: unknown option '%s', or its value is missing\n", argv[i]);
            return false;
        } else {
            vec_push(&o->files, argv[i]);
        }
    }
    if (o->files.count || o->page || o->list_passes || o->help)
        return true;
    fprintf(stderr, "tsr-opt: no file\n%s", usage);
    return false;
}

/* ---- modules ---- */

static const char separator[] = "// -----\n";
static bool has_resources; /* the module that was printed last ends in constants by their bytes */

/* As mlir-opt has it: behind such constants is an empty line. */
static void print_separator(void) {
    fputs(has_resources ? "\n" : "", stdout);
    fputs(separator, stdout);
}

static int failed(const char *file, const status *st) {
    fflush(stdout);
    fprintf(stderr, "tsr-opt: %s: %s\n", file, st->message);
    return st->code == STATUS_INTERNAL ? OUR_BUG : WRONG_INPUT;
}

static ir_level level_of(const ir_module *m) {
    return op_info_get(ir_op_get(m, ir_module_kernel(m))->opcode)->level;
}

static int run_pass(pass_run *r, const char *text_of_pass, const char *file) {
    static const char *const levels[] = {"Graph", "Schedule", "Tile"};
    size_t length = strcspn(text_of_pass, "=");
    const named_pass *pass = pass_find(text_of_pass, length);
    status st = STATUS_INIT, broken = STATUS_INIT;
    r->st = &st;
    r->arguments = text_of_pass[length] ? text_of_pass + length + 1 : NULL;
    if (level_of(r->m) != pass->level) {
        status_set(&st, STATUS_INVALID, "pass %s takes %s IR, and this is %s IR", pass->name,
                   levels[pass->level], levels[level_of(r->m)]);
        return failed(file, &st);
    }
    reduction_list before, after;
    reductions_number(r->m);
    reductions_of(r->m, &before);
    bool done = pass->run ? pass->run(r) : pass->apply(r->m, r->st);
    if (done)
        reductions_number(r->m);
    reductions_of(r->m, &after);
    bool kept = done && ir_verify(r->m, &broken) && reductions_kept(&before, &after, &broken);
    reductions_release(&before);
    reductions_release(&after);
    if (kept || !done)
        return kept ? DONE : failed(file, &st);
    status_set(&st, STATUS_INTERNAL, "after pass %s: %s", pass->name, broken.message);
    return failed(file, &st);
}

static void print_text(const text *out) {
    has_resources = out->length > 4 && strcmp(out->data + out->length - 4, "#-}\n") == 0;
    fwrite(out->data, 1, out->length, stdout);
}

static void print_module(const options *o, const ir_module *m) {
    char hex[65];
    text out;
    text_init(&out);
    if (o->hash) {
        sha256 digest = ir_hash(m);
        sha256_hex(&digest, hex);
        text_printf(&out, "%s\n", hex);
    } else if (o->checkable) {
        irdl_print_module(m, &out);
    } else {
        ir_print(m, &out);
    }
    print_text(&out);
    text_release(&out);
}

/* StableHLO is made in the module, which is of no use behind it. */
static bool print_stablehlo(const options *o, const pass_run *r, status *st) {
    text out;
    text_init(&out);
    const bool good = stablehlo_lower(r, &o->lowered, &out, st);
    if (good && !o->verify)
        print_text(&out);
    text_release(&out);
    return good;
}

/* Runs passes from this one on, and prints. Takes the module. */
static int process_from(const options *o, pass_run r, size_t first) {
    static bool is_first = true;
    status st = STATUS_INIT;
    int code = DONE;
    for (size_t i = first; i < o->passes.count && code == DONE; i++)
        code = run_pass(&r, o->passes.items[i], o->file);
    if (code == DONE && !o->verify) {
        if (!is_first && !o->hash && !o->split)
            print_separator();
        is_first = false;
    }
    if (code == DONE && o->stablehlo)
        code = print_stablehlo(o, &r, &st) ? DONE : failed(o->file, &st);
    else if (code == DONE && !o->verify)
        print_module(o, r.m);
    ir_module_free(r.m);
    return code;
}

/* The number of the first pass that takes each dispatch of a program for itself, behind `outline`;
 * that of all passes where there is none. */
static size_t first_of_dispatches(const options *o) {
    size_t i = 0;
    while (i < o->passes.count &&
           strncmp(o->passes.items[i], "outline", strcspn(o->passes.items[i], "=")) != 0)
        i++;
    return i < o->passes.count ? i + 1 : i;
}

/* Takes the module. */
static int process(const options *o, ir_module *m, const compiler_case *c,
                   const compiler_schedule *written) {
    const size_t behind = first_of_dispatches(o);
    pass_run r = {.m = m, .c = c, .written = written};
    int code = DONE;
    if (behind == o->passes.count)
        return process_from(o, r, 0);
    for (size_t i = 0; i < behind && code == DONE; i++)
        code = run_pass(&r, o->passes.items[i], o->file);
    for (ir_op op = ir_block_get(r.m, ir_module_body(r.m))->first; op && code == DONE;
         op = ir_op_get(r.m, op)->next) {
        const draft_kernel k = {.function = op};
        if (ir_op_get(r.m, op)->opcode == GRAPH_FUNCTION && program_is_dispatch(r.m, op))
            code = process_from(o, (pass_run){.m = program_kernel(r.m, &k)}, behind);
    }
    ir_module_free(r.m);
    return code;
}

/* ---- inputs ---- */

static char *read_stream(FILE *in, size_t *size) {
    text t;
    char buffer[1 << 14];
    size_t n;
    text_init(&t);
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0)
        text_append_bytes(&t, buffer, n);
    *size = t.length;
    char *source = text_take(&t);
    text_release(&t);
    return source;
}

static int process_module(const options *o, const char *source) {
    status st = STATUS_INIT;
    ir_module *m = ir_parse(source, &st);
    if (m && !ir_verify(m, &st)) {
        st.code = STATUS_INVALID; /* it came from outside */
        ir_module_free(m);
        m = NULL;
    }
    return m ? process(o, m, NULL, NULL) : failed(o->file, &st);
}

/* Modules between separators, each on its own; the first bad code wins. */
static int process_pieces(const options *o, char *source) {
    int code = DONE;
    for (char *piece = source, *next; piece; piece = next) {
        next = strstr(piece, separator);
        while (next && next > source && next[-1] != '\n')
            next = strstr(next + 1, separator);
        if (next) {
            *next = 0;
            next += strlen(separator);
        }
        int result = process_module(o, piece);
        code = code ? code : result;
        if (next && !o->verify)
            print_separator();
    }
    return code;
}

/* A program of StableHLO, for its own passes. */
static int process_stablehlo(const options *o, const char *source, size_t size) {
    status st = STATUS_INIT;
    text out;
    text_init(&out);
    const bool good = stablehlo_run(source, size, &o->lowered, &out, &st);
    if (good && !o->verify)
        print_text(&out);
    text_release(&out);
    return good ? DONE : failed(o->file, &st);
}

static int process_text(const options *o) {
    status st = STATUS_INIT;
    char *source = NULL;
    size_t size;
    if (strcmp(o->file, "-") == 0)
        source = read_stream(stdin, &size);
    else if (!file_read(o->file, (size_t)1 << 28, &source, &size, &st))
        return failed(o->file, &st);
    int code = DONE;
    if (o->lowered.count && !o->stablehlo)
        code = process_stablehlo(o, source, size);
    else
        code = o->split ? process_pieces(o, source) : process_module(o, source);
    free(source);
    return code;
}

static int process_kernel(const options *o, compiler_source *s, const compiler_kernel *kernel,
                          uint32_t *found) {
    text said;
    int code = DONE;
    text_init(&said);
    for (uint32_t i = 0; i < (kernel->case_count ? kernel->case_count : 1) && code == DONE; i++) {
        const compiler_case *c = kernel->case_count ? &kernel->cases[i] : NULL;
        bool wanted = o->case_name ? strcmp(o->case_name, "all") == 0 ||
                                         (c && strcmp(o->case_name, c->name) == 0)
                                   : i == 0;
        if (!wanted)
            continue;
        ++*found;
        ir_module *m = compiler_graph(s, kernel, c, &said);
        code = m ? process(o, m, c, kernel->schedule) : WRONG_INPUT;
    }
    fputs(said.data, stderr);
    text_release(&said);
    return code;
}

static int process_source(const options *o) {
    status st = STATUS_INIT;
    text said;
    int code = DONE;
    uint32_t found = 0;
    text_init(&said);
    compiler_source *s = compiler_open(o->file, false, &said, &st);
    fputs(said.data, stderr);
    text_release(&said);
    if (!s)
        return failed(o->file, &st);
    if (compiler_error_count(s))
        code = WRONG_INPUT;
    for (uint32_t i = 0; i < compiler_kernel_count(s) && code == DONE; i++) {
        const compiler_kernel *kernel = compiler_kernel_at(s, i);
        if (!o->kernel || strcmp(o->kernel, kernel->name) == 0)
            code = process_kernel(o, s, kernel, &found);
    }
    if (code == DONE && !found) {
        fprintf(stderr, "tsr-opt: %s: no such kernel or case\n", o->file);
        code = WRONG_INPUT;
    }
    compiler_close(s);
    return code;
}

static int process_summary(const options *o) {
    status st = STATUS_INIT;
    return stablehlo_summary(o->file, &st) ? DONE : failed(o->file, &st);
}

static bool is_source(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".tsr") == 0;
}

/* ---- what needs no file ---- */

static void print_static(const options *o) {
    text out;
    text_init(&out);
    if (o->page)
        page_find(o->page)(&out);
    for (size_t i = 0; o->list_passes && i < pass_count; i++)
        text_printf(&out, "%-14s %-38s %s\n", passes[i].name, passes[i].arguments,
                    passes[i].summary);
    if (o->list_passes)
        stablehlo_list_passes(&out);
    fputs(o->help ? usage : out.data, stdout);
    text_release(&out);
}

/* Files, each on its own; the worst code wins. */
static int process_files(options *o) {
    int code = DONE;
    for (size_t i = 0; i < o->files.count; i++) {
        o->file = o->files.items[i];
        if (i && o->split && !o->verify)
            print_separator();
        int result = o->summary           ? process_summary(o)
                     : is_source(o->file) ? process_source(o)
                                          : process_text(o);
        code = result > code ? result : code;
    }
    return code;
}

int main(int argc, char **argv) {
    options o = {.file = NULL};
    compiler_init();
    int code = parse_options(&o, argc, argv) ? DONE : WRONG_USAGE;
    if (code == DONE && !o.files.count)
        print_static(&o);
    else if (code == DONE)
        code = process_files(&o);
    vec_release(&o.passes);
    vec_release(&o.lowered);
    vec_release(&o.files);
    return code;
}
