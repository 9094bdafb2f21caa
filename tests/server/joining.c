/* A client's first acquisition while a minority of the masters is hung or cannot be reached: it begins when a quorum
 * has joined, and is over before anything has become of the others. Their time is too long to be waited for. */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "program_rig.h"

#define VERY_LONG_MS 60000
#define N 5

static struct redlock_client *client;
static struct redlock_lock *lock;

/* A port that answers no SYN: its backlog is full. */
static struct {
    int listener;
    int waiting[8];
    char url[64];
} deaf;

static void open_five(void)
{
    rig_open(&rig, N);
    rig.options.node_timeout_ms = VERY_LONG_MS;
    rig.options.stall_timeout_ms = VERY_LONG_MS;
    rig.options.connect_timeout_ms = VERY_LONG_MS;
    deaf.listener = -1;
    client = NULL;
}

static void close_five(void)
{
    for (size_t i = 0; i < N; i++)
        masters_resume(rig.masters, i);
    redlock_client_destroy(client);
    for (size_t i = 0; deaf.listener >= 0 && i < sizeof deaf.waiting / sizeof deaf.waiting[0]; i++)
        close(deaf.waiting[i]);
    if (deaf.listener >= 0)
        close(deaf.listener);
    rig_close(&rig);
}

/* All that is done before the first turn of the loop. */
static void start_acquiring(struct outcome *outcome, struct redlock_acquire_options request)
{
    struct redlock_error error = {0};

    memset(outcome, 0, sizeof *outcome);
    ck_assert_msg(redlock_client_create(rig.base, rig.urls, rig.n, &rig.options, &client, &error) == 0, "%s",
                  error.text);
    lock = rig_new_lock(client, "first");
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, outcome), 0);
}

static struct outcome acquire_first(struct redlock_acquire_options request)
{
    struct outcome outcome;

    start_acquiring(&outcome, request);
    rig_wait_outcome(&rig, &outcome);
    return outcome;
}

static enum redlock_link link_of(size_t node)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(client, node, &stats, sizeof stats), 0);
    return stats.link;
}

static void expect_joining(const struct outcome *outcome, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++) {
        ck_assert_int_eq(link_of(i), REDLOCK_LINK_JOINING);
        outcome_expect_vote(outcome, i, REDLOCK_VOTE_NONE, "not connected yet");
    }
}

static void hang(size_t n)
{
    for (size_t i = 0; i < n; i++)
        ck_assert(masters_hang(rig.masters, i));
}

GROUP(cases, "joining", open_five, close_five)

TESTS(cases, hung_masters_are_not_waited_for, 0, 3)
{
    struct outcome outcome;

    hang((size_t)_i);
    outcome = acquire_first(rig_request(20000, 0));
    outcome_expect(&outcome, REDLOCK_OK);
    expect_joining(&outcome, 0, (size_t)_i);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
}

TEST(cases, a_fenced_lock_does_not_wait_for_them_either)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct outcome outcome;

    request.fenced = true;
    hang(2);
    outcome = acquire_first(request);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_gt(outcome.fence, 0);
    expect_joining(&outcome, 0, 2);
}

TEST(cases, nor_does_an_entry_in_the_queue)
{
    struct redlock_acquire_options request = rig_request(20000, -1);
    struct outcome outcome;

    request.wait = REDLOCK_WAIT_FIFO;
    hang(2);
    outcome = acquire_first(request);
    outcome_expect(&outcome, REDLOCK_OK);
    expect_joining(&outcome, 0, 2);
}

/* The kernel drops what comes when this many connections wait to be accepted. */
static void make_deaf_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *generic = (struct sockaddr *)&address;
    socklen_t size = sizeof address;

    deaf.listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert(bind(deaf.listener, generic, size) == 0 && listen(deaf.listener, 0) == 0);
    ck_assert_int_eq(getsockname(deaf.listener, generic, &size), 0);
    for (size_t i = 0; i < sizeof deaf.waiting / sizeof deaf.waiting[0]; i++) {
        deaf.waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(deaf.waiting[i], generic, size);
    }
    snprintf(deaf.url, sizeof deaf.url, "redis://127.0.0.1:%u", ntohs(address.sin_port));
}

/* In the classic profile, since a deployment that knew this master by another name is not the same one. */
TEST(cases, a_master_whose_packets_are_dropped_is_not_waited_for)
{
    struct outcome outcome;

    make_deaf_port();
    rig.urls[4] = deaf.url;
    rig.options.profile = REDLOCK_PROFILE_CLASSIC;
    outcome = acquire_first(rig_request(20000, 0));
    outcome_expect(&outcome, REDLOCK_OK);
    expect_joining(&outcome, 4, 1);
}

TEST(cases, a_master_that_joins_late_votes_for_a_lock_that_is_held_by_then)
{
    struct outcome outcome;

    hang(2);
    outcome = acquire_first(rig_request(20000, 0));
    outcome_expect(&outcome, REDLOCK_OK);
    rig_wait_count(&rig, "first", 3);
    ck_assert(masters_resume(rig.masters, 1));
    rig_wait_count(&rig, "first", 4);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(outcome_count_votes(&outcome, REDLOCK_VOTE_GRANTED), 4);
    rig_wait_count(&rig, "first", 0);
}

/* Three have joined; one of them has the key of somebody else. */
TEST(cases, a_master_that_joins_late_brings_the_quorum)
{
    struct outcome outcome;

    hang(2);
    rig_do(&rig, 2, "SET", "first", "foreign", NULL);
    start_acquiring(&outcome, rig_request(20000, 0));
    rig_wait_count(&rig, "first", 3);
    ck_assert_uint_eq(outcome.calls, 0);
    ck_assert(masters_resume(rig.masters, 0));
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_GRANTED, "");
    outcome_expect_vote(&outcome, 1, REDLOCK_VOTE_NONE, "not connected yet");
    outcome_expect_vote(&outcome, 2, REDLOCK_VOTE_REFUSED, "held");
}

TEST(cases, a_lock_that_somebody_has_is_refused_without_them)
{
    struct outcome outcome;

    hang(2);
    for (size_t i = 2; i < N; i++)
        rig_do(&rig, i, "SET", "first", "foreign", NULL);
    outcome = acquire_first(rig_request(20000, 0));
    outcome_expect(&outcome, REDLOCK_HELD);
    expect_joining(&outcome, 0, 2);
}

SUITE_WITH_SERVER("joining")
