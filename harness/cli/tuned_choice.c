/* tuned_choice.c - compile and run with what the tuner found. */
#include "cli/tuned_choice.h"

#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "cli/command.h"
#include "cli/database.h"
#include "common/say.h"

char *tuned_path(const options *o) {
    const char *given = options_text(o, OPTION_TUNED, getenv("TSR_TUNED"));
    if (given && *given)
        return base_strdup(given);
    const char *database = database_path(o), *slash = strrchr(database, '/');
    text path;
    text_init(&path);
    if (slash)
        text_append_bytes(&path, database, (size_t)(slash - database) + 1);
    text_append(&path, "tuned.jsonl");
    char *kept = text_take(&path);
    text_release(&path);
    return kept;
}

bool tuned_is_named(const options *o) {
    const char *given = options_text(o, OPTION_TUNED, getenv("TSR_TUNED"));
    return given && *given;
}

int tuned_check(const options *o) {
    int code = EXIT_DONE;
    if (options_flag(o, OPTION_NO_TUNED))
        code = COMMAND_REFUSE(o, "and --no-tuned do not go together", OPTION_TUNED);
    if (!code && (options_flag(o, OPTION_SCHEDULE) || options_flag(o, OPTION_UNOPTIMISED)))
        code = COMMAND_REFUSE(o, "has no say beside --schedule and --unoptimised", OPTION_TUNED);
    if (!code && (options_flag(o, OPTION_GENERIC) || options_flag(o, OPTION_CONSTANT)))
        code = COMMAND_REFUSE(o, "has no say beside --generic and --constant", OPTION_TUNED);
    return code;
}

void tuned_choices_open(tuned_choices *t, const options *o) {
    bool wanted = !options_flag(o, OPTION_NO_TUNED);
    *t = (tuned_choices){.path = wanted ? tuned_path(o) : NULL};
    tuned_open(&t->files, t->path, tuned_is_named(o));
    text_init(&t->unused);
    text_init(&t->space);
}

void tuned_choices_release(tuned_choices *t) {
    tuned_release(&t->files);
    text_release(&t->unused);
    text_release(&t->space);
    free(t->path);
}

bool tuned_choices_apply(const compiler_options *build) {
    return !build->schedule && !build->unoptimised && !build->generic && !build->constants &&
           build->also_count == 0;
}

/* The instance with the tiles that were found; NULL: they do not fit. */
static compiler_instance *with_space(kernel_choice *k, const char *space, status *st) {
    const compiler_case *c = compiler_case_choose(k->source, k->kernel, k->c, space, st);
    compiler_instance *instance = c ? case_instance(k->source, k->kernel, c, st) : NULL;
    k->c = instance ? c : k->c;
    return instance;
}

/* The tiles that @specialize gives the target, where neither the command line nor the tuner has
 * chosen. *instance is NULL where they cannot be, which is told. */
static bool specialize(kernel_choice *k, const compiler_options *build,
                       compiler_instance **instance) {
    status st = STATUS_INIT;
    const compiler_case *c = k->c;
    bool ok = compiler_case_specialize(k->source, k->kernel, k->c, build->isa, &c, &st);
    if (ok && c == k->c)
        return false;
    compiler_instance_free(*instance);
    *instance = ok ? case_instance(k->source, k->kernel, c, &st) : NULL;
    if (!*instance)
        say_diagnostics(stderr, st.message);
    k->c = *instance ? c : k->c;
    return *instance != NULL;
}

static bool fits(compiler_instance *instance, const compiler_options *build, status *st) {
    compiler_space space;
    bool ok = compiler_space_of(instance, build, &space, st);
    compiler_space_release(&space);
    return ok;
}

/* Takes the whole of what was found, or nothing. */
static bool take(kernel_choice *k, const tuned_choice *found, compiler_options *build,
                 compiler_instance **instance, status *st) {
    kernel_choice other = *k;
    compiler_options tuned = *build;
    compiler_instance *chosen = found->space ? with_space(&other, found->space, st) : *instance;
    tuned.schedule = found->schedule;
    bool ok = chosen && fits(chosen, &tuned, st);
    if (ok && chosen != *instance) {
        compiler_instance_free(*instance);
        *instance = chosen;
    } else if (!ok && chosen != *instance) {
        compiler_instance_free(chosen);
    }
    if (ok) {
        *k = other;
        build->schedule = tuned.schedule;
    }
    return ok;
}

static void tell(const kernel_choice *k, const tuned_choice *found, bool taken, const status *why) {
    const char *space = found->space ? found->space : "",
               *schedule = found->schedule ? found->schedule : "";
    say(stderr, "tsr: %s/%s: %s %s%s%s%s%s\n", k->kernel->name, k->c->name,
        taken ? "tuned," : "what was tuned is not used,", space, *space && *schedule ? "; " : "",
        schedule, taken ? "" : ": ", taken ? "" : why->message);
}

void tuned_choices_take(tuned_choices *t, kernel_choice *k, compiler_options *build,
                        compiler_instance **instance) {
    const job j = {.profile = compiler_profile_name(build->profile),
                   .isa = build->isa,
                   .threads = build->threads};
    const tuned_question question = {k->source, k->kernel, k->c, *instance, &j};
    tuned_choice found;
    status st = STATUS_INIT;
    t->provenance = (compiler_provenance){.tuned = NULL};
    if (k->c && tuned_choices_apply(build) && tuned_find(&t->files, &question, &found)) {
        bool taken = take(k, &found, build, instance, &st);
        tell(k, &found, taken, &st);
        t->provenance.tuned = !taken ? NULL : found.schedule ? found.schedule : "";
    }
    if (k->c && !t->provenance.tuned && !build->generic && build->also_count == 0)
        t->provenance.specialized = specialize(k, build, instance);
    text_clear(&t->unused);
    text_clear(&t->space);
    if (k->c && !build->generic) {
        compiler_unused_hints(k->source, k->kernel, k->c, build, &t->unused);
        compiler_choice_text(k->kernel, k->c, &t->space);
    }
    t->provenance.unused_hints = t->unused.data;
    t->provenance.space = t->space.data;
    build->provenance = &t->provenance;
}
