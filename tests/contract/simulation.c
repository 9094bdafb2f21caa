/* What redlock/simulation.h promises: masters without servers, and time that passes at one go. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>
#include <redlock/blocking.h>
#include <redlock/credentials.h>
#include <redlock/semaphore.h>
#include <redlock/simulation.h>

#include "suite.h"

enum { N = 3, TTL_MS = 10000, HOUR_MS = 3600 * 1000, MOST_MUTEXES = 2000 };

static struct redlock_simulation *masters;
static struct redlock_service *service;
static struct redlock_mutex *mutex;
static struct redlock_mutex *mutexes[MOST_MUTEXES];
static size_t n_mutexes;

static struct redlock_service *new_service(void)
{
    struct redlock_service *made = NULL;
    struct redlock_error error;

    ck_assert_msg(redlock_service_create(redlock_simulation_masters(masters), N, NULL, &made, &error) == 0, "%s",
                  error.text);
    return made;
}

static struct redlock_mutex *new_mutex(struct redlock_service *of, const char *key)
{
    ck_assert_uint_lt(n_mutexes, MOST_MUTEXES);
    ck_assert_int_eq(redlock_mutex_create(of, REDLOCK_KEY(key), &mutexes[n_mutexes]), 0);
    return mutexes[n_mutexes++];
}

static void end_mutexes(void)
{
    while (n_mutexes > 0)
        redlock_mutex_destroy(mutexes[--n_mutexes]);
}

static void open_all(void)
{
    ck_assert_int_eq(redlock_simulation_create(N, &masters, NULL), 0);
    service = new_service();
    mutex = new_mutex(service, "orders");
}

static void close_all(void)
{
    end_mutexes();
    redlock_service_destroy(service);
    redlock_simulation_destroy(masters);
}

static void pass(uint64_t ms)
{
    ck_assert_int_eq(redlock_simulation_advance(masters, ms), 0);
}

/* --- Time --------------------------------------------------------------------------------------------------------- */

GROUP(passing, "time that passes", open_all, close_all)

TEST(passing, an_hour_renews_a_lock_a_thousand_times)
{
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_mutex_lock(mutex, 1000), 0);
    pass(HOUR_MS);
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), TTL_MS / 2);
    ck_assert_int_eq(redlock_service_stats(service, &stats, sizeof stats), 0);
    ck_assert_uint_ge(stats.renewals, 1000);
    ck_assert_uint_eq(stats.renewals_failed, 0);
    /* The rest has passed by itself. */
    ck_assert_int_le(redlock_simulation_advanced_ns(masters), HOUR_MS * INT64_C(1000000));
    ck_assert_int_gt(redlock_simulation_advanced_ns(masters), HOUR_MS * INT64_C(1000000) / 2);
}

TEST(passing, a_lock_that_nobody_renews_ends_with_its_ttl)
{
    struct redlock_acquire_options options;
    int64_t left_ms;

    redlock_acquire_options_init(&options);
    options.renew_ms = REDLOCK_NO_RENEWAL;
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &options, NULL), 0);
    left_ms = redlock_mutex_remaining_ms(mutex);
    pass(TTL_MS / 2);
    ck_assert_int_le(redlock_mutex_remaining_ms(mutex), left_ms - TTL_MS / 2);
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 0);
    pass(TTL_MS / 2);
    ck_assert_int_eq(redlock_mutex_remaining_ms(mutex), 0);
}

static void *wait_for_lock(void *arg)
{
    return (void *)(intptr_t)redlock_mutex_lock(arg, REDLOCK_FOREVER);
}

TEST(passing, who_waits_has_the_lock_when_it_is_free)
{
    struct redlock_service *other = new_service();
    struct redlock_mutex *waiter = new_mutex(other, "orders");
    void *status = NULL;
    pthread_t thread;

    ck_assert_int_eq(redlock_simulation_steal(masters, "orders", 30000), 0);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_HELD);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_lock, waiter), 0);
    while (redlock_mutex_remaining_ms(waiter) == 0)
        pass(1000);
    pthread_join(thread, &status);
    ck_assert_ptr_null(status);
    ck_assert_int_ge(redlock_simulation_advanced_ns(masters) / 1000000000, 15);
    redlock_service_destroy(other);
}

