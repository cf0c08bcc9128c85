/* way_of_sums.c - see way_of_sums.h. */
#include "launch/way_of_sums.h"

#include "base/arena.h"
#include "comm_model.h"

bool way_of_sums(const char *transport, uint32_t ranks, int64_t **out, status *st) {
    comm_model m;
    *out = NULL;
    const bool ok = comm_model_of_environment(&m, st);
    if (ok && comm_model_fit(&m, transport, ranks)) {
        *out = base_calloc((size_t)ranks + 1, sizeof **out);
        for (uint32_t i = 2; i <= ranks; i++)
            (*out)[i] = comm_fit_whole_bytes(comm_model_fit(&m, transport, i), i);
    }
    comm_model_release(&m);
    return ok;
}
