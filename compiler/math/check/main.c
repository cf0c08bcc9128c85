/* main.c - tsr-exhaustive: the specified functions at all 2^32 inputs; ci/exhaustive runs it.
 *
 *   tsr-exhaustive [--again] [--tree DIR] [--state DIR] [FUNCTION...]
 *   tsr-exhaustive --list [--tree DIR]
 *
 * Of every input it is asked whether the bits of the compiled code, for every CPU level that this
 * machine can run, are those of the interpreter, and how far the result is from the exact one.
 * Exit 0, or 1 where something was found wrong (or --list finds code that was not tried), 2 for a
 * usage error, 4 where the run could not be made. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "math/check/code.h"
#include "math/check/exhaustive.h"
#include "math/check/progress.h"
#include "math/check/record.h"
#include "target/interp/functions.h"

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_UNAVAILABLE = 4 };
/* The specified functions, then those that are correctly rounded. */
enum { ROWS = MATH_SET_COUNT * MATH_FUNCTION_COUNT };

typedef struct arguments {
    bool list, again;
    const char *tree, *state;
    bool wanted[ROWS];
} arguments;

typedef struct function_list {
    const char *names[ROWS];
    const char *codes[ROWS];
    char name_storage[ROWS][32], code_storage[ROWS][CODE_HASH_SIZE];
} function_list;

static math_set set_at(int row) {
    return (math_set)(row / MATH_FUNCTION_COUNT);
}

static math_function function_at(int row) {
    return (math_function)(row % MATH_FUNCTION_COUNT);
}

static void list_functions(function_list *f) {
    for (int i = 0; i < ROWS; i++) {
        snprintf(f->name_storage[i], sizeof f->name_storage[i], "%s%s",
                 set_at(i) == MATH_CORRECT ? "correct:" : "", function_name(function_at(i)));
        code_hash(set_at(i), function_at(i), f->code_storage[i]);
        f->names[i] = f->name_storage[i];
        f->codes[i] = f->code_storage[i];
    }
}

/* ---- arguments ---- */

static bool want(arguments *a, const function_list *f, const char *word) {
    for (int i = 0; i < ROWS; i++)
        if (strcmp(f->names[i], word) == 0)
            return a->wanted[i] = true;
    fprintf(stderr, "no function is called '%s'; there are:", word);
    for (int i = 0; i < ROWS; i++)
        fprintf(stderr, " %s", f->names[i]);
    fprintf(stderr, "\n");
    return false;
}

static bool read_option(arguments *a, int argc, char **argv, int *i) {
    if (strcmp(argv[*i], "--list") == 0)
        return a->list = true;
    if (strcmp(argv[*i], "--again") == 0)
        return a->again = true;
    const char **value = strcmp(argv[*i], "--tree") == 0    ? &a->tree
                         : strcmp(argv[*i], "--state") == 0 ? &a->state
                                                            : NULL;
    if (!value || *i + 1 == argc) {
        fprintf(stderr, "%s: an unknown option, or one that lacks its value\n", argv[*i]);
        fprintf(stderr, "usage: ci/exhaustive [--again] [FUNCTION...] | ci/exhaustive --list\n");
        return false;
    }
    *value = argv[++*i];
    return true;
}

static bool read_arguments(arguments *a, const function_list *f, int argc, char **argv) {
    bool any = false;
    *a = (arguments){.tree = ".", .state = "build/exhaustive"};
    for (int i = 1; i < argc; i++) {
        bool option = argv[i][0] == '-';
        if (!(option ? read_option(a, argc, argv, &i) : want(a, f, argv[i])))
            return false;
        any |= !option;
    }
    for (int i = 0; !any && i < ROWS; i++)
        a->wanted[i] = true;
    return true;
}

/* ---- runs ---- */

