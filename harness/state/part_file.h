/* part_file.h - the file in which one rank keeps its shards of states, and their way back: written
 * and read by the rank itself, as an order says that states.c makes.
 *
 * An order is JSON. To keep: {"file", "metadata", "tensors": [{"input", "type", "shards": [{"name",
 * "dims", "at": [[number, of], ...]}]}]}, "at" the place in the rank's part along each dimension.
 * To take, a shard has "file" and "sha256", too, and the order "index" and "metadata" that the
 * files must have. */
#ifndef TESSERA_HARNESS_STATE_PART_FILE_H
#define TESSERA_HARNESS_STATE_PART_FILE_H

#include "base/status.h"
#include "base/text.h"

/* A rank's parts of inputs. */
typedef struct part_buffers {
    bool (*read)(void *context, uint32_t input, void *to, status *st);
    bool (*write)(void *context, uint32_t input, const void *from, status *st);
    void *context;
} part_buffers;

/* Writes the file, all or nothing, and appends the SHA-256 of each shard, a line each. */
bool part_file_keep(const char *order, const part_buffers *b, text *hashes, status *st);
/* Reads the shards that the order names, and no others; a file that is not what it was names itself
 * in the message. */
bool part_file_take(const char *order, const part_buffers *b, status *st);

#endif
