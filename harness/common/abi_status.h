/* abi_status.h - what a refusal by libtessera means for the harness. */
#ifndef TESSERA_HARNESS_COMMON_ABI_STATUS_H
#define TESSERA_HARNESS_COMMON_ABI_STATUS_H

#include "base/status.h"
#include "tessera/tessera.h"

/* Checks that `code` is success; else fills `st` with what was being done and the ABI's last error.
 * `doing` NULL: code of others failed, which is no bug of ours; its own words are enough. */
bool abi_ok(tsr_status_t code, const char *doing, status *st);

#endif
