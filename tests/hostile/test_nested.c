/* Clause 3 to the end: in every callback, everything may be destroyed or started, in any order. */
#include <redlock/semaphore.h>
#include <string.h>

#include "nested.h"

static void open_three_guarded(void)
{
    world_open(3);
    world.options.profile = REDLOCK_PROFILE_GUARDED;
}

GROUP(three, "three masters", world_three, world_close)
GROUP(guarded, "three guarded masters", open_three_guarded, world_close)

static unsigned reports;
static void (*deed)(void);

/* The result is borrowed for the whole call: it is read after the deed. */
static void report(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    if (reports++ == 0)
        deed();
    ck_assert_uint_eq(result->n_nodes, 3);
    for (size_t i = 0; i < result->n_nodes; i++)
        ck_assert(strlen(result->nodes[i].name) > 5 && result->nodes[i].detail);
}

static void report_shutdown(struct redlock_client *client, int status, void *user_data)
{
    if (reports++ == 0)
        deed();
}

/* --- Stages: each gets `report` called --- */

static void acquire_free(void)
{
    ck_assert_int_eq(redlock_acquire(reported, NULL, report, NULL), 0);
}

static void occupy(void)
{
    for (size_t i = 0; i < 3; i++)
        toy_set(world.toys[i], "reported", "somebody else");
}

static void acquire_taken(void)
{
    occupy();
    acquire_free();
}

static void acquire_and_cancel(void)
{
    acquire_free();
    ck_assert_int_eq(redlock_cancel(reported), 0);
}

static void acquire_and_destroy(void)
{
    acquire_free();
    world_steps(1);
    redlock_lock_destroy(reported);
}

static void acquire_and_destroy_client(void)
{
    acquire_free();
    world_steps(1);
    redlock_client_destroy(mine);
    mine = NULL;
}

static void hold(void)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_acquire(reported, NULL, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
}

static void extend(void)
{
    hold();
    ck_assert_int_eq(redlock_extend(reported, 0, report, NULL), 0);
}

static void release(void)
{
    hold();
    ck_assert_int_eq(redlock_release(reported, report, NULL), 0);
}

static void extend_and_release(void)
{
    extend();
    ck_assert_int_eq(redlock_release(reported, report, NULL), 0);
}

static void extend_release_and_destroy(void)
{
    extend_and_release();
    redlock_lock_destroy(reported);
}

static void release_behind_a_finished_extension(void)
{
    extend();
    for (size_t i = 0; i < 3; i++)
        toy_step(world.toys[i]);
    event_base_loop(world.base, EVLOOP_NONBLOCK);
    for (size_t i = 0; i < 3; i++)
        toy_step(world.toys[i]);
    (void)redlock_release(reported, report, NULL);
}

static void shut_down(void)
{
    hold();
    ck_assert_int_eq(redlock_client_shutdown(mine, 1000, report_shutdown, NULL), 0);
}

static void shut_down_and_destroy_client(void)
{
    hold();
    ck_assert_int_eq(redlock_client_shutdown(mine, 1000, report_shutdown, NULL), 0);
    redlock_client_destroy(mine);
    mine = NULL;
}

static bool is_in_queue(void *argument)
{
    return toy_waiting(world.toys[0]) && toy_waiting(world.toys[1]) && toy_waiting(world.toys[2]);
}

static void wait_in_queue(void)
{
    struct redlock_acquire_options request;

    redlock_acquire_options_init(&request);
    request.timeout_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(reported, &request, report, NULL), 0);
    world_wait(is_in_queue, NULL, "the entry in the queue");
}

static void wait_in_queue_and_cancel(void)
{
    occupy();
    wait_in_queue();
    ck_assert_int_eq(redlock_cancel(reported), 0);
}

static void wait_in_queue_and_destroy(void)
{
    occupy();
    wait_in_queue();
    redlock_lock_destroy(reported);
}

static void wait_in_queue_and_destroy_client(void)
{
    occupy();
    wait_in_queue();
    redlock_client_destroy(mine);
    mine = NULL;
}

static void wait_until_it_is_handed_over(void)
{
    struct redlock_lock *holder = world_hold(theirs, "reported");

    wait_in_queue();
    redlock_lock_destroy(holder);
}

/* --- Stages of other modes, of permits and sets --- */

static void acquire_in(enum redlock_mode mode, redlock_fn cb, void *user_data)
{
    struct redlock_acquire_options request;

    redlock_acquire_options_init(&request);
    request.mode = mode;
    ck_assert_int_eq(redlock_acquire(reported, &request, cb, user_data), 0);
}

static void acquire_shared(void)
{
    acquire_in(REDLOCK_SHARED, report, NULL);
}

