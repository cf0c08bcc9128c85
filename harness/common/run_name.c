/* run_name.c - the time, and what tells two of the same second apart. */
#include "common/run_name.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

void run_name_now(char id[RUN_NAME_BYTES], char started[RUN_NAME_BYTES]) {
    time_t now = time(NULL);
    struct tm utc;
    uint32_t random = 0;
    gmtime_r(&now, &utc);
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        random = (uint32_t)getpid();
    char stamp[24];
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
    snprintf(id, RUN_NAME_BYTES, "%s-%08x", stamp, random);
    strftime(started, RUN_NAME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
