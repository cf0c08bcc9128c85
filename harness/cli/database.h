/* database.h - which database a command means. */
#ifndef TESSERA_HARNESS_CLI_DATABASE_H
#define TESSERA_HARNESS_CLI_DATABASE_H

#include "cli/options.h"

/* --db, else $TSR_DB, else .tsr/results.db. Borrowed. */
const char *database_path(const options *o);
/* Is it .tsr/results.db, beside the folder of packs? */
bool database_is_usual(const options *o);

#endif
