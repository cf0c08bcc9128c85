/* record.c - the folder of a stream, a file for each process in it, and a line for each call. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATH_BYTES = 4096, NAMES_MAX = 10000 };

static struct recorder {
    pthread_mutex_t lock; /* of the file */
    char folder[PATH_BYTES], tensors[PATH_BYTES + 16];
    char which[1024];
    _Atomic bool on; /* false: recording is off, or has ended */
    int fd;          /* of this process' file; -1: it has none yet */
    _Atomic uint64_t calls, written;
    _Atomic uint32_t threads, generation; /* a fork makes the next generation */
    pid_t parent;                         /* that forked; 0: this process began by itself */
    uint64_t parent_call;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static _Thread_local bool is_inside;
static _Thread_local uint32_t own_thread, own_generation = UINT32_MAX;

/* ---- writing ---- */

/* A limit of file sizes sends a signal that would end the program. */
static ssize_t write_quietly(int fd, const char *data, size_t count) {
    sigset_t limit, before, pending;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    ssize_t written = write(fd, data, count);
    int why = errno;
    if (written < 0 && why == EFBIG && !sigismember(&pending, SIGXFSZ))
        sigtimedwait(&limit, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return written;
}

bool record_write_all(int fd, const char *data, size_t count) {
    while (count) {
        ssize_t written = write_quietly(fd, data, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        data += written;
        count -= (size_t)written;
    }
    return true;
}

/* The one message: where, and why. */
static void give_up(const char *what, int why) {
    char line[PATH_BYTES + 256];
    if (!atomic_exchange(&recorder.on, false))
        return;
    int length = snprintf(line, sizeof line,
                          "tessera capture: %s: %s; recording ends here, the program goes on\n",
                          what, strerror(why));
    size_t count = length < (int)sizeof line ? (size_t)length : sizeof line - 1;
    ssize_t ignored = write(STDERR_FILENO, line, count);
    (void)ignored;
}

/* ---- what a process is ---- */

static void put_arguments(record_text *t) {
    char data[8192];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? 0 : read(fd, data, sizeof data - 1);
    if (fd >= 0)
        close(fd);
    data[count > 0 ? count : 0] = '\0';
    for (ssize_t at = 0; at < count; at += (ssize_t)strlen(data + at) + 1) {
        record_text_bytes(t, ",", at ? 1 : 0);
        record_text_string(t, data + at);
    }
}

/* Variables that libraries choose by. */
static bool is_telling(const char *variable) {
    static const char *const starts[] = {"OMP_", "OPENBLAS_",       "GOTO_", "MKL_",
                                         "KMP_", "BLIS_",           "BLAS_", "ATLAS_",
                                         "NPY_", "LD_LIBRARY_PATH", "TORCH", "TESSERA_"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(variable, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static void put_environment(record_text *t) {
    char name[128];
    bool first = true;
    for (char **e = environ; e && *e; e++) {
        size_t length = strcspn(*e, "=");
        if (!is_telling(*e) || length >= sizeof name || (*e)[length] != '=')
            continue;
        memcpy(name, *e, length);
        name[length] = '\0';
        record_text_bytes(t, ",", first ? 0 : 1);
        record_text_string(t, name);
        record_text_bytes(t, ":", 1);
        record_text_string(t, *e + length + 1);
        first = false;
    }
}

static void put_cpu(record_text *t) {
    char line[512], *colon;
    FILE *f = fopen("/proc/cpuinfo", "re");
    const char *model = "";
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0 && (colon = strchr(line, ':'))) {
            colon[strcspn(colon, "\n")] = '\0';
            model = colon + 1 + (colon[1] == ' ');
            break;
        }
    record_text_string(t, model);
    if (f)
        fclose(f);
}

/* One for all processes: whoever is first. */
static bool write_stream_head(void) {
    char path[PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/stream.json", recorder.folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == EEXIST;
    record_text t = {0};
    record_text_add(&t, "{\"schema\":\"" RECORD_SCHEMA "\",\"cpu\":");
    put_cpu(&t);
    record_text_add(&t, ",\"cores\":%ld}\n", sysconf(_SC_NPROCESSORS_ONLN));
    bool ok = !t.failed && record_write_all(fd, t.data, t.length);
    record_text_free(&t);
    return close(fd) == 0 && ok;
}

static bool write_process_head(void) {
    struct timespec now;
    record_text t = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    record_text_add(&t, "{\"process\":%d,\"started_ns\":%lld%09ld", (int)getpid(),
                    (long long)now.tv_sec, now.tv_nsec);
    if (recorder.parent)
        record_text_add(&t, ",\"forked_by\":%d,\"after_call\":%llu", (int)recorder.parent,
                        (unsigned long long)recorder.parent_call);
    record_text_add(&t, ",\"program\":[");
    put_arguments(&t);
    record_text_add(&t, "],\"environment\":{");
    put_environment(&t);
    record_text_add(&t, "}}\n");
    bool ok = !t.failed && record_write_all(recorder.fd, t.data, t.length);
    record_text_free(&t);
    return ok;
}

/* calls-PID.jsonl; a number may come again, in a folder that many processes write to. */
static bool open_file(char path[PATH_BYTES + 64]) {
    for (int i = 1; i < NAMES_MAX; i++) {
        int length = snprintf(path, PATH_BYTES + 64, "%s/calls-%d", recorder.folder, (int)getpid());
        if (i > 1)
            length += snprintf(path + length, 16, "-%d", i);
        snprintf(path + length, 16, ".jsonl");
        recorder.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (recorder.fd >= 0 || errno != EEXIST)
            break;
    }
    return recorder.fd >= 0;
}

static bool make_folder(const char *path) {
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* Holding the lock. */
static bool is_ready(void) {
    char path[PATH_BYTES + 64];
    if (recorder.fd >= 0 || !atomic_load(&recorder.on))
        return atomic_load(&recorder.on);
    snprintf(path, sizeof path, "%s", recorder.folder);
    bool ok = make_folder(recorder.folder) && make_folder(recorder.tensors) &&
              write_stream_head() && open_file(path) && write_process_head();
    if (!ok)
        give_up(path, errno);
    return ok;
}

static void write_line(const record_text *line) {
    char what[PATH_BYTES + 64];
    pthread_mutex_lock(&recorder.lock);
    if (is_ready() && !record_write_all(recorder.fd, line->data, line->length)) {
        int why = errno;
        snprintf(what, sizeof what, "%s/calls-%d.jsonl", recorder.folder, (int)getpid());
        give_up(what, why);
    }
    pthread_mutex_unlock(&recorder.lock);
}

/* ---- beginning, forking, ending ---- */

static void before_fork(void) {
    pthread_mutex_lock(&recorder.lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&recorder.lock);
}

/* A process of its own: its file, its numbers, and the one thread that it has. */
static void in_child(void) {
    if (recorder.fd >= 0)
        close(recorder.fd);
    recorder.fd = -1;
    recorder.parent = getppid();
    recorder.parent_call = atomic_load(&recorder.calls);
    atomic_store(&recorder.calls, 0);
    atomic_store(&recorder.written, 0);
    atomic_store(&recorder.threads, 0);
    atomic_fetch_add(&recorder.generation, 1);
    is_inside = false;
    pthread_mutex_unlock(&recorder.lock);
}

static void start(void) {
    const char *folder = getenv(RECORD_VARIABLE), *which = getenv(RECORD_VARIABLE_TENSORS);
    char here[PATH_BYTES];
    if (!folder || !*folder)
        return;
    bool fits = *folder == '/' ? strlen(folder) < sizeof recorder.folder
                               : getcwd(here, sizeof here) &&
                                     strlen(here) + strlen(folder) + 1 < sizeof recorder.folder;
    if (!fits)
        return;
    if (*folder == '/') {
        memcpy(recorder.folder, folder, strlen(folder) + 1);
    } else {
        size_t length = strlen(here);
        memcpy(recorder.folder, here, length);
        recorder.folder[length] = '/';
        memcpy(recorder.folder + length + 1, folder, strlen(folder) + 1);
    }
    snprintf(recorder.tensors, sizeof recorder.tensors, "%s/tensors", recorder.folder);
    snprintf(recorder.which, sizeof recorder.which, "%s", which ? which : "none");
    pthread_atfork(before_fork, after_fork, in_child);
    atomic_store(&recorder.on, true);
}

void record_start(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int why = errno;
    pthread_once(&once, start);
    errno = why;
}

bool record_is_on(void) {
    return atomic_load(&recorder.on);
}

void record_finish(void) {
    record_text t = {0};
    if (!atomic_load(&recorder.on) || recorder.fd < 0)
        return;
    record_text_add(&t, "{\"end\":%llu}\n", (unsigned long long)atomic_load(&recorder.written));
    write_line(&t);
    record_text_free(&t);
}

/* ---- calls ---- */

static uint32_t thread_number(void) {
    uint32_t generation = atomic_load(&recorder.generation);
    if (own_generation != generation) {
        own_thread = atomic_fetch_add(&recorder.threads, 1);
        own_generation = generation;
    }
    return own_thread;
}

bool record_open(record_call *call, const char *function) {
    call->is_open = false;
    if (is_inside || !atomic_load(&recorder.on))
        return false;
    is_inside = true;
    call->is_open = true;
    call->function = function;
    call->library = NULL;
    call->number = atomic_fetch_add(&recorder.calls, 1) + 1;
    call->thread = thread_number();
    call->generation = own_generation;
    call->keeps = record_wants(recorder.which, call->number, function);
    call->arguments = (record_text){0};
    call->tensor_count = 0;
    return true;
}

static void put_name(record_call *call, const char *name) {
    record_text *t = &call->arguments;
    record_text_bytes(t, ",", t->length ? 1 : 0);
    record_text_bytes(t, "[", 1);
    record_text_string(t, name);
}

void record_integer(record_call *call, const char *name, int64_t value) {
    put_name(call, name);
    record_text_add(&call->arguments, ",%lld]", (long long)value);
}

void record_real(record_call *call, const char *name, double value) {
    put_name(call, name);
    record_text_bytes(&call->arguments, ",", 1);
    record_text_real(&call->arguments, value);
    record_text_bytes(&call->arguments, "]", 1);
}

void record_word(record_call *call, const char *name, const char *value) {
    put_name(call, name);
    record_text_bytes(&call->arguments, ",", 1);
    record_text_string(&call->arguments, value);
    record_text_bytes(&call->arguments, "]", 1);
}

void record_letter(record_call *call, const char *name, char value) {
    record_word(call, name, (char[]){value, '\0'});
}

void record_result_of(record_call *call, const record_tensor *tensor) {
    if (call->tensor_count == RECORD_TENSORS_MAX)
        return;
    call->tensors[call->tensor_count] = *tensor;
    call->tensors[call->tensor_count].before[0] = '\0';
    call->tensors[call->tensor_count++].after[0] = '\0';
}

void record_tensor_of(record_call *call, const record_tensor *tensor) {
    record_result_of(call, tensor);
    put_name(call, tensor->name);
    record_text_bytes(&call->arguments, "]", 1);
}

static void take(const record_call *call, const record_tensor *t, char hash[RECORD_HASH_BYTES]) {
    const char *folder = NULL;
    if (call->keeps) {
        pthread_mutex_lock(&recorder.lock);
        folder = is_ready() ? recorder.tensors : NULL;
        pthread_mutex_unlock(&recorder.lock);
    }
    if (!record_tensor_take(t, folder, hash))
        give_up(recorder.tensors, errno);
}

void record_before(record_call *call) {
    int why = errno;
    for (uint32_t i = 0; i < call->tensor_count && atomic_load(&recorder.on); i++)
        if (call->tensors[i].role != RECORD_OUTPUT)
            take(call, &call->tensors[i], call->tensors[i].before);
    errno = why;
}

static void put_list(record_text *line, const char *name, int rank, const int64_t *numbers) {
    record_text_add(line, ",\"%s\":[", name);
    for (int axis = 0; axis < rank; axis++)
        record_text_add(line, "%s%lld", axis ? "," : "", (long long)numbers[axis]);
    record_text_bytes(line, "]", 1);
}

static void put_tensor(record_text *line, const record_tensor *t) {
    static const char *const roles[] = {"input", "output", "both"};
    static const char *const parts[] = {NULL, "upper", "lower", "upper-open", "lower-open"};
    record_text_add(line, "{\"name\":");
    record_text_string(line, t->name);
    record_text_add(line, ",\"role\":\"%s\",\"dtype\":\"%s\"", roles[t->role], t->dtype);
    put_list(line, "shape", t->rank, t->shape);
    put_list(line, "strides", t->rank, t->strides);
    if (parts[t->part])
        record_text_add(line, ",\"part\":\"%s\"", parts[t->part]);
    if (*t->before)
        record_text_add(line, ",\"before\":\"%s\"", t->before);
    if (*t->after)
        record_text_add(line, ",\"after\":\"%s\"", t->after);
    record_text_bytes(line, "}", 1);
}

static void write_call(record_call *call) {
    record_text line = {0};
    for (uint32_t i = 0; i < call->tensor_count && atomic_load(&recorder.on); i++)
        if (call->tensors[i].role != RECORD_INPUT)
            take(call, &call->tensors[i], call->tensors[i].after);
    if (!atomic_load(&recorder.on))
        return;
    record_text_add(&line,
                    "{\"call\":%llu,\"thread\":%u,\"function\":", (unsigned long long)call->number,
                    call->thread);
    record_text_string(&line, call->function);
    if (call->library) {
        record_text_add(&line, ",\"library\":");
        record_text_string(&line, call->library);
    }
    record_text_add(&line, ",\"arguments\":[");
    record_text_bytes(&line, call->arguments.data ? call->arguments.data : "",
                      call->arguments.length);
    record_text_add(&line, "],\"tensors\":[");
    for (uint32_t i = 0; i < call->tensor_count; i++) {
        record_text_bytes(&line, ",", i ? 1 : 0);
        put_tensor(&line, &call->tensors[i]);
    }
    record_text_add(&line, "]%s}\n", call->keeps ? ",\"kept\":true" : "");
    if (line.failed || call->arguments.failed) {
        give_up(recorder.folder, ENOMEM);
    } else {
        atomic_fetch_add(&recorder.written, 1);
        write_line(&line);
    }
    record_text_free(&line);
}

void record_drop(record_call *call) {
    if (!call->is_open)
        return;
    call->is_open = is_inside = false;
    record_text_free(&call->arguments);
}

void record_close(record_call *call) {
    int why = errno;
    /* A call that forked and went on in its child is the parent's. */
    if (call->is_open && call->generation == atomic_load(&recorder.generation))
        write_call(call);
    record_drop(call);
    errno = why;
}
