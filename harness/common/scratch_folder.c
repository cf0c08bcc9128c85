/* scratch_folder.c - mkdtemp, a lock on the folder, and the removal of whole trees. */
#include "common/scratch_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"

enum { RANDOM_LENGTH = 6, TRIES = 16, DESCRIPTORS = 8 };

static const char *parent_or_default(const char *parent) {
    const char *folder = getenv("TMPDIR");
    return parent ? parent : folder && *folder ? folder : "/tmp";
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *at) {
    (void)about, (void)kind, (void)at;
    remove(path);
    return 0;
}

static void remove_tree(const char *path) {
    nftw(path, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Is `fd` still what `path` names? A sweep may have removed it before it was locked. */
static bool still_there(int fd, const char *path) {
    struct stat held, named;
    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

/* The folder, locked; -1 where another process holds it, or it is no folder of this user. */
static int lock_folder(const char *path, int operation) {
    struct stat about;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &about) == 0 && about.st_uid == geteuid() && flock(fd, operation) == 0 &&
        still_there(fd, path))
        return fd;
    close(fd);
    return -1;
}

static bool is_ours(const char *name, const char *prefix) {
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && strlen(name) == length + RANDOM_LENGTH;
}

void scratch_folder_sweep(const char *parent, const char *prefix) {
    const char *folder = parent_or_default(parent);
    DIR *directory = opendir(folder);
    text path;
    if (!directory)
        return;
    text_init(&path);
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!is_ours(entry->d_name, prefix))
            continue;
        text_clear(&path);
        text_printf(&path, "%s/%s", folder, entry->d_name);
        int fd = lock_folder(path.data, LOCK_EX | LOCK_NB);
        if (fd >= 0) {
            remove_tree(path.data);
            close(fd);
        }
    }
    text_release(&path);
    closedir(directory);
}

bool scratch_folder_open(scratch_folder *s, const char *parent, const char *prefix, status *st) {
    const char *folder = parent_or_default(parent);
    text path;
    text_init(&path);
    *s = (scratch_folder){NULL, -1};
    scratch_folder_sweep(parent, prefix);
    for (int i = 0; i < TRIES && s->lock < 0; i++) {
        text_clear(&path);
        text_printf(&path, "%s/%sXXXXXX", folder, prefix);
        if (!mkdtemp(path.data)) {
            status_set_errno(st, errno, "cannot make a folder in %s", folder);
            text_release(&path);
            return false;
        }
        s->lock = lock_folder(path.data, LOCK_EX);
    }
    if (s->lock >= 0)
        s->path = base_strdup(path.data);
    else
        status_set(st, STATUS_IO, "cannot lock a folder in %s", folder);
    text_release(&path);
    return s->lock >= 0;
}

void scratch_folder_close(scratch_folder *s) {
    if (!s->path)
        return;
    remove_tree(s->path);
    close(s->lock);
    free(s->path);
    *s = (scratch_folder){NULL, -1};
}
