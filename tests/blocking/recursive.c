/* Recursive mutexes: owners, depth, and who waits for them within the process. */
#include <check.h>
#include <sched.h>
#include <string.h>

#include "service_rig.h"
#include "thread.h"
#include "watch.h"

static char alice, bob, carol; /* owners: only their addresses matter */

static struct redlock_mutex *make(enum redlock_owners owners)
{
    struct redlock_mutex *mutex;

    ck_assert_int_eq(redlock_mutex_create_recursive(world.service, "key", 3, owners, &mutex), 0);
    return world_keep(mutex);
}

static struct redlock_mutex *make_held(const void *owner)
{
    struct redlock_mutex *mutex = make(REDLOCK_OWNERS_NAMED);

    ck_assert_int_eq(redlock_mutex_lock_as(mutex, owner, PATIENCE_MS), REDLOCK_OK);
    return mutex;
}

static uint64_t commands(void)
{
    return world_stats(world.service).commands;
}

/* --- One owner -------------------------------------------------------------------------------------------------- */

GROUP(one, "one owner", world_three, world_close)

TEST(one, an_owner_locks_again_without_the_masters_and_only_the_last_unlock_is_sent)
{
    struct redlock_mutex *mutex = make_held(&alice);
    struct redlock_result *result;
    uint64_t before = commands();

    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 0), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_acquire_as(mutex, &alice, NULL, &result), REDLOCK_OK);
    ck_assert_ptr_null(result);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 3);
    ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_release_as(mutex, &alice, &result), REDLOCK_OK);
    ck_assert_ptr_null(result);
    ck_assert_uint_eq(commands(), before);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_release_as(mutex, &alice, &result), REDLOCK_OK);
    ck_assert_uint_eq(result->granted, 3);
    redlock_result_free(result);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 0);
    ck_assert_uint_eq(world_count("key"), 0);
}

TEST(one, who_does_not_own_it_does_not_unlock_it)
{
    struct redlock_mutex *mutex = make(REDLOCK_OWNERS_NAMED);

    ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &bob), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &bob, 0), REDLOCK_HELD);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &bob, 20), REDLOCK_DEADLINE);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &bob, -2), REDLOCK_E_TIMEOUT);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 1);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    world_destroy(mutex);
    world_wait_absent("key");
}

TEST(one, calls_name_owners_of_the_kind_that_the_mutex_has)
{
    struct redlock_mutex *named = make(REDLOCK_OWNERS_NAMED), *threads = make(REDLOCK_OWNERS_THREADS);
    struct redlock_mutex *plain = world_new_mutex("plain"), *none = NULL;
    struct redlock_queue *queue;
    char text[REDLOCK_MAX_EXPORT_BYTES];

    ck_assert_int_eq(redlock_queue_create(world.service, &queue), 0);
    ck_assert_int_eq(redlock_mutex_lock(named, 0), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_lock_as(named, NULL, 0), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_unlock(named), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_export(named, text, sizeof text), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_detach(named), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_lock_as(threads, &alice, 0), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_lock_as(plain, &alice, 0), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_unlock_as(plain, &alice), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_export_as(plain, &alice, text, sizeof text), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_adopt_as(plain, &alice, NULL, "x"), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_acquire_async(threads, NULL, queue, NULL), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_release_async(threads, queue, NULL), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_create_recursive(world.service, "k", 1, (enum redlock_owners)2, &none),
                     REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_create_recursive(world.service, "", 0, REDLOCK_OWNERS_NAMED, &none),
                     REDLOCK_E_KEY_EMPTY);
    ck_assert_ptr_null(none);
    redlock_queue_destroy(queue);
}

TEST(one, the_depth_has_a_limit)
{
    struct redlock_mutex *mutex = make_held(&alice);

    for (unsigned depth = 1; depth < REDLOCK_MAX_DEPTH; depth++)
        ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 0), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 0), REDLOCK_E_DEPTH);
    for (unsigned depth = REDLOCK_MAX_DEPTH; depth > 0; depth--)
        ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_E_NOT_HELD);
}

