/* rotation_check.c - what every place must hold after a timed part, and what it means if it does
 * not.
 */
#include "measure/pattern.h"
#include "measure/rotation_parts.h"

enum { NEAR_BYTES = 256 };

void rotation_guard(const rotation *r, const rotation_buffer *b) {
    size_t before = (size_t)(b->data - b->base);
    pattern_fill(b->base, before, r->guard);
    pattern_fill(b->data + b->size_bytes, b->span_bytes - before - b->size_bytes, r->guard);
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The bytes next to the buffer, or all of them. */
static bool guards_whole(const rotation *r, const rotation_buffer *b, bool all, status *st) {
    size_t before = (size_t)(b->data - b->base);
    size_t after = b->span_bytes - before - b->size_bytes;
    size_t front = all ? before : least(before, NEAR_BYTES);
    size_t back = all ? after : least(after, NEAR_BYTES);
    unsigned char *end = b->data + b->size_bytes;
    size_t at = pattern_broken_at(b->data - front, front, r->guard);
    if (at < front)
        return status_set(st, STATUS_MISMATCH, "wrote %zu bytes before its beginning", front - at);
    at = pattern_broken_at(end, back, r->guard);
    return at == back || status_set(st, STATUS_MISMATCH, "wrote %zu bytes past its end", at + 1);
}

/* The set whose output this digest is, or -1. */
static int set_of_digest(const rotation *r, uint32_t buffer, uint64_t digest) {
    for (uint32_t set = 0; set < r->sets; set++)
        if (*rotation_expected(r, set, buffer) == digest)
            return (int)set;
    return -1;
}

static bool deviates(const rotation *r, const rotation_buffer *b, uint32_t buffer, status *st) {
    size_t words = b->size_bytes / sizeof(uint64_t);
    size_t left = pattern_words_left(b->data, b->size_bytes, r->poison);
    int other = set_of_digest(r, buffer, rotation_digest(b->data, b->size_bytes));
    if (b->size_bytes && pattern_broken_at(b->data, b->size_bytes, r->poison) == b->size_bytes)
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

static bool nobody_wrote(const rotation *r, uint32_t place, uint32_t buffer, status *st) {
    const rotation_buffer *b = rotation_at(r, place, buffer);
    if (pattern_broken_at(b->data, b->size_bytes, r->poison) == b->size_bytes)
        return true;
    return status_set(st, STATUS_MISMATCH,
                      "timed launches: output %u at place %u was written, and no launch was given "
                      "it",
                      buffer - r->inputs, place);
}

static bool check_output(const rotation *r, uint32_t place, uint32_t buffer, status *st) {
    const rotation_buffer *b = rotation_at(r, place, buffer);
    status why = STATUS_INIT;
    if (r->source[place] == ROTATION_NOT_WRITTEN)
        return !r->read[place] || nobody_wrote(r, place, buffer, st);
    uint32_t set = (uint32_t)r->source[place];
    if (rotation_digest(b->data, b->size_bytes) == *rotation_expected(r, set, buffer) ||
        (r->accept && r->accept(r->accept_context, set, buffer - r->inputs, b->data)))
        return true;
    deviates(r, b, buffer, &why);
    return status_set(st, STATUS_MISMATCH, "timed launches: output %u for input set %u %s",
                      buffer - r->inputs, set, why.message);
}

static bool check_input(const rotation *r, uint32_t place, uint32_t buffer, status *st) {
    const rotation_buffer *b = rotation_at(r, place, buffer);
    uint32_t set = r->content[place];
    if (rotation_digest(b->data, b->size_bytes) == *rotation_expected(r, set, buffer))
        return true;
    return status_set(st, STATUS_MISMATCH, "timed launches: input %u of set %u was written to",
                      buffer, set);
}

static bool check_guards(const rotation *r, uint32_t place, uint32_t buffer, bool all, status *st) {
    bool output = buffer >= r->inputs;
    status why = STATUS_INIT;
    if (guards_whole(r, rotation_at(r, place, buffer), all, &why))
        return true;
    return status_set(st, STATUS_MISMATCH, "timed launches: %s %u at place %u: the kernel %s",
                      output ? "output" : "input", output ? buffer - r->inputs : buffer, place,
                      why.message);
}

/* Outputs first: what comes late must not have the time. */
bool rotation_check(rotation *r, bool all, status *st) {
    const uint32_t buffers = r->inputs + r->outputs;
    for (uint32_t place = 0; place < r->sets; place++)
        for (uint32_t i = r->inputs; i < buffers; i++)
            if (!check_output(r, place, i, st))
                return false;
    for (uint32_t place = 0; place < r->sets; place++)
        for (uint32_t i = 0; i < buffers && r->read[place]; i++)
            if ((i < r->inputs && !check_input(r, place, i, st)) ||
                !check_guards(r, place, i, all, st))
                return false;
    return watch_look(r->watch, all, st);
}
