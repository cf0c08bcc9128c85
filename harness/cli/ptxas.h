/* ptxas.h - NVIDIA's assembler as the compiler_assembler of a compilation. */
#ifndef TESSERA_HARNESS_CLI_PTXAS_H
#define TESSERA_HARNESS_CLI_PTXAS_H

#include "cli/options.h"
#include "tessera/compiler.h"

/* Chosen by --ptxas, or $TSR_PTXAS; NULL: neither is given. Borrows from the command line and the
 * environment; of one compilation at a time. */
const compiler_assembler *ptxas_chosen(const options *o);

#endif
