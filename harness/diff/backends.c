/* backends.c - see backends.h. */
#include "diff/backends.h"

#include <string.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "diff/elements.h"
#include "diff/made.h"

/* The search for an operation takes time; of more cases only the bits are compared. */
enum { INVESTIGATED_MAX = 10 };

typedef struct backends_diff {
    const diff_backend *sides;
    const diff_request *request;
    uint64_t seed;
    size_t equal, differ, unknown, investigated;
    int name_width;
    text *out, details;
    json_t *list;
} backends_diff;

/* ---- one case ---- */

static bool open_context(const backends_diff *d, const corpus_case *item, case_context *context,
                         status *st) {
    const case_context_request request = {.path = item->path,
                                          .kernel = item->kernel->name,
                                          .case_name = item->c->name,
                                          .dims = item->c->bound,
                                          .seed = d->seed};
    return case_context_open(context, &request, st);
}

static bool make(const backends_diff *d, const diff_backend *from, case_context *context, made *m,
                 status *st) {
    *m = (made){.context = context, .outputs = tensors_new(context->signature.output_count)};
    m->request = (compute_request){.instance = context->instance,
                                   .kernel = context->kernel->name,
                                   .inputs = context->inputs,
                                   .signature = &context->signature,
                                   .how = from->how,
                                   .timeout_seconds = d->request->timeout_seconds};
    m->request.how.source_schedule = from->how.implementation ? NULL : context->kernel->schedule;
    m->request.how.symbol = from->how.implementation ? context->kernel->name : NULL;
    return compute_outputs(&m->request, m->outputs, st) ||
           status_context(st, "%s cannot compute it", from->word);
}

static bool have_equal_bits(const made *a, const made *b) {
    bool equal = true;
    for (uint32_t i = 0; i < a->context->signature.output_count && equal; i++) {
        element_diff found;
        elements_diff(a->outputs[i].type, a->outputs[i].data, b->outputs[i].data,
                      tensor_count(&a->outputs[i]), &found);
        equal = found.differing == 0;
    }
    return equal;
}

static void explain(backends_diff *d, const corpus_case *item, const made *a, const made *b,
                    json_t *entry) {
    if (d->investigated++ >= INVESTIGATED_MAX)
        return;
    text_show(&d->details, "\n%s\n", item->name);
    made_compare(a, b, &d->details, entry);
}

static const char *settle(backends_diff *d, const corpus_case *item, const made *a, const made *b,
                          json_t *entry) {
    const bool equal = have_equal_bits(a, b);
    json_object_set_new(entry, "bits_equal", json_boolean(equal));
    d->equal += equal;
    d->differ += !equal;
    if (!equal)
        explain(d, item, a, b, entry);
    return equal ? "equal" : "differ";
}

static void compare_case(backends_diff *d, const corpus_case *item) {
    made a = {0}, b = {0};
    case_context context = {0};
    status st = STATUS_INIT;
    const char *bits = "-";
    json_t *entry =
        json_pack("{s:s, s:s, s:n, s:n, s:[], s:n}", "kernel", item->kernel->name, "case",
                  item->c->name, "bits_equal", "why", "outputs", "first_operation");
    if (open_context(d, item, &context, &st) && make(d, &d->sides[0], &context, &a, &st) &&
        make(d, &d->sides[1], &context, &b, &st)) {
        bits = settle(d, item, &a, &b, entry);
    } else {
        d->unknown++;
        json_object_set_new(entry, "why", json_text(st.message));
    }
    text_show(d->out, "%-*s  %s%s%s\n", d->name_width, item->name, bits, st.message[0] ? "  " : "",
              st.message);
    json_array_append_new(d->list, entry);
    tensors_free(a.outputs);
    tensors_free(b.outputs);
    case_context_close(&context);
}

/* ---- all of them ---- */

static void summarise(backends_diff *d) {
    text_append(d->out, d->details.data);
    if (d->investigated > INVESTIGATED_MAX)
        text_show(d->out,
                  "\n%zu others were not looked into: --filter KERNEL/CASE names one of them\n",
                  d->investigated - INVESTIGATED_MAX);
    text_show(d->out, "\n%zu compared: %zu differ, %zu equal", d->equal + d->differ, d->differ,
              d->equal);
    if (d->unknown)
        text_show(d->out, "; %zu without outputs on a side", d->unknown);
    text_append_char(d->out, '\n');
}

exit_code diff_backends(const diff_backend sides[2], const corpus *cases, uint64_t seed,
                        const diff_request *request, text *out, json_t **document) {
    backends_diff d = {
        .sides = sides, .request = request, .seed = seed, .out = out, .list = json_array()};
    text_init(&d.details);
    for (size_t i = 0; i < cases->cases.count; i++) {
        const int length = (int)strlen(cases->cases.items[i].name);
        d.name_width = length > d.name_width ? length : d.name_width;
    }
    text_show(out, "A  %s\nB  %s\n", sides[0].word, sides[1].word);
    text_show(out, "%-*s  bits\n", d.name_width, "case");
    for (size_t i = 0; i < cases->cases.count; i++)
        compare_case(&d, &cases->cases.items[i]);
    summarise(&d);
    const exit_code code = d.differ ? EXIT_CHECK : d.unknown ? EXIT_ABSENT : EXIT_DONE;
    *document = json_pack("{s:s, s:s, s:o, s:o, s:b, s:o}", "schema", "tsr.diff/1", "kind",
                          "backends", "a", json_text(sides[0].word), "b", json_text(sides[1].word),
                          "equal", code == EXIT_DONE, "results", d.list);
    text_release(&d.details);
    return code;
}
