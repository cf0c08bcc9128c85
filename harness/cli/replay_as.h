/* replay_as.h - tsr replay --as LANGUAGE: a case that travels without us. */
#ifndef TESSERA_HARNESS_CLI_REPLAY_AS_H
#define TESSERA_HARNESS_CLI_REPLAY_AS_H

#include "cli/options.h"
#include "run/replay.h"

/* Writes the pack of `request` as --as says; the exit code. */
int replay_as(const options *o, const replay_request *request);

#endif
