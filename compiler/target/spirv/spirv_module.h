/* spirv_module.h - a SPIR-V module while it is written: sections of words, numbers of results, and
 * types and constants, of which there is one each.
 *
 * What the words mean is said by Khronos' "SPIR-V Specification"; their names are those of
 * <spirv/unified1/spirv.h>. No LLVM here. */
#ifndef TESSERA_TARGET_SPIRV_MODULE_H
#define TESSERA_TARGET_SPIRV_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"

/* In the order of a module ("Logical Layout of a Module"). */
typedef enum spirv_section {
    SPIRV_CAPABILITIES,
    SPIRV_EXTENSIONS,
    SPIRV_IMPORTS,
    SPIRV_MEMORY_MODEL,
    SPIRV_ENTRY_POINTS,
    SPIRV_MODES,
    SPIRV_NAMES,
    SPIRV_DECORATIONS,
    SPIRV_GLOBALS,
    SPIRV_HELPERS, /* functions that others call */
    SPIRV_FUNCTIONS,
    SPIRV_SECTION_COUNT
} spirv_section;

typedef struct spirv_known {
    uint32_t at, count; /* the words of the key */
    uint32_t id;
} spirv_known;

typedef VEC(uint32_t) spirv_words;

typedef struct spirv_module {
    spirv_words sections[SPIRV_SECTION_COUNT];
    spirv_words keys;
    spirv_known *known; /* open addressing; id 0: free */
    uint32_t known_count, known_room;
    uint32_t last_id;
} spirv_module;

void spirv_open(spirv_module *m);
void spirv_close(spirv_module *m);

uint32_t spirv_id(spirv_module *m); /* a new one */
void spirv_op(spirv_module *m, spirv_section section, uint16_t opcode, const uint32_t *operands,
              uint32_t count);
/* The operands, then a string, then more operands: OpEntryPoint, OpName, OpExtInstImport. */
void spirv_op_string(spirv_module *m, spirv_section section, uint16_t opcode,
                     const uint32_t *operands, uint32_t count, const char *string,
                     const uint32_t *more, uint32_t more_count);

/* An instruction of the section for globals that is there once: its result. `type` 0: the
 * instruction has none (OpType...). */
uint32_t spirv_once(spirv_module *m, uint16_t opcode, uint32_t type, const uint32_t *operands,
                    uint32_t count);
/* The number that belongs to any words; a new one the first time, and then *fresh. */
uint32_t spirv_of(spirv_module *m, const uint32_t *words, uint32_t count, bool *fresh);
/* Declared once, however often it is asked for. */
void spirv_capability(spirv_module *m, uint32_t capability);

/* The whole module, as bytes of this machine's order. `version`: 0x00010500 is 1.5. */
void spirv_write(const spirv_module *m, uint32_t version, text *out);

#endif