static void convert_to(enum redlock_mode mode)
{
    struct outcome outcome = {0};

    acquire_in(REDLOCK_UPGRADEABLE, outcome_record, &outcome);
    world_wait_outcome(&outcome);
    ck_assert_int_eq(redlock_convert(reported, mode, 0, report, NULL), 0);
}

static void upgrade(void)
{
    convert_to(REDLOCK_EXCLUSIVE);
}

static void upgrade_and_release(void)
{
    upgrade();
    ck_assert_int_eq(redlock_release(reported, report, NULL), 0);
}

static void upgrade_and_destroy(void)
{
    upgrade();
    redlock_lock_destroy(reported);
}

static void lower(void)
{
    convert_to(REDLOCK_SHARED);
}

static void acquire_permit(void)
{
    ck_assert_int_eq(redlock_acquire(permit, NULL, report, NULL), 0);
}

static void acquire_and_release_permit(void)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_acquire(permit, NULL, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    ck_assert_int_eq(redlock_release(permit, report, NULL), 0);
}

/* The result is borrowed for the whole call, as a lock's is. */
static void report_set(struct redlock_set *of, const struct redlock_set_result *result, void *user_data)
{
    if (reports++ == 0)
        deed();
    ck_assert_uint_eq(result->n_keys, 3);
    ck_assert(result->why);
    ck_assert(!result->part_result || strlen(result->part_result->nodes[0].name) > 5);
}

static void acquire_set(void)
{
    ck_assert_int_eq(redlock_set_acquire(set, NULL, report_set, NULL), 0);
}

static void acquire_set_and_destroy(void)
{
    acquire_set();
    world_steps(1);
    redlock_set_destroy(set);
}

static bool is_held(void *argument)
{
    return redlock_set_state(argument) == REDLOCK_STATE_HELD;
}

static void ignore_set(struct redlock_set *of, const struct redlock_set_result *result, void *user_data)
{
}

static void acquire_and_release_set(void)
{
    ck_assert_int_eq(redlock_set_acquire(set, NULL, ignore_set, NULL), 0);
    world_wait(is_held, set, "the set");
    ck_assert_int_eq(redlock_set_release(set, report_set, NULL), 0);
}

static void (*const stages[])(void) = {
    acquire_free,
    acquire_taken,
    acquire_and_cancel,
    acquire_and_destroy,
    acquire_and_destroy_client,
    extend,
    release,
    extend_and_release,
    extend_release_and_destroy,
    release_behind_a_finished_extension,
    shut_down,
    shut_down_and_destroy_client,
    wait_in_queue_and_cancel,
    wait_in_queue_and_destroy,
    wait_in_queue_and_destroy_client,
    wait_until_it_is_handed_over,
    acquire_shared,
    upgrade,
    upgrade_and_release,
    upgrade_and_destroy,
    lower,
    acquire_permit,
    acquire_and_release_permit,
    acquire_set,
    acquire_set_and_destroy,
    acquire_and_release_set,
};

#define N_STAGES (sizeof(stages) / sizeof(stages[0]))

static bool has_reported(void *argument)
{
    return reports > 0;
}

/* Nobody has what it wants yet. */
static void make_set(void)
{
    ck_assert_int_eq(redlock_set_create(mine, &set), 0);
    ck_assert_int_eq(redlock_set_add(set, "a part", 6), 0);
    ck_assert_int_eq(redlock_set_add_mode(set, "a shared part", 13, REDLOCK_SHARED), 0);
    ck_assert_int_eq(redlock_set_add_permit(set, "a semaphore", 11, 2), 0);
}

static void set_the_stage(void)
{
    struct redlock_acquire_options shared;

    redlock_acquire_options_init(&shared);
    shared.mode = REDLOCK_SHARED;
    world_connect();
    mine = world.client;
    world.client = NULL;
    theirs = world_client();
    reported = world_lock(mine, "reported");
    neighbour = world_lock(mine, "neighbour");
    foreign = world_lock(theirs, "foreign");
    ck_assert_int_eq(redlock_permit_create(mine, "semaphore", 9, 2, &permit), 0);
    make_set();
    ck_assert_int_eq(redlock_acquire(neighbour, &shared, outcome_record, &bystander), 0);
    ck_assert_int_eq(redlock_acquire(foreign, NULL, outcome_record, &bystander), 0);
}

TESTS(three, clause_3_every_deed_in_every_callback, 0, N_STAGES * N_DEEDS)
{
    deed = deeds[(size_t)_i % N_DEEDS];
    set_the_stage();
    stages[(size_t)_i / N_DEEDS]();
    world_wait(has_reported, NULL, "the callback");
    world_steps(20);
    redlock_client_destroy(mine);
    redlock_client_destroy(theirs);
}

TESTS_AGAIN(guarded, clause_3_every_deed_in_every_callback, 0, N_STAGES * N_DEEDS)

SUITE("nested")
