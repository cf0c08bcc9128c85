/* module_maker.h - makes module files for tests out of the objects that the build compiled. */
#ifndef TESSERA_RUNTIME_MODULE_MAKER_H
#define TESSERA_RUNTIME_MODULE_MAKER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "device/host/host.h"
#include "module.h"

typedef struct bytes {
    char *data;
    size_t size;
} bytes;

/* The file of this name, `%s` in it replaced, in the folder, or where the files of all folders were
 * carried to: $TESSERA_TEST_OBJECTS. */
static inline bytes read_test_file(const char *folder, const char *format, const char *name) {
    char path[512];
    bytes read = {0};
    const char *elsewhere = getenv("TESSERA_TEST_OBJECTS");
    int length = snprintf(path, sizeof path, "%s/", elsewhere ? elsewhere : folder);
    snprintf(path + length, sizeof path - (size_t)length, format, name);
    assert_true(file_read(path, (size_t)1 << 24, &read.data, &read.size, NULL));
    return read;
}

static inline bytes read_object(const char *name) {
    return read_test_file(TEST_OBJECT_DIR, "%s.o", name);
}

enum { KERNEL_CELLS = 100 };

/* Metadata of kernel_good with the given entry points: 100 floats in, 100 out. */
static inline char *good_metadata(const char *first, const char *second) {
    char *json = malloc(1024);
    snprintf(json, 1024,
             "{\"schema\": \"tsr.module/2\", \"name\": \"affine\", \"profile\": \"strict\", "
             "\"numerics_version\": 1,"
             " \"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [4, 25]}],"
             " \"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [100]}],"
             " \"workspace_bytes\": 400, \"scratch_bytes\": 64, \"phases\": ["
             "{\"symbol\": \"%s\", \"grid\": %d, \"what\": \"double\"},"
             "{\"symbol\": \"%s\", \"grid\": %d, \"what\": \"add\"}]}",
             first, KERNEL_CELLS, second, KERNEL_CELLS);
    return json;
}

static inline bytes make_module(const char *json, const char *kind, bytes object) {
    bytes image;
    void *data;
    module_part parts[] = {
        {"metadata", json, strlen(json)}, {"graph", "g", 1}, {kind, object.data, object.size}};
    assert_true(module_write(parts, 3, &data, &image.size, NULL));
    image.data = data;
    return image;
}

/* Two entry points of one of the objects. They run on any x86-64, so every level may carry them. */
static inline bytes module_of(const char *name, const char *first, const char *second) {
    bytes object = read_object(name);
    char *json = good_metadata(first, second);
    bytes image = make_module(json, "x86_64-elf/x86-64-v2+fma", object);
    free(json);
    free(object.data);
    return image;
}

/* kernel_good, doubling and adding. */
static inline bytes good_module(void) {
    return module_of("kernel_good", "phase_double", "phase_add");
}

#endif
