/* agreement.c - see agreement.h. */
#include "run/agreement.h"

#include <string.h>

#include "base/text.h"
#include "common/json_text.h"
#include "job/result.h"

/* True of a kernel without a formula: it ran, and was held against nothing. */
static bool is_open(const json_t *result) {
    return result_outcome(result) == OUTCOME_OK &&
           strcmp(result_text(result, RESULT_AGAINST), "none") == 0 &&
           !json_is_true(result_get(result, RESULT_BITWISE));
}

static bool is_same(const json_t *a, const json_t *b, result_field field) {
    return strcmp(result_text(a, field), result_text(b, field)) == 0;
}

/* Borrowed; NULL: none. */
static const json_t *other_of(const json_t *before, const json_t *result) {
    size_t i;
    json_t *one;
    json_array_foreach(before, i, one) if (is_open(one) && is_same(one, result, RESULT_KERNEL) &&
                                           is_same(one, result, RESULT_CASE) &&
                                           !is_same(one, result, RESULT_BACKEND)) return one;
    return NULL;
}

void agreement_put(const json_t *before, json_t *result) {
    const json_t *other = is_open(result) ? other_of(before, result) : NULL;
    if (!other)
        return;
    bool same = json_equal(result_get(other, RESULT_SHA256), result_get(result, RESULT_SHA256));
    const char *with = result_text(other, RESULT_BACKEND);
    text why;
    text_init(&why);
    text_printf(&why, "%s; %s %s", result_text(result, RESULT_WHY),
                same ? "the same bits as" : "other bits than", with);
    result_put_AGREES(result, json_pack("{s:o, s:b}", "with", json_text(with), "bitwise", same));
    result_put_WHY(result, why.data);
    text_release(&why);
}