static struct redlock_mutex *hold_lease(uint32_t ttl_ms)
{
    struct redlock_mutex *mutex = make(REDLOCK_OWNERS_NAMED);
    struct redlock_acquire_options request = rig_lease(ttl_ms, PATIENCE_MS);

    ck_assert_int_eq(redlock_mutex_acquire_as(mutex, &alice, &request, NULL), REDLOCK_OK);
    return mutex;
}

TEST(one, a_loss_is_a_loss_at_every_depth_and_is_not_locked_over)
{
    struct redlock_mutex *mutex = hold_lease(2000);
    struct redlock_acquire_options request = rig_request(2000, 0);

    request.min_validity_ms = 2000;
    ck_assert_int_eq(redlock_mutex_acquire_as(mutex, &alice, &request, NULL), REDLOCK_EXPIRING);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 0), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 0), REDLOCK_OK);
    world_wait_lost(world.service, 1);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 3);
    for (unsigned depth = 3; depth > 0; depth--) {
        ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, PATIENCE_MS), REDLOCK_LOST);
        ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_LOST);
    }
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, PATIENCE_MS), REDLOCK_OK);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 1);
}

TEST(one, it_moves_between_services_at_depth_one)
{
    struct redlock_mutex *mutex = make_held(&alice), *importer = NULL;
    struct redlock_service *other = world_new_service();
    char text[REDLOCK_MAX_EXPORT_BYTES];

    ck_assert_int_eq(redlock_mutex_create_recursive(other, "key", 3, REDLOCK_OWNERS_THREADS, &importer), 0);
    world_keep(importer);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 0), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_export_as(mutex, &alice, text, sizeof text), REDLOCK_E_DEPTH);
    ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_export_as(mutex, &bob, text, sizeof text), REDLOCK_E_OWNER);
    ck_assert_int_eq(redlock_mutex_export_as(mutex, &alice, text, 10), REDLOCK_E_LIMIT);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 1);
    ck_assert_int_eq(redlock_mutex_export_as(mutex, &alice, text, sizeof text), 0);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 0);
    ck_assert_int_eq(redlock_mutex_adopt(importer, NULL, "nonsense"), REDLOCK_E_EXPORT);
    ck_assert_int_eq(redlock_mutex_adopt(importer, NULL, text), 0);
    ck_assert_uint_eq(redlock_mutex_depth(importer), 1);
    ck_assert_int_eq(redlock_mutex_adopt(importer, NULL, text), REDLOCK_E_ALREADY_HELD);
    ck_assert_int_eq(redlock_mutex_lock(importer, 0), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock(importer), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock(importer), REDLOCK_OK);
    ck_assert_uint_eq(world_count("key"), 0);
    redlock_service_destroy(other);
}

/* --- What the hold must have ------------------------------------------------------------------------------------ */

static int enter(struct redlock_mutex *mutex, enum redlock_mode mode, uint8_t fenced)
{
    struct redlock_acquire_options request = rig_request(10000, PATIENCE_MS);

    request.mode = mode;
    request.fenced = fenced;
    return redlock_mutex_acquire_as(mutex, &alice, &request, NULL);
}

static struct redlock_mutex *make_held_in(enum redlock_mode mode, uint8_t fenced)
{
    struct redlock_mutex *mutex = make(REDLOCK_OWNERS_NAMED);

    ck_assert_int_eq(enter(mutex, mode, fenced), REDLOCK_OK);
    return mutex;
}

TEST(one, who_shares_the_key_does_not_get_more_of_it_by_locking_again)
{
    struct redlock_mutex *mutex = make_held_in(REDLOCK_SHARED, 0), *reader = world_new_mutex("key");
    struct redlock_acquire_options request = rig_request(10000, PATIENCE_MS);
    struct redlock_result *result;
    uint64_t before;

    request.mode = REDLOCK_SHARED;
    ck_assert_int_eq(redlock_mutex_acquire(reader, &request, NULL), REDLOCK_OK);
    before = commands();
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, REDLOCK_FOREVER), REDLOCK_E_UPGRADE);
    ck_assert_int_eq(redlock_mutex_acquire_as(mutex, &alice, NULL, &result), REDLOCK_E_UPGRADE);
    ck_assert_ptr_null(result);
    ck_assert_int_eq(enter(mutex, REDLOCK_EXCLUSIVE, 0), REDLOCK_E_UPGRADE);
    ck_assert_int_eq(enter(mutex, REDLOCK_UPGRADEABLE, 0), REDLOCK_E_UPGRADE);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 1);
    ck_assert_int_eq(enter(mutex, REDLOCK_SHARED, 0), REDLOCK_OK);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 2);
    ck_assert_uint_eq(commands(), before);
}

