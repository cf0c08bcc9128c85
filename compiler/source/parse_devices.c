/* parse_devices.c - `@ device(gpu)` behind an annotation: it says where the function runs, and is
 * no part of what a value is. */
#include <string.h>

#include "source/parser_state.h"

static bool is_device(const node *n) {
    const node *call = n->kind == NODE_BINARY && n->symbol == SYMBOL1('@') ? n->right : NULL;
    return call && call->kind == NODE_CALL && call->left->kind == NODE_NAME &&
           strcmp(call->left->text, "device") == 0;
}

/* The annotation without them; they are added to the list. */
static node *take_devices(node *n, node_list *out) {
    while (n && is_device(n)) {
        vec_push(out, n->right);
        n = n->left;
    }
    if (!n)
        return NULL;
    n->left = take_devices(n->left, out);
    for (uint32_t i = 0; i < n->count; i++)
        n->items[i] = take_devices(n->items[i], out);
    return n;
}

void parse_devices(parser *p, ast_function *f) {
    node_list devices = {0};
    for (uint32_t i = 0; i < f->parameter_count; i++)
        f->parameters[i].annotation = take_devices(f->parameters[i].annotation, &devices);
    f->returns = take_devices(f->returns, &devices);
    f->device_count = (uint32_t)devices.count;
    if (devices.count)
        f->devices = arena_copy(p->memory, devices.items, devices.count * sizeof(node *));
    vec_release(&devices);
}
