/* relation_pack.c - see relation_pack.h. What a violation is, for a replay, is its digest: the
 * element, both bit patterns, and the two runs. */
#include "relations/relation_pack.h"

#include <string.h>

#include "base/sha256.h"
#include "case/backend.h"
#include "common/json_text.h"
#include "job/result.h"
#include "run/pack_case.h"

enum { SHAPES = 3, BUDGET_NS_MAX = 1000000000 };

static const char *word_at(const json_t *object, const char *name) {
    const char *word = json_string_value(json_object_get(object, name));
    return word && *word ? word : NULL;
}

/* ---- what was seen ---- */

/* "batch of N is violated: out[0, 1] is 0x... and 0x..., between N=1 and N=2, with M=3,N=2" */
static void describe(const json_t *found, text *out) {
    const json_t *example = json_object_get(found, "example"),
                 *bits = json_object_get(example, "bits");
    const char *dim = word_at(found, "dim"), *dims = word_at(example, "dims");
    text_printf(out, "%s%s%s is violated: ", json_text_at(found, "relation"), dim ? " of " : "",
                dim ? dim : "");
    if (word_at(example, "output")) /* else it is none of an element */
        text_printf(out, "%s[%s] is %s and %s, between ", json_text_at(example, "output"),
                    json_text_at(example, "index"), json_string_value(json_array_get(bits, 0)),
                    json_string_value(json_array_get(bits, 1)));
    text_printf(out, "%s%s%s", json_text_at(example, "between"), dims ? ", with " : "",
                dims ? dims : "");
}

/* A failure has its reason, and no digest: there is no output. */
static void put_found(json_t *result, const json_t *found) {
    job_outcome o = outcome_from_name(json_text_at(json_object_get(found, "place"), "status"));
    text why;
    text_init(&why);
    if (o != OUTCOME_MISMATCH) {
        result_set_outcome(result, o, json_text_at(found, "why"), EXIT_CHECK);
    } else {
        char hex[65];
        describe(found, &why);
        sha256 digest = sha256_of(why.data, why.length);
        sha256_hex(&digest, hex);
        result_set_outcome(result, o, why.data, EXIT_CHECK);
        result_put_SHA256(result, json_pack("[s]", hex));
    }
    text_release(&why);
}

/* ---- packed ---- */

bool relation_pack_wanted(const json_t *found) {
    return json_is_object(json_object_get(found, "place"));
}

static job job_of(const relation_pack_request *r) {
    const relations_column *s = r->of->column;
    const json_t *place = json_object_get(r->found, "place");
    return (job){.path = s->kernel->path,
                 .kernel = s->kernel->name,
                 .case_name = json_text_at(place, "case"),
                 .dims = word_at(place, "dims"),
                 .backend = s->with ? s->name : backend_table[BACKEND_CPU].name,
                 .implementation = s->with ? s->with->path : NULL,
                 .implementation_kind = s->with ? (uint32_t)s->with->kind : 0,
                 .implementation_symbol = s->symbol,
                 .profile = compiler_profile_name(PROFILE_STRICT),
                 .threads = r->of->threads,
                 .seed = (uint64_t)json_integer_value(json_object_get(place, "seed")),
                 .inputs = json_is_true(json_object_get(place, "inputs")) ? r->of->inputs : NULL,
                 .relation = json_text_at(r->found, "relation"),
                 .relation_dim = word_at(r->found, "dim"),
                 .relation_vary = word_at(place, "vary")};
}

bool relation_pack_write(const relation_pack_request *request, text *path_out, status *st) {
    const job j = job_of(request);
    json_t *result = result_new(&j, OUTCOME_MISMATCH, NULL);
    put_found(result, request->found);
    const pack_request pack = {.job = &j,
                               .result = result,
                               .stage = "launch",
                               .failures = request->failures,
                               .timeout_seconds = request->timeout_seconds,
                               .memory_mib = request->memory_mib};
    bool ok = pack_case(&pack, path_out, st);
    json_decref(result);
    return ok;
}

/* ---- again ---- */

bool relation_pack_again(case_context *s, const job *j, json_t *result, status *st) {
    const implementation with = {.kind = (implementation_kind)j->implementation_kind,
                                 .path = j->implementation};
    const relations_column column = {.source = s->source,
                                     .kernel = s->kernel,
                                     .name = j->backend,
                                     .with = j->implementation ? &with : NULL,
                                     .symbol = j->implementation_symbol};
    const relations_request request = {.column = &column,
                                       .threads = j->threads,
                                       .seed = j->seed,
                                       .shapes = SHAPES,
                                       .inputs = j->inputs,
                                       .like = s->c,
                                       .budget_ns = BUDGET_NS_MAX,
                                       .named = true, /* as it was when it was violated */
                                       .vary = &j->relation_vary,
                                       .vary_count = j->relation_vary != NULL};
    const relations_place where = {relation_from_name(j->relation), j->relation_dim, s->c};
    if (where.relation == RELATION_COUNT)
        return status_set(st, STATUS_UNAVAILABLE, "this tsr knows no relation %s", j->relation);
    json_t *found = relations_again(&request, &where, st);
    if (found && relation_pack_wanted(found))
        put_found(result, found);
    else if (found)
        result_set_outcome(result, OUTCOME_OK, NULL, EXIT_DONE);
    json_decref(found);
    return found != NULL;
}
