/* abi_status.c - codes of the ABI as codes of the harness. */
#include "common/abi_status.h"

bool abi_ok(tsr_status_t code, const char *doing, status *st) {
    static const status_code codes[] = {
        [TSR_SUCCESS] = STATUS_OK,         [TSR_EOOM] = STATUS_OUT_OF_MEMORY,
        [TSR_EINVAL] = STATUS_INTERNAL,    [TSR_ETIMEOUT] = STATUS_TIMEOUT,
        [TSR_ENOTFOUND] = STATUS_INTERNAL, [TSR_ECORRUPT] = STATUS_INTERNAL,
        [TSR_EVERSION] = STATUS_INTERNAL,  [TSR_EUNAVAILABLE] = STATUS_UNAVAILABLE,
        [TSR_EINTERNAL] = STATUS_INTERNAL, [TSR_EDEVICELOST] = STATUS_DEVICE_LOST,
    };
    if (code == TSR_SUCCESS)
        return true;
    if (!doing) /* code of others: its own words are enough */
        return status_set(st, code == TSR_EINVAL ? STATUS_INVALID : codes[code], "%s",
                          tsrGetLastError());
    return status_set(st, codes[code], "%s: %s: %s", doing, tsrStatusName(code), tsrGetLastError());
}
