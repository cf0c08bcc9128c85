/* log.c - tracing to stderr; one write per line, so that lines of several threads do not mix. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

static const char *const level_names[] = {"debug", "info", "warn"};
static log_level threshold = LOG_OFF;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_environment(void) {
    const char *wanted = getenv("TSR_LOG");
    for (int level = LOG_DEBUG; wanted && level < LOG_OFF; level++)
        if (strcmp(wanted, level_names[level]) == 0)
            threshold = (log_level)level;
}

void log_write(log_level level, const char *format, ...) {
    pthread_once(&once, read_environment);
    if (level < threshold || level >= LOG_OFF)
        return;
    text line;
    va_list args;
    text_init(&line);
    text_printf(&line, "tsr: %s: ", level_names[level]);
    va_start(args, format);
    text_vshow(&line, format, args);
    va_end(args);
    text_append_char(&line, '\n');
    fputs(line.data, stderr);
    text_release(&line);
}
