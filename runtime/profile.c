/* profile.c - spans as OTLP in JSON (opentelemetry-proto 1, the file exporter's lines), and ranges
 * of NVTX. */
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/splitmix64.h"
#include "base/text.h"
#include "base/vec.h"
#include "nvtx.h"
#include "tessera/tessera.h"

enum { BATCH = 256, TRACE_HEX = 33, SPAN_HEX = 17, NAME_BYTES = 64 };

typedef struct span {
    uint64_t id, parent, start_ns, end_ns; /* times of CLOCK_MONOTONIC */
    char name[NAME_BYTES];
    const char *kind;
    int64_t serial, bytes; /* negative: none */
    bool by_device;        /* the device's clock told it */
} span;

struct profile {
    profile *next; /* of all that are open */
    pthread_mutex_t mutex;
    bool spans, phases, marks, is_host, told, ended;
    nvtx nvtx;
    char *path;            /* owned; of the spans */
    char trace[TRACE_HEX]; /* in hex */
    uint64_t outer;        /* the span around the process's, of $TRACEPARENT; 0: none */
    uint64_t root, random, opened_ns, launches;
    int64_t to_unix_ns; /* of CLOCK_MONOTONIC */
    /* From the device's clock to CLOCK_MONOTONIC: the least that a launch was heard of after its
     * end. The host's clock is that one. */
    uint64_t offset_ns;
    char *device; /* owned; the attribute, as JSON */
    VEC(span) batch;
};

/* ---- names and numbers ---- */

static bool is_hex(const char *words, size_t count) {
    return strspn(words, "0123456789abcdef") >= count && strspn(words, "0") < count;
}

/* The trace that this process is part of: W3C's traceparent, 00-TRACE-SPAN-FLAGS. */
static void find_trace(profile *p) {
    const char *given = getenv("TRACEPARENT"); // NOLINT(concurrency-mt-unsafe)
    bool sound = given && strlen(given) == 55 && strncmp(given, "00-", 3) == 0 &&
                 is_hex(given + 3, 32) && given[35] == '-' && is_hex(given + 36, 16) &&
                 given[52] == '-';
    if (sound) {
        snprintf(p->trace, sizeof p->trace, "%.32s", given + 3);
        p->outer = strtoull(given + 36, NULL, 16);
    } else {
        snprintf(p->trace, sizeof p->trace, "%016" PRIx64 "%016" PRIx64, splitmix64(&p->random) | 1,
                 splitmix64(&p->random));
    }
}

static uint64_t new_id(profile *p) {
    uint64_t id;
    while ((id = splitmix64(&p->random)) == 0)
        ;
    return id;
}

static int64_t find_unix_offset(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - (int64_t)clock_now_ns();
}

/* ---- writing ----
 *
 * Lines are put together as text: a document of jansson takes ten times as long. */

/* JSON's form of a text, with its quotes. */
static void quote(const char *words, text *out) {
    bool plain = true;
    for (const char *c = words; *c && plain; c++)
        plain = *c >= ' ' && *c < 0x7f && *c != '"' && *c != '\\';
    json_t *value = plain ? NULL : json_string(words);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (quoted)
        text_append(out, quoted);
    else
        text_printf(out, "\"%s\"", plain ? words : "");
    free(quoted);
    json_decref(value);
}

static void put_text(const char *key, const char *value, text *out) {
    text_printf(out, ",{\"key\":\"%s\",\"value\":{\"stringValue\":\"%s\"}}", key, value);
}

/* OTLP writes 64-bit numbers as texts. */
static void put_number(const char *key, int64_t value, text *out) {
    text_printf(out, ",{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRId64 "\"}}", key, value);
}

static void put_span(const profile *p, const span *s, text *out) {
    text_printf(out, "{\"traceId\":\"%s\",\"spanId\":\"%016" PRIx64 "\",\"parentSpanId\":\"",
                p->trace, s->id);
    if (s->parent)
        text_printf(out, "%016" PRIx64, s->parent);
    text_append(out, "\",\"name\":");
    quote(s->name, out);
    text_printf(out,
                ",\"kind\":1,\"startTimeUnixNano\":\"%" PRId64 "\",\"endTimeUnixNano\":\"%" PRId64
                "\",\"attributes\":[%s",
                (int64_t)s->start_ns + p->to_unix_ns, (int64_t)s->end_ns + p->to_unix_ns,
                p->device);
    put_text("tessera.kind", s->kind, out);
    if (s->serial >= 0)
        put_number("tessera.launch", s->serial, out);
    if (s->bytes >= 0)
        put_number("tessera.bytes", s->bytes, out);
    if (s->by_device)
        put_text("tessera.clock", "device", out);
    text_append(out, "],\"status\":{}}");
}