TEST(passing, clients_of_several_services_see_one_time)
{
    struct redlock_service *other = new_service();
    struct redlock_mutex *second = new_mutex(other, "invoices");

    ck_assert_int_eq(redlock_mutex_lock(mutex, 1000), 0);
    ck_assert_int_eq(redlock_mutex_lock(second, 1000), 0);
    pass(HOUR_MS);
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 0);
    ck_assert_int_gt(redlock_mutex_remaining_ms(second), 0);
    ck_assert_int_eq(redlock_mutex_trylock(new_mutex(other, "orders")), REDLOCK_HELD);
    redlock_service_destroy(other);
}

static void read_info(struct redlock_client *client, void *data)
{
    ck_assert_int_eq(redlock_client_node_info(client, 0, data, sizeof(struct redlock_node_info)), 0);
}

TEST(passing, the_clocks_of_masters_go_along)
{
    struct redlock_node_info info;

    ck_assert_int_eq(redlock_mutex_lock(mutex, 1000), 0);
    pass(HOUR_MS);
    ck_assert_int_eq(redlock_service_run(service, read_info, &info), 0);
    ck_assert_int_lt(llabs(info.clock_offset_us), 1000000);
    ck_assert_uint_eq(info.clock_forward_steps + info.clock_backward_steps, 0);
}

static void on_done(void *data)
{
    (*(int *)data)++;
}

TEST(passing, time_is_advanced_once_at_a_time)
{
    int done = 0;

    ck_assert_int_eq(redlock_mutex_lock(mutex, 1000), 0);
    ck_assert_int_eq(redlock_simulation_advance(NULL, 1), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_simulation_begin(masters, 1, NULL, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_simulation_advance(masters, UINT64_MAX), REDLOCK_E_ARGUMENT);
    pass(0);
    end_mutexes();
    redlock_service_destroy(service);
    service = NULL;
    ck_assert_int_eq(redlock_simulation_begin(masters, HOUR_MS, on_done, &done), 0);
    ck_assert_int_eq(done, 1); /* there is no client */
}

/* --- An event loop of the program's own --------------------------------------------------------------------------- */

struct program {
    struct event_base *base;
    struct redlock_client *client;
    struct redlock_lock *lock;
    int acquired;
    int done;
    int lost;
};

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *data)
{
    ((struct program *)data)->acquired = result->status == REDLOCK_OK ? 1 : result->status;
}

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *data)
{
    struct program *program = data;

    if (alarm->kind != REDLOCK_ALARM_LOST)
        return;
    ck_assert_int_eq(program->done, 0);
    ck_assert_int_eq(alarm->nodes[0].vote, REDLOCK_VOTE_REFUSED);
    ck_assert_str_eq(alarm->nodes[0].name, "simulated-1");
    program->lost++;
}

static void begin_again(void *data)
{
    struct program *program = data;

    program->done++;
    if (program->done == 1)
        ck_assert_int_eq(redlock_simulation_begin(masters, 1000, begin_again, program), 0);
}

TEST(passing, a_loop_of_the_program_goes_on_while_time_passes)
{
    struct program program = {.base = event_base_new()};

    end_mutexes(); /* the service's thread might be the one that calls */
    redlock_service_destroy(service);
    service = NULL;
    ck_assert_int_eq(redlock_client_create(program.base, redlock_simulation_masters(masters), N, NULL, &program.client,
                                           NULL), 0);
    ck_assert_int_eq(redlock_lock_create(program.client, REDLOCK_KEY("async"), &program.lock), 0);
    ck_assert_int_eq(redlock_lock_watch(program.lock, on_alarm, &program), 0);
    ck_assert_int_eq(redlock_acquire(program.lock, NULL, on_acquired, &program), 0);
    while (!program.acquired)
        event_base_loop(program.base, EVLOOP_ONCE);
    ck_assert_int_eq(program.acquired, 1);
    ck_assert_int_eq(redlock_simulation_steal(masters, "async", 60000), 0);
    ck_assert_int_eq(redlock_simulation_begin(masters, TTL_MS, begin_again, &program), 0);
    ck_assert_int_eq(redlock_simulation_begin(masters, 1, begin_again, &program), REDLOCK_E_BUSY);
    while (program.done < 2)
        event_base_loop(program.base, EVLOOP_ONCE);
    ck_assert_int_eq(program.lost, 1);
    redlock_client_destroy(program.client);
    event_base_free(program.base);
}

