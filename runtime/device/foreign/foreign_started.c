/* foreign_started.c - the processes that guests have started, and that still live. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/foreign/foreign_parts.h"

enum { DESCENDANTS_MAX = 4096, LOOKS_BEFORE_MEMORY = 2 };

/* ... or the keeper of one. */
static bool is_guest(pid_t pid) {
    for (const foreign_image *image = foreign_living; image; image = image->next_living)
        if (image->pid == pid || image->keeper == pid)
            return true;
    return false;
}

static void add_children_of_thread(pid_t pid, const char *thread, foreign_processes *out) {
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, thread);
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%d", &child) == 1)
        vec_push(out, (pid_t)child);
    if (file)
        (void)fclose(file);
}

static void add_children(pid_t pid, foreign_processes *out) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads && (entry = readdir(threads)) != NULL;)
        if (entry->d_name[0] != '.')
            add_children_of_thread(pid, entry->d_name, out);
    if (threads)
        closedir(threads);
}

foreign_processes foreign_left_behind(bool (*spared)(pid_t pid)) {
    foreign_processes all = {0}, left = {0};
    add_children(getpid(), &all);
    for (size_t i = 0; i < all.count && i < DESCENDANTS_MAX; i++) {
        if (spared && spared(all.items[i]))
            continue;
        if (!is_guest(all.items[i]))
            vec_push(&left, all.items[i]);
        add_children(all.items[i], &all);
    }
    vec_release(&all);
    return left;
}

/* ---- whose they are ---- */

/* Pages for tensors are not handed on to a child, unless it is made to have them. A program that is
 * just being started shares them for a moment. */
static bool has_our_memory(pid_t pid) {
    char path[64], line[512];
    bool any = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && !any && fgets(line, sizeof line, file))
        any = strstr(line, "memfd:tessera-memory") != NULL;
    if (file)
        (void)fclose(file);
    return any;
}

static bool note(pid_t pid, uint64_t owner) {
    for (size_t i = 0; i < foreign_started.count; i++) {
        foreign_started_process *p = &foreign_started.items[i];
        if (p->pid != pid)
            continue;
        p->found = true;
        if (++p->looks >= LOOKS_BEFORE_MEMORY)
            p->holds_memory = has_our_memory(pid);
        return false;
    }
    const foreign_started_process fresh = {.pid = pid, .owner = owner, .found = true};
    vec_push(&foreign_started, fresh);
    return true;
}

static bool note_children(pid_t of, uint64_t owner) {
    foreign_processes all = {0};
    bool any = false;
    add_children(of, &all);
    for (size_t i = 0; i < all.count && i < DESCENDANTS_MAX; i++) {
        if (is_guest(all.items[i]) || foreign_is_spared(all.items[i]))
            continue;
        any |= note(all.items[i], owner);
        add_children(all.items[i], &all);
    }
    vec_release(&all);
    return any;
}

bool foreign_find_started(uint64_t in_hand) {
    size_t kept = 0;
    bool any = false;
    for (size_t i = 0; i < foreign_started.count; i++)
        foreign_started.items[i].found = false;
    for (const foreign_image *image = foreign_living; image; image = image->next_living)
        any |= (image->pid && note_children(image->pid, image->number)) |
               (image->keeper && note_children(image->keeper, image->number));
    any |= note_children(getpid(), in_hand);
    for (size_t i = 0; i < foreign_started.count; i++)
        if (foreign_started.items[i].found)
            foreign_started.items[kept++] = foreign_started.items[i];
    foreign_started.count = kept;
    return any;
}
