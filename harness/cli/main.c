/* main.c - finds the command, parses its options, runs it. */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "comm/probe.h"
#include "common/build_id.h"
#include "common/interrupt.h"
#include "common/say.h"
#include "launch/mpi_job.h"
#include "launch/ranks.h"
#include "policy.h"
#include "report/origin.h"
#include "tessera/compiler.h"

int command_fail(const status *st) {
    say_failure(stderr, st->message);
    /* Something failed: that is never 0, even where nobody said what. */
    return st->code == STATUS_OK ? EXIT_BUG : (int)exit_code_of_status(st->code);
}

int command_usage(command_id command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text words;
    text_init(&words);
    text_append(&words, "tsr: ");
    text_vshow(&words, format, args);
    va_end(args);
    say_text(stderr, words.data);
    text_release(&words);
    if (command < COMMAND_COUNT)
        say(stderr, "\nusage: tsr %s\n", command_table[command].usage);
    else
        say(stderr, "\nusage: tsr COMMAND [OPTIONS] [ARGS]; tsr help lists the commands\n");
    return EXIT_USAGE;
}

int command_refuse(const options *o, const option_id *without_effect, size_t count,
                   const char *why) {
    for (size_t i = 0; i < count; i++)
        if (o->values[without_effect[i]].present)
            return command_usage(o->command, "--%s %s", option_table[without_effect[i]].name, why);
    return EXIT_DONE;
}

json_t *command_origin(const options *o, size_t first) {
    text line;
    text_init(&line);
    options_line(o, &line);
    json_t *origin =
        origin_new(line.data, o->arguments.count > first ? o->arguments.items[first] : "corpus");
    text_release(&line);
    return origin;
}

bool command_colour_check(const options *o, status *st) {
    const char *when = options_text(o, OPTION_COLOR, "auto");
    if (strcmp(when, "auto") == 0 || strcmp(when, "always") == 0 || strcmp(when, "never") == 0)
        return true;
    return status_set(st, STATUS_INVALID, "--color wants auto, always or never, not '%s'", when);
}

bool command_colour(const options *o, FILE *stream) {
    const char *when = options_text(o, OPTION_COLOR, "auto");
    if (strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    const char *no_color = getenv("NO_COLOR");
    return !(no_color && *no_color) && isatty(fileno(stream)) == 1;
}

/* A policy that is wrong is told once, and not by each case that a device is opened for. That of
 * the command line is handed on to workers and ranks by the environment. */
static bool check_policy(const options *o, status *st) {
    policy p;
    const char *path = options_text(o, OPTION_POLICY, NULL);
    bool ok = path ? policy_of_file(path, &p, st) : policy_of_environment(&p, st);
    policy_release(&p);
    char *whole = ok && path ? realpath(path, NULL) : NULL;
    if (whole)
        setenv(POLICY_FILE, whole, 1); // NOLINT(concurrency-mt-unsafe)
    free(whole);
    return ok;
}

static int run_command(command_id command, int argc, char **argv) {
    options o;
    status st = STATUS_INIT;
    int code;
    if (!options_parse(&o, command, argc, argv, &st) || !command_colour_check(&o, &st)) {
        code = command_usage(command, "%s", st.message);
    } else if (options_flag(&o, OPTION_HELP)) {
        text out;
        text_init(&out);
        help_command(command, &out);
        say_text(stdout, out.data);
        text_release(&out);
        code = EXIT_DONE;
    } else {
        static int (*const entries[COMMAND_COUNT])(const options *) = {
#define COMMAND(id, name, spelling, usage, summary, description) command_##name,
#include "cli/commands.def"
#undef COMMAND
        };
        interrupt_begin();
        code = check_policy(&o, &st) ? entries[command](&o) : command_fail(&st);
        code = interrupt_seen ? EXIT_INTERRUPTED : code;
    }
    options_release(&o);
    return code;
}

/* Part I of a run is a run of its own, whoever started it beside the others. */
static bool is_part(int argc, char **argv) {
    bool found = false;
    for (int i = 0; i < argc; i++)
        found = found || strncmp(argv[i], "--shard", strlen("--shard")) == 0;
    return found;
}

/* Commands that launch on ranks are one rank of the job that mpirun started. */
static int run_as_rank(command_id command, int argc, char **argv) {
    mpi_job job;
    status st = STATUS_INIT;
    const bool launches =
        command == COMMAND_BENCH || command == COMMAND_RUN || command == COMMAND_GOLDEN;
    if (!launches || is_part(argc, argv) || !mpi_job_here(&job))
        return run_command(command, argc, argv);
    if (job.rank > 0)
        return mpi_job_serve(&job);
    const int code =
        mpi_job_begin(&job, &st) ? run_command(command, argc, argv) : command_fail(&st);
    mpi_job_end(code);
    return code;
}

static int unknown_command(const char *name) {
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = command_table[i].name;
    const char *nearest = text_nearest(name, names, COMMAND_COUNT);
    if (nearest)
        return command_usage(COMMAND_COUNT, "unknown command '%s'; did you mean %s?", name,
                             nearest);
    return command_usage(COMMAND_COUNT, "unknown command '%s'", name);
}

/* pjrt_runner --list-devices is another name of tsr devices. */
static bool is_lister(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    return argc > 1 && strcmp(slash ? slash + 1 : argv[0], "pjrt_runner") == 0 &&
           strcmp(argv[1], "--list-devices") == 0;
}

static int dispatch(int argc, char **argv) {
    if (is_lister(argc, argv))
        return run_command(COMMAND_DEVICES, argc - 2, argv + 2);
    if (argc < 2)
        return command_usage(COMMAND_COUNT, "no command given");
    const char *name = argv[1];
    if (strcmp(name, "--worker") == 0)
        return command_worker();
    if (strcmp(name, "--rank") == 0)
        return launch_rank_serve(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--job-rank") == 0)
        return mpi_job_rank();
    if (strcmp(name, "--probe-rank") == 0)
        return probe_rank_serve(argc - 2, argv + 2);
    if (strcmp(name, "--gate-timer") == 0)
        return command_gate_timer();
    if (strcmp(name, "--gate-counter") == 0 && argc == 3)
        return command_gate_counter(argv[2]);
    if (strcmp(name, "--version") == 0) {
        say(stdout, "tsr %s (numerics %d, LLVM %s)\ncommit %s\nbuild %s\n", TSR_VERSION,
            TSR_NUMERICS_VERSION, compiler_llvm_version(), build_commit, build_id());
        return EXIT_DONE;
    }
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0)
        return run_command(COMMAND_HELP, 0, argv + 2);
    command_id command = command_from_name(name);
    return command == COMMAND_COUNT ? unknown_command(name)
                                    : run_as_rank(command, argc - 2, argv + 2);
}

/* The reader of a pipe that went away wants no more: head, or a pager that was left. */
static bool reader_is_gone(void) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* As a program ends that does not know of signals, git's way. */
static void end_by_pipe(void) {
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is a failed write, with its message */
    int code = dispatch(argc, argv);
    /* A full disk or a closed pipe under stdout must not look like success. */
    int error = fflush(stdout) != 0 ? errno : ferror(stdout) ? EIO : 0;
    if (error && code == EXIT_DONE) {
        if (error == EPIPE || reader_is_gone())
            end_by_pipe();
        say(stderr, "tsr: cannot write the output: %s\n", strerror(error));
        code = EXIT_ABSENT;
    }
    return code;
}
