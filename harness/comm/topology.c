/* topology.c - reads a file of docs/topology.schema.json. */
#include "comm/topology.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers with units ---- */

typedef struct unit {
    const char *name;
    double factor;
} unit;

static const unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {0}},
                  rates[] = {{"MB/s", 1e-3}, {"GB/s", 1}, {"TB/s", 1e3}, {0}};

/* 0 is taken where `least` is 0. */
static bool read_amount(topology *t, const document_node *at, const unit *units, double least,
                        double *out, status *st) {
    const char *words = document_text(at), *name;
    char *end;
    if (words && strspn(words, "0123456789.") > 0) {
        *out = strtod(words, &end);
        name = end + strspn(end, " ");
        for (const unit *u = units; u->name; u++)
            if (strcmp(u->name, name) == 0 && *out >= least) {
                *out *= u->factor;
                return true;
            }
    }
    return document_wrong(&t->file, at, st, "wants %s, not %s",
                          units == times ? "a time from 0 on, such as \"2 us\" (ns, us, ms)"
                                         : "a bandwidth above 0, such as \"450 GB/s\" (MB/s, "
                                           "GB/s, TB/s)",
                          document_shown(&t->file, at));
}

static bool read_time(topology *t, const document_node *at, double *out, status *st) {
    return read_amount(t, at, times, 0, out, st);
}

static bool read_rate(topology *t, const document_node *at, double *out, status *st) {
    return read_amount(t, at, rates, 1e-9, out, st);
}

static bool read_ranks(topology *t, const document_node *at, uint32_t *out, status *st) {
    uint64_t number;
    if (!document_whole(at, 1, TOPOLOGY_RANKS_MAX, &number))
        return document_wrong(&t->file, at, st, "wants a number of ranks from 1 to %d, not %s",
                              TOPOLOGY_RANKS_MAX, document_shown(&t->file, at));
    *out = (uint32_t)number;
    return true;
}

/* ---- maps ---- */

/* A map has each of `needed`, which come first in the list of keys, and nothing but keys. */
static bool check_keys(topology *t, const document_node *map, const char *const *keys, int needed,
                       const char *what, status *st) {
    if (!map || map->kind != DOCUMENT_MAP)
        return document_wrong(&t->file, map, st, "wants an object: {...}");
    for (int i = 0; i < needed; i++)
        if (!document_member(map, keys[i]))
            return document_wrong(&t->file, map, st, "has no \"%s\"", keys[i]);
    for (const document_node *m = map->first; m; m = m->next) {
        int i = 0;
        while (keys[i] && strcmp(keys[i], m->name) != 0)
            i++;
        if (!keys[i])
            return document_wrong(&t->file, m, st, "is no key of %s", what);
    }
    return true;
}

static bool read_link(topology *t, const document_node *at, status *st) {
    static const char *const keys[] = {"latency", "bandwidth", "ranks", "message", "duplex", NULL};
    topology_link *l = &t->links[t->link_count++];
    const document_node *message = document_member(at, "message"),
                        *duplex = document_member(at, "duplex");
    if (!check_keys(t, at, keys, 3, "a link", st))
        return false;
    *l = (topology_link){.name = at->name, .duplex = true};
    if (duplex && !document_flag(duplex, &l->duplex))
        return document_wrong(&t->file, duplex, st, "wants true or false, not %s",
                              document_shown(&t->file, duplex));
    return read_time(t, document_member(at, "latency"), &l->latency_ns, st) &&
           read_rate(t, document_member(at, "bandwidth"), &l->bandwidth, st) &&
           read_ranks(t, document_member(at, "ranks"), &l->ranks, st) &&
           (!message || read_time(t, message, &l->message_ns, st));
}

static bool read_links(topology *t, const document_node *map, status *st) {
    if (map->kind != DOCUMENT_MAP || !map->first)
        return document_wrong(&t->file, map, st, "wants links by their names: {NAME: {...}}");
    for (const document_node *m = map->first; m; m = m->next)
        if (t->link_count == TOPOLOGY_LINKS_MAX)
            return document_wrong(&t->file, m, st, "is one of more than %d links",
                                  TOPOLOGY_LINKS_MAX);
        else if (!read_link(t, m, st))
            return false;
    return true;
}

static bool read_path(topology *t, const document_node *path, topology_level *l, status *st) {
    if (path->kind != DOCUMENT_LIST || !path->first)
        return document_wrong(&t->file, path, st,
                              "wants the links that a message passes: its ranks have none");
    for (const document_node *m = path->first; m; m = m->next) {
        uint32_t link = 0;
        while (link < t->link_count &&
               (!document_text(m) || strcmp(t->links[link].name, m->value) != 0))
            link++;
        if (link == t->link_count)
            return document_wrong(&t->file, m, st, "names no link: %s",
                                  document_shown(&t->file, m));
        for (uint32_t i = 0; i < l->path_count; i++)
            if (l->path[i] == link)
                return document_wrong(&t->file, m, st, "passes %s twice", t->links[link].name);
        l->path[l->path_count++] = link;
    }
    return true;
}