/* --- What becomes of locks ---------------------------------------------------------------------------------------- */

GROUP(losing, "locks that are lost", open_all, close_all)

struct loss {
    atomic_int seen; /* 1 + enum redlock_loss */
    char why[200];
};

static void on_loss(struct redlock_mutex *of, const struct redlock_alarm *alarm, void *data)
{
    struct loss *loss = data;

    if (alarm->kind != REDLOCK_ALARM_LOST)
        return;
    snprintf(loss->why, sizeof loss->why, "%s", alarm->why);
    loss->seen = 1 + (int)alarm->loss;
}

static void hold(struct loss *loss)
{
    *loss = (struct loss){0};
    ck_assert_int_eq(redlock_mutex_watch(mutex, on_loss, loss), 0);
    ck_assert_int_eq(redlock_mutex_lock(mutex, 1000), 0);
}

TEST(losing, a_stolen_lock_is_lost_when_it_is_extended)
{
    struct loss loss;

    hold(&loss);
    ck_assert_int_eq(redlock_simulation_steal(masters, "orders", 60000), 0);
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 0);
    pass(TTL_MS / 2);
    ck_assert_int_eq(redlock_mutex_remaining_ms(mutex), 0);
    ck_assert_int_eq(loss.seen, 1 + REDLOCK_LOSS_REFUSED);
    ck_assert_ptr_nonnull(strstr(loss.why, "simulated-1, simulated-2: foreign"));
    redlock_mutex_unlock(mutex);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_HELD);
    pass(60000);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), 0);
}

TEST(losing, a_key_that_vanishes_is_lost)
{
    struct loss loss;

    ck_assert_int_eq(redlock_simulation_lose(masters, "orders"), REDLOCK_E_NOT_HELD);
    hold(&loss);
    ck_assert_int_eq(redlock_simulation_lose(masters, "invoices"), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_simulation_lose(masters, "orders"), 0);
    pass(TTL_MS / 2);
    ck_assert_int_eq(loss.seen, 1 + REDLOCK_LOSS_REFUSED);
    ck_assert_ptr_nonnull(strstr(loss.why, "missing"));
    redlock_mutex_unlock(mutex);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), 0);
}

TEST(losing, masters_that_fail_cost_the_lock_and_forget_nothing)
{
    struct redlock_service *other = new_service();
    struct redlock_mutex *second = new_mutex(other, "orders");
    struct loss loss;

    hold(&loss);
    ck_assert_int_eq(redlock_simulation_fail_masters(masters, 1), 0);
    pass(HOUR_MS);
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 0);
    ck_assert_int_eq(redlock_simulation_fail_masters(masters, 2), 0);
    pass(TTL_MS / 2);
    ck_assert_int_eq(redlock_simulation_fail_masters(masters, 0), 0);
    pass(TTL_MS / 2);
    ck_assert_int_eq(redlock_mutex_trylock(second), REDLOCK_HELD);
    ck_assert_int_eq(redlock_simulation_fail_masters(masters, N), 0);
    pass(TTL_MS);
    ck_assert_int_eq(loss.seen, 1 + REDLOCK_LOSS_UNREACHABLE);
    ck_assert_int_eq(redlock_mutex_trylock(second), REDLOCK_NO_QUORUM);
    ck_assert_int_eq(redlock_simulation_fail_masters(masters, N + 1), REDLOCK_E_ARGUMENT);
    redlock_service_destroy(other);
}

