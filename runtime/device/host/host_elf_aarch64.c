/* host_elf_aarch64.c - relocations of "ELF for the Arm 64-bit Architecture" (AAELF64): those that
 * code and constants of one mapping need. */
#include <elf.h>
#include <string.h>

#include "device/host/host_elf_machine.h"

typedef enum field { FIELD_WORD64, FIELD_WORD32, FIELD_ADR, FIELD_LOW12, FIELD_BRANCH26 } field;

/* A kind of relocation: what it computes, from S + A and the place, and where it puts it. */
typedef struct kind {
    uint32_t type;
    const char *name;
    field field;
    bool relative; /* less the place */
    bool pages;    /* of 4 KiB, both */
    int scale;     /* log2: the value must be a multiple, and is divided */
} kind;

static const kind kinds[] = {
    {R_AARCH64_ABS64, "R_AARCH64_ABS64", FIELD_WORD64, false, false, 0},
    {R_AARCH64_PREL64, "R_AARCH64_PREL64", FIELD_WORD64, true, false, 0},
    {R_AARCH64_PREL32, "R_AARCH64_PREL32", FIELD_WORD32, true, false, 0},
    {R_AARCH64_ADR_PREL_LO21, "R_AARCH64_ADR_PREL_LO21", FIELD_ADR, true, false, 0},
    {R_AARCH64_ADR_PREL_PG_HI21, "R_AARCH64_ADR_PREL_PG_HI21", FIELD_ADR, true, true, 12},
    {R_AARCH64_ADD_ABS_LO12_NC, "R_AARCH64_ADD_ABS_LO12_NC", FIELD_LOW12, false, false, 0},
    {R_AARCH64_LDST8_ABS_LO12_NC, "R_AARCH64_LDST8_ABS_LO12_NC", FIELD_LOW12, false, false, 0},
    {R_AARCH64_LDST16_ABS_LO12_NC, "R_AARCH64_LDST16_ABS_LO12_NC", FIELD_LOW12, false, false, 1},
    {R_AARCH64_LDST32_ABS_LO12_NC, "R_AARCH64_LDST32_ABS_LO12_NC", FIELD_LOW12, false, false, 2},
    {R_AARCH64_LDST64_ABS_LO12_NC, "R_AARCH64_LDST64_ABS_LO12_NC", FIELD_LOW12, false, false, 3},
    {R_AARCH64_LDST128_ABS_LO12_NC, "R_AARCH64_LDST128_ABS_LO12_NC", FIELD_LOW12, false, false, 4},
    {R_AARCH64_JUMP26, "R_AARCH64_JUMP26", FIELD_BRANCH26, true, false, 2},
    {R_AARCH64_CALL26, "R_AARCH64_CALL26", FIELD_BRANCH26, true, false, 2},
};

static const kind *kind_of(uint32_t type) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == type)
            return &kinds[i];
    return NULL;
}

static const char *relocation_name(uint32_t type) {
    const kind *k = kind_of(type);
    return k ? k->name : "unknown";
}

static int written_bytes(uint32_t type) {
    const kind *k = kind_of(type);
    if (type == R_AARCH64_NONE)
        return 0;
    return !k ? -1 : k->field == FIELD_WORD64 ? 8 : 4;
}

/* Code that needs nothing from outside is not compiled to go through a table. */
static bool needs_got(uint32_t type) {
    (void)type;
    return false;
}

static bool fits(int64_t value, int bits) {
    return value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1);
}

/* The bits of an instruction that hold an immediate, and the value in them. */
static void set_bits(unsigned char *bytes, uint32_t mask, uint32_t value) {
    uint32_t instruction;
    memcpy(&instruction, bytes, sizeof instruction);
    instruction = (instruction & ~mask) | (value & mask);
    memcpy(bytes, &instruction, sizeof instruction);
}

static bool store(const kind *k, unsigned char *bytes, int64_t value) {
    uint32_t low = (uint32_t)value;
    switch (k->field) {
    case FIELD_WORD64:
        memcpy(bytes, &value, sizeof value);
        return true;
    case FIELD_WORD32:
        memcpy(bytes, &low, sizeof low);
        return fits(value, 32);
    case FIELD_ADR: /* immlo in bits 29 and 30, immhi in 5 to 23 */
        set_bits(bytes, 0x60ffffe0, (low & 3) << 29 | (low >> 2 & 0x7ffff) << 5);
        return fits(value, 21);
    case FIELD_LOW12:
        set_bits(bytes, 0x003ffc00, low << 10);
        return true;
    default:
        set_bits(bytes, 0x03ffffff, low);
        return fits(value, 26);
    }
}

static bool apply(const elf_fixup *f, status *st) {
    const kind *k = kind_of(f->type);
    uint64_t page = k->pages ? ~UINT64_C(0xfff) : ~UINT64_C(0);
    uint64_t value = (f->symbol + f->addend) & page;
    if (k->relative)
        value -= f->place & page;
    if (k->field == FIELD_LOW12)
        value &= 0xfff;
    if (value & ((UINT64_C(1) << k->scale) - 1))
        return status_set(st, STATUS_CORRUPT, "%s: the address is not a multiple of %d", k->name,
                          1 << k->scale);
    int64_t whole = (int64_t)value / (INT64_C(1) << k->scale);
    return store(k, f->bytes, whole) ||
           status_set(st, STATUS_CORRUPT, "a relocation %s overflows", k->name);
}

const elf_machine elf_aarch64 = {EM_AARCH64,    "AArch64", relocation_name,
                                 written_bytes, needs_got, apply};
