/* log.c - tracing to stderr; one write per line, so that lines of several threads do not mix. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "tsr: %s: %s\n", level_names[level], line);
}
