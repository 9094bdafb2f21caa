/* Set up, tear down, and operations to their end. */
#include "rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suite.h"

void rig_default_options(struct rig *rig)
{
    const char *profile = getenv("REDLOCK_TEST_PROFILE");

    ck_assert_msg(!profile || strcmp(profile, "classic") == 0 || strcmp(profile, "guarded") == 0,
                  "REDLOCK_TEST_PROFILE is neither classic nor guarded: %s", profile);
    redlock_options_init(&rig->options);
    rig->guarded = !profile || strcmp(profile, "guarded") == 0;
    rig->options.profile = rig->guarded ? REDLOCK_PROFILE_GUARDED : REDLOCK_PROFILE_CLASSIC;
    rig->options.join = REDLOCK_JOIN_DECLARE;
    rig->options.node_timeout_ms = RIG_NODE_TIMEOUT_MS;
    rig->options.connect_timeout_ms = 2 * RIG_NODE_TIMEOUT_MS;
    rig->options.stall_timeout_ms = 4 * RIG_NODE_TIMEOUT_MS;
}

void rig_trust(struct rig *rig)
{
    static const char *const names[] = {"ca.crt", "client.crt", "client.key"};

    for (size_t i = 0; i < 3; i++)
        snprintf(rig->files[i], sizeof rig->files[i], "%s/%s", masters_dir(rig->masters), names[i]);
    rig->options.tls_ca_file = rig->files[0];
    rig->options.tls_cert_file = rig->files[1];
    rig->options.tls_key_file = rig->files[2];
}

void rig_start(struct rig *rig, const struct masters_options *wished)
{
    struct masters_options with_tls = *wished;
    const struct masters_options *options = &with_tls;

    if (getenv("REDLOCK_TEST_TLS"))
        with_tls.tls = MASTERS_TLS_MUTUAL;
    memset(rig, 0, sizeof *rig);
    rig->n = options->count;
    rig->masters = masters_create(options);
    ck_assert_msg(rig->masters != NULL, "%s", masters_error());
    ck_assert_msg(masters_cleanup_on_exit(rig->masters), "%s", masters_error());
    memcpy(rig->urls, masters_urls(rig->masters), rig->n * sizeof *rig->urls);
    rig->base = event_base_new();
    ck_assert_ptr_nonnull(rig->base);
    rig_default_options(rig);
    if (options->tls)
        rig_trust(rig);
}

void rig_start_masters(struct rig *rig, size_t n, const char *const *extra_args)
{
    struct masters_options options = {.count = n, .persistence = MASTERS_VOLATILE, .extra_args = extra_args};

    rig_start(rig, &options);
}

void rig_open_with(struct rig *rig, size_t n, size_t dead, void (*tune)(struct redlock_options *))
{
    rig_start_masters(rig, n, NULL);
    for (size_t i = 0; i < dead; i++)
        ck_assert_msg(masters_kill(rig->masters, i), "%s", masters_error());
    if (tune)
        tune(&rig->options);
    rig_connect(rig);
}

void rig_open(struct rig *rig, size_t n)
{
    rig_open_with(rig, n, 0, NULL);
}

struct redlock_client *rig_new_client(struct rig *rig)
{
    struct redlock_client *client = NULL;
    struct redlock_error error = {0};
    int status = redlock_client_create(rig->base, rig->urls, rig->n, &rig->options, &client, &error);

    ck_assert_msg(status == 0, "%s: %s", redlock_status_name(status), error.text);
    for (size_t i = 0; i < rig->n; i++)
        rig_wait_link(rig, client, i, masters_pid(rig->masters, i) ? REDLOCK_LINK_READY : REDLOCK_LINK_DOWN);
    rig->options.join = REDLOCK_JOIN_VOTE;
    return client;
}

struct redlock_client *rig_further_client(struct rig *rig)
{
    ck_assert_uint_lt(rig->n_further, RIG_MAX_FURTHER);
    rig->further[rig->n_further] = rig_new_client(rig);
    return rig->further[rig->n_further++];
}

void rig_tune_for_counting(struct redlock_options *options)
{
    options->node_timeout_ms = SUITE_PATIENCE_S * 1000;
    options->stall_timeout_ms = SUITE_PATIENCE_S * 1000;
}

void rig_tune_for_rivals(struct redlock_options *options)
{
    options->node_timeout_ms = 2000;
    options->backoff_min_ms = 5;
    options->backoff_max_ms = 20;
}

void rig_connect(struct rig *rig)
{
    rig->client = rig_new_client(rig);
}

void rig_close(struct rig *rig)
{
    while (rig->n_further)
        redlock_client_destroy(rig->further[--rig->n_further]);
    redlock_client_destroy(rig->client);
    if (rig->base)
        event_base_free(rig->base);
    masters_destroy(rig->masters);
    memset(rig, 0, sizeof *rig);
}

struct redlock_lock *rig_new_lock(struct redlock_client *client, const char *key)
{
    struct redlock_lock *lock = NULL;

    ck_assert_int_eq(redlock_lock_create(client, key, strlen(key), &lock), 0);
    return lock;
}

struct redlock_acquire_options rig_request(uint32_t ttl_ms, int64_t timeout_ms)
{
    struct redlock_acquire_options request;

    redlock_acquire_options_init(&request);
    request.ttl_ms = ttl_ms;
    request.timeout_ms = timeout_ms;
    return request;
}

struct redlock_acquire_options rig_lease(uint32_t ttl_ms, int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, timeout_ms);

    request.renew_ms = REDLOCK_NO_RENEWAL;
    return request;
}

