/* open.c - the drivers of libtessera.so: its own, and those of libtessera-devices.so once the
 * environment asks for one of their devices. That library is opened from the folder of this one,
 * and stays open. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "extra/extra.h"

#define DEVICE(driver) extern const device_driver driver;
#define EXTRA_DEVICE(driver, variable)
#include "device/devices.def"
#undef DEVICE
#undef EXTRA_DEVICE

static const struct {
    const device_driver *own; /* NULL: drivers[extra] of the other library */
    enum extra_driver extra;
    const char *variable;
} rows[] = {
#define DEVICE(driver) {&driver, EXTRA_DRIVER_COUNT, NULL},
#define EXTRA_DEVICE(driver, variable) {NULL, EXTRA_##driver, variable},
#include "device/devices.def"
#undef DEVICE
#undef EXTRA_DEVICE
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static const device_extra *open_extra(void) {
    Dl_info here;
    char path[4096];
    if (!dladdr(rows, &here) || !here.dli_fname)
        return NULL;
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - here.dli_fname) : 0;
    snprintf(path, sizeof path, "%.*s%s", folder, here.dli_fname, EXTRA_LIBRARY);
    static const size_t sizes[] = {EXTRA_SIZES};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const device_extra *found = library ? dlsym(library, EXTRA_SYMBOL) : NULL;
    if (found && memcmp(found->sizes, sizes, sizeof sizes) == 0)
        return found;
    log_write(LOG_WARN, "no simulated, foreign or emulated devices: %s",
              found ? EXTRA_LIBRARY " is from another build than this library" : dlerror());
    return NULL;
}

static const device_extra *extra(bool wanted) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static const device_extra *opened;
    static bool tried;
    pthread_mutex_lock(&mutex);
    if (wanted && !tried) {
        opened = open_extra();
        tried = true;
    }
    const device_extra *found = opened;
    pthread_mutex_unlock(&mutex);
    return found;
}

static const device_driver *driver_of(size_t row) {
    if (rows[row].own)
        return rows[row].own;
    bool wanted = rows[row].variable && getenv(rows[row].variable);
    const device_extra *found = extra(wanted);
    return found ? found->drivers[rows[row].extra] : NULL;
}

const device_driver *device_driver_at(size_t index) {
    for (size_t row = 0; row < ROW_COUNT; row++) {
        const device_driver *driver = driver_of(row);
        if (driver && index-- == 0)
            return driver;
    }
    return NULL;
}
