/* test_comm.c - ranks that send each other bytes: everybody's to everybody, in pieces and whole;
 * and what each is told when another one is not what it should be, is late, or has died. Nobody
 * waits for ever, and no shared memory is left. */
#include "test/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "comm/board.h"
#include "comm/queue.h"

enum { RANKS = 4, ROUNDS = 6, LARGEST = 3 * BOARD_SLOT_BYTES + 17 };
#define SHORT_NS UINT64_C(1500000000)
#define LONG_NS UINT64_C(30000000000)

typedef struct one {
    const char *transport, *name;
    uint32_t rank, count, program;
    uint64_t timeout_ns;
    bool leaves, sends_other; /* behind the agreement; of another size than others take */
    int tells;                /* a pipe that gets a byte when it is there; 0: none */
    bool ok;
    status st;
} one;

/* Sizes differ from pair to pair and from round to round, and some are nothing. */
static size_t size_of(uint32_t from, uint32_t to, uint32_t round) {
    static const size_t sizes[] = {0, 1, 4096, LARGEST, 77};
    return sizes[(from + 2 * to + round) % 5];
}

static unsigned char byte_of(uint32_t from, uint32_t to, uint32_t round, size_t i) {
    return (unsigned char)(31 * from + 7 * to + 3 * round + i);
}

static bool exchange_round(comm *c, uint32_t round, size_t more, status *st) {
    comm_message messages[RANKS];
    unsigned char *sent[RANKS], *received[RANKS];
    for (uint32_t i = 0; i < c->count; i++) {
        const size_t out = size_of(c->rank, i, round) + (i == c->rank ? 0 : more),
                     in = size_of(i, c->rank, round);
        sent[i] = base_malloc(out + 1);
        received[i] = base_malloc(in + 1);
        for (size_t k = 0; k < out; k++)
            sent[i][k] = byte_of(c->rank, i, round, k);
        messages[i] = (comm_message){i, sent[i], received[i], out, in};
    }
    bool ok = comm_exchange(c, round + 1, messages, c->count, st);
    for (uint32_t i = 0; i < c->count; i++) {
        for (size_t k = 0; ok && k < messages[i].receive_bytes; k++)
            ok = received[i][k] == byte_of(i, c->rank, round, k) ||
                 status_set(st, STATUS_INTERNAL, "another byte came");
        free(sent[i]);
        free(received[i]);
    }
    return ok;
}

static void *take_part(void *context) {
    one *o = context;
    const comm_options options = {o->name, o->rank, o->count, o->timeout_ns};
    sha256 program = sha256_of(&o->program, sizeof o->program);
    o->st = (status)STATUS_INIT;
    comm *c = comm_open(o->transport, &options, &o->st);
    o->ok = c != NULL;
    if (o->tells && write(o->tells, "", 1) != 1)
        o->ok = false;
    if (c) /* behind it all ranks have come */
        o->ok = comm_agree(c, &program, &o->st);
    for (uint32_t round = 0; o->ok && !o->leaves && round < ROUNDS; round++)
        o->ok = exchange_round(c, round, o->sends_other ? 1 : 0, &o->st);
    comm_close(c);
    return NULL;
}

static void run_all(one *list, uint32_t count) {
    pthread_t threads[RANKS];
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_part, &list[i]), 0);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* Names of their own for each test and transport: several tests may run at once. */
static void describe(one *list, const char *transport, const char *test, char name[48]) {
    snprintf(name, 48, "test-%d-%s", (int)getpid(), test);
    for (uint32_t i = 0; i < RANKS; i++)
        list[i] = (one){
            .transport = transport, .name = name, .rank = i, .count = RANKS, .timeout_ns = LONG_NS};
}

static bool is_left(const char *name) {
    char path[96];
    struct stat info;
    snprintf(path, sizeof path, "/dev/shm/tessera-%u-%s", (unsigned)getuid(), name);
    return stat(path, &info) == 0;
}

static void each_transport(void (*test)(const char *transport)) {
    test("threads");
    test("shm");
    if (comm_transport_named("ucx")->missing() == NULL)
        test("ucx");
}

