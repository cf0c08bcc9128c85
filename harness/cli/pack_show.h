/* pack_show.h - tsr replay --show: what is in a pack, without running anything. */
#ifndef TESSERA_HARNESS_CLI_PACK_SHOW_H
#define TESSERA_HARNESS_CLI_PACK_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Prints the case, how it ended, what made it, its members and those of them that are text; as one
 * document ("tsr.pack/1") where `json`. False: the pack cannot be read. */
bool pack_show(const char *path, uint64_t memory_mib, bool json, status *st);

#endif
