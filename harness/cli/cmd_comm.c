/* cmd_comm.c - tsr comm: how long ranks take to send each other bytes, measured here or computed of
 * a topology. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/choice.h"
#include "cli/comm_simulate.h"
#include "cli/command.h"
#include "comm/comm.h"
#include "comm/model_document.h"
#include "common/json_text.h"
#include "common/say.h"
#include "report/document.h"

enum { USUAL_RANKS = 3 };

/* ---- --probe ---- */

static bool write_document(const json_t *document, const char *path, status *st) {
    char *words = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    const file_part parts[] = {{words, strlen(words)}, {"\n", 1}};
    const bool ok = file_write_parts(path, parts, 2, st);
    free(words);
    return ok;
}

static bool probe_all(const options *o, const job_choice *choice, probe_result *results,
                      uint32_t *count, status *st) {
    for (uint32_t t = 0; t < choice->transport_count; t++)
        for (uint32_t i = 0; i < choice->rank_count; i++) {
            say(stderr, "%s, %u ranks\n", choice->transports[t], choice->ranks[i]);
            if (!probe_run(choice->transports[t], choice->ranks[i], options_flag(o, OPTION_QUICK),
                           &results[(*count)++], st))
                return status_context(st, "probing %u ranks by %s", choice->ranks[i],
                                      choice->transports[t]);
        }
    return true;
}

static int show_model(const options *o, const probe_result *results, uint32_t count) {
    status st = STATUS_INIT;
    text table;
    int code = EXIT_DONE;
    const char *path = options_text(o, OPTION_OUTPUT, NULL);
    json_t *document = model_document(results, count);
    text_init(&table);
    model_table(document, &table);
    if (path && !write_document(document, path, &st))
        code = command_fail(&st);
    if (options_flag(o, OPTION_JSON))
        document_print(document, stdout);
    else
        say_text(stdout, table.data);
    text_release(&table);
    json_decref(document);
    return code;
}

static int check_ranks(const options *o, const job_choice *choice) {
    for (uint32_t i = 0; i < choice->rank_count; i++)
        if (choice->ranks[i] < 2)
            return command_usage(o->command, "--ranks: %u rank sends nobody anything",
                                 choice->ranks[i]);
    return EXIT_DONE;
}

static int probe(const options *o) {
    static const uint32_t usual[USUAL_RANKS] = {2, 3, 4};
    arena memory;
    job_choice choice = {0};
    status st = STATUS_INIT;
    uint32_t count = 0;
    arena_init(&memory);
    int code = choice_ranks(o, &memory, &choice);
    if (code == EXIT_DONE && !choice.rank_count) {
        memcpy(choice.ranks, usual, sizeof usual);
        choice.rank_count = USUAL_RANKS;
    }
    code = code == EXIT_DONE ? check_ranks(o, &choice) : code;
    if (code == EXIT_DONE) {
        probe_result *results =
            base_calloc((size_t)choice.rank_count * choice.transport_count, sizeof *results);
        code = probe_all(o, &choice, results, &count, &st) ? show_model(o, results, count)
                                                           : command_fail(&st);
        free(results);
    }
    arena_release(&memory);
    return code;
}

int command_comm(const options *o) {
    if (o->arguments.count)
        return command_usage(o->command, "comm takes no arguments");
    if (options_flag(o, OPTION_PROBE) == options_flag(o, OPTION_SIMULATE))
        return command_usage(o->command, "--probe or --simulate says what to do");
    if (options_flag(o, OPTION_SIMULATE))
        return comm_simulate(o);
    const int code = COMMAND_REFUSE(o, "is of --simulate", OPTION_PLAN, OPTION_LAYOUT, OPTION_CASE,
                                    OPTION_DIMS, OPTION_SIZES);
    return code ? code : probe(o);
}