static void all_arrive(const char *transport) {
    one list[RANKS];
    char name[48];
    describe(list, transport, "arrive", name);
    run_all(list, RANKS);
    for (uint32_t i = 0; i < RANKS; i++)
        if (!list[i].ok)
            fail_msg("%s, rank %u: %s", transport, i, list[i].st.message);
    assert_false(is_left(name));
}

static void test_arrive(void **state) {
    (void)state;
    each_transport(all_arrive);
}

/* Another program on one rank: all are told which two differ. */
static void others_are_told(const char *transport) {
    one list[RANKS];
    char name[48];
    describe(list, transport, "program", name);
    list[2].program = 1;
    run_all(list, RANKS);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_false(list[i].ok);
        assert_non_null(strstr(list[i].st.message, "rank 2"));
    }
    assert_false(is_left(name));
}

static void test_programs(void **state) {
    (void)state;
    each_transport(others_are_told);
}

static void sizes_must_fit(const char *transport) {
    one list[RANKS];
    char name[48];
    describe(list, transport, "sizes", name);
    list[1].sends_other = true;
    run_all(list, RANKS);
    for (uint32_t i = 0; i < RANKS; i++)
        assert_false(list[i].ok);
    assert_false(is_left(name));
}

static void test_sizes(void **state) {
    (void)state;
    each_transport(sizes_must_fit);
}

/* One leaves before it has sent anything, or never comes. */
static void nobody_waits(const char *transport) {
    one list[RANKS];
    char name[48];
    describe(list, transport, "leaves", name);
    list[3].leaves = true;
    run_all(list, RANKS);
    for (uint32_t i = 0; i < 3; i++) {
        assert_false(list[i].ok);
        assert_non_null(strstr(list[i].st.message, "rank 3"));
    }
    assert_false(is_left(name));
    describe(list, transport, "late", name);
    for (uint32_t i = 0; i < RANKS; i++)
        list[i].timeout_ns = SHORT_NS;
    run_all(list, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_false(list[i].ok);
        assert_non_null(strstr(list[i].st.message, "rank 3"));
    }
    assert_false(is_left(name));
}

static void test_waiting(void **state) {
    (void)state;
    each_transport(nobody_waits);
}

static int kills = 8; /* the argument, in the full form */

/* One of the ranks, in a process of its own, is killed a while after it has begun. */
static void kill_one(one *list, uint32_t victim, useconds_t after) {
    int there[2];
    char byte;
    pthread_t threads[RANKS];
    assert_int_equal(pipe(there), 0);
    list[victim].tells = there[1];
    const pid_t process = fork();
    if (process == 0) {
        take_part(&list[victim]);
        pause();
    }
    for (uint32_t i = 0; i < RANKS; i++)
        if (i != victim)
            assert_int_equal(pthread_create(&threads[i], NULL, take_part, &list[i]), 0);
    assert_int_equal(read(there[0], &byte, 1), 1);
    usleep(after);
    kill(process, SIGKILL);
    for (uint32_t i = 0; i < RANKS; i++)
        if (i != victim)
            pthread_join(threads[i], NULL);
    waitpid(process, NULL, 0);
    close(there[0]);
    close(there[1]);
}

/* At a random point between its first and its last exchange, or behind it: the others end soon
 * after it, with its number, long before their limit. */
static void test_killed(void **state) {
    (void)state;
    one list[RANKS];
    char name[48];
    int told = 0;
    srand((unsigned)getpid());
    for (int times = 0; times < kills; times++) {
        const uint32_t victim = (uint32_t)times % RANKS;
        describe(list, "shm", "killed", name);
        kill_one(list, victim, (useconds_t)(rand() % (1 << rand() % 15)));
        for (uint32_t i = 0; i < RANKS; i++) {
            char named[16];
            snprintf(named, sizeof named, "rank %u", victim);
            if (i == victim || list[i].ok) /* it may have been through */
                continue;
            told++;
            if (!strstr(list[i].st.message, named))
                fail_msg("rank %u says, with rank %u killed: %s", i, victim, list[i].st.message);
        }
        assert_false(is_left(name));
    }
    assert_true(told > 0);
}

