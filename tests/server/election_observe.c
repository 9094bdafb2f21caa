/* Observers of elections on real masters: what they are told of each leader, by a look or by the leader itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/log.h>

#include "election_rig.h"
#include "suite.h"

struct sight {
    unsigned calls;
    struct redlock_leader leader;
    char label[REDLOCK_MAX_LABEL_BYTES + 1];
    uint64_t wanted_term;
    struct redlock_election *destroy;
};

static void on_leader(struct redlock_election *election, const struct redlock_leader *leader, void *user_data)
{
    struct sight *sight = user_data;

    sight->calls++;
    sight->leader = *leader;
    snprintf(sight->label, sizeof sight->label, "%s", leader->label);
    ck_assert_uint_eq(strlen(sight->label), leader->label_size);
    if (sight->destroy)
        redlock_election_destroy(election);
}

static bool sees_term(void *argument)
{
    const struct sight *sight = argument;

    return sight->calls > 0 && sight->leader.status == REDLOCK_OK && sight->leader.term == sight->wanted_term &&
           sight->leader.present == (sight->wanted_term != 0);
}

static bool sees_nobody_for_sure(void *argument)
{
    return ((const struct sight *)argument)->leader.status == REDLOCK_NO_QUORUM;
}

static void see(struct sight *sight, uint64_t term)
{
    sight->wanted_term = term;
    rig_wait(&rig, sees_term, sight, "a change of the leader");
}

GROUP(three, "three", election_open, election_close)

static bool sees_worker(void *argument)
{
    return strcmp(((const struct sight *)argument)->label, "worker-9") == 0;
}

static void ignore_event(struct redlock_election *election, const struct redlock_election_event *event, void *user_data)
{
}

static void see_a_label_of_its_own(struct sight *sight, struct candidate *leader)
{
    struct redlock_election_options options = candidate_options(ELECTION_TTL_MS);
    char label[] = "worker-9";
    struct redlock_election *election;

    options.label = label;
    ck_assert_int_eq(redlock_election_create(rig.client, "leader", 6, &election), 0);
    ck_assert_int_eq(redlock_election_campaign(election, &options, ignore_event, NULL), 0);
    memset(label, 'x', sizeof label - 1);
    ck_assert_int_eq(redlock_election_resign(leader->election), 0);
    rig_wait(&rig, sees_worker, sight, "the candidate with a label");
    redlock_election_destroy(election);
}

TEST(three, observers_are_told_of_each_change_by_label_and_term)
{
    struct redlock_election *election;
    struct sight sight = {0};
    struct candidate *first, *second;
    unsigned calls;

    ck_assert_int_eq(redlock_election_create(rig.client, "leader", 6, &election), 0);
    ck_assert_int_eq(redlock_election_observe(election, 20, on_leader, &sight), 0);
    see(&sight, 0);
    rig.options.label = "host-7:4711";
    candidates[0].client = NULL;
    first = candidate_leader(1, ELECTION_TTL_MS);
    see(&sight, first->term);
    ck_assert_str_eq(sight.label, "host-7:4711");
    calls = sight.calls;
    rig_run_for(&rig, 2 * ELECTION_RENEW_MS);
    ck_assert_uint_eq(sight.calls, calls); /* the same leader, renewed */
    rig.options.label = NULL;
    second = candidate_follower(2, 1);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    candidate_wait_leads_for_long(second);
    see(&sight, second->term);
    ck_assert_str_eq(sight.label, "");
    see_a_label_of_its_own(&sight, second);
    rig_hang_masters(&rig, 0x3);
    rig_wait(&rig, sees_nobody_for_sure, &sight, "the end of all knowledge");
    rig_resume_masters(&rig, 0x3);
    ck_assert_int_eq(redlock_election_observe(election, 0, NULL, NULL), 0);
    calls = sight.calls;
    rig_run_for(&rig, 100);
    ck_assert_uint_eq(sight.calls, calls);
    redlock_election_destroy(election);
}

/* --- Observers that are told -------------------------------------------------------------------------------------- */

#define CHANNEL "redlock:leader:leader"
#define NEVER_MS 3600000 /* an interval that no test lives to see */

static size_t count_listeners(size_t node)
{
    char *reply = masters_command(rig.masters, node, (const char *const[]){"PUBSUB", "NUMSUB", CHANNEL, NULL});
    const char *number = reply ? strrchr(reply, ')') : NULL;
    size_t n = number ? strtoul(number + 1, NULL, 10) : 0;

    free(reply);
    return n;
}

/* So many observers' clients have the channel on each master. */
static bool is_heard(void *argument)
{
    size_t n = 0;

    for (size_t i = 0; i < rig.n; i++)
        n += count_listeners(i) == *(size_t *)argument;
    return n == rig.n;
}

static void wait_heard(size_t n)
{
    rig_wait(&rig, is_heard, &n, "subscriptions to the leader's channel");
}

static struct redlock_election *observe(struct sight *sight, uint32_t interval_ms)
{
    struct redlock_election *election;

    *sight = (struct sight){0};
    ck_assert_int_eq(redlock_election_create(rig.client, "leader", 6, &election), 0);
    ck_assert_int_eq(redlock_election_observe(election, interval_ms, on_leader, sight), 0);
    see(sight, 0);
    return election;
}

/* From one leader to the next one, which comes when the first has resigned; returns the term. */
static uint64_t pass_leadership_on(void)
{
    struct candidate *first = candidate_leader(1, ELECTION_TTL_MS);
    struct candidate *second = candidate_follower(2, 1);

    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    candidate_wait_leads_for_long(second);
    return second->term;
}

