/* Elections on real masters: who leads, since which term, and what happens when leaders and masters go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/election.h>
#include <redlock/log.h>

#include "child_rig.h"
#include "queue_rig.h"
#include "rig.h"
#include "suite.h"
#include "watch.h"

#define N_CANDIDATES 3
/* A loss is soon found out about, and a pause of the test's process costs nothing. */
#define TTL_MS 20000
#define RENEW_MS 300
#define AT_RISK_MS 2000

/* To be waited for. */
#define SHORT_TTL_MS 3000

static struct rig rig;

struct candidate {
    struct redlock_client *client;
    struct redlock_election *election;
    unsigned elected, at_risk, lost, resigned, failed;
    uint64_t term;          /* of the latest ELECTED */
    uint64_t lost_term;
    int status;             /* of the latest RESIGNED or FAILED */
    int64_t others_ns;      /* what was left of the other candidates' leaderships at the latest event */
    bool resign, destroy, campaign; /* in the next callback that is no warning */
};

static struct candidate candidates[N_CANDIDATES];

/* --- Candidates --------------------------------------------------------------------------------------------------- */

static struct redlock_election_options options_with(uint32_t ttl_ms)
{
    struct redlock_election_options options;

    redlock_election_options_init(&options);
    options.ttl_ms = ttl_ms;
    if (ttl_ms == TTL_MS) {
        options.renew_ms = RENEW_MS;
        options.at_risk_ms = AT_RISK_MS;
    }
    return options;
}

static void on_event(struct redlock_election *election, const struct redlock_election_event *event, void *user_data)
{
    struct candidate *candidate = user_data;
    struct redlock_election_options options = options_with(TTL_MS);

    ck_assert_ptr_eq(election, candidate->election);
    candidate->others_ns = 0;
    for (size_t i = 0; i < N_CANDIDATES; i++) {
        if (&candidates[i] != candidate)
            candidate->others_ns += redlock_election_remaining_ns(candidates[i].election);
    }
    switch (event->kind) {
    case REDLOCK_ELECTION_ELECTED:
        candidate->elected++;
        ck_assert_uint_gt(event->term, candidate->term);
        candidate->term = event->term;
        ck_assert_uint_eq(redlock_election_term(election), event->term);
        ck_assert_int_gt(redlock_election_remaining_ns(election), 0);
        ck_assert_int_eq(redlock_election_state(election), REDLOCK_ELECTION_LEADING);
        ck_assert_int_eq(candidate->others_ns, 0);
        break;
    case REDLOCK_ELECTION_AT_RISK:
        candidate->at_risk++;
        return;
    case REDLOCK_ELECTION_LOST:
        candidate->lost++;
        candidate->lost_term = event->term;
        ck_assert_int_eq(redlock_election_remaining_ns(election), 0);
        ck_assert_uint_eq(redlock_election_term(election), 0);
        break;
    case REDLOCK_ELECTION_RESIGNED:
    case REDLOCK_ELECTION_FAILED:
        candidate->resigned += event->kind == REDLOCK_ELECTION_RESIGNED;
        candidate->failed += event->kind == REDLOCK_ELECTION_FAILED;
        candidate->status = event->status;
        ck_assert_int_eq(redlock_election_state(election), REDLOCK_ELECTION_IDLE);
        break;
    }
    if (candidate->resign) {
        candidate->resign = false;
        ck_assert_int_eq(redlock_election_resign(election), 0);
    }
    if (candidate->campaign) {
        candidate->campaign = false;
        ck_assert_int_eq(redlock_election_campaign(election, &options, on_event, candidate), 0);
    }
    if (candidate->destroy) {
        redlock_election_destroy(election);
        candidate->election = NULL;
    }
}

static struct candidate *campaign(size_t i, uint32_t ttl_ms)
{
    struct redlock_election_options options = options_with(ttl_ms);
    struct candidate *candidate = &candidates[i];

    candidate->client = i ? rig_new_client(&rig) : rig.client;
    ck_assert_int_eq(redlock_election_create(candidate->client, "leader", 6, &candidate->election), 0);
    ck_assert_int_eq(redlock_election_campaign(candidate->election, &options, on_event, candidate), 0);
    ck_assert_uint_eq(candidate->elected, 0);
    return candidate;
}

static bool leads(void *argument)
{
    return redlock_election_state(((const struct candidate *)argument)->election) == REDLOCK_ELECTION_LEADING;
}

