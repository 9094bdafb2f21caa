/* Masters that answer, but with an error: a failure with its reason, never a vote, never a crash. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program_rig.h"

static const struct refusal {
    const char *detail;
    const char *bring[6]; /* makes a master answer with that error */
    const char *end[6];
    bool excludes;      /* a guarded client finds out that the master is not fit to vote */
    bool renews_memory; /* ... and keeps it out afterwards for a while */
} refusals[] = {
    {"OOM", {"CONFIG", "SET", "maxmemory", "1"}, {"CONFIG", "SET", "maxmemory", "0"}, false, false},
    {"READONLY", {"REPLICAOF", "127.0.0.1", "1"}, {"REPLICAOF", "NO", "ONE"}, true, true},
    {"NOREPLICAS", {"CONFIG", "SET", "min-replicas-to-write", "1"}, {"CONFIG", "SET", "min-replicas-to-write", "0"},
     false, false},
    {"NOPERM", {"ACL", "SETUSER", "default", "-set"}, {"ACL", "SETUSER", "default", "+set"}, false, false},
    {"NOPERM", {"ACL", "SETUSER", "default", "resetkeys", "~elsewhere:*"}, {"ACL", "SETUSER", "default", "~*"},
     true, false},
};

#define N_REFUSALS ((int)(sizeof(refusals) / sizeof(refusals[0])))

static void command_on_first(size_t n, const char *const *argv)
{
    for (size_t i = 0; i < n; i++) {
        char *reply = masters_command(rig.masters, i, argv);

        ck_assert_msg(reply != NULL, "%s: %s", argv[0], masters_error());
        free(reply);
    }
}

static struct redlock_node_info info_of(size_t node)
{
    struct redlock_node_info info;

    ck_assert_int_eq(redlock_client_node_info(rig.client, node, &info, sizeof info), 0);
    return info;
}

static bool is_excluded(void *argument)
{
    return info_of(*(const size_t *)argument).standing == REDLOCK_STANDING_EXCLUDED;
}

static bool is_in_quarantine(void *argument)
{
    return info_of(*(const size_t *)argument).fault == REDLOCK_FAULT_NEW_MEMORY;
}

/* Since these statistics were taken. */
static bool has_lost_its_connection(void *argument)
{
    const struct redlock_node_stats *before = argument;

    for (size_t i = 0; i < rig.n; i++) {
        struct redlock_node_stats now;

        ck_assert_int_eq(redlock_client_node_stats(rig.client, i, &now, sizeof now), 0);
        if (now.name == before->name)
            return now.disconnects > before->disconnects;
    }
    return false;
}

/* The client connects anew at once, and looks at the master. */
static void disconnect(size_t node)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(rig.client, node, &stats, sizeof stats), 0);
    if (stats.link != REDLOCK_LINK_READY)
        return;
    rig_do(&rig, node, "CLIENT", "KILL", "TYPE", "normal", NULL);
    rig_wait(&rig, has_lost_its_connection, &stats, "a connection to end");
}

/* A guarded client has found masters unfit to vote that it had no rights on, or that were replicas; the latter have
 * another's memory now. */
static void expect_votes_again(const struct refusal *refusal)
{
    for (size_t i = 0; i < 3 && rig.guarded; i++) {
        if (refusal->excludes)
            rig_wait(&rig, is_excluded, &i, "a master to be found unfit");
        command_on_first(i + 1, refusal->end);
        disconnect(i);
        if (refusal->renews_memory)
            rig_wait(&rig, is_in_quarantine, &i, "a master to be in quarantine");
        else
            rig_wait_vote(&rig, rig.client, i);
    }
}

GROUP(five, "five masters", rig_five, rig_end)

