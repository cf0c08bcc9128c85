/* again.h - Python that calls a recorded function with its recorded scalars. */
#ifndef TESSERA_HARNESS_CAPTURE_AGAIN_H
#define TESSERA_HARNESS_CAPTURE_AGAIN_H

#include "capture/kernel.h"

/* Fills k->code; inputs, output and name of `k` are there already. */
void capture_again_write(const capture_stream *s, const capture_call *c, const json_t *arguments,
                         capture_kernel *k);

#endif
