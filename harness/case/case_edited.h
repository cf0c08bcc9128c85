/* case_edited.h - a smaller case made of another one: by edits, or one kernel of a program. */
#ifndef TESSERA_HARNESS_CASE_CASE_EDITED_H
#define TESSERA_HARNESS_CASE_CASE_EDITED_H

#include "case/case_context.h"
#include "tessera/edit.h"

typedef struct case_edited {
    case_context context; /* what the original knows of its source is borrowed */
    compiler_kernel kernel;
    compiler_input *inputs; /* of `context.like`: nothing is known of how they are spread */
    compiler_edited edited; /* by case_edited_open; else nothing */
} case_edited;

/* The case behind these edits (tessera/edit.h); the original is there as long as it is. Golden,
 * @same_as and promises are of the original alone. case_edited_close in any case. */
bool case_edited_open(const case_context *original, const compiler_options *options,
                      const char *edits, case_edited *out, status *st);
/* The same of an instance and its inputs, which are borrowed. */
bool case_edited_of(const case_context *original, compiler_instance *instance, const tensor *inputs,
                    case_edited *out, status *st);
void case_edited_close(case_edited *e);

#endif
