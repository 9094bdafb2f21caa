/* What a callback was told, kept beyond the callback. */
#ifndef TESTS_OUTCOME_H
#define TESTS_OUTCOME_H

#include <redlock/redlock.h>

struct outcome_node {
    char name[160];
    enum redlock_vote vote;
    char detail[200];
    int64_t latency_us;
    int64_t valid_for_ms;
    enum redlock_fault fault;
};

struct outcome {
    unsigned calls; /* how often the callback has run */
    struct redlock_lock *lock;
    enum redlock_op op;
    int status;
    int cause;
    uint32_t attempts;
    uint32_t quorum;
    uint32_t granted;
    int64_t elapsed_us;
    int64_t remaining_ms;
    uint64_t fence;
    enum redlock_loss loss;
    uint32_t reachable;
    uint32_t voting;
    char why[400];
    size_t n_nodes;
    struct outcome_node nodes[REDLOCK_MAX_MASTERS];
};

/* A redlock_fn whose user_data is a struct outcome. */
void outcome_record(struct redlock_lock *lock, const struct redlock_result *result, void *user_data);

unsigned outcome_count_votes(const struct outcome *outcome, enum redlock_vote vote);

/* Fails the test with a sentence that shows every master's part unless the status is the expected one. */
void outcome_expect(const struct outcome *outcome, int status);

/* Fails the test unless this master voted so, for this reason. */
void outcome_expect_vote(const struct outcome *outcome, size_t node, enum redlock_vote vote, const char *detail);

/* The same for one that has failed for a reason in which there are these words. */
void outcome_expect_failed(const struct outcome *outcome, size_t node, const char *words);

#endif