struct outcome rig_acquire(struct rig *rig, struct redlock_lock *lock, const struct redlock_acquire_options *request)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_acquire(lock, request, outcome_record, &outcome), 0);
    rig_wait_outcome(rig, &outcome);
    ck_assert_int_eq(outcome.op, REDLOCK_OP_ACQUIRE);
    return outcome;
}

struct outcome rig_extend(struct rig *rig, struct redlock_lock *lock, uint32_t ttl_ms)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_extend(lock, ttl_ms, outcome_record, &outcome), 0);
    rig_wait_outcome(rig, &outcome);
    ck_assert_int_eq(outcome.op, REDLOCK_OP_EXTEND);
    return outcome;
}

struct outcome rig_release(struct rig *rig, struct redlock_lock *lock)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    rig_wait_outcome(rig, &outcome);
    ck_assert_int_eq(outcome.op, REDLOCK_OP_RELEASE);
    return outcome;
}

/* While answers are overdue, attempts end at once. */
#define LATE_PAUSE_MS 250

static bool is_too_late(const struct outcome *outcome)
{
    return outcome->status == REDLOCK_NO_QUORUM || outcome->status == REDLOCK_TOO_SLOW;
}

struct outcome rig_acquire_in_time(struct rig *rig, struct redlock_lock *lock,
                                   const struct redlock_acquire_options *request)
{
    struct outcome outcome = rig_acquire(rig, lock, request);

    for (int i = 0; i < RIG_LATE_ATTEMPTS && is_too_late(&outcome); i++) {
        rig_run_for(rig, LATE_PAUSE_MS);
        outcome = rig_acquire(rig, lock, request);
    }
    return outcome;
}

struct outcome rig_expect_acquire(struct rig *rig, struct redlock_lock *lock,
                                  const struct redlock_acquire_options *request, int status)
{
    struct outcome outcome = rig_acquire(rig, lock, request);

    outcome_expect(&outcome, status);
    return outcome;
}

struct outcome rig_expect_acquire_in_time(struct rig *rig, struct redlock_lock *lock,
                                          const struct redlock_acquire_options *request, int status)
{
    struct outcome outcome = rig_acquire_in_time(rig, lock, request);

    outcome_expect(&outcome, status);
    return outcome;
}

struct outcome rig_expect_extend(struct rig *rig, struct redlock_lock *lock, uint32_t ttl_ms, int status)
{
    struct outcome outcome = rig_extend(rig, lock, ttl_ms);

    outcome_expect(&outcome, status);
    return outcome;
}

struct outcome rig_expect_release(struct rig *rig, struct redlock_lock *lock, int status)
{
    struct outcome outcome = rig_release(rig, lock);

    outcome_expect(&outcome, status);
    return outcome;
}

void rig_hold_lock(struct rig *rig, struct redlock_lock *lock, const struct redlock_acquire_options *request)
{
    rig_expect_acquire_in_time(rig, lock, request, REDLOCK_OK);
    rig_wait_quiet(rig, rig->client);
}

struct redlock_lock *rig_hold_as(struct rig *rig, const char *key, const struct redlock_acquire_options *request)
{
    struct redlock_lock *lock = rig_new_lock(rig->client, key);

    rig_hold_lock(rig, lock, request);
    return lock;
}

struct redlock_lock *rig_hold(struct rig *rig, const char *key, uint32_t ttl_ms)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, 0);

    return rig_hold_as(rig, key, &request);
}

struct redlock_lock *rig_hold_lease(struct rig *rig, const char *key, uint32_t ttl_ms)
{
    struct redlock_acquire_options request = rig_lease(ttl_ms, 0);

    return rig_hold_as(rig, key, &request);
}

void rig_kill_master(struct rig *rig, size_t node)
{
    ck_assert_msg(masters_kill(rig->masters, node), "%s", masters_error());
    rig_wait_link(rig, rig->client, node, REDLOCK_LINK_DOWN);
}

size_t rig_kill_masters(struct rig *rig, unsigned mask)
{
    size_t dead = 0;

    for (size_t i = 0; i < rig->n; i++) {
        if (mask >> i & 1) {
            rig_kill_master(rig, i);
            dead++;
        }
    }
    return dead;
}

unsigned rig_minority_of_5(int number)
{
    static const unsigned char masks[RIG_MINORITIES_OF_5] = {1, 2, 4, 8, 16, 3, 5, 9, 17, 6, 10, 18, 12, 20, 24};

    ck_assert(number >= 0 && number < RIG_MINORITIES_OF_5);
    return masks[number];
}

void rig_hang_masters(struct rig *rig, unsigned mask)
{
    for (size_t i = 0; i < rig->n; i++) {
        if (mask >> i & 1)
            ck_assert_msg(masters_hang(rig->masters, i), "%s", masters_error());
    }
}

void rig_resume_masters(struct rig *rig, unsigned mask)
{
    for (size_t i = 0; i < rig->n; i++) {
        if (mask >> i & 1)
            ck_assert_msg(masters_resume(rig->masters, i), "%s", masters_error());
    }
}

void rig_restart_master(struct rig *rig, size_t node)
{
    rig_kill_master(rig, node);
    ck_assert_msg(masters_restart(rig->masters, node), "%s", masters_error());
    rig_wait_link(rig, rig->client, node, REDLOCK_LINK_READY);
}

void rig_lose_memory(struct rig *rig, size_t node, enum rig_loss how)
{
    if (how == RIG_RESTARTED)
        rig_restart_master(rig, node);
    else
        rig_do(rig, node, "FLUSHALL", NULL);
}

int64_t rig_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