TEST(one, a_thread_that_shares_the_key_does_not_get_more_of_it_either)
{
    struct redlock_mutex *mutex = make(REDLOCK_OWNERS_THREADS);
    struct redlock_acquire_options request = rig_request(10000, PATIENCE_MS);

    request.mode = REDLOCK_SHARED;
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_E_UPGRADE);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_E_UPGRADE);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 1);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_OK);
}

TEST(one, an_owner_enters_in_the_mode_that_it_has_and_in_weaker_ones)
{
    for (enum redlock_mode held = REDLOCK_EXCLUSIVE; held <= REDLOCK_SHARED; held++) {
        struct redlock_mutex *mutex = make_held_in(held, 0);

        for (enum redlock_mode mode = REDLOCK_EXCLUSIVE; mode <= REDLOCK_SHARED; mode++)
            ck_assert_int_eq(enter(mutex, mode, 0), mode < held ? REDLOCK_E_UPGRADE : REDLOCK_OK);
        ck_assert_uint_eq(redlock_mutex_depth(mutex), 1 + REDLOCK_SHARED + 1 - held);
        world_destroy(mutex);
        world_wait_absent("key");
    }
}

TEST(one, the_mode_of_an_adopted_lock_counts)
{
    struct redlock_mutex *mutex = make_held_in(REDLOCK_SHARED, 0), *importer = NULL;
    struct redlock_service *other = world_new_service();
    char text[REDLOCK_MAX_EXPORT_BYTES];

    ck_assert_int_eq(redlock_mutex_create_recursive(other, "key", 3, REDLOCK_OWNERS_NAMED, &importer), 0);
    world_keep(importer);
    ck_assert_int_eq(redlock_mutex_export_as(mutex, &alice, text, sizeof text), 0);
    ck_assert_int_eq(redlock_mutex_adopt_as(importer, &alice, NULL, text), 0);
    ck_assert_int_eq(redlock_mutex_lock_as(importer, &alice, 0), REDLOCK_E_UPGRADE);
    ck_assert_int_eq(enter(importer, REDLOCK_SHARED, 0), REDLOCK_OK);
    ck_assert_uint_eq(redlock_mutex_depth(importer), 2);
    redlock_service_destroy(other);
}

TEST(one, who_asks_for_a_fencing_token_enters_only_where_there_is_one)
{
    struct redlock_mutex *mutex = make_held_in(REDLOCK_EXCLUSIVE, 0);
    uint64_t fence;

    ck_assert_int_eq(enter(mutex, REDLOCK_EXCLUSIVE, 1), REDLOCK_E_UNFENCED);
    ck_assert_int_eq(enter(mutex, REDLOCK_SHARED, 1), REDLOCK_E_UNFENCED);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 1);
    ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_OK);
    ck_assert_int_eq(enter(mutex, REDLOCK_EXCLUSIVE, 1), REDLOCK_OK);
    fence = redlock_mutex_fence(mutex);
    ck_assert_uint_gt(fence, 0);
    ck_assert_int_eq(enter(mutex, REDLOCK_SHARED, 1), REDLOCK_OK);
    ck_assert_uint_eq(redlock_mutex_fence(mutex), fence);
}

static int enter_with_size(struct redlock_mutex *mutex, const void *owner, size_t size)
{
    struct redlock_acquire_options request = rig_request(10000, PATIENCE_MS);

    request.mode = REDLOCK_SHARED;
    request.size = size;
    return redlock_mutex_acquire_as(mutex, owner, &request, NULL);
}

