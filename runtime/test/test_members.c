/* test_members.c - contexts of several devices: what is refused, one device lost beside others, and
 * what must be gone before a context is. Their work together is the conformance suite's. */
#include "test/test.h"

#include <stdlib.h>

#include "device/simulated/simulated.h"
#include "test/abi_fixture.h"

enum { HOST, FIRST, SECOND, MEMBERS, BYTES = 4096 };

typedef struct team {
    tsr_context_t members[MEMBERS];
    tsr_stream_t streams[MEMBERS];
    void *memory[MEMBERS];
    tsr_semaphore_t semaphore;
} team;

static void open_team(team *t, const char *faults) {
    static const uint32_t indices[MEMBERS] = {0, 1, 2};
    setenv(SIMULATED_COUNT, "2", 1);
    setenv(SIMULATED_FAULTS, faults, 1);
    simulated_reset();
    OK(tsrCreateContextOnDevices(indices, MEMBERS, 1, 0, &t->members[0]));
    for (uint32_t i = 0; i < MEMBERS; i++) {
        OK(tsrGetContextMember(t->members[0], i, &t->members[i]));
        OK(tsrCreateStream(t->members[i], &t->streams[i]));
        OK(tsrAlloc(t->members[i], BYTES, 0, &t->memory[i]));
    }
    OK(tsrCreateSemaphore(t->members[FIRST], 0, &t->semaphore));
}

static void free_member(team *t, int i) {
    OK(tsrDestroyStream(t->streams[i]));
    OK(tsrFree(t->members[i], t->memory[i]));
}

static void expect_nothing_left(void) {
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(simulated_memory_used(i), 0);
}

static void contexts_of_no_such_devices(void **state) {
    (void)state;
    const uint32_t indices[] = {0, 77};
    tsr_context_t context, member;
    REFUSED(tsrCreateContextOnDevices(indices, 2, 0, 0, &context), TSR_ENOTFOUND, "device 77");
    REFUSED(tsrCreateContextOnDevices(indices, 0, 0, 0, &context), TSR_EINVAL, "0 devices");
    REFUSED(tsrCreateContextOnDevices(indices, 5000, 0, 0, &context), TSR_EINVAL, "5000 devices");
    REFUSED(tsrCreateContextOnDevices(indices, 1, 0, 64, &context), TSR_EINVAL, "0x40");
    REFUSED(tsrCreateContextOnDevices(NULL, 1, 0, 0, &context), TSR_EINVAL, "indices");
    OK(tsrCreateContext(&context));
    OK(tsrGetContextMember(context, 0, &member));
    assert_ptr_equal(member, context);
    REFUSED(tsrGetContextMember(context, 1, &member), TSR_ENOTFOUND, "1 member");
    OK(tsrDestroyContext(context));
}

static void what_is_of_another_context_is_refused(void **state) {
    (void)state;
    team t, other;
    uint64_t value;
    open_team(&t, "");
    open_team(&other, "");
    REFUSED(tsrSignalSemaphore(t.semaphore, other.streams[HOST], 1), TSR_EINVAL, "another context");
    REFUSED(tsrWaitSemaphore(t.semaphore, other.streams[FIRST], 1), TSR_EINVAL, "another context");
    REFUSED(tsrCopyBetween(other.streams[HOST], t.members[HOST], t.memory[HOST], t.members[FIRST],
                           t.memory[FIRST], 8),
            TSR_EINVAL, "stream belongs to another");
    REFUSED(tsrCopyBetween(NULL, t.members[HOST], t.memory[HOST], other.members[FIRST],
                           other.memory[FIRST], 8),
            TSR_EINVAL, "source belongs to another");
    REFUSED(tsrCopyBetween(NULL, t.members[HOST], t.memory[HOST], t.members[SECOND],
                           t.memory[FIRST], 8),
            TSR_EINVAL, "another context"); /* a member's memory, named as another's */
    REFUSED(tsrSignalSemaphore(t.semaphore, NULL, 0), TSR_EINVAL, "greater than the last one, 0");
    OK(tsrSignalSemaphore(t.semaphore, NULL, 7));
    REFUSED(tsrSignalSemaphore(t.semaphore, t.streams[FIRST], 7), TSR_EINVAL, "last one, 7");
    OK(tsrGetSemaphoreValue(t.semaphore, &value));
    assert_int_equal(value, 7);
    REFUSED(tsrDestroyContext(t.members[SECOND]), TSR_EINVAL, "first member");
    OK(tsrDestroySemaphore(t.semaphore));
    free_member(&t, HOST);
    free_member(&t, FIRST);
    REFUSED(tsrDestroyContext(t.members[HOST]), TSR_EINVAL, "1 streams");
    free_member(&t, SECOND);
    OK(tsrDestroyContext(t.members[HOST]));
    OK(tsrDestroySemaphore(other.semaphore));
    for (int i = 0; i < MEMBERS; i++)
        free_member(&other, i);
    OK(tsrDestroyContext(other.members[HOST]));
    expect_nothing_left();
}

