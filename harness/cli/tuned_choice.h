/* tuned_choice.h - what the tuner found, for a command that builds one kernel: the options that say
 * whether and from where, and the build with it. */
#ifndef TESSERA_HARNESS_CLI_TUNED_CHOICE_H
#define TESSERA_HARNESS_CLI_TUNED_CHOICE_H

#include "cli/kernel_choice.h"
#include "cli/options.h"
#include "tune/tuned.h"

/* The usual file: --tuned, $TSR_TUNED, or tuned.jsonl beside the database. Owned. */
char *tuned_path(const options *o);
/* True where one of the first two names it. */
bool tuned_is_named(const options *o);
/* Refuses what does not go with --tuned and --no-tuned. EXIT_DONE, or the exit code. */
int tuned_check(const options *o);

typedef struct tuned_choices {
    tuned_files files;
    char *path;
    compiler_provenance provenance;
    text unused, space;
} tuned_choices;
void tuned_choices_open(tuned_choices *t, const options *o);
void tuned_choices_release(tuned_choices *t);
/* Checks that tuned choices are for such a build: the scheduler's own for a case, of one level. */
bool tuned_choices_apply(const compiler_options *build);
/* Puts the schedule that was found for this case into `build`, and replaces `*instance` and k->c
 * where other tiles were found, or the source gives the target others; *instance is NULL where it
 * cannot have those. Told on stderr. Fills the provenance of the build in any case. The
 * texts are borrowed until the next call. */
void tuned_choices_take(tuned_choices *t, kernel_choice *k, compiler_options *build,
                        compiler_instance **instance);

#endif
