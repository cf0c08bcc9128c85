/* guest_ring.c - sleeping and waking across processes. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "device/foreign/guest_protocol.h"

void guest_bell_sleep(guest_bell *bell, uint64_t most_ns) {
    const struct timespec most = {(time_t)(most_ns / 1000000000u), (long)(most_ns % 1000000000u)};
    (void)syscall(SYS_futex, &bell->asleep, FUTEX_WAIT, 1, &most, NULL, 0);
    atomic_store(&bell->asleep, 0);
}

bool guest_bell_ring(guest_bell *bell) {
    bool asleep = atomic_load(&bell->asleep) && atomic_exchange(&bell->asleep, 0);
    if (asleep)
        (void)syscall(SYS_futex, &bell->asleep, FUTEX_WAKE, 1, NULL, NULL, 0);
    return asleep;
}
