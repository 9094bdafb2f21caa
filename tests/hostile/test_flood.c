/* Very many locks in random order on masters that are killed and restarted at random: nothing is lost, nothing is left.
 *
 * $REDLOCK_FLOOD is the number of locks, $REDLOCK_SEED the seed; both have defaults. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "program_rig.h"

#define LOCKS 4000
#define TOGETHER 256
#define KEYS 512
#define MASTERS 3

static struct {
    uint32_t seed;
    unsigned accepted;
    unsigned called;
    unsigned held;
    struct redlock_lock *locks[TOGETHER];
} flood;

#define TTL_MS 3000 /* a guarded client keeps a restarted master out for that and a second */

static void tune(struct redlock_options *options)
{
    options->max_ttl_ms = TTL_MS;
    options->node_timeout_ms = 200;
    options->connect_timeout_ms = 200;
    options->backoff_min_ms = 1;
    options->backoff_max_ms = 20;
}

static void open_masters(void)
{
    const char *seed = getenv("REDLOCK_SEED");

    rig_open_with(&rig, MASTERS, 0, tune);
    memset(&flood, 0, sizeof flood);
    flood.seed = seed ? (uint32_t)strtoul(seed, NULL, 10) : (uint32_t)time(NULL);
}

static void close_masters(void)
{
    rig_close(&rig);
}

/* xorshift */
static uint32_t pick(uint32_t limit)
{
    flood.seed |= !flood.seed;
    flood.seed ^= flood.seed << 13;
    flood.seed ^= flood.seed >> 17;
    flood.seed ^= flood.seed << 5;
    return flood.seed % limit;
}

static unsigned open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static size_t slot_of(const struct redlock_lock *lock)
{
    size_t i = 0;

    while (i < TOGETHER && flood.locks[i] != lock)
        i++;
    return i;
}

static void destroy(size_t slot)
{
    struct redlock_lock *lock = flood.locks[slot];

    flood.locks[slot] = NULL;
    redlock_lock_destroy(lock);
}

static void on_done(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    size_t slot = slot_of(lock);

    flood.called++;
    flood.held += result->op == REDLOCK_OP_ACQUIRE && result->status == REDLOCK_OK;
    if (slot == TOGETHER)
        return; /* is being destroyed */
    switch (pick(5)) {
    case 0:
        destroy(slot);
        break;
    case 1:
        flood.accepted += redlock_extend(lock, 0, on_done, NULL) == 0;
        break;
    case 2:
        destroy(pick(TOGETHER));
        break;
    default:
        flood.accepted += redlock_release(lock, on_done, NULL) == 0;
        break;
    }
}

static void start_one(size_t slot)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, pick(3) ? 0 : 50);
    char key[16];

    destroy(slot);
    snprintf(key, sizeof key, "flood-%u", pick(KEYS));
    flood.locks[slot] = rig_new_lock(rig.client, key);
    flood.accepted += redlock_acquire(flood.locks[slot], &request, on_done, NULL) == 0;
}

static void trouble_a_master(void)
{
    size_t i = pick(MASTERS);

    if (!masters_pid(rig.masters, i))
        ck_assert_msg(masters_restart(rig.masters, i), "%s", masters_error());
    else
        ck_assert_msg(masters_kill(rig.masters, i), "%s", masters_error());
}

static void heal_all(void)
{
    for (size_t i = 0; i < MASTERS; i++) {
        if (!masters_pid(rig.masters, i))
            ck_assert_msg(masters_restart(rig.masters, i), "%s", masters_error());
    }
    for (size_t i = 0; i < MASTERS; i++)
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_READY);
}

static void run(unsigned locks)
{
    for (unsigned n = 0; n < locks; n++) {
        start_one(pick(TOGETHER));
        if (pick(16) == 0)
            event_base_loop(rig.base, EVLOOP_NONBLOCK);
        if (pick(locks / 16) == 0)
            trouble_a_master();
    }
}

GROUP(masters, "masters", open_masters, close_masters)

TEST(masters, very_many_locks_leave_nothing_behind)
{
    const char *count = getenv("REDLOCK_FLOOD");
    unsigned descriptors = open_descriptors();
    char key[32];

    run(count ? (unsigned)strtoul(count, NULL, 10) : LOCKS);
    heal_all();
    while (!flood.held) { /* the machine was too busy with other things until now */
        start_one(pick(TOGETHER));
        event_base_loop(rig.base, EVLOOP_ONCE);
    }
    for (size_t i = 0; i < TOGETHER; i++)
        destroy(i);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(flood.called, flood.accepted);
    for (unsigned i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "flood-%u", i);
        ck_assert_uint_eq(masters_count_key(rig.masters, key), 0);
        snprintf(key, sizeof key, "redlock:queue:flood-%u", i);
        ck_assert_uint_eq(masters_count_key(rig.masters, key), 0);
    }
    ck_assert_uint_le(open_descriptors(), descriptors + MASTERS); /* those that listen */
}

SUITE_WITH_SERVER("flood")
