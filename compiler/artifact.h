/* artifact.h - from the images of one kernel, each for one level, to a module file. */
#ifndef TESSERA_COMPILER_ARTIFACT_H
#define TESSERA_COMPILER_ARTIFACT_H

#include <jansson.h>

#include "tessera/compiler.h"

enum { ARTIFACT_IMAGES_MAX = COMPILER_LEVELS_MAX };

/* What is known of a module while its images are made. */
typedef struct artifact_builder {
    const char *profile;
    text graph;        /* Graph IR before any pass: the same for all images */
    json_t *signature; /* name, inputs and outputs */
    uint32_t count;
    struct artifact_image {
        const char *isa; /* static storage */
        text schedule, object;
        json_t *needs; /* tile, workspace_bytes, scratch_bytes, phases */
    } images[ARTIFACT_IMAGES_MAX];
} artifact_builder;

void artifact_init(artifact_builder *b, compiler_profile profile);
void artifact_release(artifact_builder *b);
/* Takes a kernel's last Tile IR and what was kept of the levels above it; `graph`, `schedule` and
 * `object` are copied. */
void artifact_add(artifact_builder *b, const ir_module *tile, const char *isa, const text *graph,
                  const text *schedule, const text *object);
/* Fills image, image_size and the hashes. */
bool artifact_write(const artifact_builder *b, compiler_artifact *out, status *st);

#endif
