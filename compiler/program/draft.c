/* draft.c - the end of a draft: what it owns is given back. */
#include <stdlib.h>

#include "program/commands.h"

static void release_commands(command_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        vec_release(&list->items[i].views);
        release_commands(&list->items[i].blocks[0]);
        release_commands(&list->items[i].blocks[1]);
    }
    vec_release(list);
}

void draft_release(draft *p) {
    release_commands(&p->commands);
    for (size_t i = 0; i < p->kernels.count; i++)
        free(p->kernels.items[i].donated);
    vec_release(&p->kernels);
    vec_release(&p->constants);
    vec_release(&p->slots);
    vec_release(&p->donations);
}
