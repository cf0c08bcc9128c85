/* assigned.c - names that statements assign to: what a loop carries from turn to turn. */
#include <string.h>

#include "check/regions.h"

static void note_name(assigned_names *out, const char *name, span at) {
    for (size_t i = 0; i < out->count; i++)
        if (strcmp(out->items[i].name, name) == 0)
            return;
    vec_push(out, ((assigned_name){name, at}));
}

static void note_targets(const node *n, assigned_names *out) {
    if (n->kind == NODE_NAME)
        note_name(out, n->text, n->at);
    for (uint32_t i = 0; n->kind != NODE_NAME && i < n->count; i++)
        note_targets(n->items[i], out);
}

void assigned_collect(const node *n, assigned_names *out) {
    if (!n)
        return;
    switch (n->kind) {
    case NODE_BLOCK:
        for (uint32_t i = 0; i < n->count; i++)
            assigned_collect(n->items[i], out);
        return;
    case NODE_FOR:
        note_name(out, n->right->text, n->right->at);
        assigned_collect(n->third, out);
        return;
    case NODE_WHILE:
    case NODE_WITH:
        assigned_collect(n->third, out);
        return;
    case NODE_IF:
        assigned_collect(n->right, out);
        assigned_collect(n->third, out);
        return;
    case NODE_CALL: /* tile.mask_causal(s, ...) on a line of its own changes s */
        if (strcmp(n->left->text, "mask_causal") == 0 && n->count)
            note_targets(n->items[0], out);
        return;
    case NODE_ASSIGN:
    case NODE_ANNOTATED:
    case NODE_AUGMENTED:
        for (uint32_t i = 0; i < n->count; i++)
            note_targets(n->items[i], out);
        return;
    default:
        return;
    }
}
