/* counted.h - a kernel that counts its launches and leaves one of them out, and a rotation for it.
 */
#ifndef TESSERA_HARNESS_TEST_CHEATS_COUNTED_H
#define TESSERA_HARNESS_TEST_CHEATS_COUNTED_H

#include "test/test.h"

#include <stdlib.h>

#include "measure/rotation.h"
#include "test/module_maker.h"

enum { COUNTED_SETS = 4 };

typedef struct counted {
    struct {
        uint64_t launches, left_out; /* the number of the launch that does nothing; 0: none */
    } told;                          /* the kernel's */
    uint64_t contents[COUNTED_SETS][2], digests[COUNTED_SETS];
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    rotation *rotation;
} counted;

static void counted_open(counted *c, void (*around)(void *context, bool begins), void *context) {
    static const char json[] =
        "{\"schema\": \"tsr.module/2\", \"name\": \"tells\", \"profile\": \"strict\","
        " \"numerics_version\": 1, \"inputs\": ["
        "{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [4]}],"
        " \"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [2]}],"
        " \"workspace_bytes\": 0, \"scratch_bytes\": 0, \"phases\": ["
        "{\"symbol\": \"tells_of_launches\", \"grid\": 1, \"what\": \"counts\"}]}";
    static size_t sizes[2] = {sizeof c->contents[0], sizeof(uint64_t)};
    const void *inputs[COUNTED_SETS];
    rotation_set sets[COUNTED_SETS];
    status st = STATUS_INIT;
    bytes object = read_object("kernels"),
          image = make_module(json, "x86_64-elf/x86-64-v2+fma", object);
    *c = (counted){0};
    assert_int_equal(tsrCreateContextOn(0, 1, 0, &c->context), TSR_SUCCESS);
    assert_int_equal(tsrLoadModule(c->context, image.data, image.size, &c->module), TSR_SUCCESS);
    assert_int_equal(tsrGetKernel(c->module, "tells", &c->kernel), TSR_SUCCESS);
    for (uint64_t i = 0; i < COUNTED_SETS; i++) {
        c->contents[i][0] = (uint64_t)(uintptr_t)&c->told;
        c->contents[i][1] = i + 1;
        c->digests[i] = rotation_digest(&c->contents[i][1], sizeof(uint64_t));
        inputs[i] = c->contents[i];
        sets[i] = (rotation_set){&inputs[i], &c->digests[i]};
    }
    launch shape = {.context = c->context, .input_count = 1, .output_count = 1, .sizes = sizes};
    rotation_request request = {.launch = &shape,
                                .set_count = COUNTED_SETS,
                                .sets = sets,
                                .around = around,
                                .around_context = context};
    c->rotation = rotation_open(&request, &st);
    if (!c->rotation)
        fail_msg("%s", st.message);
    free(object.data);
    free(image.data);
}

static void counted_close(counted *c) {
    rotation_close(c->rotation);
    assert_int_equal(tsrUnloadModule(c->module), TSR_SUCCESS);
    assert_int_equal(tsrDestroyContext(c->context), TSR_SUCCESS);
}

#endif
