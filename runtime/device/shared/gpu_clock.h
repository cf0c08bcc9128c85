/* gpu_clock.h - moments of a device's clock told by the host's (clock_now_ns): of marks in queues.
 *
 * Both clocks are read at one moment, the base, and a moment of the device is told by its distance
 * from that one. All marks that are alive together have the same base: those that come after each
 * other are told so. The base is a little earlier than it says, and a mark is never told to be
 * earlier than it was given. */
#ifndef TESSERA_RUNTIME_GPU_CLOCK_H
#define TESSERA_RUNTIME_GPU_CLOCK_H

#include "device/shared/gpu.h"

typedef struct gpu_clock {
    double tick_ns;
    uint64_t mask; /* the bits of a time that count; it begins anew behind them */
    bool (*read)(gpu_device *g, uint64_t *ticks_out);
    pthread_mutex_t mutex;
    uint64_t base_ticks, base_ns; /* 0: there is none */
    uint32_t marks;               /* how many are told by it */
} gpu_clock;

/* tick_ns, mask and read are set; `read` is NULL where the clock cannot be read. */
void gpu_clock_init(gpu_clock *c);
void gpu_clock_release(gpu_clock *c);
/* Keeps a base for one more mark, and tells when that was. False where the clock cannot be read. */
bool gpu_clock_keep(gpu_clock *c, gpu_device *g, uint64_t *now_ns_out);
void gpu_clock_drop(gpu_clock *c);
/* Tells when a mark was reached that keeps the base and was given at `given_ns`. */
uint64_t gpu_clock_tell(const gpu_clock *c, uint64_t ticks, uint64_t given_ns);

#endif
