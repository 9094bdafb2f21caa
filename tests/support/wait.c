/* Waiting by events.
 *
 * The loop is run one iteration at a time until the condition holds. A repeating timer makes sure that conditions
 * about the masters, which no event of this process announces, are looked at every few milliseconds. */
#include <check.h>
#include <event2/event.h>
#include <stdio.h>
#include <sys/wait.h>

#include "rig.h"
#include "suite.h"

#define LOOK_AGAIN_US 2000

static void on_tick(evutil_socket_t fd, short events, void *argument)
{
}

void rig_wait(struct rig *rig, rig_condition condition, void *argument, const char *what)
{
    struct timeval interval = {.tv_usec = LOOK_AGAIN_US};
    struct event *ticker = event_new(rig->base, -1, EV_PERSIST, on_tick, NULL);
    int64_t give_up = rig_now_ms() + SUITE_PATIENCE_S * 1000;

    ck_assert_ptr_nonnull(ticker);
    event_add(ticker, &interval);
    while (!condition(argument)) {
        ck_assert_msg(rig_now_ms() < give_up, "waited %d s in vain for %s", SUITE_PATIENCE_S, what);
        event_base_loop(rig->base, EVLOOP_ONCE);
    }
    event_free(ticker);
}

static bool has_outcome(void *argument)
{
    return ((const struct outcome *)argument)->calls > 0;
}

void rig_wait_outcome(struct rig *rig, const struct outcome *outcome)
{
    rig_wait(rig, has_outcome, (void *)(uintptr_t)outcome, "the end of an operation");
}

struct link_request {
    struct redlock_client *client;
    size_t node;
    enum redlock_link link;
};

static bool has_link(void *argument)
{
    const struct link_request *request = argument;
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(request->client, request->node, &stats, sizeof stats), 0);
    return stats.link == request->link;
}

void rig_wait_link(struct rig *rig, struct redlock_client *client, size_t node, enum redlock_link link)
{
    struct link_request request = {client, node, link};
    char what[80];

    snprintf(what, sizeof what, "master %zu to be %s", node, redlock_link_name(link));
    rig_wait(rig, has_link, &request, what);
}

struct vote_request {
    struct redlock_client *client;
    size_t node;
    char what[400]; /* says how it is now, for the case that it stays so */
};

static bool has_vote(void *argument)
{
    struct vote_request *request = argument;
    struct redlock_node_info info;

    ck_assert_int_eq(redlock_client_node_info(request->client, request->node, &info, sizeof info), 0);
    snprintf(request->what, sizeof request->what, "master %zu to be connected, with a vote: it is %s, %s, %s, %s",
             request->node, redlock_link_name(info.link), redlock_standing_name(info.standing), info.fault_text,
             info.last_error);
    return info.link == REDLOCK_LINK_READY && info.standing == REDLOCK_STANDING_VOTES;
}

void rig_wait_vote(struct rig *rig, struct redlock_client *client, size_t node)
{
    struct vote_request request = {.client = client, .node = node};

    rig_wait(rig, has_vote, &request, request.what);
}

struct key_request {
    struct masters *masters;
    const char *key;
    size_t n;
};

static bool has_count(void *argument)
{
    const struct key_request *request = argument;

    return masters_count_key(request->masters, request->key) == request->n;
}

void rig_wait_count(struct rig *rig, const char *key, size_t n)
{
    struct key_request request = {rig->masters, key, n};
    char what[160];

    snprintf(what, sizeof what, "the key %s to be on %zu masters", key, n);
    rig_wait(rig, has_count, &request, what);
}

void rig_wait_absent(struct rig *rig, const char *key)
{
    rig_wait_count(rig, key, 0);
}

static bool is_quiet(void *argument)
{
    for (size_t i = 0; i < redlock_client_node_count(argument); i++) {
        struct redlock_node_stats stats;

        ck_assert_int_eq(redlock_client_node_stats(argument, i, &stats, sizeof stats), 0);
        if (stats.link == REDLOCK_LINK_READY && stats.pending > 0)
            return false;
    }
    return true;
}

/* What is gathered in a turn is written at its end. */
void rig_wait_quiet(struct rig *rig, struct redlock_client *client)
{
    event_base_loop(rig->base, EVLOOP_NONBLOCK);
    rig_wait(rig, is_quiet, client, "all replies");
}

static bool has_no_claims(void *argument)
{
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_client_stats(argument, &stats, sizeof stats), 0);
    return stats.claims == 0;
}

void rig_wait_no_claims(struct rig *rig, struct redlock_client *client)
{
    rig_wait(rig, has_no_claims, client, "the client to have no values in flight");
}

static bool has_ended_well(void *argument)
{
    const pid_t *pid = argument;
    int status;

    if (waitpid(*pid, &status, WNOHANG) != *pid)
        return false;
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child ended with status %#x", (unsigned)status);
    return true;
}

void rig_wait_child(struct rig *rig, pid_t pid)
{
    rig_wait(rig, has_ended_well, &pid, "a child process to end");
}

static bool has_passed(void *argument)
{
    return rig_now_ms() >= *(const int64_t *)argument;
}

void rig_run_for(struct rig *rig, int64_t ms)
{
    int64_t end = rig_now_ms() + ms;

    rig_wait(rig, has_passed, &end, "time to pass");
}
