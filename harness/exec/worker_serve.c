/* worker_serve.c - the worker's own side: reads jobs, runs them, answers. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/file.h"
#include "case/fault.h"
#include "exec/execute.h"
#include "exec/worker.h"
#include "repro/sandbox.h"

static void send_message(json_t *message) {
    char *line = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!line) /* no JSON: text in it was not made by json_text */
        _exit(EXIT_BUG);
    size_t length = strlen(line), sent = 0;
    line[length++] = '\n';
    while (sent < length) {
        ssize_t n = write(PROCESS_OUT, line + sent, length - sent);
        if (n < 0 && errno == EINTR)
            continue;
        /* Without a parent there is nobody to tell. */
        if (n <= 0)
            _exit(EXIT_BUG);
        sent += (size_t)n;
    }
    free(line);
    json_decref(message);
}

static void announce_stage(void *context, const char *stage) {
    (void)context;
    send_message(json_pack("{s:s}", "stage", stage));
}

static bool serve_line(case_context *s, const char *line, size_t length) {
    job j;
    json_t *object = json_loadb(line, length, 0, NULL);
    bool ok = object && job_from_json(object, &j);
    status st = STATUS_INIT;
    if (ok)
        fault_prepare(j.fault);
    if (ok && j.sandbox && !sandbox_enter(&st))
        send_message(json_pack("{s:o}", "result", job_result_new(&j, "error", st.message)));
    else if (ok)
        send_message(json_pack("{s:o}", "result", execute_job(s, &j, announce_stage, NULL)));
    json_decref(object);
    return ok;
}

/* The parent was interrupted: what is half written goes with its worker. */
static void on_end(int number) {
    (void)number;
    file_discard_unfinished();
    _exit(EXIT_INTERRUPTED);
}

int worker_serve(void) {
    signal(SIGTERM, on_end);
    /* A worker whose parent is killed must not go on using the machine. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fcntl(PROCESS_IN, F_GETFD) < 0 || fcntl(PROCESS_OUT, F_GETFD) < 0)
        return EXIT_USAGE;
    FILE *in = fdopen(PROCESS_IN, "r");
    case_context s = {0};
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int code = EXIT_DONE;
    while (in && code == EXIT_DONE && (length = getline(&line, &capacity, in)) > 0)
        if (!serve_line(&s, line, (size_t)length))
            code = EXIT_BUG;
    case_context_close(&s);
    free(line);
    if (in)
        fclose(in);
    return code;
}
