/* Mutexes of several keys: held as a whole or not at all, from any thread. */
#include <check.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service_rig.h"

#define SHORT_TTL_MS 900

static struct redlock_mutex *make(const char *keys)
{
    return world_new_set(world.service, keys);
}

static struct redlock_mutex *make_held(const char *keys, uint32_t ttl_ms)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, PATIENCE_MS);
    struct redlock_mutex *mutex = make(keys);

    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    return mutex;
}

/* --- Held and free ---------------------------------------------------------------------------------------------- */

GROUP(life, "life", world_three, world_close)

TEST(life, a_set_is_locked_extended_and_unlocked_like_one_key)
{
    struct redlock_mutex *mutex = make("cab");
    struct redlock_result *result;

    ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_uint_eq(redlock_mutex_depth(mutex), 1);
    ck_assert_uint_ge(world_count("a"), 2);
    ck_assert_uint_ge(world_count("c"), 2);
    ck_assert_int_eq(redlock_mutex_extend(mutex, 30000, &result), REDLOCK_OK);
    ck_assert_int_eq(result->op, REDLOCK_OP_EXTEND);
    ck_assert_int_gt(result->remaining_ms, 20000);
    redlock_result_free(result);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_E_ALREADY_HELD);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_E_NOT_HELD);
    world_wait_absent("a");
    world_wait_absent("b");
    world_wait_absent("c");
}

TEST(life, a_refusal_names_the_key_and_leaves_nothing)
{
    struct redlock_mutex *mutex = make("abc");
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_part part;
    struct redlock_result *result;

    world_hold("b", 10000);
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, &result), REDLOCK_HELD);
    ck_assert_uint_eq(result->part, 1);
    ck_assert(result->n_nodes == 3 || result->n_nodes == 0); /* none: another key was answered last */
    ck_assert_str_ne(result->why, "");
    ck_assert_int_eq(redlock_mutex_part(mutex, result->part, &part, sizeof part), 0);
    ck_assert_uint_eq(part.key_size, 1);
    ck_assert_mem_eq(part.key, "b", 1);
    redlock_result_free(result);
    ck_assert_int_eq(redlock_mutex_lock(mutex, 100), REDLOCK_DEADLINE);
    world_wait_absent("a");
    world_wait_absent("c");
}

TESTS(life, a_waiting_call_gets_the_set_when_the_last_key_is_free_and_ends_when_it_is_canceled, 0, 2)
{
    struct redlock_mutex *holder = world_hold("c", 10000);
    struct redlock_mutex *mutex = make("abc");
    struct caller caller;

    caller_start(&caller, mutex, REDLOCK_FOREVER);
    world_wait_acquires(world.service, 5);
    if (_i) {
        ck_assert_int_eq(redlock_mutex_cancel(mutex), 0);
        ck_assert_int_eq(caller_join(&caller), REDLOCK_CANCELED);
        world_wait_absent("a");
    } else {
        ck_assert_int_eq(redlock_mutex_unlock(holder), REDLOCK_OK);
        ck_assert_int_eq(caller_join(&caller), REDLOCK_OK);
        ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    }
    world_destroy(mutex);
    world_destroy(holder);
    world_wait_absent("b");
}

TEST(life, each_key_has_a_fencing_token_of_its_own)
{
    struct redlock_acquire_options request = rig_request(10000, PATIENCE_MS);
    struct redlock_mutex *mutex = make("ab");
    struct redlock_part former[2], part;

    request.fenced = 1;
    for (unsigned round = 0; round < 2; round++) {
        ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
        ck_assert_uint_eq(redlock_mutex_fence(mutex), 0);
        for (size_t i = 0; i < 2; i++) {
            ck_assert_int_eq(redlock_mutex_part(mutex, i, &part, sizeof part), 0);
            ck_assert_uint_gt(part.fence, round ? former[i].fence : 0);
            former[i] = part;
        }
        ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    }
}

struct watched {
    struct redlock_mutex *mutex;
    int64_t least_ns;
};

