/* code.h - which code a specified function is: a hash of its sequence.
 *
 * The sequence is what math_build asks of its emitter: operations by name, constants by their bits.
 * Nothing else of the compiler is in the hash, so it changes when the function does and only then.
 */
#ifndef TESSERA_MATH_CHECK_CODE_H
#define TESSERA_MATH_CHECK_CODE_H

#include "math/math.h"

enum { CODE_HASH_SIZE = 17 }; /* 16 hexadecimal digits and NUL */

void code_hash(math_set set, math_function function, char hash_out[CODE_HASH_SIZE]);

#endif
