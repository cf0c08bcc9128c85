/* host_elf_x86_64.c - relocations of the System V psABI for x86-64. */
#include <elf.h>
#include <string.h>

#include "device/host/host_elf_machine.h"

static const char *relocation_name(uint32_t type) {
    static const char *const names[] = {
        "R_X86_64_NONE",       "R_X86_64_64",       "R_X86_64_PC32",     "R_X86_64_GOT32",
        "R_X86_64_PLT32",      "R_X86_64_COPY",     "R_X86_64_GLOB_DAT", "R_X86_64_JUMP_SLOT",
        "R_X86_64_RELATIVE",   "R_X86_64_GOTPCREL", "R_X86_64_32",       "R_X86_64_32S",
        "R_X86_64_16",         "R_X86_64_PC16",     "R_X86_64_8",        "R_X86_64_PC8",
        "R_X86_64_DTPMOD64",   "R_X86_64_DTPOFF64", "R_X86_64_TPOFF64",  "R_X86_64_TLSGD",
        "R_X86_64_TLSLD",      "R_X86_64_DTPOFF32", "R_X86_64_GOTTPOFF", "R_X86_64_TPOFF32",
        "R_X86_64_PC64",       "R_X86_64_GOTOFF64", "R_X86_64_GOTPC32",  "R_X86_64_GOT64",
        "R_X86_64_GOTPCREL64", "R_X86_64_GOTPC64",
    };
    return type < sizeof names / sizeof names[0] ? names[type] : "unknown";
}

static bool needs_got(uint32_t type) {
    return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
           type == R_X86_64_REX_GOTPCRELX;
}

static int written_bytes(uint32_t type) {
    switch (type) {
    case R_X86_64_NONE:
        return 0;
    case R_X86_64_64:
    case R_X86_64_PC64:
        return 8;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        return 4;
    default:
        return needs_got(type) ? 4 : -1;
    }
}

/* Writes `value` relative to the place; the mapping is one, but a wild addend can still reach too
 * far. */
static bool store_relative32(const elf_fixup *f, uint64_t value, status *st) {
    int64_t distance = (int64_t)(value - f->place);
    if (distance != (int32_t)distance)
        return status_set(st, STATUS_CORRUPT, "a 32-bit relocation overflows");
    int32_t narrow = (int32_t)distance;
    memcpy(f->bytes, &narrow, sizeof narrow);
    return true;
}

static bool apply(const elf_fixup *f, status *st) {
    uint64_t value = f->symbol + f->addend;
    switch (f->type) {
    case R_X86_64_64:
        memcpy(f->bytes, &value, sizeof value);
        return true;
    case R_X86_64_PC64:
        value -= f->place;
        memcpy(f->bytes, &value, sizeof value);
        return true;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        return store_relative32(f, value, st);
    default: /* needs_got */
        return store_relative32(f, f->slot + f->addend, st);
    }
}

const elf_machine elf_x86_64 = {EM_X86_64,     "x86-64",  relocation_name,
                                written_bytes, needs_got, apply};
