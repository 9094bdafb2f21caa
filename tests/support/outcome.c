#include "outcome.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static void copy_node(const struct redlock_node_result *from, struct outcome_node *to)
{
    snprintf(to->name, sizeof to->name, "%s", from->name);
    snprintf(to->detail, sizeof to->detail, "%s", from->detail);
    to->vote = from->vote;
    to->latency_us = from->latency_us;
    to->fault = from->fault;
    to->valid_for_ms = from->valid_for_ms;
}

void outcome_record(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct outcome *outcome = user_data;

    outcome->calls++;
    outcome->lock = lock;
    outcome->op = result->op;
    outcome->status = result->status;
    outcome->cause = result->cause;
    outcome->attempts = result->attempts;
    outcome->quorum = result->quorum;
    outcome->granted = result->granted;
    outcome->elapsed_us = result->elapsed_us;
    outcome->remaining_ms = result->remaining_ms;
    outcome->fence = result->fence;
    outcome->loss = result->loss;
    outcome->reachable = result->reachable;
    outcome->voting = result->voting;
    snprintf(outcome->why, sizeof outcome->why, "%s", result->why);
    outcome->n_nodes = result->n_nodes;
    for (size_t i = 0; i < result->n_nodes; i++)
        copy_node(&result->nodes[i], &outcome->nodes[i]);
}

unsigned outcome_count_votes(const struct outcome *outcome, enum redlock_vote vote)
{
    unsigned n = 0;

    for (size_t i = 0; i < outcome->n_nodes; i++)
        n += outcome->nodes[i].vote == vote;
    return n;
}

static void describe(const struct outcome *outcome, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < outcome->n_nodes && used < size; i++) {
        const struct outcome_node *node = &outcome->nodes[i];
        int n = snprintf(text + used, size - used, " [%zu: %s %s]", i, redlock_vote_name(node->vote), node->detail);

        used += n > 0 ? (size_t)n : 0;
    }
}

void outcome_expect(const struct outcome *outcome, int status)
{
    char votes[1024];

    describe(outcome, votes, sizeof votes);
    ck_assert_msg(outcome->calls == 1, "the callback has run %u times", outcome->calls);
    ck_assert_msg(outcome->status == status, "%s ended with %s (cause %s, %u attempts) instead of %s:%s",
                  redlock_op_name(outcome->op), redlock_status_name(outcome->status),
                  redlock_status_name(outcome->cause), (unsigned)outcome->attempts, redlock_status_name(status), votes);
}

void outcome_expect_vote(const struct outcome *outcome, size_t node, enum redlock_vote vote, const char *detail)
{
    const struct outcome_node *actual = &outcome->nodes[node];

    ck_assert_uint_lt(node, outcome->n_nodes);
    ck_assert_msg(actual->vote == vote && strcmp(actual->detail, detail) == 0,
                  "master %zu: %s \"%s\" instead of %s \"%s\"", node, redlock_vote_name(actual->vote), actual->detail,
                  redlock_vote_name(vote), detail);
}

void outcome_expect_failed(const struct outcome *outcome, size_t node, const char *words)
{
    const struct outcome_node *actual = &outcome->nodes[node];

    ck_assert_uint_lt(node, outcome->n_nodes);
    ck_assert_msg(actual->vote == REDLOCK_VOTE_FAILED && strstr(actual->detail, words),
                  "master %zu: %s \"%s\", not failed with \"%s\"", node, redlock_vote_name(actual->vote),
                  actual->detail, words);
}