static void print_found(const char *name, const tally *t, double seconds) {
    printf("%s: %llu inputs, %llu differing bits, %llu wrong special values, at most %.6f ULP at "
           "0x%08llx, %llu misrounded; MPFR decided %llu and verified %llu, libm used %.4f of its "
           "margin; %.0f s\n",
           name, (unsigned long long)t->inputs, (unsigned long long)t->differing,
           (unsigned long long)t->wrong, t->ulp, (unsigned long long)t->at,
           (unsigned long long)t->misrounded, (unsigned long long)t->asked,
           (unsigned long long)t->verified, t->excess, seconds);
    fflush(stdout);
}

static void print_misses(const tally *t) {
    fprintf(stderr, "  misrounded first at");
    for (uint64_t i = 0; i < t->misses.count; i++)
        fprintf(stderr, " 0x%08llx", (unsigned long long)t->misses.items[i].at);
    fprintf(stderr, "\n");
}

static bool write_record(const arguments *a, const function_list *f, int i, const text *levels,
                         const tally *found, status *st) {
    char date[16];
    time_t now = time(NULL);
    struct tm utc;
    exact_judge judge;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    record r = {f->names[i], levels->data, date, f->codes[i], found};
    exact_init(&judge, exact_find(function_name(function_at(i))));
    bool ok = record_write(a->tree, f->names, ROWS, &judge, &r, st);
    exact_release(&judge);
    return ok;
}

static int run_function(const arguments *a, const function_list *f, int i) {
    char path[4096];
    status st = STATUS_INIT;
    tally found;
    text levels;
    snprintf(path, sizeof path, "%s/%s", a->state, f->names[i]);
    exhaustive_job job = {set_at(i), function_at(i), f->names[i], path, a->again};
    double started_s = progress_clock();
    text_init(&levels);
    bool ran = exhaustive_run(&job, &found, &levels, &st);
    const char *complaint = ran ? tally_complaint(&found, set_at(i) == MATH_CORRECT) : NULL;
    if (ran)
        print_found(f->names[i], &found, progress_clock() - started_s);
    if (complaint)
        fprintf(stderr, "%s: %s; not recorded\n", f->names[i], complaint);
    if (complaint && found.misrounded && set_at(i) == MATH_CORRECT)
        print_misses(&found);
    bool ok = ran && (complaint || write_record(a, f, i, &levels, &found, &st));
    if (!ok)
        fprintf(stderr, "%s: %s\n", f->names[i], st.message);
    text_release(&levels);
    return !ok ? EXIT_UNAVAILABLE : complaint ? EXIT_WRONG : 0;
}

/* Two runs would overwrite each other's state. The lock ends with the program. */
static bool lock_state(const arguments *a, status *st) {
    char path[4096];
    snprintf(path, sizeof path, "%s/lock", a->state);
    if (!file_make_dirs(a->state, st))
        return false;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0)
        return status_set(st, STATUS_UNAVAILABLE, "another run holds %s", path);
    return true;
}

static int run_all(const arguments *a, const function_list *f) {
    int code = 0;
    status st = STATUS_INIT;
    if (!lock_state(a, &st)) {
        fprintf(stderr, "%s\n", st.message);
        return EXIT_UNAVAILABLE;
    }
    for (int i = 0; i < ROWS; i++) {
        int one = a->wanted[i] ? run_function(a, f, i) : 0;
        code = one > code ? one : code;
    }
    return code;
}

static int list(const arguments *a, const function_list *f) {
    text table, complaints;
    status st = STATUS_INIT;
    text_init(&table);
    text_init(&complaints);
    bool ok = record_list(a->tree, f->names, f->codes, ROWS, &table, &complaints, &st);
    fputs(table.data, stdout);
    fputs(complaints.data, stderr);
    if (st.code)
        fprintf(stderr, "%s\n", st.message);
    text_release(&table);
    text_release(&complaints);
    return ok ? 0 : st.code ? EXIT_UNAVAILABLE : EXIT_WRONG;
}

int main(int argc, char **argv) {
    static function_list functions;
    arguments a;
    list_functions(&functions);
    if (!read_arguments(&a, &functions, argc, argv))
        return EXIT_USAGE;
    return a.list ? list(&a, &functions) : run_all(&a, &functions);
}
