/* device.c - the numbers of the drivers' devices, and what a device may say of itself. */
#include "device/device.h"

#include <string.h>

const device_driver *device_driver_find(const char *name) {
    const device_driver *driver;
    for (size_t i = 0; (driver = device_driver_at(i)); i++)
        if (strcmp(driver->name, name) == 0)
            return driver;
    return NULL;
}

static uint32_t count_of(const device_driver *driver) {
    device_info info;
    uint32_t count = 0;
    while (driver->enumerate(count, &info))
        count++;
    return count;
}

uint32_t device_listed_count(void) {
    const device_driver *driver;
    uint32_t count = 0;
    for (size_t i = 0; (driver = device_driver_at(i)); i++)
        count += driver->listed ? count_of(driver) : 0;
    return count;
}

const device_driver *device_listed_at(uint32_t index, uint32_t *own_index_out) {
    const device_driver *driver;
    for (size_t i = 0; (driver = device_driver_at(i)); i++) {
        uint32_t count = driver->listed ? count_of(driver) : 0;
        if (index < count) {
            *own_index_out = index;
            return driver;
        }
        index -= count;
    }
    return NULL;
}

static const char *impossible(const device_info *info, const device_driver *driver) {
    const uint32_t all = (1u << DEVICE_MEMORY_KIND_COUNT) - 1;
    if (!info->name || !info->isa || !info->backend || strcmp(info->backend, driver->name) != 0)
        return "it has no name, no ISA or another driver's name";
    if (info->compute_units == 0)
        return "it has no compute units";
    if (!(info->memory_kinds & 1u << DEVICE_MEMORY_DEVICE) || (info->memory_kinds & ~all))
        return "it has no memory of its own, or of a kind that there is not";
    if (info->mappable_kinds & ~info->memory_kinds)
        return "it maps memory of a kind that it does not have";
    if (info->timestamp_ns == 0)
        return "its clock stands still";
    return NULL;
}

bool device_open(const device_driver *driver, uint32_t index, const device_options *options,
                 device **device_out, status *st) {
    device_info told;
    if (!driver->enumerate(index, &told))
        return status_set(st, STATUS_NOT_FOUND, "driver '%s' has no device %u", driver->name,
                          index);
    if (told.unavailable)
        return status_set(st, STATUS_UNAVAILABLE, "device '%s' cannot be used: %s", told.name,
                          told.unavailable);
    if (!driver->open(index, options, device_out, st))
        return false;
    const char *why = impossible(&(*device_out)->info, driver);
    if (!why)
        return true;
    driver->close(*device_out);
    *device_out = NULL;
    return status_set(st, STATUS_INTERNAL, "driver '%s' describes its device %u wrongly: %s",
                      driver->name, index, why);
}
