/* tree.c - level by level: measure, group, go down; then hash upward. */
#include "probe/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* A set of elements whose tree is looked for: `items` ascending; its path is found when it has been
 * measured. */
typedef struct tree_set {
    int32_t *items;
    int32_t count;
    /* Groups of the path, from the innermost: elements with equal meeting sizes. Each is another
     * set; a group of one needs none. */
    struct tree_group {
        int64_t size;
        int32_t first, count; /* in `items` after sorting by size; item 0 stays in front */
        int32_t set;          /* -1: a single element */
    } * groups;
    int32_t group_count;
    size_t first_pair;
    sha256 digest;
    int32_t branch; /* as in tree_node */
} tree_set;

typedef struct recovery {
    VEC(tree_set) sets;
    tree_pairs pairs;
    status *st;
} recovery;

static int32_t add_set(recovery *r, const int32_t *items, int32_t count) {
    tree_set s = {.items = base_malloc(sizeof *items * (size_t)count), .count = count};
    memcpy(s.items, items, sizeof *items * (size_t)count);
    vec_push(&r->sets, s);
    return (int32_t)r->sets.count - 1;
}

static int by_size(const void *a, const void *b) {
    const tree_pair *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->j < y->j ? -1 : x->j > y->j;
}

static void ask(recovery *r, tree_set *s) {
    s->first_pair = r->pairs.count;
    for (int32_t k = 1; k < s->count; k++) {
        tree_pair p = {s->items[0], s->items[k], 0};
        vec_push(&r->pairs, p);
    }
}

/* The path of one set from its measured pairs; new sets for groups of several. */
static bool split(recovery *r, size_t index) {
    tree_set *s = &r->sets.items[index];
    tree_pair *pairs = r->pairs.items + s->first_pair;
    int32_t n = s->count - 1;
    qsort(pairs, (size_t)n, sizeof *pairs, by_size);
    struct tree_group *groups = base_calloc((size_t)n + 1, sizeof *groups);
    int32_t group_count = 0;
    for (int32_t k = 0; k < n; k++) {
        s->items[k + 1] = pairs[k].j;
        if (k == 0 || pairs[k].size != pairs[k - 1].size)
            groups[group_count++] = (struct tree_group){pairs[k].size, k + 1, 0, -1};
        groups[group_count - 1].count++;
    }
    s->groups = groups;
    s->group_count = group_count;
    int64_t below = 1;
    for (int32_t g = 0; g < group_count; g++) {
        below += groups[g].count;
        if (groups[g].size != below)
            return status_set(
                r->st, STATUS_INVALID,
                "elements %d and %d meet among %lld elements, but %lld lie below them", s->items[0],
                s->items[groups[g].first], (long long)groups[g].size, (long long)below);
        if (groups[g].count > 1) {
            int32_t set = add_set(r, s->items + groups[g].first, groups[g].count);
            s = &r->sets.items[index]; /* the list may have moved */
            s->groups[g].set = set;
        }
    }
    return true;
}

static void hash_text(text *words, sha256 *digest) {
    *digest = sha256_of(words->data, words->length);
    text_clear(words);
}

static void leaf_digest(int32_t element, text *words, sha256 *digest) {
    text_printf(words, "%d", element);
    hash_text(words, digest);
}

/* H(leaf) = SHA-256 of its number; H(addition) = SHA-256 of both digests, the branch with the
 * smallest element first. Sets come after the sets that they belong to, so from the last one up. */
static void hash_all(recovery *r) {
    text words;
    text_init(&words);
    for (size_t i = r->sets.count; i-- > 0;) {
        tree_set *s = &r->sets.items[i];
        sha256 branch;
        leaf_digest(s->items[0], &words, &s->digest);
        for (int32_t g = 0; g < s->group_count; g++) {
            char left[65], right[65];
            if (s->groups[g].set >= 0)
                branch = r->sets.items[s->groups[g].set].digest;
            else
                leaf_digest(s->items[s->groups[g].first], &words, &branch);
            sha256_hex(&s->digest, left);
            sha256_hex(&branch, right);
            text_printf(&words, "%s%s", left, right);
            hash_text(&words, &s->digest);
        }
    }
    text_release(&words);
}

/* The additions, those of a set behind those of the sets below it. */
static void keep_all(recovery *r, tree_nodes *nodes) {
    vec_clear(nodes);
    for (size_t i = r->sets.count; i-- > 0;) {
        tree_set *s = &r->sets.items[i];
        s->branch = ~s->items[0];
        for (int32_t g = 0; g < s->group_count; g++) {
            int32_t other = s->groups[g].set >= 0 ? r->sets.items[s->groups[g].set].branch
                                                  : ~s->items[s->groups[g].first];
            tree_node node = {s->branch, other, s->groups[g].size};
            vec_push(nodes, node);
            s->branch = (int32_t)nodes->count - 1;
        }
    }
}

static void release(recovery *r) {
    for (size_t i = 0; i < r->sets.count; i++) {
        free(r->sets.items[i].items);
        free(r->sets.items[i].groups);
    }
    vec_release(&r->sets);
    vec_release(&r->pairs);
}

bool tree_recover(int32_t n, tree_measure_fn measure, void *context, tree_nodes *nodes,
                  sha256 *digest, status *st) {
    recovery r = {.st = st};
    int32_t *all = base_malloc(sizeof *all * (size_t)(n + 1));
    for (int32_t i = 0; i < n; i++)
        all[i] = i;
    if (n > 0)
        add_set(&r, all, n);
    free(all);
    bool ok = true;
    for (size_t first = 0, last = r.sets.count; ok && first < last; last = r.sets.count) {
        r.pairs.count = 0;
        for (size_t i = first; i < last; i++)
            ask(&r, &r.sets.items[i]);
        ok = r.pairs.count == 0 || measure(context, r.pairs.items, r.pairs.count, st);
        for (size_t i = first; i < last && ok; i++)
            ok = split(&r, i);
        first = last;
    }
    *digest = sha256_of("", 0);
    if (ok && r.sets.count) {
        hash_all(&r);
        *digest = r.sets.items[0].digest;
        if (nodes)
            keep_all(&r, nodes);
    }
    release(&r);
    return ok;
}
