/* emulate_order.c - in which order workgroups and threads run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/splitmix64.h"
#include "device/emulate/emulate.h"

bool emulate_order_parse(const char *text, emulate_order *order_out, status *st) {
    static const char shuffled[] = "shuffled:";
    size_t prefix = sizeof shuffled - 1;
    char *end;
    *order_out = (emulate_order){EMULATE_FORWARD, 0};
    if (!text || !*text || strcmp(text, "forward") == 0)
        return true;
    if (strcmp(text, "reversed") == 0) {
        order_out->kind = EMULATE_REVERSED;
        return true;
    }
    if (strncmp(text, shuffled, prefix) == 0 && text[prefix] >= '0' && text[prefix] <= '9') {
        errno = 0;
        order_out->kind = EMULATE_SHUFFLED;
        order_out->seed = strtoull(text + prefix, &end, 10);
        if (errno == 0 && !*end)
            return true;
    }
    *order_out = (emulate_order){EMULATE_FORWARD, 0};
    return status_set(st, STATUS_INVALID,
                      "%s=%.40s is no order; set it to forward, reversed or shuffled:SEED",
                      EMULATE_ORDER, text);
}

/* A permutation of the numbers of so many bits: each step can be undone. */
static uint64_t mixed(uint64_t x, unsigned bits, uint64_t seed) {
    uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    for (int round = 0; round < 3; round++) {
        x = (x ^ splitmix64(&seed)) & mask;
        x = x * (splitmix64(&seed) | 1) & mask;
        x ^= x >> (bits / 2 + 1);
    }
    return x;
}

uint64_t emulate_order_at(const emulate_order *order, uint64_t place, uint64_t count) {
    if (order->kind == EMULATE_FORWARD)
        return place;
    if (order->kind == EMULATE_REVERSED)
        return count - 1 - place;
    unsigned bits = count > 1 ? 64 - (unsigned)__builtin_clzll(count - 1) : 1;
    uint64_t at = place;
    do /* at most every second number is past the end */
        at = mixed(at, bits, order->seed);
    while (at >= count);
    return at;
}
