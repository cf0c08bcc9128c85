/* plugin.h - the plugin from the inside: a device of PJRT whose programs our compiler makes and our
 * runtime runs, on the host, one after the other. All that it does has been done when a call
 * returns, so its events are ready ones; but for memory of the caller's that buffers share.
 *
 * Threads: every call may be made from several threads at once, as a framework does. A buffer's
 * memory is counted, so deleting it while a program reads it is harmless. */
#ifndef TESSERA_HARNESS_PJRT_PLUGIN_H
#define TESSERA_HARNESS_PJRT_PLUGIN_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/dtype.h"
#include "base/sha256.h"
#include "pjrt/pjrt.h"
#include "tessera/tessera.h"

/* Most axes that a buffer may have; programs take less. */
enum { PJRT_RANK_MAX = 64 };

/* The functions of the table. */
#define DONE(name) PJRT_Error *pjrt_##name(void *args);
#define STUB(name)
#include "pjrt/slots.def"
#undef DONE
#undef STUB

/* Names the arguments of a function `a`, once the caller's struct reaches to its member `last`. */
#define PJRT_TAKES(name, last)                                                                     \
    PJRT_##name##_Args *a = args;                                                                  \
    if (!a || a->struct_size < offsetof(PJRT_##name##_Args, last) + sizeof a->last)                \
    return error_new(PJRT_Error_Code_INVALID_ARGUMENT,                                             \
                     "PJRT_" #name ": the struct of its arguments ends before '" #last "'")
/* ... and the handle in one of them is no NULL. */
#define PJRT_NEEDS(name, member)                                                                   \
    if (!a->member)                                                                                \
    return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_" #name ": '" #member "' is NULL")

/* ---- error.c ---- */
PJRT_Error *error_new(PJRT_Error_Code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A failure of the runtime, or of the compiler, by its code. */
PJRT_Error *error_of(tsr_status_t code, const char *message);
PJRT_Error_Code error_code_of(tsr_status_t code);

/* ---- event.c ---- */
PJRT_Event *event_ready(void);
/* One that is not ready until event_fire, and counted: each holder lets go of it once. */
PJRT_Event *event_new(void);
PJRT_Event *event_hold(PJRT_Event *e);
void event_release(PJRT_Event *e);
void event_fire(PJRT_Event *e);

/* ---- layout.c: types ---- */
size_t type_bytes(PJRT_Buffer_Type code); /* of an element; 0: there is no such type here */
const char *type_name(PJRT_Buffer_Type code);
/* The word of MLIR: "ui8", "complex<f32>". */
enum { TYPE_WORD_BYTES = 24 };
const char *type_word(PJRT_Buffer_Type code, char out[TYPE_WORD_BYTES]);
/* PJRT_Buffer_Type_INVALID: the interface has none for it. */
/* The type whose parts these are in a module; `form`: how the module has its elements. */
enum { PROGRAM_WHOLE, PROGRAM_COMPLEX }; /* or the bits of a small integer, which a byte holds */
PJRT_Buffer_Type type_code(dtype part, int form);

/* ---- storage.c: memory of buffers, counted ---- */
typedef struct storage {
    atomic_uint holders;
    void *data;
    size_t bytes;
    PJRT_Event *borrowed; /* ready when it is let go of; NULL: the memory is its own */
} storage;
storage *storage_new(size_t bytes); /* NULL: there is no memory */
storage *storage_borrow(void *data, size_t bytes, PJRT_Event *until);
storage *storage_hold(storage *s);
void storage_release(storage *s); /* NULL: nothing to do */
/* Has it so many holders and no other, and may it be written? */
bool storage_is_held_by(const storage *s, unsigned holders);

/* ---- layout.c: orders of elements ---- */
/* Strides in bytes of rows behind rows. */
void layout_dense(const int64_t *dims, size_t rank, size_t element, int64_t *strides);
bool layout_is_dense(const int64_t *dims, size_t rank, size_t element, const int64_t *strides);
/* Reads the strides of a layout (NULL: rows behind rows). */
PJRT_Error *layout_strides(const PJRT_Buffer_MemoryLayout *layout, const int64_t *dims, size_t rank,
                           size_t element, int64_t *strides);
typedef struct layout_side {
    char *data;
    const int64_t *strides;
} layout_side;
void layout_copy(layout_side to, layout_side from, const int64_t *dims, size_t rank,
                 size_t element);

/* ---- client.c ---- */
enum { PJRT_DEVICES_MAX = 64 };
struct PJRT_DeviceDescription {
    int id;
    char kind[128], words[192];
};
struct PJRT_Device {
    PJRT_Client *client;
    PJRT_DeviceDescription description;
    PJRT_Memory *memories[1];
};
struct PJRT_Memory {
    PJRT_Device *devices[1];
    char words[64];
};
typedef struct program program;
typedef enum pack_when { PACK_NEVER, PACK_NAN, PACK_MISMATCH } pack_when;
typedef struct pack_settings {
    pack_when when;
    char folder[512]; /* that packs go to */
    char tsr[512];    /* the program */
} pack_settings;
struct PJRT_Client {
    atomic_uint holders; /* buffers and programs keep it */
    tsr_context_t context;
    char profile[32];
    char backend[32]; /* of the runtime: "cpu", "vulkan", ... */
    char isa[64];     /* that programs are compiled for; "": the best of this CPU */
    bool host;        /* the device reads and writes buffers where they are */
    uint32_t threads; /* 0: as many as there are */
    char version[256];
    pack_settings pack;
    /* Devices share the processor, and the context; each has a memory of its own. */
    uint32_t device_count;
    PJRT_Device device[PJRT_DEVICES_MAX];
    PJRT_Memory memory[PJRT_DEVICES_MAX];
    PJRT_Device *devices[PJRT_DEVICES_MAX];
    PJRT_Memory *memories[PJRT_DEVICES_MAX];
    pthread_mutex_t lock; /* of the programs */
    program *programs;    /* the one that was last asked for first */
    uint32_t program_count;
};
/* device.c: fills in the client's devices, whose number and threads are known. */
void devices_init(PJRT_Client *c, const tsr_device_info_t *info);
PJRT_Client *client_hold(PJRT_Client *c);
void client_release(PJRT_Client *c);

/* ---- buffer.c ---- */
struct PJRT_Buffer {
    PJRT_Client *client;
    PJRT_Device *device;
    PJRT_Buffer_Type type;
    size_t rank, bytes;
    pthread_mutex_t lock;
    storage *memory; /* NULL: it was deleted */
    storage *lent;   /* that pointers outside stand for, `lent_count` times */
    uint32_t lent_count;
    bool donating;  /* to a call that has not ended */
    int64_t dims[]; /* then from the innermost axis on the number of each */
};
/* Takes over the memory. */
PJRT_Buffer *buffer_new(PJRT_Device *device, PJRT_Buffer_Type type, const int64_t *dims,
                        size_t rank, storage *memory);
void buffer_free(PJRT_Buffer *b);
/* The memory, held for the caller; NULL: the buffer was deleted. */
storage *buffer_memory(PJRT_Buffer *b);
/* The memory, which is the caller's from now on; the buffer is deleted. */
storage *buffer_take(PJRT_Buffer *b);
/* Bytes of a shape; false: an extent is negative, or there are more than a machine has. */
bool shape_bytes(const int64_t *dims, size_t rank, size_t element, size_t *bytes);

/* ---- options.c ---- */
/* Devices that a program runs on: number replica * partitions + partition. */
typedef struct assignment {
    uint32_t replicas, partitions;
    int devices[PJRT_DEVICES_MAX];
} assignment;
static inline uint32_t assignment_count(const assignment *a) {
    return a->replicas * a->partitions;
}
/* Options of a compilation: devices that there are not, and names of options likewise, are refused.
 */
typedef struct compile_settings {
    char profile[32];
    assignment on;
} compile_settings;
PJRT_Error *options_read(const PJRT_Client *c, const char *bytes, size_t size,
                         compile_settings *settings);
/* NULL where there is no profile of this name. */
const char *profile_named(const char *words, size_t length);

/* ---- program.c: what was compiled, counted, and kept for the next time ---- */
/* A buffer of the module is cut for devices: of the first axes each has one element, and does not
 * see them. */
typedef struct program_cut {
    uint32_t device_axes;
    uint32_t parts[8];
} program_cut;
typedef struct program_tensor {
    PJRT_Buffer_Type type;
    uint32_t rank;
    const int64_t *dims; /* the module's */
    size_t bytes;
    bool is_cut;
    uint32_t own_rank; /* of one device */
    int64_t own_dims[8];
    size_t own_bytes;
} program_tensor;
/* Facts of a source that its module does not have: of each output the input that is donated to it,
 * or TSR_NOT_DONATED; the form of each input and output. */
typedef struct program_facts {
    sha256 key; /* of the program that was compiled */
    uint32_t inputs, outputs;
    uint32_t
        placeholders; /* outputs behind these that only the module has: 1 where there are none */
    const uint32_t *donors;
    const uint8_t *forms;
    uint32_t replicas, partitions;
    const program_cut *cuts;     /* of inputs, then of outputs */
    const uint32_t (*places)[8]; /* [buffer][device]: the part of each axis that it has */
} program_facts;
struct program {
    program *next; /* of the client's */
    atomic_uint holders;
    PJRT_Client *client;
    sha256 key; /* of the program that was compiled */
    char fingerprint[65];
    void *image; /* of the module */
    size_t image_bytes;
    char profile[32];
    struct {
        void *data; /* that it was compiled from; NULL: it came as bytes */
        size_t bytes;
        atomic_bool packed; /* TESSERA_PACK has had its call */
        atomic_uint block;  /* of tessera.pack() that has had its call */
    } code;
    tsr_module_t module;
    tsr_kernel_t kernel;
    const char *name;
    uint32_t inputs, outputs, placeholders;
    program_tensor *tensors; /* inputs, then outputs */
    uint32_t *donors;        /* as in the facts */
    uint8_t *forms;          /* ... */
    struct {
        uint32_t replicas, partitions;
        program_cut *cuts;
        uint32_t (*places)[8];
    } lies;         /* as in the facts */
    bool *in_place; /* of each output: ... and the code takes one buffer for both */
    bool *donated;  /* of each input */
    size_t workspace_bytes;
    struct {
        PJRT_Buffer_Type *types;
        int64_t *dims;
        size_t *ranks, *kind_sizes;
        const char **kinds;
    } listed; /* of the outputs, for those who ask */
};
/* NULL with an error. Takes over the image. */
program *program_load(PJRT_Client *c, const program_facts *facts, void *image, size_t bytes,
                      PJRT_Error **error);
program *program_compile(PJRT_Client *c, const compile_settings *settings, const char *code,
                         size_t bytes, PJRT_Error **error);
void program_release(program *p);
/* One of this key that is kept, held; NULL: none. */
program *program_kept(PJRT_Client *c, const sha256 *key);
/* Keeps it, or gives the one that another thread has kept meanwhile in its place. */
program *program_keep(program *p);
void program_drop_all(PJRT_Client *c);

/* ---- pack.c: packs of calls ---- */
PJRT_Error *pack_read_environment(const PJRT_Client *c, pack_settings *s);
/* Is a call of it looked at? */
bool pack_wants(const program *p);
/* Looks at a call that has ended: the arrays of inputs, as they were, then of outputs. */
void pack_look(program *p, void *const *arrays);
/* A file beside this library. */
bool library_file(const char *name, char *out, size_t room);

/* The part of a buffer that a device has, in the whole of it. */
void *program_part(const program *p, uint32_t tensor, uint32_t device, void *whole,
                   int64_t *strides);

struct PJRT_Executable {
    program *program;
    assignment on;
};
struct PJRT_LoadedExecutable {
    program *program;
    assignment on;
    PJRT_Device *devices[PJRT_DEVICES_MAX];
    atomic_bool deleted;
};
PJRT_LoadedExecutable *loaded_new(program *p, const assignment *on);

#endif