/* More is left than at some time before. */
static bool has_gained(void *argument)
{
    struct watched *watched = argument;
    int64_t remaining_ns = redlock_mutex_remaining_ns(watched->mutex);

    if (remaining_ns < watched->least_ns)
        watched->least_ns = remaining_ns;
    return remaining_ns > watched->least_ns;
}

TEST(life, the_renewal_of_the_keys_is_that_of_the_set)
{
    struct redlock_acquire_options request = rig_request(10000, PATIENCE_MS);
    struct watched watched = {make("ab"), INT64_MAX};

    request.renew_ms = 100;
    ck_assert_int_eq(redlock_mutex_acquire(watched.mutex, &request, NULL), REDLOCK_OK);
    world_wait(has_gained, &watched, "a renewal");
}

TEST(life, parts_are_keys_in_a_mode_and_permits_of_semaphores)
{
    struct redlock_mutex *sets[2] = {make(""), make("")};
    struct redlock_part parts[2];

    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(redlock_mutex_add_permit(sets[i], "s", 1, 2), 0);
        ck_assert_int_eq(redlock_mutex_add_mode(sets[i], "a", 1, REDLOCK_SHARED), 0);
        ck_assert_int_eq(redlock_mutex_lock(sets[i], PATIENCE_MS), REDLOCK_OK);
        ck_assert_int_eq(redlock_mutex_part(sets[i], 0, &parts[i], sizeof parts[i]), 0);
        ck_assert_int_eq(parts[i].mode, REDLOCK_SHARED);
        ck_assert_int_eq(parts[i].slot, -1);
        ck_assert_int_eq(redlock_mutex_part(sets[i], 1, &parts[i], sizeof parts[i]), 0);
    }
    ck_assert_int_ne(parts[0].slot, parts[1].slot);
}

TEST(life, several_permits_are_parts_with_different_slots)
{
    struct redlock_mutex *sets[2] = {make(""), make("")};
    uint32_t slots = 0;
    struct redlock_part part;

    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(redlock_mutex_add_permits(sets[i], "s", 1, 2, 3), 0);
    ck_assert_int_eq(redlock_mutex_lock(sets[0], PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_trylock(sets[1]), REDLOCK_HELD);
    for (size_t i = 0; redlock_mutex_part(sets[0], i, &part, sizeof part) == 0; i++) {
        ck_assert_mem_eq(part.key, "s", part.key_size);
        slots |= UINT32_C(1) << part.slot;
    }
    ck_assert_int_eq(__builtin_popcount(slots), 2);
    ck_assert_int_eq(redlock_mutex_unlock(sets[0]), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_lock(sets[1], PATIENCE_MS), REDLOCK_OK);
}

/* --- Loss ------------------------------------------------------------------------------------------------------- */

static bool is_not_held(void *mutex)
{
    return redlock_mutex_remaining_ns(mutex) == 0;
}

GROUP(losses, "losses", world_three, world_close)

/* Nobody watches it, and no thread is in a call. */
TEST(losses, the_loss_of_one_key_is_published_and_releases_the_others)
{
    struct redlock_mutex *mutex = make_held("abc", SHORT_TTL_MS);

    rig_do_all(&world.rig, "SET", "b", "somebody", NULL);
    world_wait(is_not_held, mutex, "the loss");
    world_wait_absent("a");
    world_wait_absent("c");
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_LOST);
}

static bool has_renewed(void *wanted)
{
    return world_stats(world.service).renewals >= *(uint64_t *)wanted;
}

/* Until so many keys have been renewed twice from now on. */
static void wait_renewed(size_t keys)
{
    uint64_t wanted = world_stats(world.service).renewals + 2 * keys;

    world_wait(has_renewed, &wanted, "renewals");
}

TESTS(losses, what_is_left_of_a_set_can_be_kept_until_it_is_unlocked_or_locked_anew, 0, 2)
{
    struct redlock_acquire_options request = rig_request(20000, PATIENCE_MS);
    struct redlock_mutex *mutex = make("abc");

    request.renew_ms = 200;
    ck_assert_int_eq(redlock_mutex_keep_rest(mutex, 1), 0);
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    rig_do_all(&world.rig, "SET", "b", "somebody", NULL);
    world_wait(is_not_held, mutex, "the loss");
    wait_renewed(2);
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_uint_ge(world_count("a"), 2);
    ck_assert_uint_ge(world_count("c"), 2);
    if (_i) {
        ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_LOST);
        world_wait_absent("a");
        world_wait_absent("c");
    } else {
        rig_do_all(&world.rig, "DEL", "b", NULL);
        ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
        ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    }
}