TEST(three, a_new_leader_says_so)
{
    struct sight sight;
    struct redlock_election *election = observe(&sight, NEVER_MS);
    struct candidate *first, *second;
    int64_t elected;

    wait_heard(1);
    rig.options.label = "host-7:4711";
    first = candidate_leader(1, ELECTION_TTL_MS);
    see(&sight, first->term);
    ck_assert_str_eq(sight.label, "host-7:4711");
    second = candidate_follower(2, 1);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    candidate_wait_leads_for_long(second);
    elected = rig_now_ms();
    see(&sight, second->term);
    printf("# the observer knew %lld ms after the leader\n", (long long)(rig_now_ms() - elected));
    rig.options.label = NULL;
    redlock_election_destroy(election);
    wait_heard(0);
}

TESTS(three, an_observer_whose_connections_are_killed_listens_again_and_looks, 0, 2)
{
    struct sight sight;
    struct redlock_election *election = observe(&sight, NEVER_MS);
    uint64_t term;

    wait_heard(1);
    rig_do_all(&rig, "CLIENT", "KILL", "TYPE", "pubsub", NULL);
    if (_i) /* otherwise what is said meanwhile is made up for by a look */
        wait_heard(1);
    term = pass_leadership_on();
    see(&sight, term);
    redlock_election_destroy(election);
}

static unsigned refusals;

static void on_refusal(const struct redlock_event *event, void *user_data)
{
    refusals += event->type == REDLOCK_EVENT_LISTENING && event->link == REDLOCK_LINK_READY &&
                strstr(event->text, "SUBSCRIBE: NOPERM") && redlock_event_level(event) == REDLOCK_LEVEL_WARNING;
}

/* Whose user has no right to the channel, leader or observer: the interval is what is left. */
TEST_SINCE(three, without_the_right_to_the_channel_an_observer_looks_at_intervals, 6, 2, "rights on channels")
{
    struct sight sight;
    struct redlock_election *election;
    uint64_t term;

    refusals = 0;
    rig.options.on_event = on_refusal;
    redlock_client_destroy(rig.client);
    rig_do_all(&rig, "ACL", "SETUSER", "default", "resetchannels", "&redlock:grant:*", NULL);
    rig_connect(&rig);
    election = observe(&sight, 50);
    term = pass_leadership_on();
    see(&sight, term);
    ck_assert_uint_gt(refusals, 0);
    wait_heard(0);
    redlock_election_destroy(election);
}

static uint64_t count_commands(void)
{
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    return stats.commands;
}

static bool has_looked(void *argument)
{
    return count_commands() > *(const uint64_t *)argument;
}

TEST(three, whatever_others_say_on_the_channel_makes_an_observer_look_now_and_then_at_most)
{
    static const char *const words[] = {"",   "leader",               "0",                   "17 a b",
                                        "-1", "18446744073709551616", "18446744073709551615"};
    struct sight sight;
    struct redlock_election *election = observe(&sight, NEVER_MS);
    struct candidate *first;
    uint64_t before;
    int64_t began;

    wait_heard(1);
    first = candidate_leader(1, ELECTION_TTL_MS);
    see(&sight, first->term);
    rig_wait_quiet(&rig, rig.client);
    before = count_commands();
    began = rig_now_ms();
    for (unsigned i = 0; i < 700; i++) {
        rig_do(&rig, i % 3, "PUBLISH", CHANNEL, words[i % 7], NULL);
        rig_run_for(&rig, i % 7 == 0);
    }
    rig_wait(&rig, has_looked, &before, "a look");
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_le(count_commands() - before, 3 * (2 + (uint64_t)(rig_now_ms() - began) / 10));
    ck_assert_uint_eq(sight.leader.term, first->term);
    rig_do(&rig, 0, "PUBLISH", CHANNEL, words[0], NULL);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    rig_wait(&rig, candidate_has_ended, first, "the end of the resignation");
    see(&sight, candidate_leader(2, ELECTION_TTL_MS)->term);
    redlock_election_destroy(election);
}

/* --- The end of observers ----------------------------------------------------------------------------------------- */

TEST(three, whoever_observes_instead_is_told_what_was_known)
{
    struct sight former, sight = {0};
    struct redlock_election *election = observe(&former, NEVER_MS);

    ck_assert_int_eq(redlock_election_observe(election, NEVER_MS, on_leader, &sight), 0);
    see(&sight, 0);
    ck_assert_uint_eq(former.calls, 1);
    redlock_election_destroy(election);
}

TEST(three, observers_may_end_at_any_time)
{
    struct redlock_client *client = rig_new_client(&rig);
    struct redlock_election *elections[4];
    struct sight sights[4] = {{0}};

    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(redlock_election_create(client, "leader", 6, &elections[i]), 0);
        ck_assert_int_eq(redlock_election_observe(elections[i], 10, on_leader, &sights[i]), 0);
    }
    sights[0].destroy = elections[0];
    redlock_election_destroy(elections[1]); /* before its first look */
    see(&sights[0], 0);
    see(&sights[2], 0);
    rig_run_for(&rig, 11);
    redlock_election_destroy(elections[2]); /* with or without a look under way */
    redlock_client_destroy(client);
    ck_assert_uint_eq(sights[0].calls, 1);
    ck_assert_uint_eq(sights[1].calls, 0);
}

SUITE_WITH_SERVER("election_observe")
