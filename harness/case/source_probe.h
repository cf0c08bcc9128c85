/* source_probe.h - sources are read in a process of their own first.
 *
 * What ends the program when a source is read would end the whole run with it. So a child reads
 * each file before this process does; a file that ends the child, or keeps it too long, is an error
 * of that file alone. The child is a fork and not this program again: it costs about as much as
 * reading the files. */
#ifndef TESSERA_HARNESS_CASE_SOURCE_PROBE_H
#define TESSERA_HARNESS_CASE_SOURCE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/text.h"

typedef struct source_probe {
    char *const *paths; /* borrowed */
    size_t count;
    size_t next; /* the file that the child is at */
    pid_t pid;   /* 0: no child runs */
    int fd;      /* one byte for each file that was read */
} source_probe;

/* Call it before there are threads. Where no process can be had nothing is probed. */
void source_probe_start(source_probe *p, char *const *paths, size_t count);
/* Waits for file `i`; in order. False: this process must not read it, and why. */
bool source_probe_passes(source_probe *p, size_t i, text *why);
void source_probe_stop(source_probe *p);

/* One file by itself. False with a message: it must not be read here. */
bool source_probe_one(const char *path, status *st);

#endif
