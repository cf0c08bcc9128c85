/* comm_simulate.h - tsr comm --simulate TOPOLOGY. */
#ifndef TESSERA_HARNESS_CLI_COMM_SIMULATE_H
#define TESSERA_HARNESS_CLI_COMM_SIMULATE_H

#include "cli/options.h"

/* The exit code, told. */
int comm_simulate(const options *o);

#endif