TESTS(five, a_majority_of_errors_is_no_quorum_and_leaves_nothing, 0, N_REFUSALS)
{
    const struct refusal *refusal = &refusals[_i];
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "refused");
    struct outcome outcome;

    command_on_first(3, refusal->bring);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    for (size_t i = 0; i < 3; i++)
        outcome_expect_vote(&outcome, i, REDLOCK_VOTE_FAILED, refusal->detail);
    rig_wait_absent(&rig, "refused");
    command_on_first(rig.guarded ? 0 : 3, refusal->end);
    expect_votes_again(refusal);
    outcome = rig_acquire(&rig, lock, &request);
    outcome_expect(&outcome, rig.guarded && refusal->renews_memory ? REDLOCK_NO_QUORUM : REDLOCK_OK);
}

TESTS(five, a_minority_of_errors_does_not_matter, 0, N_REFUSALS)
{
    const struct refusal *refusal = &refusals[_i];
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "refused");
    struct outcome outcome;

    command_on_first(2, refusal->bring);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 3);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    command_on_first(2, refusal->end);
    rig_wait_absent(&rig, "refused");
    rig_wait_no_claims(&rig, rig.client);
}

TESTS(five, a_mixture_of_held_and_errors_is_no_win, 0, N_REFUSALS)
{
    const struct refusal *refusal = &refusals[_i];
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "mixed");
    struct outcome outcome;

    rig_occupy(&rig, 3, "mixed");
    rig_occupy(&rig, 4, "mixed");
    command_on_first(1, refusal->bring);
    outcome = rig_acquire(&rig, lock, &request);
    ck_assert(outcome.status == REDLOCK_HELD || outcome.status == REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(outcome.calls, 1);
    command_on_first(1, refusal->end);
    rig_wait_count(&rig, "mixed", 2);
    ck_assert_uint_eq(rig_count_value(&rig, "mixed", "foreign"), 2);
}

TEST(five, a_key_of_another_type_is_held_by_somebody_else)
{
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "type");
    struct outcome outcome;

    for (size_t i = 0; i < 3; i++)
        rig_do(&rig, i, "LPUSH", "type", "element", NULL);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_REFUSED, "held");
    rig_wait_count(&rig, "type", 3);
    rig_wait_no_claims(&rig, rig.client);
}

TEST(five, a_key_replaced_by_another_type_is_foreign)
{
    struct redlock_lock *lock = rig_hold(&rig, "type", 60000);
    struct outcome outcome;

    rig_wait_count(&rig, "type", 5);
    for (size_t i = 0; i < 3; i++) {
        rig_do(&rig, i, "DEL", "type", NULL);
        rig_do(&rig, i, "LPUSH", "type", "element", NULL);
    }
    outcome = rig_expect_extend(&rig, lock, 0, REDLOCK_LOST);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_REFUSED, "foreign");
    rig_wait_count(&rig, "type", 3);
}

static const struct {
    const char *bring[6];
    bool waits; /* in the wait queue, for a key that somebody holds */
    int status;
    enum redlock_vote vote;
    const char *detail;
    const char *why;
} causes[] = {
    {{"ACL", "SETUSER", "default", "-set"}, false, REDLOCK_NO_QUORUM, REDLOCK_VOTE_FAILED, "NOPERM", "3 NOPERM"},
    {{"SET", "redlock:fence:own", "x"}, false, REDLOCK_NO_QUORUM, REDLOCK_VOTE_FAILED, "foreign at redlock:fence:KEY",
     "3 foreign at redlock:fence:KEY"},
    {{"SET", "redlock:queue:own", "x"}, true, REDLOCK_DEADLINE, REDLOCK_VOTE_REFUSED, "foreign at redlock:queue:KEY",
     NULL},
    {{"SET", "redlock:waiters:own", "x"}, true, REDLOCK_DEADLINE, REDLOCK_VOTE_REFUSED,
     "foreign at redlock:waiters:KEY", NULL},
};

#define N_CAUSES ((int)(sizeof(causes) / sizeof(causes[0])))

