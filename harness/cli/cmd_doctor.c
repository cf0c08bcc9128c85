/* cmd_doctor.c - tsr doctor: what makes this machine noisy, what mends it, and how noisy it is. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "common/say.h"
#include "doctor/doctor.h"
#include "measure/host_facts.h"
#include "report/document.h"

enum { APART_MS = 400 };

static const char *text_of(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

static void print_fact(const json_t *fact) {
    say(stdout, "%-8s %-22s %s\n", text_of(fact, "state"), text_of(fact, "check"),
        text_of(fact, "found"));
    if (text_of(fact, "why"))
        say(stdout, "%31s %s\n", "", text_of(fact, "why"));
    if (text_of(fact, "mend"))
        say(stdout, "%31s $ %s\n", "", text_of(fact, "mend"));
}

static void print_share(const json_t *value) {
    if (json_is_number(value))
        say(stdout, "%9.2f %%", 100 * json_number_value(value));
    else
        say(stdout, "%11s", "none");
}

static void print_noise(const json_t *noise) {
    size_t i;
    json_t *loop;
    int cases = (int)json_integer_value(json_object_get(noise, "cases"));
    say(stdout, "\n%-8s %11s %18s %21s %10s %d\n", "loop", "in process", "between processes",
        "smallest change seen", "among", cases);
    json_array_foreach(json_object_get(noise, "loops"), i, loop) {
        say(stdout, "%-8s", text_of(loop, "loop"));
        print_share(json_object_get(loop, "in_process"));
        say(stdout, "%8s", "");
        print_share(json_object_get(loop, "between_processes"));
        say(stdout, "%11s", "");
        print_share(json_object_get(loop, "detectable"));
        say(stdout, "%4s", "");
        print_share(json_object_get(loop, "detectable_of_many"));
        say(stdout, "\n");
    }
    say(stdout, "the clock of the core: %.2f %% between its 5th and 95th percentile\n",
        100 * json_number_value(json_object_get(noise, "clock_spread")));
    const double mde = json_number_value(json_object_get(noise, "mde")),
                 error = json_number_value(json_object_get(noise, "pair_error"));
    if (error > mde)
        say(stdout,
            "by the rounds within a process a pair of processes is off by %.3g %%, whatever the "
            "ten pairs above say\n",
            100 * error);
    say(stdout,
        json_is_true(json_object_get(noise, "enough"))
            ? "quiet enough for a gate that must see %.3g %%\n"
            : "too noisy for a gate that must see %.3g %%: mend what does harm above, or give the "
              "gate a greater --mde\n",
        100 * mde);
}

static void print_all(const json_t *facts, const json_t *noise) {
    size_t i;
    json_t *fact;
    json_array_foreach(facts, i, fact) print_fact(fact);
    if (json_is_object(noise))
        print_noise(noise);
}

/* DIR[,LATER]: `later` receives the second, `root` the first. */
static doctor_place place_of(const options *o, char root[4096]) {
    snprintf(root, 4096, "%s", options_text(o, OPTION_ROOT, ""));
    char *comma = strchr(root, ',');
    if (comma)
        *comma = '\0';
    return (doctor_place){root, comma ? comma + 1 : root, APART_MS};
}

int command_doctor(const options *o) {
    status st = STATUS_INIT;
    if (o->arguments.count)
        return command_usage(o->command, "doctor takes no arguments");
    bool measure = !options_flag(o, OPTION_FACTS);
    char root[4096];
    doctor_place place = place_of(o, root);
    json_t *facts = doctor_facts(&place);
    json_t *noise = measure ? doctor_noise(&st) : json_null();
    int code = EXIT_DONE;
    if (!noise) {
        code = command_fail(&st);
        noise = json_null();
    } else if (measure && !json_is_true(json_object_get(noise, "enough"))) {
        code = EXIT_NO_VERDICT;
    }
    if (options_flag(o, OPTION_JSON)) {
        json_t *document = json_pack("{s:s, s:o, s:O, s:O, s:i}", "schema", "tsr.doctor/1", "host",
                                     host_facts(), "facts", facts, "noise", noise, "exit", code);
        document_print(document, stdout);
        json_decref(document);
    } else {
        print_all(facts, noise);
    }
    json_decref(facts);
    json_decref(noise);
    return code;
}
