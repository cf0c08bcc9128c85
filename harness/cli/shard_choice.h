/* shard_choice.h - --shard: the part of a corpus that a command is about. */
#ifndef TESSERA_HARNESS_CLI_SHARD_CHOICE_H
#define TESSERA_HARNESS_CLI_SHARD_CHOICE_H

#include "case/shard.h"
#include "cli/options.h"

/* The option's value; without it the one of one. EXIT_DONE, or the exit code, told. */
int shard_choice_name(const options *o, shard_name *out);
/* Keeps the part's cases, where the command takes the option and has it. Exits as said. */
int shard_choice_take(const options *o, corpus *c);

#endif
