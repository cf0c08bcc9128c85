/* replay_onward.h - what tsr replay does with a failure that happened again: --bisect, --minimize.
 */
#ifndef TESSERA_HARNESS_CLI_REPLAY_ONWARD_H
#define TESSERA_HARNESS_CLI_REPLAY_ONWARD_H

#include "cli/options.h"
#include "localize/localize.h"
#include "reduce/reduce.h"

typedef struct replay_onward {
    localization found;
    reduction reduced;
    text program; /* of --against */
} replay_onward;

/* Takes the options into the request; the exit code of a wrong command line. Closed in any case. */
int replay_onward_open(const options *o, replay_request *request, replay_onward *out);
void replay_onward_close(replay_onward *n);
/* Prints what came of it, nothing where nothing did; or puts it into the document. */
void replay_onward_show(const replay_onward *n);
void replay_onward_put(const replay_onward *n, json_t *document);

#endif
