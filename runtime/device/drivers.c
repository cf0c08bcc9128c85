/* drivers.c - the table of all drivers, for programs that have them linked in. libtessera.so has
 * another one: extra/open.c. */
#include "device/device.h"

#define DEVICE(driver) extern const device_driver driver;
#define EXTRA_DEVICE(driver, variable) DEVICE(driver)
#include "device/devices.def"
#undef DEVICE

static const device_driver *const drivers[] = {
#define DEVICE(driver) &driver,
#include "device/devices.def"
#undef DEVICE
#undef EXTRA_DEVICE
};

const device_driver *device_driver_at(size_t index) {
    return index < sizeof drivers / sizeof drivers[0] ? drivers[index] : NULL;
}
