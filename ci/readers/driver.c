/* driver.c - runs a fuzz target over files and folders of them: the kept inputs as a test. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "fuzz.h"

enum { INPUT_BYTES_MAX = 1 << 20 };

static int run_file(const char *path) {
    char *data = NULL;
    size_t size = 0;
    status st = STATUS_INIT;
    if (!file_read(path, INPUT_BYTES_MAX, &data, &size, &st)) {
        fprintf(stderr, "%s\n", st.message);
        return -1;
    }
    /* A copy of exactly its size: reading past the end is seen by the address sanitizer. */
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        return -1;
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    free(data);
    return 1;
}

static int run_path(const char *path) {
    if (!file_is_dir(path))
        return run_file(path);
    DIR *d = opendir(path);
    int count = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char inside[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(inside, sizeof inside, "%s/%s", path, e->d_name);
        int n = run_path(inside);
        if (n < 0) {
            count = n;
            break;
        }
        count += n;
    }
    if (d)
        closedir(d);
    return d ? count : -1;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        int n = run_path(argv[i]);
        if (n <= 0) {
            fprintf(stderr, "%s: no inputs\n", argv[i]);
            return 1;
        }
        count += n;
    }
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
