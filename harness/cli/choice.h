/* choice.h - from options to a choice of backends, profiles and threads, and to a corpus. */
#ifndef TESSERA_HARNESS_CLI_CHOICE_H
#define TESSERA_HARNESS_CLI_CHOICE_H

#include "cli/options.h"
#include "job/job_plan.h"

/* Resolves --backend, --profile, --threads, --isa, --seed, --timeout, --memory and --quick, and
 * checks the form of --dims.
 * `profiles` is the default list. EXIT_DONE, or the exit code after the message was printed. */
int choice_make(const options *o, const char *profiles, uint64_t timeout_seconds, job_choice *out);

/* choice_ranks.c: --ranks, and what says something of it: without it that is refused, as it would
 * change nothing. Exit code, 0: good. */
int choice_ranks(const options *o, arena *memory, job_choice *out);
/* --backend, else $TESSERA_BACKEND; NULL: none was named. */
const char *choice_backend_names(const options *o);
/* The cpu backend alone, for commands that are about compiled code. EXIT_ABSENT, told, where it
 * cannot run here. */
int choice_compiled(job_choice *choice);
/* Backends whose code has a schedule: those that were named, else this CPU. Exits as said. */
int choice_tuned(job_choice *choice);

/* The one backend of a command that computes one result, and its device: what was named, else the
 * CPU. EXIT_DONE, or the exit code, told. */
int choice_one_backend(const options *o, const job_choice *choice, backend_id *id,
                       uint32_t *device);

/* Query of the arguments from `first` on and of --filter; strings are borrowed from the options and
 * from `memory`. */
void choice_query(const options *o, size_t first, arena *memory, corpus_query *query);
/* Chooses what --space says of each kernel's space of tiles. EXIT_DONE, or the exit code, told. */
int choice_space(const options *o, corpus *c);
/* Loads the corpus that the arguments from `first` on name (none: corpus/), printing diagnostics to
 * stderr, and keeps what is of --shard. EXIT_DONE or the exit code after the message was printed;
 * corpus_release in any case. */
int choice_corpus(const options *o, size_t first, corpus *out);
/* The same, whole, with the goldens of another folder; of its diagnostics choice_corpus told. */
int choice_corpus_beside(const options *o, size_t first, const char *golden, corpus *out);

#endif
