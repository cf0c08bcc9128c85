/* run_name.h - what a run or a gate is called, and when it began. */
#ifndef TESSERA_HARNESS_COMMON_RUN_NAME_H
#define TESSERA_HARNESS_COMMON_RUN_NAME_H

enum { RUN_NAME_BYTES = 40 };

/* id: "20261121-234512-2244", of the time in UTC and two random bytes; started: RFC 3339. */
void run_name_now(char id[RUN_NAME_BYTES], char started[RUN_NAME_BYTES]);

#endif