TEST(losing, a_master_fails_alone)
{
    struct loss loss;

    hold(&loss);
    for (size_t i = 0; i < N; i++) {
        ck_assert_int_eq(redlock_simulation_fail_master(masters, i, true), 0);
        pass(HOUR_MS);
        ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 0);
        ck_assert_int_eq(redlock_simulation_fail_master(masters, i, false), 0);
        pass(TTL_MS);
    }
    ck_assert_int_eq(redlock_simulation_fail_master(masters, 0, true), 0);
    ck_assert_int_eq(redlock_simulation_fail_master(masters, N - 1, true), 0);
    pass(TTL_MS);
    ck_assert_int_eq(loss.seen, 1 + REDLOCK_LOSS_UNREACHABLE);
    ck_assert_int_eq(redlock_simulation_fail_master(masters, N, true), REDLOCK_E_ARGUMENT);
}

TEST(losing, readers_and_permits_are_lost_by_their_keys)
{
    struct redlock_acquire_options shared;
    struct redlock_mutex *permit = NULL;

    redlock_acquire_options_init(&shared);
    shared.mode = REDLOCK_SHARED;
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &shared, NULL), 0);
    ck_assert_int_eq(redlock_mutex_create_permit(service, REDLOCK_KEY("pool"), 1, &permit), 0);
    ck_assert_int_eq(redlock_mutex_lock(permit, 1000), 0);
    ck_assert_int_eq(redlock_simulation_lose(masters, "orders"), 0);
    ck_assert_int_eq(redlock_simulation_lose(masters, "pool#0"), 0);
    pass(TTL_MS / 2);
    ck_assert_int_eq(redlock_mutex_remaining_ms(mutex), 0);
    ck_assert_int_eq(redlock_mutex_remaining_ms(permit), 0);
    redlock_mutex_destroy(permit);
}

TEST(losing, what_makes_no_sense_is_refused)
{
    char long_key[REDLOCK_MAX_KEY_BYTES + 2];

    memset(long_key, 'k', sizeof long_key - 1);
    long_key[sizeof long_key - 1] = '\0';
    ck_assert_int_eq(redlock_simulation_lose(masters, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_simulation_lose(NULL, "orders"), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_simulation_steal(masters, NULL, 1000), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_simulation_steal(masters, "", 1000), REDLOCK_E_KEY_EMPTY);
    ck_assert_int_eq(redlock_simulation_steal(masters, long_key, 1000), REDLOCK_E_KEY_TOO_LONG);
    ck_assert_int_eq(redlock_simulation_steal(masters, "orders", 0), REDLOCK_E_TTL);
    ck_assert_int_eq(redlock_simulation_steal(masters, long_key + 1, 1000), 0);
    ck_assert_int_eq(redlock_mutex_trylock(new_mutex(service, long_key + 1)), REDLOCK_HELD);
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

GROUP(life, "the life of a simulation", NULL, NULL)

static int create_error(const char *const *urls, size_t n, char ret_why[sizeof((struct redlock_error *)0)->text])
{
    struct redlock_service *made = NULL;
    struct redlock_error error = {0};
    int status = redlock_service_create(urls, n, NULL, &made, &error);

    snprintf(ret_why, sizeof error.text, "%s", error.text);
    redlock_service_destroy(made);
    return status;
}

TEST(life, urls_are_checked)
{
    static const char *const mixed[] = {"simulated://1", "simulated://2", "127.0.0.1:1"};
    static const char *const twice[] = {"simulated://1", "simulated://1"};
    static const char *const bad[] = {"simulated://", "simulated://0", "simulated://x", "simulated://1/2"};
    static const char *const beyond[] = {"simulated://4", "simulated://5", "simulated://65535"};
    char why[sizeof((struct redlock_error *)0)->text];

    ck_assert_int_eq(create_error(mixed, 2, why), REDLOCK_E_URL);
    ck_assert_ptr_nonnull(strstr(why, "redlock_simulation_create()"));
    open_all();
    ck_assert_int_eq(create_error(mixed, 3, why), REDLOCK_E_URL);
    ck_assert_ptr_nonnull(strstr(why, "cannot be in one list"));
    ck_assert_int_eq(create_error(twice, 2, why), REDLOCK_E_DUPLICATE_MASTER);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(create_error(&bad[i], 1, why), REDLOCK_E_URL);
        ck_assert_ptr_nonnull(strstr(why, "a master's number"));
    }
    end_mutexes();
    redlock_service_destroy(service);
    ck_assert_int_eq(redlock_service_create(beyond, 3, NULL, &service, NULL), 0);
    mutex = new_mutex(service, "orders");
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_NO_QUORUM);
    close_all();
    ck_assert_int_eq(create_error(beyond, 3, why), REDLOCK_E_URL);
    ck_assert_ptr_nonnull(strstr(why, "redlock_simulation_create()"));
}

