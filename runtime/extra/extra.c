/* extra.c - the table that libtessera-devices.so exports. */
#include "extra/extra.h"

#define DEVICE(driver)
#define EXTRA_DEVICE(driver, variable) extern const device_driver driver;
#include "device/devices.def"
#undef EXTRA_DEVICE

const device_extra tessera_devices = {.sizes = {EXTRA_SIZES},
                                      .drivers = {
#define EXTRA_DEVICE(driver, variable) [EXTRA_##driver] = &driver,
#include "device/devices.def"
#undef DEVICE
#undef EXTRA_DEVICE
                                      }};
