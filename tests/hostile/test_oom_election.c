/* Elections without memory: test_oom.c says what must hold. */
#include <redlock/election.h>

#include "oom_rig.h"
#include "suite.h"

static struct ending {
    unsigned elected;
    unsigned seen;
    unsigned ended;
    int status;
} ending;

static void on_event(struct redlock_election *election, const struct redlock_election_event *event, void *user_data)
{
    ending.elected += event->kind == REDLOCK_ELECTION_ELECTED;
    ending.ended += event->kind == REDLOCK_ELECTION_RESIGNED || event->kind == REDLOCK_ELECTION_FAILED;
    ending.status = event->status;
}

static void on_leader(struct redlock_election *election, const struct redlock_leader *leader, void *user_data)
{
    ending.seen++;
}

static bool is_decided(void *argument)
{
    return ending.elected > 0 || ending.ended > 0;
}

static bool has_ended(void *argument)
{
    return ending.ended > 0;
}

static bool has_seen(void *argument)
{
    return ending.seen > 0;
}

static void lead(struct redlock_election *election)
{
    int status = redlock_election_campaign(election, NULL, on_event, NULL);

    if (status < 0) {
        ck_assert_msg(oom_is_shortage(status), "%s", redlock_status_name(status));
        return;
    }
    world_wait(is_decided, NULL, "an election");
    if (!ending.ended) {
        ck_assert_int_eq(redlock_election_resign(election), 0);
        world_wait(has_ended, NULL, "a resignation");
    }
    ck_assert_msg(ending.status == REDLOCK_OK || ending.status == REDLOCK_NO_QUORUM || oom_is_shortage(ending.status),
                  "%s", redlock_status_name(ending.status));
    ck_assert_uint_eq(ending.ended, 1);
}

/* Looks that fail are made up for. */
static void use_client(void)
{
    struct redlock_election *election = NULL;
    int status = redlock_election_create(world.client, "leader", 6, &election);

    ck_assert_msg(status == 0 || oom_is_shortage(status), "%s", redlock_status_name(status));
    if (!election)
        return;
    ending = (struct ending){0};
    ck_assert_int_eq(redlock_election_observe(election, 10, on_leader, NULL), 0);
    lead(election);
    world_wait(has_seen, NULL, "an observation");
    redlock_election_destroy(election);
}

static const struct oom_scenario scenario = {NULL, use_client};

static void open_three(void)
{
    oom_open(REDLOCK_PROFILE_CLASSIC);
    world.options.label = "a-label";
}

GROUP(cases, "election", open_three, world_close)

TEST(cases, any_one_allocation_may_fail)
{
    oom_fail_each(&scenario, 1);
}

SUITE("oom_election")
