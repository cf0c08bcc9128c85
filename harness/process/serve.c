/* serve.c - lines of JSON from descriptor 3 and to descriptor 4. */
#include "process/serve.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/file.h"
#include "process/child.h"
#include "process/process.h"

void serve_answer(json_t *message) {
    char *line = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!line) /* no JSON: text in it was not made by json_text */
        _exit(EXIT_BUG);
    size_t length = strlen(line);
    line[length++] = '\n';
    if (!file_append(PROCESS_OUT, line, length))
        _exit(EXIT_BUG);
    free(line);
    json_decref(message);
}

/* The parent was interrupted: what is half written goes with this process. */
static void on_end(int number) {
    (void)number;
    file_discard_unfinished();
    _exit(EXIT_INTERRUPTED);
}

exit_code serve_lines(serve_line_fn line, void *context) {
    signal(SIGTERM, on_end);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    child_when_out_of_memory();
    if (fcntl(PROCESS_IN, F_GETFD) < 0 || fcntl(PROCESS_OUT, F_GETFD) < 0)
        return EXIT_USAGE;
    FILE *in = fdopen(PROCESS_IN, "r");
    char *bytes = NULL;
    size_t capacity = 0;
    ssize_t length;
    exit_code code = EXIT_DONE;
    while (in && code == EXIT_DONE && (length = getline(&bytes, &capacity, in)) > 0) {
        json_t *request = json_loadb(bytes, (size_t)length, 0, NULL);
        code = line(context, request);
        json_decref(request);
    }
    free(bytes);
    if (in)
        fclose(in);
    return code;
}