/* A leader has the lease of a waiter at first, and its ttl after the first extension. */
static bool leads_for_long(void *argument)
{
    const struct candidate *candidate = argument;

    return redlock_election_remaining_ns(candidate->election) > INT64_C(1000000) * TTL_MS / 2;
}

/* From then on the term stays. */
static void wait_leads_for_long(struct candidate *candidate)
{
    rig_wait(&rig, leads_for_long, candidate, "a leader with its full ttl");
}

static bool has_been_elected(void *argument)
{
    return ((const struct candidate *)argument)->elected > 0;
}

static bool has_lost(void *argument)
{
    return ((const struct candidate *)argument)->lost > 0;
}

static bool has_ended(void *argument)
{
    const struct candidate *candidate = argument;

    return candidate->resigned + candidate->failed > 0;
}

static struct candidate *leader(size_t i, uint32_t ttl_ms)
{
    struct candidate *candidate = campaign(i, ttl_ms);

    rig_wait(&rig, ttl_ms == TTL_MS ? leads_for_long : leads, candidate, "an election");
    candidate->elected = 1;
    candidate->at_risk = candidate->lost = 0;
    return candidate;
}

static bool is_in_queue(void *argument)
{
    size_t n = 0;

    for (size_t i = 0; i < rig.n; i++)
        n += masters_pid(rig.masters, i) && queue_length(&rig, i, "leader") == *(size_t *)argument;
    return n > rig.n / 2;
}

static struct candidate *follower(size_t i, size_t in_queue)
{
    struct candidate *candidate = campaign(i, TTL_MS);

    rig_wait(&rig, is_in_queue, &in_queue, "a candidate in the wait queue");
    return candidate;
}

static void tune(struct redlock_options *options)
{
    options->node_timeout_ms = 2000;
}

static void open_three(void)
{
    memset(candidates, 0, sizeof candidates);
    rig_open_with(&rig, 3, 0, tune);
}

static void close_rig(void)
{
    for (size_t i = 0; i < N_CANDIDATES; i++) {
        redlock_election_destroy(candidates[i].election);
        if (i)
            redlock_client_destroy(candidates[i].client);
    }
    rig_close(&rig);
}

/* --- Leading ------------------------------------------------------------------------------------------------------ */

START_TEST(one_candidate_leads_and_the_others_follow_in_the_order_of_their_arrival)
{
    struct candidate *first = leader(0, TTL_MS);
    struct candidate *second = follower(1, 1);
    struct candidate *third = follower(2, 2);

    ck_assert_int_eq(redlock_election_state(second->election), REDLOCK_ELECTION_CAMPAIGNING);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    ck_assert_int_eq(redlock_election_remaining_ns(first->election), 0);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_RESIGNING);
    ck_assert_uint_eq(first->resigned, 0);
    rig_wait(&rig, has_been_elected, second, "the second leader");
    rig_wait(&rig, has_ended, first, "the end of the resignation");
    ck_assert_int_eq(first->status, REDLOCK_OK);
    ck_assert_uint_gt(second->term, first->term);
    ck_assert(third->elected == 0 || second->lost > 0); /* a machine that stands still may cost the first lease */
    ck_assert_int_eq(redlock_election_resign(second->election), 0);
    rig_wait(&rig, leads, third, "the third leader");
    ck_assert(third->term > second->term || second->lost > 0);
    ck_assert_uint_eq(first->lost, 0);
}
END_TEST

START_TEST(a_leader_is_renewed)
{
    struct candidate *first = leader(0, TTL_MS);

    watch_wait_renewed(&rig);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_LEADING);
    ck_assert_uint_eq(first->elected, 1);
    ck_assert_uint_eq(first->lost, 0);
}
END_TEST

