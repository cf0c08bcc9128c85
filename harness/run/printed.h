/* printed.h - what a program printed before it died, as it will be printed the next time. */
#ifndef TESSERA_HARNESS_RUN_PRINTED_H
#define TESSERA_HARNESS_RUN_PRINTED_H

#include "base/text.h"

enum { PRINTED_BYTES_MAX = 16 << 10 };

/* Appends the end of `words`, at most so many bytes, and a line's end. Addresses ("0x7ffd..."),
 * numbers of processes and threads ("pid 17", "==17==") and times of day ("12:59:01") become "0x-",
 * "-" and "--:--:--". */
void printed_lasting(const char *words, text *out);

#endif
