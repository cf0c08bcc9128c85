/* job_plan.c - expands cases into jobs. */
#include "job/job_plan.h"

#include <string.h>

#include "job/fault.h"

/* State of the planning, for each case. */
typedef struct planner_state {
    job_plan *plan;
    const job_choice *choice;
    job_mode mode;
    bool lone; /* there is one kernel: a symbol of another name is meant for it */
} planner_state;

/* A column: a backend, or an implementation's function. */
typedef struct column {
    backend_id id;
    const implementation *with; /* NULL: the backend's own */
    const char *symbol;
} column;

/* Profile of ours that an implementation is timed in turn with: the first, where none was named.
 * Another device would be another machine. */
static const char *profile_beside(const planner_state *p, const corpus_case *item,
                                  const column *col, const char *own) {
    const job_choice *c = p->choice;
    const bool elsewhere = c->device && col->id == BACKEND_IMPLEMENTATION;
    if (!col->with || item->kernel->contract || item->kernel->interpreted || p->mode != JOB_BENCH ||
        !c->backends[backend_beside(col->id)] || elsewhere)
        return NULL;
    for (int profile = 0; profile < PROFILE_COUNT && !c->profiles_by_name; profile++)
        if (c->profiles[profile])
            return compiler_profile_name((compiler_profile)profile);
    return own;
}

/* Several ranks that meet in one way; one, and NULL. */
typedef struct several {
    uint32_t ranks;
    const char *transport;
} several;