/* Also of an owner who would have to wait. Options of a program that knows no modes are exclusive. */
TEST(one, what_is_wrong_with_the_options_is_told_at_every_depth)
{
    struct redlock_mutex *mutex = make_held_in(REDLOCK_SHARED, 0);

    ck_assert_int_eq(enter_with_size(mutex, &alice, 0), REDLOCK_E_OPTIONS_SIZE);
    ck_assert_int_eq(enter_with_size(mutex, &bob, sizeof(size_t)), REDLOCK_HELD); /* all defaults */
    ck_assert_int_eq(enter_with_size(mutex, &alice, offsetof(struct redlock_acquire_options, mode)),
                     REDLOCK_E_UPGRADE);
    ck_assert_int_eq(enter(mutex, (enum redlock_mode)3, 0), REDLOCK_E_MODE);
    ck_assert_int_eq(enter(mutex, (enum redlock_mode)-1, 0), REDLOCK_E_MODE);
    ck_assert_int_eq(enter(mutex, REDLOCK_SHARED, 2), REDLOCK_E_RENEWAL);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 1);
}

/* --- Several owners --------------------------------------------------------------------------------------------- */

struct guest {
    pthread_t thread;
    atomic_long id;
    struct redlock_mutex *mutex;
    const void *owner;
    int64_t timeout_ms;
    atomic_int *served;
    int turn;   /* among all that were served */
    int status;
};

static void *visit(void *argument)
{
    struct guest *guest = argument;

    atomic_store(&guest->id, thread_self());
    guest->status = redlock_mutex_lock_as(guest->mutex, guest->owner, guest->timeout_ms);
    if (guest->status != REDLOCK_OK)
        return NULL;
    guest->turn = atomic_fetch_add(guest->served, 1);
    redlock_mutex_unlock_as(guest->mutex, guest->owner);
    return NULL;
}

static bool has_id(void *argument)
{
    return atomic_load(&((struct guest *)argument)->id) != 0;
}

/* Until it waits for its turn. */
static void start(struct guest *guest, struct redlock_mutex *mutex, const void *owner, atomic_int *served)
{
    memset(guest, 0, sizeof *guest);
    guest->mutex = mutex;
    guest->owner = owner;
    guest->timeout_ms = PATIENCE_MS;
    guest->served = served;
    ck_assert_int_eq(pthread_create(&guest->thread, NULL, visit, guest), 0);
    world_wait(has_id, guest, "a thread");
    thread_await_sleep(atomic_load(&guest->id));
}

#define GUESTS 5

GROUP(several, "several owners", world_three, world_close)

TEST(several, other_owners_wait_here_and_are_served_in_order)
{
    struct redlock_mutex *mutex = make_held(&alice);
    struct guest guests[GUESTS];
    char owners[GUESTS];
    atomic_int served = 0;
    uint64_t before = world_stats(world.service).acquires;

    for (int i = 0; i < GUESTS; i++)
        start(&guests[i], mutex, &owners[i], &served);
    ck_assert_uint_eq(world_stats(world.service).acquires, before); /* nobody asks the masters meanwhile */
    ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_OK);
    for (int i = 0; i < GUESTS; i++) {
        pthread_join(guests[i].thread, NULL);
        ck_assert_int_eq(guests[i].status, REDLOCK_OK);
        ck_assert_int_eq(guests[i].turn, i);
    }
    ck_assert_uint_eq(world_count("key"), 0);
}

TEST(several, cancel_ends_all_that_wait_and_leaves_the_owner)
{
    struct redlock_mutex *mutex = make_held(&alice);
    struct guest guests[2];
    atomic_int served = 0;

    start(&guests[0], mutex, &bob, &served);
    start(&guests[1], mutex, &carol, &served);
    ck_assert_int_eq(redlock_mutex_cancel(mutex), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(guests[i].thread, NULL);
        ck_assert_int_eq(guests[i].status, REDLOCK_CANCELED);
    }
    ck_assert_int_eq(redlock_mutex_cancel(mutex), REDLOCK_E_NOTHING_TO_CANCEL);
    ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_OK);
}

static void join_canceled(struct guest *guest)
{
    pthread_join(guest->thread, NULL);
    ck_assert_int_eq(guest->status, REDLOCK_CANCELED);
}

#define CANCELS 20