/* Those who wait for the lost one are told why; its neighbours go on. */
static void a_lost_member_leaves_the_others(void **state) {
    (void)state;
    team t;
    tsr_semaphore_t gate;
    uint64_t value;
    open_team(&t, "0:lost=1");
    OK(tsrCreateSemaphore(t.members[HOST], 0, &gate));
    OK(tsrWaitSemaphore(gate, t.streams[FIRST], 1));
    OK(tsrWaitSemaphore(t.semaphore, t.streams[SECOND], 1)); /* before there is a signal */
    OK(tsrFillAsync(t.members[FIRST], t.streams[FIRST], t.memory[FIRST], 1, BYTES));
    OK(tsrSignalSemaphore(t.semaphore, t.streams[FIRST], 1));
    OK(tsrWaitSemaphore(t.semaphore, t.streams[HOST], 1)); /* after it */
    OK(tsrSignalSemaphore(gate, NULL, 1));
    REFUSED(tsrStreamSynchronize(t.members[HOST], t.streams[HOST]), TSR_EDEVICELOST,
            "simulated device 0");
    REFUSED(tsrStreamSynchronize(t.members[SECOND], t.streams[SECOND]), TSR_EDEVICELOST,
            "simulated device 0");
    REFUSED(tsrSynchronizeSemaphore(t.semaphore, 1), TSR_EDEVICELOST, "simulated device 0");
    REFUSED(tsrGetSemaphoreValue(t.semaphore, &value), TSR_EDEVICELOST, "simulated device 0");
    assert_int_equal(tsrCopyBetween(t.streams[HOST], t.members[HOST], t.memory[HOST],
                                    t.members[FIRST], t.memory[FIRST], 8),
                     TSR_EDEVICELOST);
    OK(tsrCopyBetween(t.streams[SECOND], t.members[SECOND], t.memory[SECOND], t.members[HOST],
                      t.memory[HOST], BYTES));
    OK(tsrStreamSynchronize(t.members[SECOND], t.streams[SECOND]));
    OK(tsrDestroySemaphore(t.semaphore));
    OK(tsrDestroySemaphore(gate));
    REFUSED(tsrDestroyContext(t.members[HOST]), TSR_EINVAL, "1 streams");
    free_member(&t, HOST);
    free_member(&t, SECOND);
    OK(tsrDestroyContext(t.members[HOST])); /* with all that is left of the lost one */
    expect_nothing_left();
}

/* A stream waits for a signal that never comes, on a device that is lost meanwhile. */
static void a_wait_ends_with_its_own_device(void **state) {
    (void)state;
    team t;
    tsr_stream_t other;
    open_team(&t, "0:lost=1");
    OK(tsrWaitSemaphore(t.semaphore, t.streams[FIRST], 1));
    REFUSED(tsrDestroySemaphore(t.semaphore), TSR_EINVAL, "still waits");
    OK(tsrCreateStream(t.members[FIRST], &other));
    OK(tsrFillAsync(t.members[FIRST], other, t.memory[FIRST], 1, BYTES));
    assert_int_equal(tsrStreamSynchronize(t.members[FIRST], other), TSR_EDEVICELOST);
    assert_int_equal(tsrStreamSynchronize(t.members[FIRST], t.streams[FIRST]), TSR_EDEVICELOST);
    while (tsrDestroySemaphore(t.semaphore) != TSR_SUCCESS)
        ; /* the stream's thread has a moment to see it */
    free_member(&t, HOST);
    free_member(&t, SECOND);
    OK(tsrDestroyContext(t.members[HOST]));
    expect_nothing_left();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_of_no_such_devices),
        cmocka_unit_test(what_is_of_another_context_is_refused),
        cmocka_unit_test(a_lost_member_leaves_the_others),
        cmocka_unit_test(a_wait_ends_with_its_own_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