static void put_resource(text *out) {
    const char *service = getenv("OTEL_SERVICE_NAME"); // NOLINT(concurrency-mt-unsafe)
    text_append(out, "{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":");
    quote(service && *service ? service : "tessera", out);
    text_append(out, "}}");
    put_number("process.pid", getpid(), out);
    text_append(out, "]}");
}

/* One write, so that several contexts and processes can share the file. */
static bool append_line(const profile *p, const text *line) {
    int fd = open(p->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    bool ok = file_append(fd, line->data, line->length);
    return (close(fd) == 0) && ok;
}

/* The mutex is held. */
static void write_batch(profile *p) {
    text line;
    if (p->batch.count == 0)
        return;
    text_init(&line);
    text_append(&line, "{\"resourceSpans\":[{\"resource\":");
    put_resource(&line);
    text_printf(&line,
                ",\"scopeSpans\":[{\"scope\":{\"name\":\"tessera\",\"version\":\"%d.%d\"},"
                "\"spans\":[",
                TSR_ABI_MAJOR, TSR_ABI_MINOR);
    for (size_t i = 0; i < p->batch.count; i++) {
        if (i)
            text_append_char(&line, ',');
        put_span(p, &p->batch.items[i], &line);
    }
    text_append(&line, "]}]}]}\n");
    if (!append_line(p, &line) && !p->told) {
        log_write(LOG_WARN, "spans cannot be appended to %s: %s", p->path, strerror(errno));
        p->told = true;
    }
    text_release(&line);
    p->batch.count = 0;
}

static void add(profile *p, const span *s) {
    if (p->ended)
        return;
    vec_push(&p->batch, *s);
    if (p->batch.count >= BATCH)
        write_batch(p);
}

/* ---- launches ---- */

static const char *kind_of(const char *phase) {
    static const struct {
        const char *phase, *kind;
    } kinds[] = {
#define PHASE(name, category) {name, category},
#include "phases.def"
#undef PHASE
    };
    for (size_t i = 0; phase && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].phase, phase) == 0)
            return kinds[i].kind;
    return "other";
}

/* Brings a time of the device's clock to CLOCK_MONOTONIC. */
static void note_offset(profile *p, const device_times *times) {
    if (p->is_host)
        return;
    const uint64_t offset = clock_now_ns() - (times->start_ns + times->total_ns);
    if (offset < p->offset_ns)
        p->offset_ns = offset;
}

static void add_phases(profile *p, const span *whole, const device_times *times,
                       const metadata_image *image) {
    uint64_t start = whole->start_ns;
    for (uint32_t i = 0; i < times->phases && i < DEVICE_TIMED_PHASES; i++) {
        const char *what = image && i < image->phase_count ? image->phases[i].what : "";
        span s = {.id = new_id(p),
                  .parent = whole->id,
                  .start_ns = start,
                  .end_ns = start + times->phase_ns[i],
                  .kind = kind_of(what),
                  .serial = whole->serial,
                  .bytes = -1,
                  .by_device = whole->by_device};
        snprintf(s.name, sizeof s.name, "%s", *what ? what : "phase");
        add(p, &s);
        start = s.end_ns;
    }
}

void profile_launch(profile *p, const device_times *times, const metadata_image *image) {
    if (!p || !p->spans)
        return;
    pthread_mutex_lock(&p->mutex);
    note_offset(p, times);
    span whole = {.id = new_id(p),
                  .parent = p->root,
                  .start_ns = times->start_ns + p->offset_ns,
                  .end_ns = times->start_ns + p->offset_ns + times->total_ns,
                  .kind = "launch",
                  .serial = (int64_t)p->launches++,
                  .bytes = -1,
                  .by_device = !p->is_host};
    snprintf(whole.name, sizeof whole.name, "%s", times->label ? times->label : "kernel");
    add(p, &whole);
    if (p->phases)
        add_phases(p, &whole, times, image);
    pthread_mutex_unlock(&p->mutex);
}

/* ---- calls ---- */

void profile_call_begin(profile_call *call, const char *name) {
    if (call->of->marks)
        (void)call->of->nvtx.push(name);
    call->start_ns = clock_now_ns();
}

