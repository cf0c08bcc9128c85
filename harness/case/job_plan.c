/* job_plan.c - expands cases into jobs. */
#include "case/job_plan.h"

#include <string.h>

#include "case/fault.h"

static void add_job(job_plan *p, const corpus_case *item, const job_choice *choice, backend_id id,
                    const char *profile, uint32_t threads, job_mode mode) {
    bool has_code = *backend_table[id].driver;
    job j = {.path = item->path,
             .kernel = item->kernel->name,
             .case_name = item->c->name,
             .dims = item->c->bound,
             .line = item->c->line,
             .golden_path = item->golden_path,
             .backend = backend_table[id].name,
             .profile = profile,
             .threads = threads,
             .cache = choice->cache[0] ? choice->cache : NULL,
             .mode = mode};
#define SCOPE_EVERY true
#define SCOPE_CODE has_code
#define OWN(kind, name)
#define CHOSEN(kind, name, scope)                                                                  \
    if (SCOPE_##scope)                                                                             \
        j.name = choice->name;
#include "case/job.def"
#undef OWN
#undef CHOSEN
    if (has_code)
        j.fault = fault_for(choice->fault, j.kernel, j.case_name);
    vec_push(&p->jobs, j);
}

static void add_backend(job_plan *p, const corpus_case *item, const job_choice *choice,
                        backend_id id, job_mode mode) {
    if (!*backend_table[id].driver) {
        add_job(p, item, choice, id, "strict", 1, mode);
        return;
    }
    for (int profile = 0; profile < PROFILE_COUNT; profile++) {
        const char *name = compiler_profile_name((compiler_profile)profile);
        if (!choice->profiles[profile] || !backend_honours(&backend_table[id], name))
            continue;
        for (uint32_t i = 0; i < choice->thread_count; i++)
            add_job(p, item, choice, id, name, choice->threads[i], mode);
    }
}

void job_plan_make(job_plan *p, const corpus *c, const job_choice *choice, job_mode mode) {
    *p = (job_plan){0};
    for (size_t i = 0; i < c->cases.count; i++)
        for (int id = 0; id < BACKEND_COUNT; id++)
            if (choice->backends[id])
                add_backend(p, &c->cases.items[i], choice, (backend_id)id, mode);
}

bool job_plan_has_fault(const job_plan *p) {
    for (size_t i = 0; i < p->jobs.count; i++)
        if (p->jobs.items[i].fault)
            return true;
    return false;
}

void job_plan_release(job_plan *p) {
    vec_release(&p->jobs);
}

json_t *job_choice_json(const job_choice *choice) {
    json_t *backends = json_array(), *profiles = json_array(), *threads = json_array();
    for (int i = 0; i < BACKEND_COUNT; i++)
        if (choice->backends[i])
            json_array_append_new(backends, json_string(backend_table[i].name));
    for (int i = 0; i < PROFILE_COUNT; i++)
        if (choice->profiles[i])
            json_array_append_new(profiles,
                                  json_string(compiler_profile_name((compiler_profile)i)));
    for (uint32_t i = 0; i < choice->thread_count; i++)
        json_array_append_new(threads, json_integer(choice->threads[i]));
    json_t *object = json_pack("{s:o, s:o, s:o, s:s?}", "backends", backends, "profiles", profiles,
                               "threads", threads, "inject", choice->inject);
#define OWN(kind, name)
#define CHOSEN(kind, name, scope) json_object_set_new(object, #name, job_json_##kind(choice->name));
#include "case/job.def"
#undef OWN
#undef CHOSEN
    return object;
}
