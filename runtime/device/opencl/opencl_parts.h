/* opencl_parts.h - the rooms of the driver `opencl`: its functions, what is known of a device, an
 * open one, images. */
#ifndef TESSERA_RUNTIME_OPENCL_PARTS_H
#define TESSERA_RUNTIME_OPENCL_PARTS_H

#define CL_TARGET_OPENCL_VERSION 210
#include <CL/cl.h>

#include "base/text.h"
#include "base/vec.h"
#include "device/opencl/opencl.h"
#include "device/shared/gpu.h"
#include "device/shared/spirv_load.h"

enum { OPENCL_NAME_BYTES = 256, OPENCL_REASON_BYTES = 400 };

/* ---- opencl_library.c ---- */

typedef struct opencl_functions {
#define OPENCL_FUNCTION(name, optional) __typeof__(&(name)) name;
#include "device/opencl/opencl_functions.def"
#undef OPENCL_FUNCTION
} opencl_functions;

extern opencl_functions opencl; /* after opencl_unit_at gave a device that is available */

typedef enum opencl_way {
    OPENCL_WAY_NONE,
    OPENCL_WAY_SPIRV,  /* takes it as it is */
    OPENCL_WAY_BITCODE /* after the translator */
} opencl_way;

/* A device of the loader: found once, kept as long as the process. */
typedef struct opencl_unit {
    cl_platform_id platform;
    cl_device_id id;
    device_info info;
    char name[OPENCL_NAME_BYTES], reason[OPENCL_REASON_BYTES];
    char translator[32]; /* the program's usual name */
    bool is_software, fine_grained, divides_when_asked;
    opencl_way way;
    uint64_t allocation_bytes;
    uint32_t address_bits;
    spirv_target spirv;
} opencl_unit;

/* Device `index` of those that are wanted; NULL past the last. */
opencl_unit *opencl_unit_at(uint32_t index);
/* "CL_OUT_OF_RESOURCES (-5)" into a status of the code that it stands for; false. */
bool opencl_failed(status *st, cl_int code, const char *what);

/* ---- opencl.c ---- */

typedef struct opencl_device {
    gpu_device gpu;
    opencl_unit *unit;
    cl_context context;
    gpu_block nowhere; /* what an argument is that has no memory */
    cl_event base;     /* tells marks; was given at base_ns; with `marks` under own_mutex */
    uint64_t base_ns;
    uint32_t marks; /* how many are alive */
} opencl_device;

/* A phase that was not waited for. */
typedef struct opencl_launched {
    cl_event event;
    uint64_t *ns_out; /* what it takes; NULL: nobody wants to know */
} opencl_launched;

typedef struct opencl_queue {
    cl_command_queue queue;
    VEC(opencl_launched) launched;
    cl_event end; /* a marker behind all that it was given; NULL: there is none */
} opencl_queue;

/* Waits for the queue. A failure there is the device's end. */
bool opencl_finish(gpu_queue *q, status *st);
/* A moment of the event's, by the device's clock; false where it has none. */
bool opencl_time_of(cl_event event, cl_profiling_info what, uint64_t *ns_out);

/* ---- opencl_mark.c ---- */

/* Forgets where the queue ends, since it is given more. */
void opencl_given(gpu_queue *q);
bool opencl_settled(gpu_queue *q);
void *opencl_mark(gpu_queue *q);
bool opencl_reached(gpu_device *g, void *mark, bool wait, uint64_t *ns_out);
bool opencl_follow(gpu_queue *q, void *mark, status *st);
void opencl_unmark(gpu_device *g, void *mark);
void opencl_end_base(opencl_device *d);

/* ---- opencl_translate.c ---- */

/* LLVM's bitcode of SPIR-V, made by another program. */
bool opencl_translate(const char *program, const void *code, size_t size_bytes, text *bitcode_out,
                      status *st);
/* Finds the program; false where there is none. */
bool opencl_translator_find(const char *usual_name, char *path_out, size_t room, status *st);

/* ---- opencl_image.c ---- */

bool opencl_load(device *d, const device_source *source, device_image **image_out, status *st);
void opencl_unload(device *d, device_image *image);
bool opencl_launch(gpu_queue *q, const gpu_launch *l, status *st);
extern const spirv_functions opencl_spirv;

#endif
