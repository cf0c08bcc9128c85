/* rotation_prepare.c - what is made from the constants of each place, outside of timed parts. */
#include <stdlib.h>

#include "base/arena.h"
#include "common/abi_status.h"
#include "measure/rotation_parts.h"

void rotation_forget_prepared(rotation *r) {
    for (uint32_t place = 0; place < r->sets; place++) {
        if (r->prepared.at[place])
            (void)tsrDestroyPrepared(r->prepared.at[place]);
        r->prepared.at[place] = NULL;
    }
}

static bool refresh(rotation *r, tsr_kernel_t kernel, uint32_t place, status *st) {
    rotation_prepared *p = &r->prepared;
    tsr_prepared_t made;
    if (p->at[place] && !p->stale[place])
        return true;
    if (!launch_prepare(&r->launch, kernel, rotation_args(r, place, 0), &made, st))
        return false;
    if (p->at[place] && !abi_ok(tsrDestroyPrepared(p->at[place]), "freeing what was prepared", st))
        return false;
    p->at[place] = made;
    p->stale[place] = false;
    return true;
}

bool rotation_prepare(rotation *r, tsr_kernel_t kernel, status *st) {
    rotation_prepared *p = &r->prepared;
    bool ok = true;
    if (r->launch.constant_count == 0)
        return true;
    if (p->kernel != kernel)
        rotation_forget_prepared(r);
    p->kernel = kernel;
    for (uint32_t place = 0; place < r->sets && ok; place++)
        ok = refresh(r, kernel, place, st);
    free(p->order);
    p->order = base_calloc(r->part.launches + 1, sizeof(tsr_prepared_t));
    for (uint64_t i = 0; i < r->part.launches && ok; i++)
        p->order[i] = p->at[rotation_place_of(r, r->part.order[i])];
    return ok;
}