static void add_job(const planner_state *p, const corpus_case *item, const column *col,
                    const char *profile, uint32_t threads, several s) {
    const job_choice *choice = p->choice;
    const backend_id ours = backend_beside(col->id);
    const char *beside = profile_beside(p, item, col, profile);
    bool has_code = (backend_is_compiled(&backend_table[col->id]) && !col->with) || beside;
    job j = {.path = item->path,
             .kernel = item->kernel->name,
             .case_name = item->c->name,
             .dims = item->c->bound,
             .line = item->c->line,
             .golden_path = item->golden_path,
             .backend = col->with ? col->with->name : backend_table[col->id].name,
             .implementation = col->with ? col->with->path : NULL,
             .implementation_kind = col->with ? (uint32_t)col->with->kind : 0,
             .implementation_symbol = col->symbol,
             .profile = profile,
             .beside = beside,
             .threads = threads,
             .ranks = s.ranks,
             .transport = s.transport,
             .layout = s.ranks > 1 ? choice->layout : NULL,
             .cache = choice->cache[0] ? choice->cache : NULL,
             .mode = p->mode};
#define SCOPE_EVERY true
#define SCOPE_CODE has_code
#define OWN(kind, name)
#define CHOSEN(kind, name, scope)                                                                  \
    if (SCOPE_##scope)                                                                             \
        j.name = choice->name;
#include "job/job.def"
#undef OWN
#undef CHOSEN
    if (has_code)
        j.isa = backend_target_for(&backend_table[ours], choice->isa, choice->own[ours]);
    if (col->with && col->id != BACKEND_IMPLEMENTATION)
        j.device = choice->device;
    if (has_code && !col->with)
        j.fault = fault_for(choice->fault, j.kernel, j.case_name);
    vec_push(&p->plan->jobs, j);
}

/* Checks that a column runs under a profile: implementations, where none was named, under fast. */
static bool takes_profile(const planner_state *p, const column *col, int profile) {
    const char *name = compiler_profile_name((compiler_profile)profile);
    if (col->with && !p->choice->profiles_by_name)
        return profile == PROFILE_FAST;
    return p->choice->profiles[profile] && backend_honours(&backend_table[col->id], name);
}

/* Emulated threads are a property of the code: one of this machine's runs them, however many there
 * are. */
static bool is_emulated(const column *col) {
    return *backend_table[col->id].target;
}

/* Ranks of code of ours; an implementation, and a choice without any, has one. */
static void add_ranks(const planner_state *p, const corpus_case *item, const column *col,
                      const char *profile, uint32_t threads) {
    const job_choice *c = p->choice;
    if (c->rank_count == 0 || col->with)
        add_job(p, item, col, profile, threads, (several){1, NULL});
    for (uint32_t i = 0; i < c->rank_count && !col->with; i++)
        for (uint32_t k = 0; k < (c->ranks[i] == 1 ? 1 : c->transport_count); k++)
            add_job(p, item, col, profile, threads,
                    (several){c->ranks[i], c->ranks[i] == 1 ? NULL : c->transports[k]});
}

static void add_column(const planner_state *p, const corpus_case *item, const column *col) {
    if (!backend_is_compiled(&backend_table[col->id])) {
        add_job(p, item, col, "strict", 1, (several){1, NULL});
        return;
    }
    uint32_t counts = is_emulated(col) ? 1 : p->choice->thread_count;
    for (int profile = 0; profile < PROFILE_COUNT; profile++)
        for (uint32_t i = 0; i < counts && takes_profile(p, col, profile); i++)
            add_ranks(p, item, col, compiler_profile_name((compiler_profile)profile),
                      is_emulated(col) ? 1 : p->choice->threads[i]);
}

static bool is_implemented(const planner_state *p, const char *kernel) {
    const job_choice *c = p->choice;
    bool found = c->implementation_count == 0;
    for (uint32_t i = 0; i < c->implementation_count && !found; i++)
        found = implementation_symbol(&c->implementations[i], kernel, p->lone) != NULL;
    return found;
}

/* True where our backend takes the kernel: in the order of a matrix unit, one that has it. */
static bool is_ours(const job_choice *c, const compiler_kernel *k, backend_id id) {
    const char *target = backend_target_for(&backend_table[id], c->isa, c->own[id]);
    bool added =
        id == BACKEND_INTERP || (k->unit && target && compiler_target_adds_as(target, k->unit));
    return !k->contract && (!k->interpreted || added);
}

static void add_case(const planner_state *p, const corpus_case *item) {
    const job_choice *c = p->choice;
    if (!is_implemented(p, item->kernel->name))
        return;
    const compiler_kernel *k = item->kernel;
    bool any = false;
    for (int id = 0; id < BACKEND_COUNT; id++)
        any |= c->backends[id] && is_ours(c, k, (backend_id)id);
    if (!any && !p->plan->without && c->implementation_count == 0)
        p->plan->without = k;
    for (int id = 0; id < BACKEND_COUNT; id++)
        if (c->backends[id] && is_ours(c, k, (backend_id)id))
            add_column(p, item, &(column){(backend_id)id, NULL, NULL});
    for (uint32_t i = 0; i < c->implementation_count; i++) {
        const implementation *with = &c->implementations[i];
        const column col = {implementation_backend(with->kind), with,
                            implementation_symbol(with, item->kernel->name, p->lone)};
        if (col.symbol)
            add_column(p, item, &col);
    }
}

void job_plan_make(job_plan *out, const corpus *c, const job_choice *choice, job_mode mode) {
    job_plan others = {0};
    planner_state p = {out, choice, mode, corpus_is_of_one_kernel(c)};
    *out = (job_plan){0};
    for (size_t i = 0; i < c->cases.count; i++)
        add_case(&p, &c->cases.items[i]);
    p.plan = &others;
    for (size_t i = 0; i < c->elsewhere.count; i++)
        add_case(&p, &c->elsewhere.items[i]);
    for (size_t i = 0; i < others.jobs.count; i++)
        vec_push(&out->elsewhere, others.jobs.items[i]);
    vec_release(&others.jobs);
    out->without = out->without ? out->without : others.without;
}

bool job_plan_has_formulas(const job_plan *p, status *st) {
    if (p->jobs.count + p->elsewhere.count > 0 || !p->without)
        return true;
    if (p->without->contract)
        return status_set(
            st, STATUS_INVALID,
            "kernel %s has no formula (its body is '...'), so there is nothing of ours to "
            "run: --with FILE gives code that computes it",
            p->without->name);
    return status_set(
        st, STATUS_INVALID,
        "kernel %s adds in an order of which no code is made, a written tree(...) or a matrix "
        "unit's: --with FILE gives code that computes it, and --backend interp computes it where "
        "nothing is timed",
        p->without->name);
}

static bool has_job(const job_plan *p, const char *name) {
    bool found = false;
    for (size_t i = 0; i < p->jobs.count && !found; i++)
        found = strcmp(p->jobs.items[i].backend, name) == 0;
    for (size_t i = 0; i < p->elsewhere.count && !found; i++)
        found = strcmp(p->elsewhere.items[i].backend, name) == 0;
    return found;
}

bool job_plan_covers(const job_plan *p, const job_choice *choice, status *st) {
    enum { SHOWN = 8 };
    for (uint32_t k = 0; k < choice->implementation_count; k++) {
        const implementation *with = &choice->implementations[k];
        if (has_job(p, with->name))
            continue;
        text list;
        text_init(&list);
        for (size_t i = 0; i < with->functions.count && i < SHOWN && !with->symbol; i++)
            text_printf(&list, "%s%s", i ? ", " : "; its functions: ", with->functions.items[i]);
        status_set(st, STATUS_INVALID,
                   "--with %s: no kernel that was asked for has the name of its function%s%s; "
                   "--with %s:%s=KERNEL says which kernel it computes",
                   with->name, list.data ? list.data : "",
                   with->functions.count > SHOWN && !with->symbol ? ", ..." : "", with->path,
                   with->symbol ? with->symbol : "SYMBOL");
        text_release(&list);
        return false;
    }
    return true;
}

bool job_plan_has_fault(const job_plan *p) {
    bool found = false;
    for (size_t i = 0; i < p->jobs.count && !found; i++)
        found = p->jobs.items[i].fault != NULL;
    for (size_t i = 0; i < p->elsewhere.count && !found; i++)
        found = p->elsewhere.items[i].fault != NULL;
    return found;
}

void job_plan_release(job_plan *p) {
    vec_release(&p->jobs);
    vec_release(&p->elsewhere);
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
    json_t *with = json_array();
    for (uint32_t i = 0; i < choice->implementation_count; i++)
        json_array_append_new(with, json_pack("[o, s]", json_text(choice->implementations[i].path),
                                              choice->implementations[i].name));
    json_t *ranks = json_array(), *transports = json_array();
    for (uint32_t i = 0; i < choice->rank_count; i++)
        json_array_append_new(ranks, json_integer(choice->ranks[i]));
    for (uint32_t i = 0; i < choice->transport_count; i++)
        json_array_append_new(transports, json_string(choice->transports[i]));
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:s?}", "with", with, "backends", backends,
                  "profiles", profiles, "threads", threads, "ranks", ranks, "transports",
                  transports, "layout", choice->layout, "inject", choice->inject);
#define OWN(kind, name)
#define CHOSEN(kind, name, scope) json_object_set_new(object, #name, job_json_##kind(choice->name));
#include "job/job.def"
#undef OWN
#undef CHOSEN
    return object;
}
