/* container.c - see container.h. */
#include "container.h"

#include <stdio.h>
#include <string.h>

#include "pack.h"

/* Offsets and widths of the fields: POSIX.1-1988, ustar interchange format. */
enum {
    MODE_OFFSET = 100,
    OWNER_OFFSET = 108,
    GROUP_OFFSET = 116,
    TIME_OFFSET = 136,
    CHECKSUM_OFFSET = 148,
    MAGIC_OFFSET = 257,
    MAJOR_OFFSET = 329,
    MINOR_OFFSET = 337
};

const unsigned char frame_start[6] = {0x04, 0x22, 0x4d, 0x18, 0x78, 0x50};

static void octal(unsigned char *field, int digits, size_t value) {
    for (int i = digits; i-- > 0; value >>= 3)
        field[i] = (unsigned char)('0' + (value & 7));
}

void tar_header(unsigned char out[TAR_BLOCK_BYTES], const char *name, size_t size_bytes) {
    memset(out, 0, TAR_BLOCK_BYTES);
    memcpy(out, name, strnlen(name, PACK_NAME_BYTES_MAX));
    octal(out + MODE_OFFSET, 7, 0644);
    octal(out + OWNER_OFFSET, 7, 0);
    octal(out + GROUP_OFFSET, 7, 0);
    octal(out + TAR_SIZE_OFFSET, 11, size_bytes);
    octal(out + TIME_OFFSET, 11, 0);
    out[TAR_TYPE_OFFSET] = '0';
    memcpy(out + MAGIC_OFFSET, "ustar\00000", 8);
    octal(out + MAJOR_OFFSET, 7, 0);
    octal(out + MINOR_OFFSET, 7, 0);
    /* The sum counts its own field as spaces. */
    size_t sum = 8 * ' ';
    for (int i = 0; i < TAR_BLOCK_BYTES; i++)
        sum += out[i];
    octal(out + CHECKSUM_OFFSET, 6, sum);
    out[CHECKSUM_OFFSET + 7] = ' ';
}

size_t tar_padding(size_t size_bytes) {
    return (TAR_BLOCK_BYTES - size_bytes % TAR_BLOCK_BYTES) % TAR_BLOCK_BYTES;
}

uint64_t tar_member_bytes(size_t size_bytes) {
    return TAR_BLOCK_BYTES + (uint64_t)size_bytes + tar_padding(size_bytes);
}

LZ4F_preferences_t frame_preferences(uint64_t content_bytes) {
    LZ4F_preferences_t p = LZ4F_INIT_PREFERENCES;
    p.frameInfo.blockSizeID = LZ4F_max256KB;
    p.frameInfo.blockMode = LZ4F_blockIndependent;
    p.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled;
    p.frameInfo.contentSize = content_bytes;
    return p;
}
