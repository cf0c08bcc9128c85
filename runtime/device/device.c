/* device.c - the table of drivers. */
#include "device/device.h"

#define DEVICE(driver) extern const device_driver driver;
#include "device/devices.def"
#undef DEVICE

static const device_driver *const drivers[] = {
#define DEVICE(driver) &driver,
#include "device/devices.def"
#undef DEVICE
};
enum { DRIVER_COUNT = sizeof drivers / sizeof drivers[0] };

const device_driver *device_driver_at(size_t index) {
    return index < DRIVER_COUNT ? drivers[index] : NULL;
}

size_t device_listed_count(void) {
    size_t count = 0;
    while (count < DRIVER_COUNT && drivers[count]->listed)
        count++;
    return count;
}
