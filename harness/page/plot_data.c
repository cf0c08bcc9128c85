/* plot_data.c - roofs and points of a roofline in characters, from a document. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "job/result.h"
#include "page/plot.h"

const char *const plot_profiles[3] = {"strict", "deterministic", "fast"};

static const char *word(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static double timed_ns(const json_t *result) {
    return json_number_value(result_get(result, RESULT_MEDIAN));
}

uint32_t plot_usual_threads(const json_t *results) {
    uint32_t usual = 0;
    size_t most = 0, i, k;
    json_t *a, *b;
    json_array_foreach((json_t *)results, i, a) {
        uint32_t threads = (uint32_t)json_integer_value(result_get(a, RESULT_THREADS));
        size_t count = 0;
        if (threads == usual || !(timed_ns(a) > 0))
            continue;
        json_array_foreach((json_t *)results, k, b) count +=
            timed_ns(b) > 0 && json_integer_value(result_get(b, RESULT_THREADS)) == threads;
        if (count > most) {
            most = count;
            usual = threads;
        }
    }
    return usual;
}

/* ---- roofs ---- */

/* "memory.L1.copy.t2" or "compute.f32.t2"; what was measured over the set of one case
 * ("memory.L3:1040KiB.t2") is no roof of all. */
static bool read_resource(const char *resource, uint32_t threads, plot_roof *roof) {
    char name[16];
    unsigned of = 0;
    roof->memory = strncmp(resource, "memory.", 7) == 0;
    if (!roof->memory && strncmp(resource, "compute.", 8) != 0)
        return false;
    const char *start = strchr(resource, '.') + 1, *last = strrchr(resource, '.');
    size_t length = strcspn(start, ".:");
    if (start[length] == ':' || length >= sizeof name || sscanf(last, ".t%u", &of) != 1)
        return false;
    snprintf(roof->name, sizeof roof->name, "%.*s", (int)length, start);
    return of == threads;
}

void plot_add_roofs(plot *p, const json_t *ceilings) {
    size_t i, k;
    json_t *item;
    json_array_foreach((json_t *)ceilings, i, item) {
        plot_roof roof = {.value = json_number_value(json_object_get(item, "value"))};
        if (!(roof.value > 0) || !isfinite(roof.value) ||
            !read_resource(word(item, "resource"), p->threads, &roof))
            continue;
        for (k = 0; k < p->roofs.count; k++)
            if (p->roofs.items[k].memory == roof.memory &&
                strcmp(p->roofs.items[k].name, roof.name) == 0)
                break;
        if (k == p->roofs.count)
            vec_push(&p->roofs, roof);
        else if (p->roofs.items[k].value < roof.value)
            p->roofs.items[k].value = roof.value;
    }
}

/* ---- points ---- */

static bool is_wanted(const json_t *result, const char *const *filters, size_t count) {
    char name[512];
    snprintf(name, sizeof name, "%s/%s", result_text(result, RESULT_KERNEL),
             result_text(result, RESULT_CASE));
    for (size_t i = 0; i < count; i++)
        if (text_glob(filters[i], name) ||
            text_glob(filters[i], result_text(result, RESULT_KERNEL)))
            return true;
    return count == 0;
}

static int profile_number(const json_t *result) {
    for (int i = 0; i < 3; i++)
        if (strcmp(plot_profiles[i], result_text(result, RESULT_PROFILE)) == 0)
            return i;
    return 0;
}

void plot_add_points(plot *p, const json_t *results, const char *const *filters, size_t count) {
    size_t i;
    json_t *result;
    json_array_foreach((json_t *)results, i, result) {
        double ns = timed_ns(result);
        double flops = json_number_value(result_get(result, RESULT_FLOPS));
        double bytes = json_number_value(result_get(result, RESULT_BYTES));
        bool ours = json_integer_value(result_get(result, RESULT_THREADS)) == p->threads;
        if (!ours || !(ns > 0) || !is_wanted(result, filters, count))
            continue;
        if (flops > 0 && bytes > 0)
            vec_push(&p->points, ((plot_point){flops / bytes, flops / ns, profile_number(result)}));
        else
            p->without_work++;
    }
}

void plot_release(plot *p) {
    vec_release(&p->roofs);
    vec_release(&p->points);
}
