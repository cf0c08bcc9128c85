/* api.c - the table: a function in every place, for a framework calls what it likes; what there is
 * not says so. */
#include "pjrt/pack.h"
#include "pjrt/plugin.h"

#define DONE(name)
#define STUB(name)                                                                                 \
    static PJRT_Error *stub_##name(void *args) {                                                   \
        (void)args;                                                                                \
        return error_new(PJRT_Error_Code_UNIMPLEMENTED, "PJRT_" #name " is not supported");        \
    }
#include "pjrt/slots.def"
#undef DONE
#undef STUB

static const PJRT_Api api = {
    .struct_size = sizeof(PJRT_Api),
    .extension_start = (void *)(uintptr_t)&pack_functions,
    .pjrt_api_version = {.struct_size = sizeof(PJRT_Api_Version),
                         .major_version = PJRT_API_MAJOR,
                         .minor_version = PJRT_API_MINOR},
#define DONE(name) .name = pjrt_##name,
#define STUB(name) .name = stub_##name,
#include "pjrt/slots.def"
#undef DONE
#undef STUB
};

const PJRT_Api *GetPjrtApi(void) {
    return &api;
}

PJRT_Error *pjrt_Plugin_Initialize(void *args) {
    PJRT_TAKES(Plugin_Initialize, extension_start);
    return NULL;
}

/* The version of StableHLO that programs are to have; a framework writes them so. */
PJRT_Error *pjrt_Plugin_Attributes(void *args) {
    static const int64_t version[] = {1, 13, 0};
    enum { PARTS = sizeof version / sizeof *version };
#define VERSION(words)                                                                             \
    {                                                                                              \
        .struct_size = sizeof(PJRT_NamedValue), .name = words, .name_size = sizeof words - 1,      \
        .type = PJRT_NamedValue_kInt64List, .int64_array_value = version, .value_size = PARTS      \
    }
    static const PJRT_NamedValue attributes[] = {VERSION("stablehlo_current_version"),
                                                 VERSION("stablehlo_minimum_version")};
#undef VERSION
    PJRT_TAKES(Plugin_Attributes, num_attributes);
    a->attributes = attributes;
    a->num_attributes = sizeof attributes / sizeof *attributes;
    return NULL;
}
