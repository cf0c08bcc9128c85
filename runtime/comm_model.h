/* comm_model.h - how long exchanges between ranks take here: what `tsr comm --probe` measured and
 * fitted, and the choice between two ways of a sum over shards that it leads to. Both have the same
 * bits.
 *
 * An exchange in which each rank sends m others b bytes each, while f pairs of ranks send each
 * other at once, takes
 *
 *     alpha + message (m - 1) + b (byte + contention (f - 1))
 *
 * the latency and bandwidth of Hockney (Parallel Computing 20, 1994, 389-398) and a share of the
 * bandwidth that each other pair takes away. Where each rank sends each other, m = p - 1 and
 * f = p (p - 1) / 2. A sum of b bytes over p ranks is
 *
 *     whole: one exchange of b bytes; each rank adds all of it, b (p - 1) sum
 *     parts: two of b / p bytes; each rank adds its part, b (p - 1) / p sum
 *
 * ("direct", and reduce-scatter with all-gather: Thakur, Rabenseifner and Gropp, IJHPCA 19, 2005,
 * 49-66). */
#ifndef TESSERA_RUNTIME_COMM_MODEL_H
#define TESSERA_RUNTIME_COMM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define COMM_MODEL_FILE "TESSERA_COMM_MODEL"
#define COMM_MODEL_SCHEMA "tsr.comm/1"

/* The numbers of a fit: COMM_NUMBER(member, key), ns and ns for each byte. */
#define COMM_NUMBERS(COMM_NUMBER)                                                                  \
    COMM_NUMBER(alpha, "alpha_ns")                                                                 \
    COMM_NUMBER(message, "message_ns")                                                             \
    COMM_NUMBER(byte, "byte_ns")                                                                   \
    COMM_NUMBER(contention, "contention_ns")                                                       \
    COMM_NUMBER(sum, "sum_ns")

typedef struct comm_fit {
    char transport[16];
    uint32_t ranks;
#define MEMBER(member, key) double member;
    COMM_NUMBERS(MEMBER)
#undef MEMBER
} comm_fit;

typedef struct comm_model {
    comm_fit *fits; /* owned */
    uint32_t count;
} comm_model;

/* False: `st` has the place in the file and what is wrong there. comm_model_release in any case. */
bool comm_model_read(const char *path, comm_model *out, status *st);
/* That which TESSERA_COMM_MODEL names, else comm.model of the policy; else one without fits. */
bool comm_model_of_environment(comm_model *out, status *st);
void comm_model_release(comm_model *m);

/* Those of a transport with the number of ranks that is nearest; NULL: there are none. */
const comm_fit *comm_model_fit(const comm_model *m, const char *transport, uint32_t ranks);

double comm_fit_exchange_ns(const comm_fit *f, uint32_t messages, double pairs, double bytes);
double comm_fit_whole_ns(const comm_fit *f, uint32_t ranks, double bytes);
double comm_fit_parts_ns(const comm_fit *f, uint32_t ranks, double bytes);
/* The most bytes of which `whole` is the faster way. */
int64_t comm_fit_whole_bytes(const comm_fit *f, uint32_t ranks);

#endif
