/* backend_device.c - finds the device of a backend. */
#include "exec/backend_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "exec/mlir_backend.h"
#include "tessera/chip.h"
#include "tessera/tessera.h"

#define SIMULATED "simulated"

/* NAME[:INDEX], counted among the devices of that name. False: it is none of those. */
typedef struct device_name {
    const char *name;
    size_t length;
    unsigned long index;
} device_name;

static bool parse(const char *wanted, device_name *out) {
    size_t length = strcspn(wanted, ":");
    char *end = NULL;
    *out = (device_name){wanted, length, 0};
    if (wanted[length])
        out->index = strtoul(wanted + length + 1, &end, 10);
    return length && (!end || (end > wanted + length + 1 && *end == '\0'));
}

static bool is_named(const device_name *wanted, const char *driver) {
    return strlen(driver) == wanted->length && memcmp(driver, wanted->name, wanted->length) == 0;
}

/* The processor's code runs on any device that loads it, a backend with a number on that device
 * alone, and others on those of their driver. */
static bool takes(const backend *b, const device_name *wanted) {
    bool one = b->device != ANY_DEVICE;
    return b == &backend_table[BACKEND_CPU] ||
           (is_named(wanted, b->driver) && (!one || (unsigned long)b->device == wanted->index));
}

static bool refuse(const backend *b, const char *wanted, status *st) {
    char own[24] = "INDEX";
    if (b->device != ANY_DEVICE)
        snprintf(own, sizeof own, "%d", b->device);
    return status_set(st, STATUS_INVALID,
                      "backend %s runs on devices of its own, %s:%s, and not on '%s'", b->name,
                      b->driver, own, wanted);
}

/* Code can be made for a device whose chip the compiler knows. */
static bool is_known(const backend *b, const tsr_device_info_t *info, status *st) {
    return !backend_is_for_device(b) || compiler_chip_family(info->isa) ||
           status_set(st, STATUS_UNAVAILABLE,
                      "backend %s cannot run here: no code is made for the chip %s", b->name,
                      info->isa);
}

/* The driver's own words. */
static bool none_found(const backend *b, const device_name *wanted, unsigned long seen,
                       status *st) {
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)wanted->length, wanted->name);
    const device_driver *driver = device_driver_find(name);
    if (seen == 0 && driver && driver->absent) {
        status why = STATUS_INIT;
        driver->absent(&why);
        return status_set(st, STATUS_UNAVAILABLE, "backend %s cannot run here: %s", b->name,
                          why.message);
    }
    return status_set(st, STATUS_UNAVAILABLE, "backend %s has no device %s:%lu here", b->name, name,
                      wanted->index);
}

static bool find(const backend *b, const device_name *wanted, uint32_t *index_out, status *st) {
    unsigned long seen = 0;
    /* Not counted first: that would open the libraries of drivers that nobody wants. */
    for (uint32_t i = 0;; i++) {
        tsr_device_info_t info = {.struct_size = sizeof info};
        if (tsrGetDeviceInfo(i, &info) != TSR_SUCCESS)
            break;
        if (!is_named(wanted, info.backend) || seen++ < wanted->index)
            continue;
        if (info.unavailable)
            return status_set(st, STATUS_UNAVAILABLE, "backend %s cannot run here: %s", b->name,
                              info.unavailable);
        *index_out = i;
        return is_known(b, &info, st);
    }
    return none_found(b, wanted, seen, st);
}

/* Some devices are there where they are asked for: the environment tells the runtime. */
static void provide(const device_name *wanted) {
    static const struct {
        const char *driver, *variable;
    } rows[] = {{"emulated", "TESSERA_EMULATED"},
                {"foreign", "TESSERA_FOREIGN"},
                {"vulkan", "TESSERA_SOFTWARE_DEVICES"},
                {"opencl", "TESSERA_SOFTWARE_DEVICES"},
                {"opencl", "CL_CONFIG_CPU_VECTORIZER_MODE"}}; /* Intel's runtime: docs/devices.md */
    char count[24];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_named(wanted, rows[i].driver))
            setenv(rows[i].variable, "1", 0);
    if (!is_named(wanted, SIMULATED))
        return;
    snprintf(count, sizeof count, "%lu", wanted->index + 1);
    setenv("TESSERA_SIMULATED", count, 0);
}

bool backend_device(const backend *b, const char *wanted, uint32_t *index_out, status *st) {
    device_name name = {b->driver, strlen(b->driver), 0};
    if (b->device != ANY_DEVICE)
        name.index = (unsigned long)b->device;
    *index_out = 0;
    if (!backend_has_device(b))
        return !backend_is_tools(b) || mlir_backend_available(st);
    if (wanted && !parse(wanted, &name))
        return status_set(st, STATUS_INVALID, "'%s' is no device: NAME or NAME:INDEX", wanted);
    if (wanted && !takes(b, &name))
        return refuse(b, wanted, st);
    provide(&name);
    return find(b, &name, index_out, st);
}

bool backend_device_is_host(uint32_t index) {
    tsr_device_info_t info = {.struct_size = sizeof info};
    return tsrGetDeviceInfo(index, &info) == TSR_SUCCESS && info.host_addressable;
}