static void test_options(void **state) {
    (void)state;
    static const struct {
        const char *transport, *name;
        uint32_t rank, count;
    } wrong[] = {{"threads", "a", 2, 2},   {"threads", "a", 0, 0}, {"pigeons", "a", 0, 1},
                 {"threads", "a/b", 0, 1}, {"shm", "", 0, 1},      {"shm", "a", 0, 5000},
                 {"threads", "a", 0, 4000}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        status st = STATUS_INIT;
        const comm_options o = {wrong[i].name, wrong[i].rank, wrong[i].count, 0};
        assert_null(comm_open(wrong[i].transport, &o, &st));
        assert_true(st.message[0]);
    }
    status st = STATUS_INIT;
    char name[48];
    snprintf(name, sizeof name, "test-%d-twice", (int)getpid());
    const comm_options o = {name, 0, 2, SHORT_NS}, other = {name, 1, 3, SHORT_NS};
    static const char *const transports[] = {"threads", "shm"};
    for (uint32_t i = 0; i < 2; i++) {
        const char *transport = transports[i];
        comm *c = comm_open(transport, &o, &st);
        assert_non_null(c);
        assert_null(comm_open(transport, &o, &st));
        assert_null(comm_open(transport, &other, &st));
        comm_close(c);
        assert_false(is_left(name));
    }
}

/* ---- jobs beside a launch ---- */

typedef struct noted_job {
    comm_job job;
    int number, *next;     /* counts the jobs that ran */
    atomic_bool *may_run;  /* NULL: it does not wait */
    bool fails, elsewhere; /* it ran on another thread than the test's */
    int place;
    pthread_t owner;
} noted_job;

static bool run_noted(comm *c, comm_job *job, status *st) {
    noted_job *n = (noted_job *)job;
    (void)c;
    while (n->may_run && !atomic_load(n->may_run))
        usleep(1000);
    n->place = (*n->next)++;
    n->elsewhere = !pthread_equal(n->owner, pthread_self());
    return !n->fails || status_set(st, STATUS_UNAVAILABLE, "job %d failed", n->number);
}

/* They run one after the other while the owner does something else; one that is waited for at once
 * runs on its thread where nothing comes before it; those behind one that failed do not run. */
static void test_jobs(void **state) {
    enum { JOBS = 5, FAILS = 2 };
    noted_job jobs[JOBS], soon, again;
    comm_queue q;
    status st = STATUS_INIT;
    atomic_bool may_run = false;
    int next = 0;
    (void)state;
    comm_queue_init(&q, NULL);
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = (noted_job){.job = {.run = run_noted},
                              .number = i,
                              .next = &next,
                              .may_run = i == 0 ? &may_run : NULL,
                              .fails = i == FAILS,
                              .owner = pthread_self()};
        comm_queue_give(&q, &jobs[i].job, i == JOBS - 1);
    }
    assert_false(comm_queue_ended(&q, &jobs[0].job));
    atomic_store(&may_run, true);
    for (int i = JOBS; i-- > 0;) {
        status_clear(&st);
        assert_int_equal(comm_queue_await(&q, &jobs[i].job, &st), i < FAILS);
        assert_true(comm_queue_ended(&q, &jobs[i].job));
        assert_string_equal(st.message, i < FAILS ? "" : "job 2 failed");
        assert_true(i > FAILS || (jobs[i].place == i && jobs[i].elsewhere));
        assert_true(jobs[i].job.start_ns <= jobs[i].job.end_ns);
    }
    assert_int_equal(next, FAILS + 1);
    soon = again = (noted_job){.job = {.run = run_noted}, .next = &next, .owner = pthread_self()};
    comm_queue_give(&q, &soon.job, true);
    comm_queue_give(&q, &again.job, false);
    assert_true(comm_queue_await(&q, &soon.job, &st) && comm_queue_await(&q, &again.job, &st));
    assert_true(!soon.elsewhere && again.elsewhere && soon.place < again.place);
    comm_queue_release(&q);
}

int main(int argc, char **argv) {
    kills = argc > 1 ? atoi(argv[1]) : kills;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrive), cmocka_unit_test(test_programs),
        cmocka_unit_test(test_sizes),  cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_killed), cmocka_unit_test(test_options),
        cmocka_unit_test(test_jobs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
