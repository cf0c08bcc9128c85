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
    bool has_offset;
    char device[NAME_BYTES];
    VEC(span) batch;
};

/* ---- names and numbers ---- */

static bool is_hex(const char *words, size_t count) {
    size_t zeros = 0;
    for (size_t i = 0; i < count; i++) {
        if (!words[i] || !strchr("0123456789abcdef", words[i]))
            return false;
        zeros += words[i] == '0';
    }
    return zeros < count;
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

/* ---- writing ---- */

static json_t *text_attribute(const char *key, const char *value) {
    return json_pack("{s:s, s:{s:s}}", "key", key, "value", "stringValue", value);
}

/* OTLP writes 64-bit numbers as texts. */
static json_t *number_attribute(const char *key, int64_t value) {
    char words[24];
    snprintf(words, sizeof words, "%" PRId64, value);
    return json_pack("{s:s, s:{s:s}}", "key", key, "value", "intValue", words);
}

static json_t *time_json(const profile *p, uint64_t ns) {
    char words[24];
    snprintf(words, sizeof words, "%" PRId64, (int64_t)ns + p->to_unix_ns);
    return json_string(words);
}

static json_t *span_json(const profile *p, const span *s) {
    char id[SPAN_HEX], parent[SPAN_HEX] = "";
    json_t *attributes = json_array();
    snprintf(id, sizeof id, "%016" PRIx64, s->id);
    if (s->parent)
        snprintf(parent, sizeof parent, "%016" PRIx64, s->parent);
    json_array_append_new(attributes, text_attribute("tessera.kind", s->kind));
    json_array_append_new(attributes, text_attribute("tessera.device", p->device));
    if (s->serial >= 0)
        json_array_append_new(attributes, number_attribute("tessera.launch", s->serial));
    if (s->bytes >= 0)
        json_array_append_new(attributes, number_attribute("tessera.bytes", s->bytes));
    if (s->by_device)
        json_array_append_new(attributes, text_attribute("tessera.clock", "device"));
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:{}}", "traceId", p->trace,
                     "spanId", id, "parentSpanId", parent, "name", s->name, "kind", 1,
                     "startTimeUnixNano", time_json(p, s->start_ns), "endTimeUnixNano",
                     time_json(p, s->end_ns), "attributes", attributes, "status");
}

static json_t *resource_json(void) {
    const char *service = getenv("OTEL_SERVICE_NAME"); // NOLINT(concurrency-mt-unsafe)
    json_t *attributes = json_array();
    json_array_append_new(
        attributes, text_attribute("service.name", service && *service ? service : "tessera"));
    json_array_append_new(attributes, number_attribute("process.pid", getpid()));
    return json_pack("{s:o}", "attributes", attributes);
}

/* One line; one write, so that several contexts and processes can share the file. */
static bool append_line(const profile *p, const char *line) {
    text whole;
    int fd = open(p->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    text_init(&whole);
    text_printf(&whole, "%s\n", line);
    bool ok = file_append(fd, whole.data, whole.length);
    text_release(&whole);
    return (close(fd) == 0) && ok;
}

/* The mutex is held. */
static void write_batch(profile *p) {
    json_t *spans = json_array();
    for (size_t i = 0; i < p->batch.count; i++)
        json_array_append_new(spans, span_json(p, &p->batch.items[i]));
    char version[16];
    snprintf(version, sizeof version, "%d.%d", TSR_ABI_MAJOR, TSR_ABI_MINOR);
    json_t *document = json_pack("{s:[{s:o, s:[{s:{s:s, s:s}, s:o}]}]}", "resourceSpans",
                                 "resource", resource_json(), "scopeSpans", "scope", "name",
                                 "tessera", "version", version, "spans", spans);
    char *line = json_dumps(document, JSON_COMPACT);
    if (p->batch.count && !(line && append_line(p, line)) && !p->told) {
        log_write(LOG_WARN, "spans cannot be appended to %s: %s", p->path, strerror(errno));
        p->told = true;
    }
    free(line);
    json_decref(document);
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
    const uint64_t offset = clock_now_ns() - (times->start_ns + times->total_ns);
    if (p->is_host)
        p->offset_ns = 0;
    else if (!p->has_offset || offset < p->offset_ns)
        p->offset_ns = offset;
    p->has_offset = true;
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
    p->path = q->spans ? name_file(q->spans) : NULL;
    p->opened_ns = clock_now_ns();
    p->to_unix_ns = find_unix_offset();
    snprintf(p->device, sizeof p->device, "%s", d->info.name ? d->info.name : d->driver->name);
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
    free(p->path);
    free(p);
}