void profile_call_end(const profile_call *call, uint64_t bytes) {
    profile *p = call->of;
    if (p->marks)
        (void)p->nvtx.pop();
    if (!p->spans)
        return;
    pthread_mutex_lock(&p->mutex);
    span s = {.id = new_id(p),
              .parent = p->root,
              .start_ns = call->start_ns,
              .end_ns = clock_now_ns(),
              .kind = call->kind,
              .serial = -1,
              .bytes = bytes ? (int64_t)bytes : -1};
    snprintf(s.name, sizeof s.name, "%s", call->name);
    add(p, &s);
    pthread_mutex_unlock(&p->mutex);
}

bool profile_times(const profile *p) {
    return p && p->spans;
}

/* ---- the life of one ---- */

static struct {
    pthread_mutex_t mutex;
    profile *first;
    bool watched; /* the end of the process */
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The span of the context, and all that was not written; once. */
static void end(profile *p) {
    pthread_mutex_lock(&p->mutex);
    if (p->spans && !p->ended) {
        span whole = {.id = p->root,
                      .parent = p->outer,
                      .start_ns = p->opened_ns,
                      .end_ns = clock_now_ns(),
                      .name = "context",
                      .kind = "host",
                      .serial = -1,
                      .bytes = -1};
        vec_push(&p->batch, whole);
        write_batch(p);
    }
    p->ended = true;
    pthread_mutex_unlock(&p->mutex);
}

/* Programs need not destroy their contexts. */
static void end_all(void) {
    pthread_mutex_lock(&all.mutex);
    for (profile *p = all.first; p; p = p->next)
        end(p);
    pthread_mutex_unlock(&all.mutex);
}

static void enter(profile *p) {
    pthread_mutex_lock(&all.mutex);
    p->next = all.first;
    all.first = p;
    if (!all.watched)
        all.watched = atexit(end_all) == 0;
    pthread_mutex_unlock(&all.mutex);
}

static void leave(const profile *p) {
    pthread_mutex_lock(&all.mutex);
    for (profile **at = &all.first; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    pthread_mutex_unlock(&all.mutex);
}

/* %p is the process. */
static char *name_file(const char *pattern) {
    text path;
    text_init(&path);
    for (const char *c = pattern; *c; c++) {
        if (c[0] == '%' && c[1] == 'p') {
            text_printf(&path, "%d", (int)getpid());
            c++;
        } else {
            text_append_char(&path, *c);
        }
    }
    char *kept = text_take(&path);
    text_release(&path);
    return kept;
}

static bool check_file(const profile *p, status *st) {
    int fd = open(p->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return status_set(st, STATUS_INVALID,
                          "the policy asks for profiling.spans in %s, which cannot be written: %s",
                          p->path, strerror(errno));
    close(fd);
    return true;
}

static char *describe(const device *d) {
    text words;
    text_init(&words);
    text_append(&words, "{\"key\":\"tessera.device\",\"value\":{\"stringValue\":");
    quote(d->info.name ? d->info.name : d->driver->name, &words);
    text_append(&words, "}}");
    char *kept = text_take(&words);
    text_release(&words);
    return kept;
}

bool profile_open(const policy *q, const device *d, profile **out, status *st) {
    *out = NULL;
    if (!q->spans && !q->nvtx)
        return true;
    profile *p = base_calloc(1, sizeof *p);
    pthread_mutex_init(&p->mutex, NULL);
    p->spans = q->spans != NULL;
    p->phases = q->level == POLICY_PHASES;
    p->marks = q->nvtx;
    p->is_host = strcmp(d->driver->name, "cpu") == 0;
    p->offset_ns = p->is_host ? 0 : UINT64_MAX;
    p->path = q->spans ? name_file(q->spans) : NULL;
    p->opened_ns = clock_now_ns();
    p->to_unix_ns = find_unix_offset();
    p->device = describe(d);
    if (getrandom(&p->random, sizeof p->random, 0) != sizeof p->random)
        p->random = p->opened_ns ^ (uint64_t)getpid() << 40;
    find_trace(p);
    p->root = new_id(p);
    *out = p;
    if ((p->marks && !nvtx_open(&p->nvtx, st)) || (p->spans && !check_file(p, st))) {
        p->ended = true; /* nothing is told of a context that never was */
        profile_close(p);
        *out = NULL;
        return false;
    }
    enter(p);
    return true;
}

void profile_close(profile *p) {
    if (!p)
        return;
    leave(p);
    end(p);
    pthread_mutex_destroy(&p->mutex);
    vec_release(&p->batch);
    free(p->device);
    free(p->path);
    free(p);
}
