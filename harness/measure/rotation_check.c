/* rotation_check.c - what every place must hold after a timed part, and what it means if it does
 * not.
 */
#include "measure/pattern.h"
#include "measure/rotation_parts.h"

enum { NEAR_BYTES = 256 };

void rotation_guard(const rotation *r, const rotation_buffer *b) {
    size_t before = (size_t)(b->data - b->memory.view);
    pattern_fill(b->memory.view, before, r->guard);
    pattern_fill(b->data + b->size_bytes, b->memory.size_bytes - before - b->size_bytes, r->guard);
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The bytes next to the buffer, or all of them. */
static bool guards_whole(const rotation *r, const rotation_buffer *b, bool all, status *st) {
    size_t before = (size_t)(b->data - b->memory.view);
    size_t after = b->memory.size_bytes - before - b->size_bytes;
    size_t front = all ? before : least(before, NEAR_BYTES);
    size_t back = all ? after : least(after, NEAR_BYTES);
    unsigned char *end = b->data + b->size_bytes;
    size_t at = pattern_broken_at(b->data - front, front, r->guard);
    if (at < front)
        return status_set(st, STATUS_MISMATCH, "wrote to byte %zu before its beginning",
                          front - at);
    at = pattern_broken_at(end, back, r->guard);
    return at == back || status_set(st, STATUS_MISMATCH, "wrote to byte %zu past its end", at + 1);
}

/* The set whose output this digest is, or -1. */
static int set_of_digest(const rotation *r, uint32_t output, uint64_t digest) {
    for (uint32_t c = 0; c < r->contents.count; c++)
        if (r->contents.known[c] &&
            *rotation_expected(r, c, r->launch.input_count + output) == digest)
            return (int)c;
    return -1;
}

static bool explain_mismatch(const rotation *r, const rotation_buffer *b, uint32_t output,
                             status *st) {
    size_t words = b->size_bytes / sizeof(uint64_t);
    size_t left = pattern_words_left(b->data, b->size_bytes, r->part.poison);
    int other = set_of_digest(r, output, rotation_digest(b->data, b->size_bytes));
    if (b->size_bytes && pattern_broken_at(b->data, b->size_bytes, r->part.poison) == b->size_bytes)
        return status_set(st, STATUS_MISMATCH,
                          "was not written: the launch did no work, or does it after returning");
    if (other >= 0)
        return status_set(st, STATUS_MISMATCH,
                          "has the result of input set %d instead: kept from another launch, or "
                          "not computed in this one",
                          other);
    if (left > 0)
        return status_set(st, STATUS_MISMATCH,
                          "was written in part: %zu of its %zu words hold what was there before",
                          left, words);
    return status_set(st, STATUS_MISMATCH, "has other bits than this kernel gives for that set");
}

static bool nobody_wrote(const rotation *r, uint32_t target, uint32_t output, status *st) {
    const rotation_buffer *b = rotation_out(r, target, output);
    if (pattern_broken_at(b->data, b->size_bytes, r->part.poison) == b->size_bytes)
        return true;
    return status_set(st, STATUS_MISMATCH,
                      "timed launches: output %u at place %u was written, and no launch was given "
                      "it",
                      output, target);
}

bool rotation_learn_content(rotation *r, uint32_t content, uint32_t target, status *st) {
    for (uint32_t i = 0; i < r->launch.output_count; i++) {
        rotation_buffer *b = rotation_out(r, target, i);
        if (r->request.judge && !r->request.judge(r->request.judge_context, content, i, b->data)) {
            r->failed = (int)content;
            return status_set(st, STATUS_MISMATCH,
                              "output %u for input set %u is not within its error bound", i,
                              content);
        }
        *rotation_expected(r, content, r->launch.input_count + i) =
            rotation_digest(b->data, b->size_bytes);
    }
    r->contents.known[content] = true;
    return true;
}

static bool check_output(rotation *r, uint32_t target, uint32_t output, status *st) {
    const rotation_buffer *b = rotation_out(r, target, output);
    status why = STATUS_INIT;
    uint32_t set = (uint32_t)r->part.source[target];
    if (rotation_digest(b->data, b->size_bytes) ==
            *rotation_expected(r, set, r->launch.input_count + output) ||
        (r->request.accept && r->request.accept(r->request.accept_context, set, output, b->data)))
        return true;
    explain_mismatch(r, b, output, &why);
    r->failed = (int)set;
    return status_set(st, STATUS_MISMATCH, "timed launches: output %u for input set %u %s", output,
                      set, why.message);
}

static bool check_input(rotation *r, uint32_t place, uint32_t input, status *st) {
    const rotation_buffer *b = rotation_in(r, place, input);
    uint32_t set = r->contents.at[place];
    if (rotation_digest(b->data, b->size_bytes) == *rotation_expected(r, set, input))
        return true;
    r->failed = (int)set;
    return status_set(st, STATUS_MISMATCH, "timed launches: input %u of set %u was written to",
                      input, set);
}

typedef struct where {
    const char *what; /* "input", "output" */
    uint32_t index, place;
} where;

static bool check_guards(const rotation *r, const rotation_buffer *b, where at, bool all,
                         status *st) {
    status why = STATUS_INIT;
    if (guards_whole(r, b, all, &why))
        return true;
    return status_set(st, STATUS_MISMATCH, "timed launches: %s %u at place %u: the kernel %s",
                      at.what, at.index, at.place, why.message);
}

static bool check_target(rotation *r, uint32_t target, bool all, status *st) {
    int source = r->part.source[target];
    if (source == ROTATION_NOT_WRITTEN && !all)
        return true;
    for (uint32_t i = 0; i < r->launch.output_count; i++)
        if (!rotation_fetch(rotation_out(r, target, i), st))
            return false;
    if (source != ROTATION_NOT_WRITTEN && !r->contents.known[source] &&
        !rotation_learn_content(r, (uint32_t)source, target, st))
        return false;
    for (uint32_t i = 0; i < r->launch.output_count; i++)
        if (source == ROTATION_NOT_WRITTEN ? !nobody_wrote(r, target, i, st)
                                           : !check_output(r, target, i, st))
            return false;
    return true;
}

static bool check_place(rotation *r, uint32_t place, bool all, status *st) {
    for (uint32_t i = 0; i < r->launch.input_count; i++)
        if (!rotation_fetch(rotation_in(r, place, i), st) || !check_input(r, place, i, st) ||
            !check_guards(r, rotation_in(r, place, i), (where){"input", i, place}, all, st))
            return false;
    return true;
}

/* Outputs first: what comes late must not have the time. */
bool rotation_check(rotation *r, bool all, status *st) {
    for (uint32_t target = 0; target < r->targets; target++)
        if (!check_target(r, target, all, st))
            return false;
    for (uint32_t place = 0; place < r->sets; place++)
        if (r->part.read[place] && !check_place(r, place, all, st))
            return false;
    for (uint32_t target = 0; target < r->targets; target++)
        for (uint32_t i = 0; i < r->launch.output_count && (all || r->part.source[target] >= 0);
             i++)
            if (!check_guards(r, rotation_out(r, target, i), (where){"output", i, target}, all, st))
                return false;
    return watch_look(r->watch, all, st);
}
