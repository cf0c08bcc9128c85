/* cpu_feature.c - reads the flags line once. */
#include "measure/cpu_feature.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *flags;

static void read_flags(void) {
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t capacity = 0;
    while (file && !flags && getline(&line, &capacity, file) > 0) {
        if (strncmp(line, "flags", 5) == 0) {
            line[strcspn(line, "\n")] = ' ';
            flags = line;
            line = NULL;
        }
    }
    free(line);
    if (file)
        fclose(file);
}

bool cpu_has_feature(const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_flags);
    if (!name)
        return true;
    size_t length = strlen(name);
    for (const char *p = flags; p && (p = strstr(p, name)); p += length)
        if (p > flags && (p[-1] == ' ' || p[-1] == '\t') && p[length] == ' ')
            return true;
    return false;
}

bool cpu_is_virtual(void) {
    return cpu_has_feature("hypervisor");
}
