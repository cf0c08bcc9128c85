/* artifact.h - from the images of one kernel, each for one level, to a module file. */
#ifndef TESSERA_COMPILER_ARTIFACT_H
#define TESSERA_COMPILER_ARTIFACT_H

#include <jansson.h>

#include "module.h"
#include "target/target.h"
#include "tessera/compiler.h"

enum { ARTIFACT_IMAGES_MAX = 120 };

/* State of a module while its images are made. */
typedef struct artifact_builder {
    const char *profile;
    const compiler_provenance *provenance; /* borrowed; or NULL */
    bool generic;                          /* the first image of each level is for any dimensions */
    const text *graph; /* Graph IR before any pass: the same for all images; borrowed */
    sha256 graph_hash;
    json_t *effects;             /* by output, as the graph has them; NULL: there are none */
    json_t *signature;           /* name, inputs and outputs */
    json_t *program;             /* of several kernels, and no images; NULL: it is none */
    bool checks_bounds;          /* code for CPUs checks its accesses */
    bool fills;                  /* the program fills memory */
    bool in_place;               /* a dispatch of it makes an output in the place of its input */
    const module_part *sections; /* kernels and constants of the program, borrowed */
    uint32_t section_count;
    uint32_t count;
    struct artifact_image {
        const char *isa;                /* static storage, or borrowed */
        char target[TARGET_KIND_BYTES]; /* that devices choose it by */
        json_t *when; /* the dimensions that it is for; NULL: of the others, or all */
        int number;   /* among those of its level */
        text schedule, object;
        json_t *needs; /* tile, workspace_bytes, scratch_bytes, phases */
    } images[ARTIFACT_IMAGES_MAX];
} artifact_builder;

/* The instance is borrowed until artifact_release. */
void artifact_init(artifact_builder *b, compiler_instance *instance,
                   const compiler_options *options);
void artifact_release(artifact_builder *b);
/* A kernel's last Tile IR and what was kept of the levels above it. */
typedef struct artifact_levels {
    const ir_module *tile;
    const char *isa;
    const text *schedule, *object;
    json_t *fragments, *epilogues, *resources,
        *units;                      /* of describe.h; each may be NULL or empty */
    const compiler_special *special; /* NULL: none */
    const char *library;             /* a kernel of library/ that stands for it; NULL: none */
    const char *why_joined; /* why a kernel of tiles is not lowered as it stands; NULL: it is, or is
                               none */
} artifact_levels;
/* Everything is copied, or referred to. `when`: the dimensions that it is for, or NULL. */
void artifact_add(artifact_builder *b, const artifact_levels *levels, const ir_bindings *when);
/* Variant `index` names every dimension that a launch gives, and no other, and is unlike those
 * before it; the image for any dimensions has been added. */
bool artifact_check_variant(const artifact_builder *b, const ir_bindings *variants, uint32_t index,
                            status *st);
/* Name, inputs and outputs of a kernel whose dimensions are numbers. */
json_t *artifact_signature_json(compiler_instance *instance, const compiler_signature *s);
/* Fills image, image_size and the hashes. */
bool artifact_write(const artifact_builder *b, compiler_artifact *out, status *st);
/* For each input of a kernel: the output that all of its images make in its place, or -1. */
void artifact_donated(const compiler_artifact *a, int64_t *donated);

#endif