START_TEST(a_candidate_that_withdraws_is_never_elected)
{
    struct candidate *first = leader(0, TTL_MS);
    struct candidate *second = follower(1, 1);
    struct candidate *third = follower(2, 2);

    ck_assert_int_eq(redlock_election_resign(second->election), 0);
    ck_assert_int_eq(redlock_election_resign(second->election), REDLOCK_E_BUSY);
    rig_wait(&rig, has_ended, second, "the end of the candidacy");
    ck_assert_int_eq(second->status, REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_election_resign(second->election), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    rig_wait(&rig, leads, third, "the next leader");
    ck_assert_uint_eq(second->elected, 0);
}
END_TEST

/* --- Losses ------------------------------------------------------------------------------------------------------- */

/* Of three masters two fall silent. LOST comes by timer, before anybody could be elected, and the candidate is elected
 * anew when the masters are back. */
START_TEST(a_leader_without_a_quorum_is_told_so_in_time_and_campaigns_again)
{
    struct candidate *first = leader(0, SHORT_TTL_MS);
    int again = RIG_LATE_ATTEMPTS;

    do {
        uint64_t term = first->term;

        ck_assert_int_gt(again--, 0);
        first->lost = first->at_risk = 0;
        for (size_t i = 0; i < 2; i++)
            ck_assert(masters_hang(rig.masters, i));
        rig_wait(&rig, has_lost, first, "the loss");
        ck_assert_uint_eq(first->lost_term, term);
        ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_CAMPAIGNING);
        ck_assert_uint_eq(first->lost, 1);
        ck_assert_uint_le(first->at_risk, 1);
        for (size_t i = 0; i < 2; i++)
            ck_assert(masters_resume(rig.masters, i));
        rig_wait(&rig, leads, first, "another election");
        ck_assert_uint_gt(first->term, term);
    } while (first->at_risk == 0); /* the process was stopped from before the warning to the loss */
}
END_TEST

/* The key is another's until the renewal has found that out. */
static void tell_loss(struct candidate *candidate)
{
    rig_do_all(&rig, "SET", "leader", "usurper", NULL);
    rig_wait(&rig, has_lost, candidate, "the loss");
}

START_TEST(a_leader_whose_key_is_gone_has_lost_before_another_is_elected)
{
    struct candidate *first = leader(0, TTL_MS);
    struct candidate *second = follower(1, 1);

    tell_loss(first);
    ck_assert_uint_eq(second->elected, 0);
    rig_do_all(&rig, "DEL", "leader", NULL);
    rig_wait(&rig, leads, second, "the next leader");
    ck_assert_uint_gt(second->term, first->term);
    ck_assert_uint_eq(first->elected, 1);
}
END_TEST

START_TEST(a_candidate_that_campaigns_once_is_idle_after_a_loss)
{
    struct redlock_election_options options = options_with(SHORT_TTL_MS);
    struct candidate *first = &candidates[0];

    first->client = rig.client;
    options.once = 1;
    options.max_hold_ms = 1;
    ck_assert_int_eq(redlock_election_create(rig.client, "leader", 6, &first->election), 0);
    ck_assert_int_eq(redlock_election_campaign(first->election, &options, on_event, first), 0);
    ck_assert_int_eq(redlock_election_campaign(first->election, &options, on_event, first), REDLOCK_E_BUSY);
    rig_wait(&rig, has_been_elected, first, "an election");
    rig_wait(&rig, has_lost, first, "the loss");
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_IDLE);
    ck_assert_int_eq(redlock_election_campaign(first->election, &options, on_event, first), 0);
    rig_wait(&rig, leads, first, "another election");
    ck_assert_uint_eq(first->elected, 2);
}
END_TEST

static int lead_and_stay(struct rig *child, void *unused)
{
    (void)unused;
    leader(0, SHORT_TTL_MS);
    return child_stay(child);
}

/* It was a process of its own: its ttl is all that it costs. */
START_TEST(a_leader_that_is_killed_is_replaced_when_its_ttl_is_over)
{
    pid_t pid = child_start_ready(&rig, lead_and_stay, NULL);
    struct candidate *second = follower(1, 1);
    int64_t killed;

    ck_assert_uint_eq(second->elected, 0);
    killed = rig_now_ms();
    child_kill(pid);
    rig_wait(&rig, leads, second, "the next leader");
    printf("# elected %lld ms after the kill, ttl %d ms\n", (long long)(rig_now_ms() - killed), SHORT_TTL_MS);
}
END_TEST

START_TEST(a_master_that_comes_back_empty_elects_nobody_else)
{
    struct candidate *first, *second;

    rig_kill_master(&rig, (size_t)_i % 3);
    first = leader(0, TTL_MS);
    second = follower(1, 1);
    ck_assert(masters_restart(rig.masters, (size_t)_i % 3));
    rig_wait_link(&rig, rig.client, (size_t)_i % 3, REDLOCK_LINK_READY);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_LEADING);
    ck_assert_uint_eq(second->elected, 0);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    rig_wait(&rig, leads, second, "the next leader");
    ck_assert_uint_gt(second->term, first->term);
}
END_TEST