/* Who has asked the masters lets the next one try when its call ends. */
TEST(several, cancel_ends_who_asks_the_masters_and_all_that_wait_behind)
{
    struct redlock_mutex *mutex = make(REDLOCK_OWNERS_NAMED);
    struct guest asks, waits;
    atomic_int served = 0;

    world_hold("key", 30000);
    for (int i = 0; i < CANCELS; i++) {
        uint64_t before = world_stats(world.service).acquires;

        start(&asks, mutex, &alice, &served);
        world_wait_acquires(world.service, before + 1);
        start(&waits, mutex, &bob, &served);
        ck_assert_int_eq(redlock_mutex_cancel(mutex), 0);
        join_canceled(&asks);
        join_canceled(&waits);
    }
}

/* How often masters have said that a waiter of the service is in their queue. */
static uint64_t queued(struct redlock_service *service)
{
    struct redlock_node_stats stats;
    uint64_t answers = 0;

    for (size_t i = 0; i < world.rig.n; i++) {
        ck_assert_int_eq(redlock_service_node_stats(service, i, &stats, sizeof stats), 0);
        answers += stats.queued;
    }
    return answers;
}

struct queueing {
    struct redlock_service *service;
    uint64_t answers;
};

static bool stands_in_queue(void *argument)
{
    const struct queueing *queueing = argument;

    return queued(queueing->service) >= queueing->answers;
}

/* Until all masters have it in their queues. */
static void start_rival(struct caller *rival, struct redlock_service *service, struct redlock_mutex *mutex)
{
    struct queueing queueing = {service, queued(service) + world.rig.n};

    caller_start(rival, mutex, PATIENCE_MS);
    world_wait(stands_in_queue, &queueing, "a place in the queue");
}

/* The rival gets the key first, so who has been admitted has to wait for the masters. */
TEST(several, cancel_ends_who_has_just_been_admitted)
{
    struct redlock_service *other = world_new_service();
    struct redlock_mutex *mutex = make(REDLOCK_OWNERS_NAMED), *rivals;
    struct guest guest;
    atomic_int served = 0;

    ck_assert_int_eq(redlock_mutex_create(other, "key", 3, &rivals), 0);
    world_keep(rivals);
    for (int i = 0; i < CANCELS; i++) {
        struct caller rival;

        ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, PATIENCE_MS), REDLOCK_OK);
        start_rival(&rival, other, rivals);
        start(&guest, mutex, &bob, &served);
        ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_OK);
        ck_assert_int_eq(redlock_mutex_cancel(mutex), 0);
        join_canceled(&guest);
        ck_assert_int_eq(caller_join(&rival), REDLOCK_OK);
        ck_assert_int_eq(redlock_mutex_unlock(rivals), REDLOCK_OK);
    }
    redlock_service_destroy(other);
}

TEST(several, who_fails_at_the_masters_lets_the_next_one_try)
{
    struct redlock_mutex *holder = world_hold("key", 30000);
    struct redlock_mutex *mutex = make(REDLOCK_OWNERS_NAMED);

    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 0), REDLOCK_HELD);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &bob, 30), REDLOCK_DEADLINE);
    ck_assert_int_eq(redlock_mutex_unlock(holder), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &carol, PATIENCE_MS), REDLOCK_OK);
}

/* The service's thread is busy: the caller gives up, and what it has left is rolled back later. */
TEST(several, a_call_that_gave_up_passes_the_mutex_on_when_its_attempt_is_over)
{
    struct redlock_mutex *mutex = make(REDLOCK_OWNERS_NAMED);
    struct guest guest;
    atomic_int served = 0;
    struct plug plug;

    plug_in(&plug, world.service);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 20), REDLOCK_DEADLINE);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 20), REDLOCK_E_BUSY);
    start(&guest, mutex, &bob, &served);
    plug_out(&plug);
    pthread_join(guest.thread, NULL);
    ck_assert_int_eq(guest.status, REDLOCK_OK);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 0);
}

TEST(several, destroying_the_mutex_ends_all_that_wait)
{
    struct redlock_mutex *mutex = make_held(&alice);
    struct guest guest;
    atomic_int served = 0;

    start(&guest, mutex, &bob, &served);
    world_destroy(mutex);
    pthread_join(guest.thread, NULL);
    ck_assert_int_eq(guest.status, REDLOCK_CANCELED);
    world_wait_absent("key");
}

