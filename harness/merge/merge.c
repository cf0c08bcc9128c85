/* merge.c - the steps of a merge. */
#include "merge/merge.h"

#include "common/exit_code.h"
#include "common/say.h"
#include "merge/parts.h"

static bool contradicts(const merge *m) {
    bool found = false;
    for (size_t i = 0; i < m->conflicts.count; i++)
        found |= m->conflicts.items[i].one_run;
    return found;
}

int merge_run(const merge_request *request) {
    merge m = {.request = request};
    status st = STATUS_INIT;
    int code = EXIT_DONE;
    bool ok = merge_open(&m, &st) && merge_find_conflicts(&m, &st);
    if (ok)
        merge_make_sets(&m);
    if (ok && !contradicts(&m)) {
        ok = merge_write(&m, &st);
        m.written = ok;
    }
    if (ok) {
        code = merge_show(&m);
    } else {
        say_failure(stderr, st.message);
        code = (int)exit_code_of_status(st.code);
    }
    merge_close(&m);
    return code;
}