/* --- Callbacks and ends ------------------------------------------------------------------------------------------- */

START_TEST(callbacks_may_resign_campaign_and_destroy)
{
    struct candidate *first = &candidates[0];
    struct candidate *second = &candidates[1];

    first->resign = true;
    campaign(0, TTL_MS);
    rig_wait(&rig, has_ended, first, "a resignation at once");
    ck_assert_uint_eq(first->elected, 1);
    first->resigned = 0;
    first->destroy = true;
    second->destroy = true;
    campaign(1, TTL_MS);
    rig_run_for(&rig, 0);
    ck_assert_int_eq(redlock_election_campaign(first->election, NULL, on_event, first), 0);
    while (first->election || second->election)
        rig_run_for(&rig, 1);
    ck_assert_uint_eq(second->elected, 1);
    rig_wait_absent(&rig, "leader");
}
END_TEST

START_TEST(a_callback_that_is_told_of_a_loss_may_resign_or_destroy)
{
    struct candidate *first = leader(0, TTL_MS);
    struct candidate *second = campaign(1, TTL_MS);

    first->resign = true;
    tell_loss(first);
    rig_wait(&rig, has_ended, first, "the end of the candidacy");
    ck_assert_int_eq(first->status, REDLOCK_CANCELED);
    ck_assert_uint_eq(first->elected, 1);
    rig_do_all(&rig, "DEL", "leader", NULL);
    rig_wait(&rig, leads, second, "the next leader");
    second->destroy = true;
    tell_loss(second);
    rig_wait_no_claims(&rig, second->client);
}
END_TEST

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
    *(int *)user_data = status;
    (void)client;
}

static bool is_zero(void *argument)
{
    return *(int *)argument == 0;
}

START_TEST(a_shutdown_ends_leaders_and_candidates)
{
    struct candidate *first = leader(0, TTL_MS);
    struct candidate *second = follower(1, 1);
    int ended = 1;

    ck_assert_int_eq(redlock_client_shutdown(second->client, 10000, on_shutdown, &ended), 0);
    rig_wait(&rig, is_zero, &ended, "the shutdown of a candidate");
    ck_assert_uint_eq(second->failed, 1);
    ck_assert_int_eq(second->status, REDLOCK_CANCELED);
    ended = 1;
    ck_assert_int_eq(redlock_client_shutdown(first->client, 10000, on_shutdown, &ended), 0);
    ck_assert_int_eq(redlock_election_remaining_ns(first->election), 0);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_IDLE);
    rig_wait(&rig, is_zero, &ended, "the shutdown of a leader");
    ck_assert_uint_eq(first->lost + first->resigned, 0);
    rig_wait_absent(&rig, "leader");
}
END_TEST

START_TEST(destroying_the_client_ends_its_elections)
{
    leader(0, TTL_MS);
    follower(1, 1);
    redlock_client_destroy(candidates[1].client);
    candidates[1].client = NULL;
    candidates[1].election = NULL;
    ck_assert_uint_eq(candidates[1].elected + candidates[1].resigned + candidates[1].failed, 0);
    redlock_election_destroy(candidates[0].election);
    candidates[0].election = NULL;
    rig_wait_absent(&rig, "leader");
}
END_TEST

/* --- Observers ---------------------------------------------------------------------------------------------------- */

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

START_TEST(observers_are_told_of_each_change_by_label_and_term)
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
    first = leader(1, TTL_MS);
    see(&sight, first->term);
    ck_assert_str_eq(sight.label, "host-7:4711");
    calls = sight.calls;
    rig_run_for(&rig, 2 * RENEW_MS);
    ck_assert_uint_eq(sight.calls, calls); /* the same leader, renewed */
    rig.options.label = NULL;
    second = follower(2, 1);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    wait_leads_for_long(second);
    see(&sight, second->term);
    ck_assert_str_eq(sight.label, "");
    for (size_t i = 0; i < 2; i++)
        ck_assert(masters_hang(rig.masters, i));
    rig_wait(&rig, sees_nobody_for_sure, &sight, "the end of all knowledge");
    for (size_t i = 0; i < 2; i++)
        ck_assert(masters_resume(rig.masters, i));
    ck_assert_int_eq(redlock_election_observe(election, 0, NULL, NULL), 0);
    calls = sight.calls;
    rig_run_for(&rig, 100);
    ck_assert_uint_eq(sight.calls, calls);
    redlock_election_destroy(election);
}
END_TEST

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
    struct candidate *first = leader(1, TTL_MS);
    struct candidate *second = follower(2, 1);

    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    wait_leads_for_long(second);
    return second->term;
}

