/* log.h - debug tracing to stderr, off unless TSR_LOG=debug|info|warn is set. Libraries never print
 * results or errors; this is for someone looking inside. */
#ifndef TESSERA_BASE_LOG_H
#define TESSERA_BASE_LOG_H

typedef enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_OFF } log_level;
void log_write(log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
