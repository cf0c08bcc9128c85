/* edit_parts.h - inside of the edits (tessera/edit.h): the case between two of them, and what the
 * edits of its operations (edit.c) and of the blocks of transforms (edit_transforms.c) share. */
#ifndef TESSERA_EDIT_PARTS_H
#define TESSERA_EDIT_PARTS_H

#include "ops/graph.h"
#include "tessera/edit.h"

typedef struct editor {
    ir_module *m;
    tensor *inputs; /* owned, one for each argument of the kernel */
    compiler_instance *whole;
    const compiler_options *options;
    bool changed; /* an edit was made before */
    status *st;
} editor;

/* The operation of that number, in the kernel or in the block of a transform; 0: there is none. */
ir_op edit_operation(const ir_module *m, int64_t number);
bool edit_says_nothing(const editor *e, const char *why);

/* The interpreter's values of these, of the kernel's own block. */
bool edit_values(const editor *e, const ir_value *values, uint32_t count, tensor *out);
void edit_set_outputs(ir_module *m, const ir_value *values, uint32_t count);
/* A new input of this type, last of all; its value is the caller's to fill in. NULL: a kernel has
 * no more inputs. */
tensor *edit_add_input(editor *e, ir_type type, ir_value *out);

/* edit_donated.c: donations to outputs that are these from now on; from inputs that stay; and of
 * them all, those that fit. */
void edit_donate_to(ir_module *m, const ir_value *outputs, uint32_t count);
void edit_donate_from(ir_module *m, const bool *kept);
void edit_settle_donated(ir_module *m);
/* edit_trim.c: takes out what of one transform nobody needs; false: all of all is needed. */
bool edit_trim(ir_module *m);
/* edit_transforms.c: edits of edit.def. */
bool edit_transforms(editor *e, const int64_t *arguments);
bool edit_inside(editor *e, const int64_t *arguments);
bool edit_keep(editor *e, const int64_t *arguments);

#endif
