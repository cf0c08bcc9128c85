/* log_history.h - tsr log --history. */
#ifndef TESSERA_HARNESS_CLI_LOG_HISTORY_H
#define TESSERA_HARNESS_CLI_LOG_HISTORY_H

#include "cli/options.h"
#include "store/store.h"

/* `s` is NULL where there is no database yet. Returns the exit code. */
int log_history(store *s, const options *o);

#endif