START_TEST(a_new_leader_says_so)
{
    struct sight sight;
    struct redlock_election *election = observe(&sight, NEVER_MS);
    struct candidate *first, *second;
    int64_t elected;

    wait_heard(1);
    rig.options.label = "host-7:4711";
    first = leader(1, TTL_MS);
    see(&sight, first->term);
    ck_assert_str_eq(sight.label, "host-7:4711");
    second = follower(2, 1);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    wait_leads_for_long(second);
    elected = rig_now_ms();
    see(&sight, second->term);
    printf("# the observer knew %lld ms after the leader\n", (long long)(rig_now_ms() - elected));
    rig.options.label = NULL;
    redlock_election_destroy(election);
    wait_heard(0);
}
END_TEST

START_TEST(an_observer_whose_connections_are_killed_listens_again_and_looks)
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
END_TEST

static unsigned refusals;

static void on_refusal(const struct redlock_event *event, void *user_data)
{
    refusals += event->type == REDLOCK_EVENT_LISTENING && event->link == REDLOCK_LINK_READY &&
                strstr(event->text, "SUBSCRIBE: NOPERM") && redlock_event_level(event) == REDLOCK_LEVEL_WARNING;
    (void)user_data;
}

/* Whose user has no right to the channel, leader or observer: the interval is what is left. */
START_TEST(without_the_right_to_the_channel_an_observer_looks_at_intervals)
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
END_TEST

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

START_TEST(whatever_others_say_on_the_channel_makes_an_observer_look_now_and_then_at_most)
{
    static const char *const words[] = {"",   "leader",               "0",                   "17 a b",
                                        "-1", "18446744073709551616", "18446744073709551615"};
    struct sight sight;
    struct redlock_election *election = observe(&sight, NEVER_MS);
    struct candidate *first;
    uint64_t before;
    int64_t began;

    wait_heard(1);
    first = leader(1, TTL_MS);
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
    rig_wait(&rig, has_ended, first, "the end of the resignation");
    see(&sight, leader(2, TTL_MS)->term);
    redlock_election_destroy(election);
}
END_TEST

/* --- The end of observers ----------------------------------------------------------------------------------------- */

START_TEST(observers_may_end_at_any_time)
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
END_TEST

int main(void)
{
    Suite *suite = suite_create("election");
    TCase *three = suite_add_case(suite, "three", open_three, close_rig);

    tcase_add_test(three, one_candidate_leads_and_the_others_follow_in_the_order_of_their_arrival);
    tcase_add_test(three, a_leader_is_renewed);
    tcase_add_test(three, a_candidate_that_withdraws_is_never_elected);
    tcase_add_test(three, a_leader_without_a_quorum_is_told_so_in_time_and_campaigns_again);
    tcase_add_test(three, a_leader_whose_key_is_gone_has_lost_before_another_is_elected);
    tcase_add_test(three, a_candidate_that_campaigns_once_is_idle_after_a_loss);
    tcase_add_test(three, a_leader_that_is_killed_is_replaced_when_its_ttl_is_over);
    tcase_add_loop_test(three, a_master_that_comes_back_empty_elects_nobody_else, 0, 3);
    tcase_add_test(three, callbacks_may_resign_campaign_and_destroy);
    tcase_add_test(three, a_callback_that_is_told_of_a_loss_may_resign_or_destroy);
    tcase_add_test(three, a_shutdown_ends_leaders_and_candidates);
    tcase_add_test(three, destroying_the_client_ends_its_elections);
    tcase_add_test(three, observers_are_told_of_each_change_by_label_and_term);
    tcase_add_test(three, a_new_leader_says_so);
    tcase_add_loop_test(three, an_observer_whose_connections_are_killed_listens_again_and_looks, 0, 2);
    suite_add_test_since(three, without_the_right_to_the_channel_an_observer_looks_at_intervals, 6, 2,
                         "rights on channels");
    tcase_add_test(three, whatever_others_say_on_the_channel_makes_an_observer_look_now_and_then_at_most);
    tcase_add_test(three, observers_may_end_at_any_time);
    return suite_run_with_server(suite);
}
