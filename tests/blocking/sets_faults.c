/* Sets of locks whose holders and waiters are killed, whose masters hang or forget, and which overlap in several
 * processes. */
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service_rig.h"

#define SHORT_TTL_MS 1000
#define HELD_TTL_MS 60000

static void open_five(void)
{
    world_open(5);
}

/* Renewed so often that a test need not wait for it, and held for longer than a test waits: a master gets its keys back
 * only while its old vote lasts. */
static struct redlock_mutex *make_held(const char *keys)
{
    struct redlock_acquire_options request = rig_request(HELD_TTL_MS, PATIENCE_MS);
    struct redlock_mutex *mutex = world_new_set(world.service, keys);

    request.renew_ms = 200;
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    return mutex;
}

static void lock_and_unlock(const char *keys)
{
    struct redlock_mutex *mutex = world_new_set(world.service, keys);

    ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
}

/* --- Processes that are killed ---------------------------------------------------------------------------------- */

/* Another process, which wants a set. One that is forgotten is ended by its alarm. */
static pid_t start_process(const char *keys)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct redlock_acquire_options request = rig_request(SHORT_TTL_MS, REDLOCK_FOREVER);

        alarm(2 * SUITE_PATIENCE_S);
        suite_any(redlock_mutex_acquire(world_new_set(world_new_service(), keys), &request, NULL));
        for (;;)
            pause();
    }
    return pid;
}

static void kill_process(pid_t pid)
{
    int status;

    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}

struct sight {
    const char *key;
    size_t masters;
};

static bool is_there(void *argument)
{
    const struct sight *sight = argument;

    return world_count(sight->key) >= sight->masters;
}

static void await_key(const char *key)
{
    world_wait(is_there, &(struct sight){key, 3}, key);
}

GROUP(killed, "killed", open_five, world_close)

TEST_IF(CHILDREN_MAY_HAVE_THREADS, killed, a_holder_that_is_killed_blocks_its_keys_for_their_ttl)
{
    pid_t pid = start_process("ab");

    await_key("a");
    await_key("b");
    kill_process(pid);
    lock_and_unlock("bc");
    lock_and_unlock("ab");
}

/* It holds a, and waits for b. */
TEST_IF(CHILDREN_MAY_HAVE_THREADS, killed, a_waiter_that_is_killed_blocks_what_it_has_for_its_ttl)
{
    struct redlock_mutex *holder = world_hold("b", 10000);
    pid_t pid = start_process("ab");

    await_key("a");
    await_key("redlock:queue:b");
    kill_process(pid);
    lock_and_unlock("ac");
    ck_assert_int_eq(redlock_mutex_unlock(holder), REDLOCK_OK);
    lock_and_unlock("ab");
}

/* --- Processes that overlap ------------------------------------------------------------------------------------- */

#define N_PROCESSES 4
#define ROUNDS 8

/* In memory that all of them share. */
struct table {
    atomic_int forks[N_PROCESSES];
};

static void eat(struct table *table, unsigned first, const char *keys)
{
    struct redlock_mutex *mutex = world_new_set(world_new_service(), keys);
    unsigned second = (first + 1) % N_PROCESSES;

    alarm(4 * SUITE_PATIENCE_S);
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool alone;

        if (redlock_mutex_lock(mutex, REDLOCK_FOREVER) != REDLOCK_OK)
            _exit(2);
        alone = atomic_fetch_add(&table->forks[first], 1) == 0;
        alone = atomic_fetch_add(&table->forks[second], 1) == 0 && alone;
        atomic_fetch_sub(&table->forks[first], 1);
        atomic_fetch_sub(&table->forks[second], 1);
        if (!alone)
            _exit(3);
        if (redlock_mutex_unlock(mutex) != REDLOCK_OK)
            _exit(4);
    }
    _exit(0);
}

GROUP(overlap, "overlap", open_five, world_close)

TEST_IF(CHILDREN_MAY_HAVE_THREADS, overlap, processes_with_sets_that_overlap_in_a_ring_all_come_to_an_end)
{
    static const char *const keys[N_PROCESSES] = {"ab", "cb", "dc", "ad"};
    struct table *table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pids[N_PROCESSES];

    ck_assert_ptr_ne(table, MAP_FAILED);
    for (unsigned i = 0; i < N_PROCESSES; i++) {
        pids[i] = fork();
        ck_assert_int_ge(pids[i], 0);
        if (pids[i] == 0)
            eat(table, i, keys[i]);
    }
    for (unsigned i = 0; i < N_PROCESSES; i++) {
        int status;

        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %u ended with %x", i, status);
    }
    munmap(table, sizeof *table);
}

/* --- Masters ---------------------------------------------------------------------------------------------------- */

GROUP(masters_tests, "masters", open_five, world_close)

TEST(masters_tests, a_hung_minority_does_not_matter)
{
    ck_assert(masters_hang(world.rig.masters, 0));
    ck_assert(masters_hang(world.rig.masters, 4));
    lock_and_unlock("ab");
    ck_assert(masters_resume(world.rig.masters, 0));
    ck_assert(masters_resume(world.rig.masters, 4));
    world_wait_absent("a");
    world_wait_absent("b");
}

static bool has_all_answers(void *argument)
{
    struct redlock_node_stats stats;
    bool all = true;

    for (size_t node = 0; node < world.rig.n; node++) {
        ck_assert_int_eq(redlock_service_node_stats(world.service, node, &stats, sizeof stats), 0);
        all = all && stats.link == REDLOCK_LINK_READY && stats.pending == 0;
    }
    return all;
}

/* Each master has the key, and the service has counted its vote. */
static void await_votes(const char *keys)
{
    for (const char *key = keys; *key; key++)
        world_wait(is_there, &(struct sight){(char[]){*key, '\0'}, 5}, "the key on each master");
    world_wait(has_all_answers, NULL, "the votes of all masters");
}

/* A renewal gives the keys back to each before the next one forgets. The votes of all have been counted before that: a
 * master whose vote was not gets nothing back in its quarantine. */
TEST(masters_tests, a_held_set_survives_masters_that_forget_one_after_the_other)
{
    struct redlock_mutex *mutex = make_held("ab");

    await_votes("ab");
    for (size_t node = 0; node < 5; node++) {
        rig_do(&world.rig, node, "FLUSHALL", NULL);
        await_votes("ab");
        ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    }
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    world_wait_absent("a");
    world_wait_absent("b");
}

SUITE_WITH_SERVER("sets_faults")
