/* host_elf_machine.h - the relocations of each machine that images are made for, as data and pure
 * functions: an object of either kind can be judged on any host. */
#ifndef TESSERA_RUNTIME_HOST_ELF_MACHINE_H
#define TESSERA_RUNTIME_HOST_ELF_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* One relocation, with all sums still to be made. */
typedef struct elf_fixup {
    uint32_t type;
    unsigned char *bytes; /* what is changed; written_bytes of them */
    uint64_t place;       /* the address that they will have */
    uint64_t symbol, addend;
    uint64_t slot; /* address of a table entry that holds `symbol`, where needs_got asks for one */
} elf_fixup;

typedef struct elf_machine {
    uint16_t number; /* e_machine */
    const char *name;
    const char *(*relocation_name)(uint32_t type); /* static storage; "unknown" */
    /* Bytes that a relocation writes; 0 for one that does nothing, -1 for an unsupported one. */
    int (*written_bytes)(uint32_t type);
    bool (*needs_got)(uint32_t type);
    /* Applies one of a supported type. False where the value does not fit. */
    bool (*apply)(const elf_fixup *fixup, status *st);
} elf_machine;

extern const elf_machine elf_x86_64, elf_aarch64;
/* This machine's; NULL: no image is made for it. */
const elf_machine *elf_host_machine(void);

#endif
