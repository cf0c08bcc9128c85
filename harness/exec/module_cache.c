/* module_cache.c - keys, files, and what goes when there are too many. */
#include "exec/module_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/vec.h"
#include "common/build_id.h"
#include "common/timer.h"
#include "device/host/host.h"

enum { FILE_BYTES_MAX = 64 << 20, STORES_BETWEEN_TRIMS = 64, ABANDONED_S = 3600 };
static const char magic[8] = "tsrc\1\n\0";

/* ---- the folder ---- */

static char *folder_name(void) {
    const char *given = getenv("TSR_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    text path;
    if (given && *given)
        return base_strdup(given);
    if (!(xdg && *xdg == '/') && !(home && *home == '/'))
        return NULL;
    text_init(&path);
    text_printf(&path, "%s%s/tessera", xdg && *xdg == '/' ? xdg : home,
                xdg && *xdg == '/' ? "" : "/.cache");
    char *kept = text_take(&path);
    text_release(&path);
    return kept;
}

static bool is_private(const char *folder, status *st) {
    struct stat info;
    if (stat(folder, &info) != 0)
        return status_set_errno(st, errno, "no modules are cached: %s", folder);
    if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 022))
        return status_set(st, STATUS_INVALID,
                          "no modules are cached: %s must be a folder of yours that nobody else "
                          "can write to",
                          folder);
    return true;
}

char *module_cache_folder(status *st) {
    char *folder = folder_name();
    status made = STATUS_INIT;
    if (!folder)
        return NULL;
    bool there = file_is_dir(folder);
    if (!there && file_make_parent(folder, &made) && mkdir(folder, 0700) != 0 && errno != EEXIST)
        status_set_errno(&made, errno, "cannot make %s", folder);
    if (made.code == STATUS_OK
            ? is_private(folder, st)
            : status_set(st, made.code, "no modules are cached: %s", made.message))
        return folder;
    free(folder);
    return NULL;
}

/* ---- keys ---- */

static void describe_schedule(const compiler_options *o, text *out) {
    const compiler_special *special = compiler_special_of(o->source_schedule, o->isa);
    text_printf(out, "schedule %s loose %d\n", o->schedule ? o->schedule : "", o->schedule_loose);
    if (special)
        text_printf(out, "special %s: %s\n", special->when, special->use);
    for (uint32_t i = 0; o->source_schedule && i < o->source_schedule->count; i++) {
        const compiler_schedule_entry *e = &o->source_schedule->entries[i];
        text_printf(out, "written %s %u %" PRId64 "%s\n", e->name, e->groups, e->value,
                    e->vectors ? "v" : "");
    }
}

/* Only what stands in a module. */
static void describe_provenance(const compiler_provenance *p, text *out) {
    if (p->tuned)
        text_printf(out, "tuned %s\n", p->tuned);
    if (p->space && *p->space)
        text_printf(out, "space %s\n", p->space);
    if (p->specialized)
        text_append(out, "specialized\n");
    if (p->unused_hints && *p->unused_hints)
        text_printf(out, "unused %s\n", p->unused_hints);
}

static void describe_dims(ir_bindings dims, text *out) {
    text_printf(out, "dims %u\n", dims.count);
    for (uint32_t i = 0; i < dims.count; i++)
        text_printf(out, "dim %s %" PRId64 "\n", dims.items[i].name, dims.items[i].value);
}

/* Whoever adds an option adds it to the key, or says here why it has no say in a module: emit and
 * lines only ask for texts, barriers for a number, and what an assembler says is not kept. */
_Static_assert(sizeof(void *) != 8 || sizeof(compiler_options) == 168,
               "key_of has every option that a module depends on");

/* False where the program has no build id, or the ISA level is not known: compiling says why. */
static bool key_of(compiler_instance *instance, const compiler_options *o, sha256 *key) {
    const char *isa = o->isa ? o->isa : host_isa();
    text words;
    if (!isa || !*build_id())
        return false;
    text_init(&words);
    text_printf(&words, "%s llvm ", build_id());
    compiler_llvm_identity(&words);
    text_printf(&words, "\nisa %s", isa);
    for (uint32_t i = 0; i < o->also_count; i++)
        text_printf(&words, " %s", o->also[i]);
    text_printf(&words, "\nprofile %s threads %u unoptimised %d check_bounds %d\n",
                compiler_profile_name(o->profile), o->threads, o->unoptimised, o->check_bounds);
    describe_dims(compiler_instance_dims(instance), &words);
    text_printf(&words, "generic %d\nconstants %s\n", o->generic, o->constants ? o->constants : "");
    for (uint32_t i = 0; i < o->variant_count; i++)
        describe_dims(o->variants[i], &words);
    describe_schedule(o, &words);
    if (o->ranks)
        text_printf(&words, "rank %u of %u, layout %s\n", o->ranks->rank, o->ranks->count,
                    o->ranks->layout ? o->ranks->layout : "");
    for (uint32_t i = 2; o->ranks && o->ranks->whole && i <= o->ranks->count; i++)
        text_printf(&words, "whole %lld\n", (long long)o->ranks->whole[i]);
    if (o->ranks && o->ranks->bucket_bytes)
        text_printf(&words, "bucket %lld\n", (long long)o->ranks->bucket_bytes);
    if (o->provenance)
        describe_provenance(o->provenance, &words);
    compiler_instance_settings(instance, &words);
    const text *graph = compiler_instance_text(instance);
    text_append_bytes(&words, graph->data, graph->length);
    *key = sha256_of(words.data, words.length);
    text_release(&words);
    return true;
}

