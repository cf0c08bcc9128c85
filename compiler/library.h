/* library.h - composites that chips have a kernel of tiles for, in library/. */
#ifndef TESSERA_COMPILER_LIBRARY_H
#define TESSERA_COMPILER_LIBRARY_H

#include "target/target.h"
#include "tessera/compiler.h"

/* Tells whether the kernel of a graph is one composite, and the library may have tiles for it: on
 * this target, with these options. */
bool library_may(const ir_module *graph, const compiler_options *options,
                 const target_info *target);

/* Lowers such a kernel, of static dimensions, to Tile IR (owned), and gives its Graph IR, made of
 * tiles, in *tiles_out (owned), and the name of the library's kernel. NULL, with nothing given: the
 * library's tiles do not fit its sizes or the chip. Results have the composite's value in another
 * order of sums: none is strict. */
ir_module *library_lower(const ir_module *graph, const compiler_options *options,
                         const target_info *target, ir_module **tiles_out, const char **name_out);

#endif
