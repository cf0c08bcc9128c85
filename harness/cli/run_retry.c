/* run_retry.c - see run_retry.h. */
#include "cli/run_retry.h"

#include "common/say.h"
#include "state/index.h"

bool run_retry_note(json_t *retried, const char *folder, uint32_t from, status *st) {
    state_index x;
    status why = STATUS_INIT;
    const bool ok = state_index_open(&x, folder, &why);
    if (ok) {
        if (x.retried && json_array_size(retried) == 0)
            (void)json_array_extend(retried, x.retried);
        json_array_append_new(retried, json_pack("{s:I, s:I, s:s}", "step", (json_int_t)x.step,
                                                 "from", (json_int_t)from, "why", st->message));
        status_clear(st);
    } else {
        *st = why;
    }
    state_index_close(&x);
    return ok;
}

void run_retry_begin(json_t *retried, uint32_t to) {
    json_t *last = json_array_get(retried, json_array_size(retried) - 1);
    json_object_set_new(last, "to", json_integer((json_int_t)to));
    say(stderr, "tsr: %s; tries again with %u of %d ranks\n",
        json_string_value(json_object_get(last, "why")), to,
        (int)json_integer_value(json_object_get(last, "from")));
}