TEST(losses, the_loss_of_one_key_comes_through_the_queue)
{
    struct redlock_mutex *mutex = make_held("abc", SHORT_TTL_MS);
    struct redlock_completion *completion;
    struct redlock_queue *queue;
    bool lost = false;

    ck_assert_int_eq(redlock_queue_create(world.service, &queue), 0);
    ck_assert_int_eq(redlock_mutex_watch_queue(mutex, queue, &world), 0);
    rig_do_all(&world.rig, "SET", "b", "somebody", NULL);
    while (!lost) {
        ck_assert_int_eq(redlock_queue_next(queue, PATIENCE_MS, &completion), 0);
        ck_assert_int_eq(completion->kind, REDLOCK_COMPLETION_ALARM);
        ck_assert_ptr_eq(completion->mutex, mutex);
        ck_assert_ptr_eq(completion->user_data, &world);
        lost = completion->alarm == REDLOCK_ALARM_LOST;
        ck_assert_int_eq(completion->status, lost ? REDLOCK_LOST : 0);
        redlock_completion_free(completion);
    }
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    redlock_queue_destroy(queue);
}

TEST(life, operations_of_a_set_end_in_a_queue)
{
    static const enum redlock_op ops[] = {REDLOCK_OP_ACQUIRE, REDLOCK_OP_EXTEND, REDLOCK_OP_RELEASE};
    struct redlock_mutex *mutex = make("ab");
    struct redlock_completion *completion;
    struct redlock_queue *queue;

    ck_assert_int_eq(redlock_queue_create(world.service, &queue), 0);
    for (unsigned i = 0; i < 3; i++) {
        if (i == 0)
            ck_assert_int_eq(redlock_mutex_acquire_async(mutex, NULL, queue, NULL), 0);
        else if (i == 1)
            ck_assert_int_eq(redlock_mutex_extend_async(mutex, 0, queue, NULL), 0);
        else
            ck_assert_int_eq(redlock_mutex_release_async(mutex, queue, NULL), 0);
        ck_assert_int_eq(redlock_queue_next(queue, PATIENCE_MS, &completion), 0);
        ck_assert_int_eq(completion->status, REDLOCK_OK);
        ck_assert_int_eq(completion->result->op, ops[i]);
        redlock_completion_free(completion);
    }
    redlock_queue_destroy(queue);
}

/* --- Ends ------------------------------------------------------------------------------------------------------- */

GROUP(ends, "ends", world_three, world_close)

TESTS(ends, a_service_that_ends_takes_its_sets_with_it, 0, 2)
{
    struct redlock_service *service = world_new_service();
    struct redlock_mutex *held = world_new_set(service, "ab"), *waiting = world_new_set(service, "bc");
    struct caller caller;

    ck_assert_int_eq(redlock_mutex_lock(held, PATIENCE_MS), REDLOCK_OK);
    caller_start(&caller, waiting, REDLOCK_FOREVER);
    world_wait_acquires(service, 5);
    if (_i) {
        ck_assert_int_eq(redlock_service_shutdown(service, PATIENCE_MS), REDLOCK_OK);
        ck_assert_uint_eq(world_count("a"), 0);
    } else {
        redlock_service_destroy(service);
    }
    ck_assert_int_eq(caller_join(&caller), REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_mutex_remaining_ns(held), 0);
    ck_assert_int_eq(redlock_mutex_lock(held, 0), REDLOCK_E_CLOSING);
    world_destroy(held);
    world_destroy(waiting);
    if (_i)
        redlock_service_destroy(service);
    world_wait_absent("a");
    world_wait_absent("c");
}