TEST(several, shutdown_releases_at_any_depth_and_ends_all_that_wait)
{
    struct redlock_mutex *mutex = make_held(&alice);
    struct guest guest;
    atomic_int served = 0;

    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 0), REDLOCK_OK);
    start(&guest, mutex, &bob, &served);
    ck_assert_int_eq(redlock_service_shutdown(world.service, PATIENCE_MS), REDLOCK_OK);
    pthread_join(guest.thread, NULL);
    ck_assert_int_eq(guest.status, REDLOCK_CANCELED);
    ck_assert_uint_eq(world_count("key"), 0);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &alice, 0), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &carol, PATIENCE_MS), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_mutex_unlock_as(mutex, &alice), REDLOCK_LOST);
}

TEST(several, the_end_of_the_service_ends_all_that_wait)
{
    struct redlock_mutex *mutex = make_held(&alice);
    struct guest guest;
    atomic_int served = 0;

    start(&guest, mutex, &bob, &served);
    redlock_service_destroy(world.service);
    world.service = NULL;
    pthread_join(guest.thread, NULL);
    ck_assert_int_eq(guest.status, REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_mutex_lock_as(mutex, &bob, PATIENCE_MS), REDLOCK_E_CLOSING);
}

/* --- Threads as owners ------------------------------------------------------------------------------------------ */

static void *unlock_as_a_stranger(void *mutex)
{
    return (void *)(intptr_t)redlock_mutex_unlock(mutex);
}

GROUP(threads_tests, "threads", world_three, world_close)

TEST(threads_tests, a_thread_is_an_owner_and_others_are_not)
{
    struct redlock_mutex *mutex = make(REDLOCK_OWNERS_THREADS);
    pthread_t thread;
    void *status = NULL;

    ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_OK);
    ck_assert_int_eq(pthread_create(&thread, NULL, unlock_as_a_stranger, mutex), 0);
    pthread_join(thread, &status);
    ck_assert_int_eq((intptr_t)status, REDLOCK_E_OWNER);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 2);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
}

#define THREADS 6
#define ROUNDS 10

struct contest {
    struct redlock_mutex *mutexes[2]; /* of one service, and of another */
    atomic_int inside;
    atomic_int overlaps;
    atomic_int failures;
    atomic_int next;
    int unchecked; /* by anything but the lock */
};

static void lock_twice(struct contest *contest, struct redlock_mutex *mutex)
{
    if (redlock_mutex_lock(mutex, PATIENCE_MS) != REDLOCK_OK || redlock_mutex_lock(mutex, 0) != REDLOCK_OK) {
        atomic_fetch_add(&contest->failures, 1);
        return;
    }
    if (atomic_fetch_add(&contest->inside, 1) != 0)
        atomic_fetch_add(&contest->overlaps, 1);
    redlock_mutex_unlock(mutex);
    contest->unchecked++;
    sched_yield();
    atomic_fetch_sub(&contest->inside, 1);
    redlock_mutex_unlock(mutex);
}

static void *contend(void *argument)
{
    struct contest *contest = argument;
    struct redlock_mutex *mutex = contest->mutexes[atomic_fetch_add(&contest->next, 1) % 2];

    for (int i = 0; i < ROUNDS; i++)
        lock_twice(contest, mutex);
    return NULL;
}

TEST(threads_tests, threads_of_two_services_exclude_each_other)
{
    struct contest contest = {.mutexes = {make(REDLOCK_OWNERS_THREADS)}};
    struct redlock_service *other = world_new_service();
    pthread_t threads[THREADS];

    ck_assert_int_eq(redlock_mutex_create_recursive(other, "key", 3, REDLOCK_OWNERS_THREADS, &contest.mutexes[1]), 0);
    world_keep(contest.mutexes[1]);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, contend, &contest), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(contest.failures, 0);
    ck_assert_int_eq(contest.overlaps, 0);
    ck_assert_int_eq(contest.unchecked, THREADS * ROUNDS);
    redlock_service_destroy(other);
}

SUITE_WITH_SERVER("recursive")
