/* extra.h - between libtessera.so and libtessera-devices.so, the library of drivers without
 * hardware behind them (EXTRA_DEVICE in devices.def).
 *
 * Both are built from the same sources, and each has its own copy of what it uses. The file's name
 * has the version of the ABI in it; the sizes show libraries of different builds. */
#ifndef TESSERA_RUNTIME_EXTRA_H
#define TESSERA_RUNTIME_EXTRA_H

#include "device/device.h"

enum extra_driver {
#define DEVICE(driver)
#define EXTRA_DEVICE(driver, variable) EXTRA_##driver,
#include "device/devices.def"
#undef DEVICE
#undef EXTRA_DEVICE
    EXTRA_DRIVER_COUNT
};

/* Sizes that differ between builds that do not fit together. */
#define EXTRA_SIZES                                                                                \
    sizeof(device_driver), sizeof(device_info), sizeof(device_command), sizeof(status),            \
        EXTRA_DRIVER_COUNT
typedef struct device_extra {
    size_t sizes[5];
    const device_driver *drivers[EXTRA_DRIVER_COUNT];
} device_extra;

/* The one symbol of libtessera-devices.so. */
#define EXTRA_SYMBOL "tessera_devices"
__attribute__((visibility("default"))) extern const device_extra tessera_devices;

#endif
