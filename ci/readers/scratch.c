/* scratch.c - one folder a process. */
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], path[256];
static char names[8][128];
static int name_count;

static void remove_folder(void) {
    for (int i = 0; i < name_count; i++)
        unlink(names[i]);
    rmdir(folder);
}

static void open_folder(void) {
    snprintf(folder, sizeof folder, "%s/tsr-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(1);
    }
    atexit(remove_folder);
}

static void remember(void) {
    for (int i = 0; i < name_count; i++)
        if (strcmp(names[i], path) == 0)
            return;
    if (name_count < 8)
        snprintf(names[name_count++], sizeof names[0], "%.127s", path);
}

const char *scratch_file(const char *name, const void *data, size_t size) {
    if (!folder[0])
        open_folder();
    snprintf(path, sizeof path, "%s/%.60s", folder, name);
    remember();
    FILE *f = fopen(path, "wb");
    if (!f || (size && fwrite(data, 1, size, f) != size) || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
    return path;
}
