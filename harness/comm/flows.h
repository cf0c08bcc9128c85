/* flows.h - messages that share links: how long until all have come.
 *
 * A message is a flow: it begins when its round does, has a rate while it lasts, and ends so many
 * bytes later; its latency comes on top. Rates are fair from the least on (max-min): none can be
 * raised without lowering one that is not greater. They are found by filling (Bertsekas and
 * Gallager, Data Networks, 2nd edition, 1992, 6.5.2): all rates grow alike; where a link is full,
 * the flows on it keep theirs. When a flow ends, the others share anew. That is the flow model of
 * SimGrid (Casanova and others, JPDC 74, 2014, 2899-2917; its validity: Velho and others, ACM
 * TOMACS 23, 2013), without its corrections for TCP, and that of ASTRA-sim's analytical backend
 * where all flows of a link are alike (Rashidi and others, ISPASS 2020).
 *
 * A pass of a message holds a link of bandwidth B for o ns besides: on that link each of its b
 * bytes counts 1 + o B / b. */
#ifndef TESSERA_HARNESS_COMM_FLOWS_H
#define TESSERA_HARNESS_COMM_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "comm/topology.h"

enum { FLOW_USES_MAX = 2 * TOPOLOGY_LINKS_MAX };

typedef struct flow_use {
    uint32_t resource;
    double weight; /* bytes that each byte of the flow takes there */
} flow_use;

typedef struct flow {
    double bytes, latency_ns;
    uint32_t use_count;
    flow_use uses[FLOW_USES_MAX];
    /* While it lasts: */
    double left, rate;
    bool settled;
} flow;

typedef struct flow_set {
    const topology *t;
    flow *items; /* owned */
    uint32_t count, capacity;
} flow_set;

void flows_release(flow_set *s);
/* A message from one rank to another. */
void flows_add(flow_set *s, uint32_t from, uint32_t to, double bytes);
/* Messages of each rank to so many others of each level, all alike: one rank stands for all. Not
 * with messages of flows_add in one set. */
void flows_add_alike(flow_set *s, const uint32_t *counts, double bytes);
/* Until the last one has come, in ns. */
double flows_ns(flow_set *s);

#endif
