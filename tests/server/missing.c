/* Masters on which a command is forbidden for everybody, as managed ones have it (rename-command): the table "Commands
 * that a master does not have" of redlock(7), line by line. */
#include "suite.h"
#include "trust_rig.h"

enum { N = 3 };

static const struct line {
    const char *missing, *also;
    bool votes;    /* in the guarded profile */
    bool durable;  /* ... if it is */
    bool releases; /* in the classic one */
} lines[] = {
    {"config", NULL, true, false, true},
    {"client", NULL, true, true, true},
    {"script", NULL, true, true, true},
    {"publish", NULL, true, true, true},
    {"subscribe", NULL, true, true, true},
    {"info", NULL, false, false, true},
    {"time", NULL, false, false, true},
    {"hset", NULL, false, false, true},
    {"eval", "evalsha", false, false, false},
};

#define LINES ((int)(sizeof(lines) / sizeof(lines[0])))

static void start(const struct line *line)
{
    const char *const without[] = {
        "--rename-command", line->missing, "", line->also ? "--rename-command" : NULL, line->also, "", NULL};
    const struct masters_options options = {.count = N, .persistence = MASTERS_ALWAYS, .extra_args = without};

    trust_start(&options);
}

/* One holds the lock, another client waits in the queue and gets it when it is released. */
static void hand_off(void)
{
    struct redlock_acquire_options request = rig_request(5000, 20000);
    struct redlock_lock *first = rig_hold(&rig, "key", 5000);
    struct redlock_client *other;
    struct redlock_lock *second;
    struct outcome released = {0}, acquired = {0};

    trust_vote(&rig.options);
    other = rig_new_client(&rig);
    second = rig_new_lock(other, "key");
    ck_assert_int_eq(redlock_acquire(second, &request, outcome_record, &acquired), 0);
    ck_assert_int_eq(redlock_release(first, outcome_record, &released), 0);
    rig_wait_outcome(&rig, &released);
    outcome_expect(&released, REDLOCK_OK);
    rig_wait_outcome(&rig, &acquired);
    outcome_expect(&acquired, REDLOCK_OK);
    acquired = rig_expect_release(&rig, second, REDLOCK_OK);
    redlock_client_destroy(other);
}

GROUP(missing_tests, "missing", NULL, trust_close)

TESTS(missing_tests, a_guarded_client_does_without_or_says_what_it_lacks, 0, LINES)
{
    const struct line *line = &lines[_i];

    start(line);
    rig_connect(&rig);
    if (!line->votes) {
        trust_expect_excluded(0, REDLOCK_FAULT_NO_RIGHTS);
        ck_assert_int_eq(trust_try("key", 5000).status, REDLOCK_NO_QUORUM);
        return;
    }
    trust_expect_votes(0);
    ck_assert_int_eq(trust_info(rig.client, 0).durable, line->durable);
    hand_off();
}

TESTS(missing_tests, a_classic_client_needs_scripts_alone, 0, LINES)
{
    const struct line *line = &lines[_i];
    struct redlock_lock *lock;
    struct outcome outcome;

    start(line);
    rig.options.profile = REDLOCK_PROFILE_CLASSIC;
    rig.options.join = REDLOCK_JOIN_VOTE;
    rig_connect(&rig);
    lock = rig_hold(&rig, "key", 5000);
    outcome = rig_release(&rig, lock);
    ck_assert_int_eq(outcome.status == REDLOCK_OK, line->releases);
}

SUITE_WITH_SERVER("missing")