/* Of what a script meets: a command that the user may not use, and names beside the key that something else has. */
TESTS(five, what_a_script_meets_is_told_by_its_cause, 0, N_CAUSES)
{
    struct redlock_acquire_options request = rig_request(60000, causes[_i].waits ? 300 : 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "own");
    struct outcome outcome;

    if (causes[_i].waits)
        rig_hold(&rig, "own", 60000);
    command_on_first(3, causes[_i].bring);
    request.fenced = !causes[_i].waits;
    do /* again if the deadline came while masters were to be asked once more */
        outcome = rig_acquire(&rig, lock, &request);
    while (outcome_count_votes(&outcome, REDLOCK_VOTE_PENDING) > 0 ||
           outcome_count_votes(&outcome, REDLOCK_VOTE_NONE) > 0);
    outcome_expect(&outcome, causes[_i].status);
    for (size_t i = 0; i < 3; i++)
        outcome_expect_vote(&outcome, i, causes[_i].vote, causes[_i].detail);
    if (causes[_i].why)
        ck_assert_msg(strstr(outcome.why, causes[_i].why) != NULL, "%s", outcome.why);
}

TEST(five, a_held_lock_is_extended_although_memory_is_full)
{
    struct redlock_lock *lock = rig_hold(&rig, "oom", 20000);
    struct outcome outcome;

    outcome = rig_extend(&rig, lock, 0); /* loads the script */
    outcome_expect(&outcome, REDLOCK_OK);
    rig_wait_count(&rig, "oom", 5);
    command_on_first(5, refusals[0].bring);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_wait_absent(&rig, "oom");
}

/* Runs a command that takes long in a process of its own. */
static pid_t run_aside(size_t node, const char *const *argv)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        free(masters_command(rig.masters, node, argv));
        _exit(0);
    }
    return pid;
}

struct busy {
    const char *word;
};

static bool all_are_busy(void *argument)
{
    const char *word = argument;

    for (size_t i = 0; i < 3; i++) {
        char *reply = masters_command(rig.masters, i, (const char *const[]){"GET", "x", NULL});

        free(reply);
        if (reply || strncmp(masters_error(), word, strlen(word)) != 0)
            return false;
    }
    return true;
}

TEST(five, a_busy_master_does_not_vote)
{
    static const char *const spin[] = {"EVAL", "while true do end", "0", NULL};
    static const char *const end[] = {"SCRIPT", "KILL", NULL};
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "busy");
    static char word[] = "BUSY";
    pid_t pids[3];

    rig_do_all(&rig, "CONFIG", "SET", "lua-time-limit", "1", NULL);
    for (size_t i = 0; i < 3; i++)
        pids[i] = run_aside(i, spin);
    rig_wait(&rig, all_are_busy, word, "the masters to be busy");
    rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    command_on_first(3, end);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
    rig_wait_absent(&rig, "busy");
    rig_wait_no_claims(&rig, rig.client);
    for (size_t i = 0; i < 3; i++)
        rig_wait_vote(&rig, rig.client, i);
    rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
}

static void patient(struct redlock_options *options)
{
    options->node_timeout_ms = options->stall_timeout_ms = 30000;
}

static void open_patient(void)
{
    rig_open_with(&rig, 5, 0, patient);
}

static bool backs_off(void *argument)
{
    return redlock_state(argument) == REDLOCK_STATE_BACKING_OFF;
}

GROUP(silent, "silent masters", open_patient, rig_end)

/* The next attempt has asked the masters, and none of them says anything before the deadline. */
TEST(silent, a_deadline_amid_an_attempt_is_told_by_the_reason_of_the_one_before)
{
    const char *const full[] = {"CONFIG", "SET", "maxmemory", "1", NULL};
    struct redlock_acquire_options request = rig_request(10000, 3000);
    struct redlock_lock *lock = rig_new_lock(rig.client, "key");
    struct outcome outcome = {0};

    command_on_first(5, full);
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    rig_wait(&rig, backs_off, lock, "the first attempt to fail");
    rig_hang_masters(&rig, RIG_ALL);
    rig_wait_outcome(&rig, &outcome);
    ck_assert_int_eq(outcome.status, REDLOCK_DEADLINE);
    ck_assert_msg(strstr(outcome.why, "OOM") != NULL, "%s", outcome.why);
}

SUITE_WITH_SERVER("refusals")