/* ---- files ---- */

typedef struct file_head {
    char magic[8];
    sha256 key, graph, schedule, module;
    uint64_t image_bytes;
} file_head;

static void path_of(const char *folder, const sha256 *key, text *out) {
    char hex[65];
    sha256_hex(key, hex);
    text_printf(out, "%s/%s.tsrm", folder, hex);
}

static bool same(const sha256 *a, const sha256 *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* A file that is what its name says; else false, and it will be replaced. */
static bool take(const char *path, const sha256 *key, compiler_artifact *out) {
    char *data;
    size_t size;
    file_head head;
    status ignored = STATUS_INIT;
    if (!file_read(path, FILE_BYTES_MAX, &data, &size, &ignored))
        return false;
    bool good = size >= sizeof head;
    if (good)
        memcpy(&head, data, sizeof head);
    good = good && memcmp(head.magic, magic, sizeof magic) == 0 && same(&head.key, key) &&
           head.image_bytes == size - sizeof head;
    sha256 found = good ? sha256_of(data + sizeof head, head.image_bytes) : head.module;
    good = good && same(&found, &head.module);
    if (good) {
        memmove(data, data + sizeof head, head.image_bytes);
        *out = (compiler_artifact){.image = data,
                                   .image_size = head.image_bytes,
                                   .graph_hash = head.graph,
                                   .schedule_hash = head.schedule,
                                   .module_hash = head.module};
        utimensat(AT_FDCWD, path, NULL, 0); /* used now: the last to go */
        return true;
    }
    free(data);
    return false;
}

void module_cache_put(const char *folder, const char *path, const file_part *parts, size_t count) {
    static atomic_uint stores;
    unsigned number = atomic_fetch_add(&stores, 1);
    status ignored = STATUS_INIT;
    text temporary;
    text_init(&temporary);
    text_printf(&temporary, "%s/.new-%ld-%u", folder, (long)getpid(), number);
    if (!file_write_scratch(temporary.data, parts, count, &ignored) ||
        rename(temporary.data, path) != 0)
        unlink(temporary.data);
    text_release(&temporary);
    if (number % STORES_BETWEEN_TRIMS == 0)
        module_cache_trim(folder, MODULE_CACHE_BYTES);
}

static void keep(const char *folder, const char *path, const sha256 *key,
                 const compiler_artifact *artifact) {
    file_head head = {.key = *key,
                      .graph = artifact->graph_hash,
                      .schedule = artifact->schedule_hash,
                      .module = artifact->module_hash,
                      .image_bytes = artifact->image_size};
    memcpy(head.magic, magic, sizeof magic);
    file_part parts[] = {{&head, sizeof head}, {artifact->image, artifact->image_size}};
    module_cache_put(folder, path, parts, 2);
}

bool module_cache_build(const char *folder, compiler_instance *instance,
                        const compiler_options *options, compiler_artifact *out, bool *cached,
                        status *st) {
    uint64_t start = timer_now_ns();
    sha256 key;
    text path;
    *cached = false;
    if (!folder || options->fault || options->drop_barrier || options->emit || options->verify ||
        options->assembler || options->stored || !key_of(instance, options, &key))
        return compiler_build(instance, options, out, st);
    text_init(&path);
    path_of(folder, &key, &path);
    *cached = take(path.data, &key, out);
    bool ok = *cached || compiler_build(instance, options, out, st);
    if (ok && !*cached)
        keep(folder, path.data, &key, out);
    out->compile_ns = timer_now_ns() - start;
    text_release(&path);
    return ok;
}

/* ---- room ---- */

typedef struct kept_file {
    char name[80];
    uint64_t bytes;
    struct timespec used;
} kept_file;

static int by_use(const void *a, const void *b) {
    const struct timespec *x = &((const kept_file *)a)->used, *y = &((const kept_file *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), wanted = strlen(end);
    return length >= wanted && strcmp(name + length - wanted, end) == 0;
}

void module_cache_trim(const char *folder, uint64_t bytes) {
    VEC(kept_file) files = {0};
    uint64_t sum = 0;
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        kept_file f;
        struct stat info;
        if (strlen(entry->d_name) >= sizeof f.name ||
            fstatat(dirfd(d), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (strncmp(entry->d_name, ".new-", 5) == 0 &&
            info.st_mtim.tv_sec + ABANDONED_S < time(NULL))
            unlinkat(dirfd(d), entry->d_name, 0);
        if (!ends_with(entry->d_name, ".tsrm") && !ends_with(entry->d_name, ".read"))
            continue;
        memcpy(f.name, entry->d_name, strlen(entry->d_name) + 1);
        f.bytes = (uint64_t)info.st_size;
        f.used = info.st_mtim;
        sum += f.bytes;
        vec_push(&files, f);
    }
    if (files.count)
        qsort(files.items, files.count, sizeof files.items[0], by_use);
    for (size_t i = 0; i < files.count && sum > bytes; i++) {
        unlinkat(dirfd(d), files.items[i].name, 0);
        sum -= files.items[i].bytes;
    }
    vec_release(&files);
    if (d)
        closedir(d);
}
