/* tree_text.c - see tree_text.h: from the bottom of each chain to its top, elements in runs. */
#include "relations/tree_text.h"

typedef struct writer {
    const tree_nodes *nodes;
    const signed char *joins;
    bool rounded; /* "rounded:" says it of all products */
    text *out;
    int64_t first, step, count; /* elements that are not written yet */
    bool begun;                 /* the chain in hand has terms */
} writer;

static int64_t size_of(const writer *w, int32_t branch) {
    return branch < 0 ? 1 : w->nodes->items[branch].size;
}

static void separate(writer *w) {
    if (w->begun)
        text_append_char(w->out, '+');
    w->begun = true;
}

static void write_run(writer *w) {
    int64_t last = w->first + (w->count - 1) * w->step;
    if (w->count == 0)
        return;
    separate(w);
    if (w->count < 3)
        text_printf(w->out, "%lld", (long long)w->first);
    if (w->count == 2)
        text_printf(w->out, "+%lld", (long long)last);
    if (w->count > 2)
        text_printf(w->out, "%lld:%lld", (long long)w->first,
                    (long long)(w->step > 0 ? last + 1 : last - 1));
    if (w->count > 2 && w->step != 1)
        text_printf(w->out, ":%lld", (long long)w->step);
    w->count = 0;
}

static void take_element(writer *w, int64_t e) {
    bool follows = w->count > 1 && e == w->first + w->count * w->step;
    if (w->count > 1 && !follows)
        write_run(w);
    if (w->count == 0)
        w->first = e;
    else if (w->count == 1)
        w->step = e - w->first;
    w->count++;
}

signed char tree_join(const tree_node *n) {
    if (n->left < 0 && n->right < 0)
        return TREE_EITHER;
    return n->right < 0 ? TREE_RIGHT : n->left < 0 ? TREE_LEFT : TREE_NONE;
}

/* Finds the branch that the chain of an addition comes from: the larger one; of two elements the
 * one that is not taken as it is. */
static bool comes_from_left(const writer *w, int32_t node) {
    const tree_node *n = &w->nodes->items[node];
    if (n->left < 0 && n->right < 0)
        return w->joins[node] != TREE_LEFT;
    return size_of(w, n->left) >= size_of(w, n->right);
}

/* Does a chain of two elements in either order better begin with the right one, from which the
 * third goes on with the same step? */
static bool begins_with_right(const writer *w, const int32_t *path, size_t count) {
    const tree_node *n = count ? &w->nodes->items[path[count - 1]] : NULL;
    if (count < 2 || !(w->rounded || w->joins[path[count - 1]] == TREE_EITHER))
        return false;
    const tree_node *above = &w->nodes->items[path[count - 2]];
    int32_t third = comes_from_left(w, path[count - 2]) ? above->right : above->left;
    return third < 0 && ~third - ~n->left == ~n->left - ~n->right;
}

static void write_chain(writer *w, int32_t branch);

static void write_inner(writer *w, int32_t branch) {
    write_run(w);
    separate(w);
    text_append_char(w->out, '(');
    w->begun = false;
    write_chain(w, branch);
    text_append_char(w->out, ')');
    w->begun = true;
}

static void write_term(writer *w, int32_t node, int32_t branch) {
    bool left = branch == w->nodes->items[node].left;
    bool taken = w->rounded || w->joins[node] == TREE_EITHER ||
                 w->joins[node] == (left ? TREE_LEFT : TREE_RIGHT);
    if (branch < 0 && taken)
        take_element(w, ~branch);
    else
        write_inner(w, branch);
}

static void write_chain(writer *w, int32_t branch) {
    VEC(int32_t) path = {0};
    while (branch >= 0) {
        const tree_node *n = &w->nodes->items[branch];
        vec_push(&path, branch);
        branch = comes_from_left(w, branch) ? n->left : n->right;
    }
    bool swapped = begins_with_right(w, path.items, path.count);
    take_element(w, swapped ? ~w->nodes->items[path.items[path.count - 1]].right : ~branch);
    for (size_t i = path.count; i-- > 0;) {
        const tree_node *n = &w->nodes->items[path.items[i]];
        bool from_left = comes_from_left(w, path.items[i]) && !(swapped && i + 1 == path.count);
        write_term(w, path.items[i], from_left ? n->right : n->left);
    }
    write_run(w);
    vec_release(&path);
}

/* No product goes into an addition as it is, and some would. */
static bool all_rounded(const tree_nodes *nodes, const signed char *joins) {
    bool any = false;
    for (size_t i = 0; i < nodes->count; i++) {
        if (joins[i] != TREE_NONE)
            return false;
        any |= nodes->items[i].left < 0 || nodes->items[i].right < 0;
    }
    return any;
}

void tree_text(const tree_nodes *nodes, const signed char *joins, bool dot, text *out) {
    writer w = {.nodes = nodes, .joins = joins, .out = out};
    w.rounded = dot && all_rounded(nodes, joins);
    text_append(out, w.rounded ? "tree(rounded:" : "tree(");
    write_chain(&w, nodes->count ? (int32_t)nodes->count - 1 : ~0);
    text_append_char(out, ')');
}
