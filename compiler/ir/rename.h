/* rename.h - replacements that a pass makes while it walks a block from its first operation to its
 * last: as O(1) each, where ir_replace_uses walks the module. */
#ifndef TESSERA_IR_RENAME_H
#define TESSERA_IR_RENAME_H

#include "ir/ir.h"

typedef struct ir_renaming {
    ir_module *m;
    ir_value *to; /* by value; 0: itself */
    uint32_t count;
} ir_renaming;

ir_renaming ir_renaming_new(ir_module *m);
/* From here on `to` stands for `from`, in operations that ir_renaming_apply comes by. */
void ir_rename(ir_renaming *r, ir_value from, ir_value to);
/* Sets the operands of an operation, and of those in its regions. Sequence: before the pass reads
 * them. */
void ir_renaming_apply(const ir_renaming *r, ir_op op);
/* ... of this operation and those behind it; 0: there are none. Releases the renaming. */
void ir_renaming_end(ir_renaming *r, ir_op rest);

#endif
