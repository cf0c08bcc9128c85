/* banks.h - what the memories of a chip make of the addresses of a subgroup: conflicts of banks in
 * a workgroup's memory, sectors of far memory.
 *
 * A workgroup's memory is made of banks; each gives one word at a time, to all threads that ask for
 * that word. Word w is in bank w % banks. As many threads are served together as fill all banks
 * once: of 32 banks of 4 bytes 32 threads that touch up to 4 bytes each, 16 with 8, 8 with 16.
 * NVIDIA: CUDA C++ Programming Guide, "Shared Memory" of each compute capability; a request of 8
 * bytes is one for each half of a warp, of 16 bytes one for each quarter. AMD: the ISA manuals of
 * CDNA 2, CDNA 3 and RDNA 3, "Local Data Share": 32 banks for a compute unit, each 32 bits wide. */
#ifndef TESSERA_TILE_SIMT_BANKS_H
#define TESSERA_TILE_SIMT_BANKS_H

#include "tile/simt/touches.h"

enum { BANKS = 32, BANK_BYTES = 4, SECTOR_BYTES = 32 };
enum { SUBGROUP_MOST = 64 };

/* Times that the banks have to give, for `count` threads of a subgroup that touch `width` bytes
 * each from offsets[i] on (negative from TOUCH_OTHER down: nothing): the most words that those
 * which are served together want of one bank. 1: no conflict; 0: nobody touches anything. */
int banks_degree(const int64_t *offsets, int count, int width);
/* Sectors that they touch, and the fewest that hold as many different bytes. */
typedef struct sector_count {
    int64_t touched, needed;
} sector_count;
sector_count sectors_of(const int64_t *offsets, int count, int width);

/* Costs of all loads and stores that an operation becomes, in all subgroups of a workgroup. Where
 * the tile's place is not known in full, that of the best one. */
int touches_degree(const touches *t, int subgroup);           /* the worst of them */
sector_count touches_sectors(const touches *t, int subgroup); /* all together */
/* Places of threads in loads and stores that some thread of the subgroup makes, and how many of
 * these are past the tile's edge. */
typedef struct lane_count {
    int64_t all, edge;
} lane_count;
lane_count touches_lanes(const touches *t, int subgroup);

/* The degree of a copy into the workgroup's memory, and of what a matrix unit reads there, by
 * itself or as a fragment in registers, and of how many bytes at a time; 0: the operation is none
 * of these. */
int banks_of_pieces(const ir_module *m, ir_op op, int threads, int subgroup, int *width);

#endif
