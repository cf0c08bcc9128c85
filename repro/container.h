/* container.h - the bytes around the members: ustar headers, and the shape of the LZ4 frame.
 *
 * Frozen: packs made today must stay readable, so these bytes depend on no library's version. The
 * ustar header is that of POSIX.1-1988 with every field that says when, who or where at zero. */
#ifndef TESSERA_REPRO_CONTAINER_H
#define TESSERA_REPRO_CONTAINER_H

#include <lz4frame.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TAR_BLOCK_BYTES = 512,
    TAR_END_BYTES = 2 * TAR_BLOCK_BYTES, /* zeros */
    TAR_NAME_BYTES = 100,
    TAR_SIZE_OFFSET = 124, /* eleven octal digits */
    TAR_TYPE_OFFSET = 156,
    FRAME_HEADER_BYTES = 15,
    FRAME_BLOCK_BYTES = 256 << 10
};

/* The header of a regular file; `name` has at most PACK_NAME_BYTES_MAX bytes, the size is below
 * 8 GiB. */
void tar_header(unsigned char out[TAR_BLOCK_BYTES], const char *name, size_t size_bytes);
/* Zeros between a member's data and the next header. */
size_t tar_padding(size_t size_bytes);
/* Header, data and padding. */
uint64_t tar_member_bytes(size_t size_bytes);

/* Independent blocks of 256 KiB, each with its checksum; the header says the size of the whole. */
LZ4F_preferences_t frame_preferences(uint64_t content_bytes);
/* The first six bytes of every pack: magic, flags, block size. Eight bytes of content size and a
 * checksum of the header follow. */
extern const unsigned char frame_start[6];

#endif
