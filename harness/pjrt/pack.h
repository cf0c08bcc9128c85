/* pack.h - packs of calls: when they are made, and the functions by which the Python package asks
 * for them. */
#ifndef TESSERA_HARNESS_PJRT_PACK_H
#define TESSERA_HARNESS_PJRT_PACK_H

#include <stdbool.h>
#include <stddef.h>

/* An extension of the table. The number is ours: no framework knows it. */
enum { PACK_EXTENSION = 0x747372 };
typedef struct pack_extension {
    size_t struct_size;
    int type;
    void *next;
    /* From now on the first call of each program, or of those of a name, leaves a pack in the
     * folder. False: another block has not ended. */
    bool (*begin)(const char *folder, const char *name);
    /* Ends it: a line for each call, the path of its pack, or '!' and why there is none. */
    const char *(*end)(void);
} pack_extension;
extern const pack_extension pack_functions;

/* 0: no block is open. */
unsigned pack_block_number(void);
/* The folder for packs of a program, for the caller to free; NULL: it is none of the block's. */
char *pack_block_folder(unsigned number, const char *name);
void pack_block_tell(unsigned number, bool good, const char *words);

#endif
