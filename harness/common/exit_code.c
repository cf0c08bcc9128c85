/* exit_code.c - the order in which exit codes win. */
#include "common/exit_code.h"

static int rank_of(exit_code code) {
    static const exit_code order[] = {EXIT_DONE,  EXIT_NO_VERDICT, EXIT_CHECK, EXIT_ABSENT,
                                      EXIT_INPUT, EXIT_USAGE,      EXIT_BUG,   EXIT_INTERRUPTED};
    int rank = 0;
    for (int i = 0; i < (int)(sizeof order / sizeof order[0]); i++)
        if (order[i] == code)
            rank = i;
    return rank;
}

exit_code exit_code_worse(exit_code a, exit_code b) {
    return rank_of(a) > rank_of(b) ? a : b;
}

exit_code exit_code_of_status(status_code code) {
    switch (code) {
    case STATUS_OK:
        return EXIT_DONE;
    case STATUS_INVALID:
    case STATUS_NOT_FOUND:
    case STATUS_CORRUPT:
        return EXIT_INPUT;
    case STATUS_UNAVAILABLE:
    case STATUS_OUT_OF_MEMORY:
    case STATUS_IO:
    case STATUS_DEVICE_LOST:
        return EXIT_ABSENT;
    case STATUS_TIMEOUT:
    case STATUS_MISMATCH:
        return EXIT_CHECK;
    case STATUS_INTERRUPTED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_BUG;
    }
}
