/* opened.c - see opened.h. */
#include "exec/opened.h"

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "common/json_text.h"

static const char variable[] = "TESSERA_OPENED";
enum { TOLD_BYTES_MAX = 1 << 20, FOUND_MAX = 64 };

void opened_begin(const char *folder) {
    text path;
    text_init(&path);
    text_printf(&path, "%s/.opened", folder);
    setenv(variable, path.data, 1); // NOLINT(concurrency-mt-unsafe)
    text_release(&path);
}

/* ---- what counts ---- */

/* The system's and Python's own are wherever the code is. */
static bool is_common(const char *path) {
    static const char *const folders[] = {"/usr/", "/lib",  "/proc/", "/sys/",
                                          "/dev/", "/etc/", "/run/",  "/bin/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return strstr(path, "-packages/") != NULL;
}

static bool is_known(const json_t *found, const char *name) {
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)(uintptr_t)found, i,
                       one) if (strcmp(json_text_at(one, "name"), name) == 0) return true;
    return json_array_size(found) >= FOUND_MAX;
}

static void add(json_t *found, const char *how, const char *name) {
    if (!is_known(found, name))
        json_array_append_new(found, json_pack("{s:s, s:o}", "how", how, "name", json_text(name)));
}

static void add_file(json_t *found, const char *how, const char *path, const char *implementation) {
    struct stat facts;
    if (path[0] == '/' && !is_common(path) && stat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
        !file_is_same(path, implementation))
        add(found, how, path);
}

/* ---- a process ---- */

/* Mapped code: libraries that are no part of the system. */
static void look_at_maps(json_t *found, int pid, const char *implementation) {
    char path[64], own[PATH_MAX], line[PATH_MAX + 128];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    ssize_t length = readlink(path, own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        char *name = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (name && strstr(line, " r-xp ") && strcmp(name, own) != 0)
            add_file(found, "loaded", name, implementation);
    }
    if (maps)
        (void)fclose(maps);
}

static void look_at_files(json_t *found, int pid, const char *implementation) {
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *files = opendir(path);
    for (struct dirent *entry; files && (entry = readdir(files));) {
        char link[128];
        snprintf(link, sizeof link, "%s/%.20s", path, entry->d_name);
        ssize_t length = readlink(link, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        add_file(found, "read", target, implementation);
    }
    if (files)
        closedir(files);
}

static void look_below(json_t *found, int pid, const char *implementation, int depth);

static void look_at_children(json_t *found, const char *path, const char *implementation,
                             int depth) {
    int child;
    FILE *children = fopen(path, "re");
    while (children && fscanf(children, "%d", &child) == 1) {
        look_at_maps(found, child, implementation);
        look_at_files(found, child, implementation);
        if (depth > 0)
            look_below(found, child, implementation, depth - 1);
    }
    if (children)
        (void)fclose(children);
}

static void look_below(json_t *found, int pid, const char *implementation, int depth) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads && (entry = readdir(threads));) {
        char children[128];
        snprintf(children, sizeof children, "%s/%.20s/children", path, entry->d_name);
        if (entry->d_name[0] != '.')
            look_at_children(found, children, implementation, depth);
    }
    if (threads)
        closedir(threads);
}

void opened_look(json_t *found, const char *implementation) {
    enum { DEPTH = 2 };
    look_below(found, (int)getpid(), implementation, DEPTH);
}

/* ---- Python ---- */

/* Lines "how\tname". */
void opened_end(json_t *found, const char *implementation) {
    const char *path = getenv(variable);
    char *told = NULL, *rest = NULL;
    size_t size;
    status ignored = STATUS_INIT;
    if (path && file_exists(path) && file_read(path, TOLD_BYTES_MAX, &told, &size, &ignored))
        for (char *line = strtok_r(told, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            char *name = strchr(line, '\t');
            if (!name)
                continue;
            *name++ = '\0';
            if (strcmp(line, "variable") == 0)
                add(found, line, name);
            else
                add_file(found, line, name, implementation);
        }
    free(told);
    unsetenv(variable); // NOLINT(concurrency-mt-unsafe)
}