TEST(life, there_is_one_at_a_time)
{
    struct redlock_simulation *second = NULL;
    struct redlock_error error;

    ck_assert_int_eq(redlock_simulation_create(0, &second, &error), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_simulation_create(1, NULL, &error), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_simulation_create(REDLOCK_MAX_MASTERS + 1, &second, &error), REDLOCK_E_TOO_MANY_MASTERS);
    open_all();
    ck_assert_int_eq(redlock_simulation_create(N, &second, &error), REDLOCK_E_BUSY);
    ck_assert_int_eq(error.status, REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_mutex_lock(mutex, 1000), 0);
    redlock_simulation_destroy(masters);
    ck_assert_int_eq(redlock_simulation_create(N, &second, &error), REDLOCK_E_BUSY);
    ck_assert_int_lt(redlock_mutex_extend(mutex, 0, NULL), 0); /* the masters have gone */
    end_mutexes();
    redlock_service_destroy(service);
    redlock_simulation_destroy(NULL);
    ck_assert_int_eq(redlock_simulation_create(REDLOCK_MAX_MASTERS, &masters, &error), 0);
    redlock_simulation_destroy(masters);
}

static void give_password(struct redlock_credentials_request *request, const struct redlock_credentials_wanted *wanted,
                          void *data)
{
    struct redlock_credentials credentials;

    redlock_credentials_init(&credentials);
    credentials.user = "worker";
    credentials.password = "s3cret";
    redlock_credentials_answer(request, &credentials);
}

TEST(life, any_password_is_right)
{
    struct redlock_options options;

    ck_assert_int_eq(redlock_simulation_create(N, &masters, NULL), 0);
    redlock_options_init(&options);
    options.on_credentials = give_password;
    ck_assert_int_eq(redlock_service_create(redlock_simulation_masters(masters), N, &options, &service, NULL), 0);
    ck_assert_int_eq(redlock_mutex_lock(new_mutex(service, "orders"), 5000), 0);
    close_all();
}

static void take_token(char token[REDLOCK_MAX_TOKEN_BYTES + 1], uint64_t seed)
{
    open_all();
    redlock_simulation_seed(masters, seed);
    ck_assert_int_eq(redlock_mutex_lock(mutex, 1000), 0);
    ck_assert_int_eq(redlock_mutex_token(mutex, token, REDLOCK_MAX_TOKEN_BYTES + 1), 0);
    close_all();
}

TEST(life, tokens_follow_from_the_seed)
{
    char first[REDLOCK_MAX_TOKEN_BYTES + 1], again[REDLOCK_MAX_TOKEN_BYTES + 1], other[REDLOCK_MAX_TOKEN_BYTES + 1];

    take_token(first, 7);
    take_token(again, 7);
    take_token(other, 8);
    ck_assert_str_eq(first, again);
    ck_assert_str_ne(first, other);
}

TEST(life, a_forked_child_ends_and_the_parent_goes_on)
{
    int status;
    pid_t child;

    open_all();
    ck_assert_int_eq(redlock_mutex_lock(mutex, 1000), 0);
    child = fork();
    if (child == 0) {
        int refused = redlock_mutex_unlock(mutex);

        end_mutexes();
        redlock_service_destroy(service);
        _exit(refused == REDLOCK_E_FORKED ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    pass(HOUR_MS);
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 0);
    close_all();
}

/* Each key is on all three masters, which are full some time. */
TEST(life, full_masters_refuse_and_say_so)
{
    struct redlock_result *result = NULL;
    char key[32];
    int status = 0;

    open_all();
    for (int i = 0; status == 0; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        status = redlock_mutex_acquire(new_mutex(service, key), NULL, &result);
        if (status == 0)
            redlock_result_free(result);
    }
    ck_assert_int_lt(status, 0);
    ck_assert_str_eq(result->nodes[0].detail, "OOM");
    redlock_result_free(result);
    close_all();
}

SUITE("simulation")
