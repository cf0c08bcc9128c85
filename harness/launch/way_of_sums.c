/* way_of_sums.c - see way_of_sums.h. */
#include "launch/way_of_sums.h"

#include "base/arena.h"
#include "comm_model.h"
#include "policy.h"

static bool find_bucket(int64_t *out, status *st) {
    policy p;
    const bool ok = policy_of_environment(&p, st);
    const bool given = ok && p.given[POLICY_comm_bucket];
    *out = given ? p.bucket_bytes ? (int64_t)p.bucket_bytes : -1 : 0;
    policy_release(&p);
    return ok;
}

bool way_of_sums_find(const char *transport, uint32_t ranks, way_of_sums *out, status *st) {
    comm_model m;
    *out = (way_of_sums){NULL, 0};
    const bool ok = comm_model_of_environment(&m, st) && find_bucket(&out->bucket_bytes, st);
    if (ok && comm_model_fit(&m, transport, ranks)) {
        out->whole = base_calloc((size_t)ranks + 1, sizeof *out->whole);
        for (uint32_t i = 2; i <= ranks; i++)
            out->whole[i] = comm_fit_whole_bytes(comm_model_fit(&m, transport, i), i);
    }
    comm_model_release(&m);
    return ok;
}