static bool child_finds_nothing_held(struct redlock_mutex *mutex)
{
    struct redlock_mutex *other = NULL;
    struct redlock_part part;
    bool good = redlock_mutex_remaining_ns(mutex) == 0 && redlock_mutex_lock(mutex, 10) == REDLOCK_E_FORKED &&
                redlock_mutex_add(mutex, "z", 1) == REDLOCK_E_FORKED &&
                redlock_mutex_keep_rest(mutex, 1) == REDLOCK_E_FORKED &&
                redlock_mutex_part(mutex, 0, &part, sizeof part) == REDLOCK_E_FORKED &&
                redlock_mutex_create_set(world.service, &other) == REDLOCK_E_FORKED &&
                redlock_mutex_unlock(mutex) == REDLOCK_E_FORKED;

    world_destroy(mutex);
    return good;
}

TEST(ends, a_child_has_no_set)
{
    struct redlock_mutex *mutex = make_held("ab", 10000);
    int status = 0;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(SUITE_PATIENCE_S);
        _exit(child_finds_nothing_held(mutex) ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
}

/* --- Many threads ----------------------------------------------------------------------------------------------- */

#define N_THREADS 4
#define ROUNDS 15

struct philosopher {
    pthread_t thread;
    struct redlock_mutex *mutex;
    unsigned first; /* of two neighbouring forks */
};

static atomic_int forks[N_THREADS];

/* Each takes the fork to the left and the one to the right. */
static void *eat(void *argument)
{
    struct philosopher *philosopher = argument;
    unsigned second = (philosopher->first + 1) % N_THREADS;

    for (unsigned round = 0; round < ROUNDS; round++) {
        ck_assert_int_eq(redlock_mutex_lock(philosopher->mutex, PATIENCE_MS), REDLOCK_OK);
        ck_assert_int_eq(atomic_fetch_add(&forks[philosopher->first], 1), 0);
        ck_assert_int_eq(atomic_fetch_add(&forks[second], 1), 0);
        atomic_fetch_sub(&forks[philosopher->first], 1);
        atomic_fetch_sub(&forks[second], 1);
        ck_assert_int_eq(redlock_mutex_unlock(philosopher->mutex), REDLOCK_OK);
    }
    return NULL;
}

GROUP(threads, "threads", world_three, world_close)

TEST(threads, threads_with_sets_that_overlap_in_a_ring_all_come_to_an_end)
{
    static const char *const keys[N_THREADS] = {"ab", "cb", "dc", "ad"};
    struct philosopher philosophers[N_THREADS];

    for (unsigned i = 0; i < N_THREADS; i++) {
        philosophers[i].first = i;
        philosophers[i].mutex = make(keys[i]);
        ck_assert_int_eq(pthread_create(&philosophers[i].thread, NULL, eat, &philosophers[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++) {
        ck_assert_int_eq(pthread_join(philosophers[i].thread, NULL), 0);
        world_destroy(philosophers[i].mutex);
    }
}

/* --- Transfer --------------------------------------------------------------------------------------------------- */

TEST(life, an_exported_set_lives_on_in_who_adopts_it)
{
    struct redlock_service *service = world_new_service();
    struct redlock_mutex *giver = make_held("abc", 20000), *taker = world_new_set(service, "cab");
    struct redlock_mutex *other = make("abd"), *rival = NULL;
    char text[REDLOCK_MAX_SET_EXPORT_BYTES];

    ck_assert_int_eq(redlock_mutex_create(service, "b", 1, &rival), 0);
    world_keep(rival);
    ck_assert_int_eq(redlock_mutex_trylock(rival), REDLOCK_HELD); /* and the other service has its connections */
    ck_assert_int_eq(redlock_mutex_export(giver, text, 64), REDLOCK_E_LIMIT);
    ck_assert_int_gt(redlock_mutex_remaining_ns(giver), 0);
    ck_assert_int_eq(redlock_mutex_export(giver, text, sizeof text), 0);
    ck_assert_int_eq(redlock_mutex_remaining_ns(giver), 0);
    ck_assert_int_eq(redlock_mutex_export(giver, text, sizeof text), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_mutex_unlock(giver), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_mutex_adopt(other, NULL, text), REDLOCK_E_EXPORT);
    ck_assert_int_eq(redlock_mutex_adopt(taker, NULL, text), 0);
    ck_assert_int_gt(redlock_mutex_remaining_ms(taker), 10000);
    ck_assert_int_eq(redlock_mutex_adopt(taker, NULL, text), REDLOCK_E_ALREADY_HELD);
    ck_assert_int_eq(redlock_mutex_trylock(rival), REDLOCK_HELD);
    ck_assert_int_eq(redlock_mutex_extend(taker, 30000, NULL), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock(taker), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_lock(rival, PATIENCE_MS), REDLOCK_OK);
    redlock_service_destroy(service);
}

TEST(life, a_detached_set_stays_until_its_tokens_are_released)
{
    struct redlock_acquire_options request = rig_request(20000, PATIENCE_MS);
    struct redlock_mutex *mutex = make("ab"), *single = world_new_mutex("a");
    struct redlock_part parts[2];

    request.own_token = 1;
    ck_assert_int_eq(redlock_mutex_detach(mutex), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(redlock_mutex_part(mutex, i, &parts[i], sizeof parts[i]), 0);
    ck_assert_str_ne(parts[0].token, parts[1].token);
    ck_assert_int_eq(redlock_mutex_detach(mutex), 0);
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_mutex_trylock(single), REDLOCK_HELD);
    ck_assert_int_eq(redlock_mutex_release_token(single, parts[0].token, NULL), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_lock(single, PATIENCE_MS), REDLOCK_OK);
    ck_assert_uint_ge(world_count("b"), 2);
}

/* --- Bad input -------------------------------------------------------------------------------------------------- */

GROUP(input, "input", world_three, world_close)

TEST(input, calls_for_one_key_and_calls_for_a_set_are_told_apart)
{
    struct redlock_mutex *set = make("a"), *single = world_new_mutex("key"), *none = NULL;
    struct redlock_part part;
    char text[REDLOCK_MAX_EXPORT_BYTES], key[2] = {'b', 'x'};
    size_t size = 1;

    ck_assert_int_eq(redlock_mutex_create_set(NULL, &none), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_create_set(world.service, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_add(NULL, "x", 1), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_add(single, "x", 1), REDLOCK_E_SET);
    ck_assert_int_eq(redlock_mutex_add_mode(single, "x", 1, REDLOCK_SHARED), REDLOCK_E_SET);
    ck_assert_int_eq(redlock_mutex_add_permit(single, "x", 1, 2), REDLOCK_E_SET);
    ck_assert_int_eq(redlock_mutex_add_permit(set, "x", 1, 0), REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_mutex_add_permits(set, "x", 1, 3, 2), REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_mutex_part(single, 0, &part, sizeof part), REDLOCK_E_SET);
    ck_assert_int_eq(redlock_mutex_part(set, 0, NULL, sizeof part), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_part(set, 1, &part, sizeof part), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_mutex_lock(set, 0), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_mutex_add(set, "a", 1), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_mutex_add(set, "", 0), REDLOCK_E_KEY_EMPTY);
    ck_assert_int_eq(redlock_mutex_add(set, NULL, 1), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_token(set, text, sizeof text), REDLOCK_E_SET);
    ck_assert_int_eq(redlock_mutex_keep_rest(single, 1), REDLOCK_E_SET);
    ck_assert_int_eq(redlock_mutex_keep_rest(NULL, 1), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_release_token(set, "x", NULL), REDLOCK_E_SET);
    ck_assert_int_eq(redlock_mutex_lock_as(set, &size, 0), REDLOCK_E_OWNER);
    ck_assert_ptr_null(redlock_mutex_key(set, &size));
    ck_assert_uint_eq(size, 0);
    for (unsigned n = 1; n < REDLOCK_MAX_SET_KEYS; n++, key[1]++)
        ck_assert_int_eq(redlock_mutex_add(set, key, 2), 0);
    ck_assert_int_eq(redlock_mutex_add(set, "z", 1), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_mutex_lock(set, PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_add(set, "z", 1), REDLOCK_E_ALREADY_HELD);
    ck_assert_int_eq(redlock_mutex_unlock(set), REDLOCK_OK);
}

SUITE_WITH_SERVER("sets")
