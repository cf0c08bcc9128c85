/* job_plan.c - expands cases into jobs. */
#include "case/job_plan.h"

#include <stdlib.h>
#include <string.h>

#include "case/fault.h"

static void add_job(job_plan *p, const corpus_case *item, const job_choice *choice, backend_id id,
                    const char *profile, uint32_t threads, job_mode mode) {
    job j = {.path = item->path,
             .kernel = item->kernel->name,
             .case_name = item->c->name,
             .line = item->c->line,
             .golden_path = item->golden_path,
             .backend = backend_table[id].name,
             .profile = profile,
             .isa = choice->isa,
             .threads = threads,
             .seed = choice->seed,
             .quick = choice->quick,
             .unoptimised = *backend_table[id].driver && choice->unoptimised,
             .generic = *backend_table[id].driver && choice->generic,
             .schedule = *backend_table[id].driver ? choice->schedule : NULL,
             .order_probe = choice->order_probe,
             .cache = choice->cache[0] ? choice->cache : NULL,
             .mode = mode};
    if (*backend_table[id].driver)
        j.fault = fault_for(choice->inject ? choice->inject : getenv("TSR_TEST_FAULT"), j.kernel,
                            j.case_name);
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
    return json_pack("{s:o, s:o, s:o, s:s?, s:I, s:b, s:b, s:b, s:s?, s:s?, s:b}", "backends",
                     backends, "profiles", profiles, "threads", threads, "isa", choice->isa, "seed",
                     (json_int_t)choice->seed, "quick", choice->quick, "unoptimised",
                     choice->unoptimised, "order_probe", choice->order_probe, "inject",
                     choice->inject, "schedule", choice->schedule, "generic", choice->generic);
}