static bool read_level(topology *t, const document_node *at, status *st) {
    static const char *const keys[] = {"name", "ranks", "path", NULL};
    topology_level *l = &t->levels[t->level_count++];
    if (!check_keys(t, at, keys, 3, "a level", st))
        return false;
    *l = (topology_level){.name = document_text(document_member(at, "name"))};
    if (!l->name)
        return document_wrong(&t->file, document_member(at, "name"), st, "wants a text");
    if (!read_ranks(t, document_member(at, "ranks"), &l->ranks, st) ||
        !read_path(t, document_member(at, "path"), l, st))
        return false;
    if (l->ranks <= t->ranks || (t->ranks && l->ranks % t->ranks))
        return document_wrong(&t->file, document_member(at, "ranks"), st,
                              "wants a multiple of the level before, and more: %u of %u", l->ranks,
                              t->ranks);
    t->ranks = l->ranks;
    return true;
}

static bool read_levels(topology *t, const document_node *list, status *st) {
    if (list->kind != DOCUMENT_LIST || !list->first)
        return document_wrong(&t->file, list, st,
                              "wants levels, the smallest first: [{name, ranks, path}, ...]");
    for (const document_node *m = list->first; m; m = m->next)
        if (t->level_count == TOPOLOGY_LEVELS_MAX)
            return document_wrong(&t->file, m, st, "is one of more than %d levels",
                                  TOPOLOGY_LEVELS_MAX);
        else if (!read_level(t, m, st))
            return false;
    return t->ranks > 1 || document_wrong(&t->file, list, st, "have one rank, which sends nothing");
}

/* Each link has a place, and its instances are whole. */
static bool check_links(topology *t, status *st) {
    const document_node *at = document_member(t->file.root, "links")->first;
    for (uint32_t i = 0; i < t->link_count; i++, at = at->next) {
        bool used = false;
        for (uint32_t k = 0; k < t->level_count; k++)
            for (uint32_t j = 0; j < t->levels[k].path_count; j++)
                used = used || t->levels[k].path[j] == i;
        if (!used)
            return document_wrong(&t->file, at, st, "is on no path of a level");
        if (t->ranks % t->links[i].ranks)
            return document_wrong(&t->file, document_member(at, "ranks"), st,
                                  "wants a divisor of all ranks: %u of %u", t->links[i].ranks,
                                  t->ranks);
    }
    return true;
}

bool topology_read(topology *t, const char *path, status *st) {
    static const char *const keys[] = {"schema", "links", "levels", "round",
                                       "sum",    "name",  "begin",  NULL};
    *t = (topology){0};
    if (!document_read(&t->file, path, st))
        return false;
    const document_node *root = t->file.root, *schema = document_member(root, "schema"),
                        *name = document_member(root, "name"),
                        *begin = document_member(root, "begin");
    if (!schema || !document_text(schema) || strcmp(schema->value, TOPOLOGY_SCHEMA) != 0)
        return document_wrong(&t->file, schema ? schema : root, st,
                              "a topology has \"schema\": \"%s\"", TOPOLOGY_SCHEMA);
    t->name = name ? document_text(name) : "";
    if (!t->name)
        return document_wrong(&t->file, name, st, "wants a text");
    return check_keys(t, root, keys, 5, "a topology", st) &&
           read_links(t, document_member(root, "links"), st) &&
           read_levels(t, document_member(root, "levels"), st) && check_links(t, st) &&
           read_time(t, document_member(root, "round"), &t->round_ns, st) &&
           read_rate(t, document_member(root, "sum"), &t->sum, st) &&
           (!begin || read_time(t, begin, &t->begin_ns, st));
}

void topology_release(topology *t) {
    document_release(&t->file);
}

bool topology_cut(topology *t, uint32_t ranks, status *st) {
    if (ranks < 2 || ranks > t->ranks)
        return status_set(st, STATUS_INVALID, "%u ranks: the topology %s has 2 to %u", ranks,
                          t->file.path, t->ranks);
    for (uint32_t i = 0; i < t->level_count; i++)
        if (t->levels[i].ranks < ranks && ranks % t->levels[i].ranks)
            return status_set(st, STATUS_INVALID,
                              "%u ranks are no whole number of '%s', of %u ranks each", ranks,
                              t->levels[i].name, t->levels[i].ranks);
    while (t->level_count > 1 && t->levels[t->level_count - 2].ranks >= ranks)
        t->level_count--;
    t->ranks = t->levels[t->level_count - 1].ranks = ranks;
    for (uint32_t i = 0; i < t->link_count; i++)
        if (t->links[i].ranks > ranks)
            t->links[i].ranks = ranks;
    return true;
}

uint32_t topology_level_of(const topology *t, uint32_t a, uint32_t b) {
    uint32_t i = 0;
    while (i + 1 < t->level_count && a / t->levels[i].ranks != b / t->levels[i].ranks)
        i++;
    return i;
}
