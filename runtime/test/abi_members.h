/* abi_members.h - rows of the conformance suite: semaphores, and devices that work together in one
 * context. */
#ifndef TESSERA_RUNTIME_ABI_MEMBERS_H
#define TESSERA_RUNTIME_ABI_MEMBERS_H

#include "test/abi_bench.h"

/* Two streams pass one piece of work to and fro. Waits are queued before their signals, and after
 * them. */
static inline void semaphores_order_streams(const abi_bench *b) {
    enum { LINKS = 8 };
    tsr_stream_t streams[2];
    tsr_semaphore_t s;
    void *cells[2] = {b->a, b->out};
    uint64_t value;
    OK(tsrCreateSemaphore(b->context, 10, &s));
    for (int i = 0; i < 2; i++)
        OK(tsrCreateStream(b->context, &streams[i]));
    put(b, b->a, 5);
    OK(tsrWaitSemaphore(s, streams[0], 11)); /* for a signal that nobody asked for */
    for (int i = 0; i < LINKS; i++) {
        OK(tsrWaitSemaphore(s, streams[i % 2], 11 + (uint64_t)i));
        OK(launch_abi(b, streams[i % 2], cells[i % 2], cells[(i + 1) % 2]));
        if (i == 0) {
            OK(tsrGetSemaphoreValue(s, &value));
            assert_int_equal(value, 10);
            REFUSED(tsrDestroySemaphore(s), TSR_EINVAL, "still waits");
            OK(tsrSignalSemaphore(s, NULL, 11));
        }
        OK(tsrSignalSemaphore(s, streams[i % 2], 12 + (uint64_t)i));
    }
    OK(tsrSynchronizeSemaphore(s, 11 + LINKS));
    OK(tsrGetSemaphoreValue(s, &value));
    assert_int_equal(value, 11 + LINKS);
    expect_at(b, cells[LINKS % 2], 5, LINKS);
    for (int i = 0; i < 2; i++)
        OK(tsrDestroyStream(streams[i]));
    OK(tsrDestroySemaphore(s));
}

/* ---- several devices ---- */

enum { MEMBERS = 3 };
typedef struct abi_team {
    abi_bench members[MEMBERS];
    tsr_stream_t streams[MEMBERS];
    tsr_semaphore_t turn;
} abi_team;

static inline void open_team(abi_team *t, const abi_bench *b) {
    const bool is_host = strcmp(b->driver->name, "cpu") == 0;
    t->members[0] = *b;
    open_abi_bench(&t->members[1], device_driver_find(is_host ? "simulated" : "cpu"), 0);
    open_abi_bench(&t->members[2], b->driver, b->index);
    tsr_context_t contexts[MEMBERS];
    for (int i = 0; i < MEMBERS; i++)
        contexts[i] = t->members[i].context;
    context_join(contexts, MEMBERS);
    for (int i = 0; i < MEMBERS; i++)
        OK(tsrCreateStream(contexts[i], &t->streams[i]));
    OK(tsrCreateSemaphore(contexts[1], 0, &t->turn));
}

/* The context itself is the row's. */
static inline void close_team(abi_team *t) {
    for (int i = 0; i < MEMBERS; i++)
        OK(tsrDestroyStream(t->streams[i]));
    OK(tsrDestroySemaphore(t->turn));
    for (int i = 1; i < MEMBERS; i++) {
        OK(tsrFree(t->members[i].context, t->members[i].a));
        OK(tsrFree(t->members[i].context, t->members[i].out));
        OK(tsrUnloadModule(t->members[i].module));
        REFUSED(tsrDestroyContext(t->members[i].context), TSR_EINVAL, "first member");
    }
}

/* Each member waits for the one before it, takes what that one made, and works on. */
static inline void pass_on(abi_team *t, uint64_t turn) {
    const int at = (int)(turn % MEMBERS), from = (int)((turn + MEMBERS - 1) % MEMBERS);
    const abi_bench *m = &t->members[at], *before = &t->members[from];
    OK(tsrWaitSemaphore(t->turn, t->streams[at], turn));
    OK(tsrCopyBetween(t->streams[at], m->context, m->a, before->context, before->out, BYTES));
    OK(launch_abi(m, t->streams[at], m->a, m->out));
    OK(tsrSignalSemaphore(t->turn, t->streams[at], turn + 1));
}

static inline void devices_work_together(const abi_bench *b) {
    enum { TURNS = 7 };
    abi_team t;
    open_team(&t, b);
    put(&t.members[MEMBERS - 1], t.members[MEMBERS - 1].out, 2);
    for (uint64_t turn = 0; turn < TURNS; turn++)
        pass_on(&t, turn);
    OK(tsrSynchronizeSemaphore(t.turn, TURNS));
    if (strcmp(b->driver->name, "null") != 0)
        expect_at(&t.members[(TURNS - 1) % MEMBERS], t.members[(TURNS - 1) % MEMBERS].out, 2,
                  TURNS);
    close_team(&t);
}

/* From each member to each, itself included, by a stream of a third: more than one piece. */
static inline void copies_between_devices(const abi_bench *b) {
    enum { SIZE = (9 << 20) + 44 };
    abi_team t;
    unsigned char *sent = base_malloc(SIZE), *got = base_malloc(SIZE);
    void *memory[MEMBERS], *second;
    open_team(&t, b);
    for (int i = 0; i < SIZE; i++)
        sent[i] = (unsigned char)(i % 251);
    for (int i = 0; i < MEMBERS; i++)
        OK(tsrAlloc(t.members[i].context, SIZE, 0, &memory[i]));
    OK(tsrAlloc(t.members[2].context, SIZE, TSR_ALLOC_ZERO, &second));
    const tsr_context_t c[] = {t.members[0].context, t.members[1].context, t.members[2].context};
    OK(tsrCopyBetween(NULL, c[0], memory[0], c[2], sent, SIZE));
    OK(tsrCopyBetween(t.streams[1], c[2], memory[2], c[0], memory[0], SIZE));
    OK(tsrCopyBetween(t.streams[1], c[2], second, c[2], memory[2], SIZE - 1));
    OK(tsrCopyBetween(t.streams[1], c[1], memory[1], c[2], second, SIZE));
    OK(tsrStreamSynchronize(c[1], t.streams[1]));
    OK(tsrCopyBetween(t.streams[0], c[1], got, c[1], memory[1], SIZE));
    OK(tsrStreamSynchronize(c[0], t.streams[0]));
    assert_memory_equal(got, sent, SIZE - 1);
    assert_int_equal(got[SIZE - 1], 0);
    REFUSED(tsrCopyBetween(NULL, c[0], memory[0], c[2], memory[2], SIZE + 1), TSR_EINVAL,
            "past the end");
    OK(tsrFree(c[2], second));
    for (int i = 0; i < MEMBERS; i++)
        OK(tsrFree(c[i], memory[i]));
    close_team(&t);
    free(sent);
    free(got);
}

#endif
