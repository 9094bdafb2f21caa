/* Elections on real masters: who leads, since which term, and what happens when leaders and masters go. */
#include <poll.h>

#include "election_rig.h"

#include <poll.h>

#include "child_rig.h"
#include "suite.h"
#include "watch.h"

/* To be waited for. */
#define SHORT_TTL_MS 3000

/* --- Leading ------------------------------------------------------------------------------------------------------ */

GROUP(three, "three", election_open, election_close)

TEST(three, one_candidate_leads_and_the_others_follow_in_the_order_of_their_arrival)
{
    struct candidate *first = candidate_leader(0, ELECTION_TTL_MS);
    struct candidate *second = candidate_follower(1, 1);
    struct candidate *third = candidate_follower(2, 2);

    ck_assert_int_eq(redlock_election_state(second->election), REDLOCK_ELECTION_CAMPAIGNING);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    ck_assert_int_eq(redlock_election_remaining_ns(first->election), 0);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_RESIGNING);
    ck_assert_uint_eq(first->resigned, 0);
    rig_wait(&rig, candidate_was_elected, second, "the second leader");
    rig_wait(&rig, candidate_has_ended, first, "the end of the resignation");
    ck_assert_int_eq(first->status, REDLOCK_OK);
    ck_assert_uint_eq(first->ended_term, first->term);
    ck_assert_uint_gt(second->term, first->term);
    ck_assert(third->elected == 0 || second->lost > 0); /* a machine that stands still may cost the first lease */
    ck_assert_int_eq(redlock_election_resign(second->election), 0);
    rig_wait(&rig, candidate_leads, third, "the third leader");
    ck_assert(third->term > second->term || second->lost > 0);
    ck_assert_uint_eq(first->lost, 0);
}

TEST(three, a_leader_is_renewed)
{
    struct candidate *first = candidate_leader(0, ELECTION_TTL_MS);

    watch_wait_renewed(&rig);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_LEADING);
    ck_assert_uint_eq(first->elected, 1);
    ck_assert_uint_eq(first->lost, 0);
}

TEST(three, a_candidate_that_withdraws_is_never_elected)
{
    struct candidate *first = candidate_leader(0, ELECTION_TTL_MS);
    struct candidate *second = candidate_follower(1, 1);
    struct candidate *third = candidate_follower(2, 2);

    ck_assert_int_eq(redlock_election_resign(second->election), 0);
    ck_assert_int_eq(redlock_election_resign(second->election), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_election_state(second->election), REDLOCK_ELECTION_RESIGNING);
    rig_wait(&rig, candidate_has_ended, second, "the end of the candidacy");
    ck_assert_uint_eq(second->resigned, 1);
    ck_assert_int_eq(second->status, REDLOCK_CANCELED);
    ck_assert_uint_eq(second->ended_term, 0);
    ck_assert_int_eq(redlock_election_resign(second->election), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    rig_wait(&rig, candidate_leads, third, "the next leader");
    ck_assert_uint_eq(second->elected, 0);
}

static void resign_inside(struct redlock_lock *lock, const struct redlock_result *result, void *election)
{
    if (redlock_election_state(election) == REDLOCK_ELECTION_CAMPAIGNING)
        ck_assert_int_eq(redlock_election_resign(election), 0);
    redlock_lock_destroy(lock);
}

static void try_inside(struct candidate *candidate, const char *key)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, key);

    ck_assert_int_eq(redlock_acquire(lock, NULL, resign_inside, candidate->election), 0);
}

/* In the classic profile the callback of the first lock comes before that of the candidate, which the same answers have
 * elected. In the guarded one the candidate is told first, and has led. */
TEST(three, a_candidate_that_withdraws_before_it_is_told_of_its_election_has_not_led)
{
    struct candidate *first = &candidates[0];
    struct redlock_election_options options = candidate_options(ELECTION_TTL_MS);

    first->client = rig.client;
    ck_assert_int_eq(redlock_election_create(rig.client, "leader", 6, &first->election), 0);
    try_inside(first, "a");
    ck_assert_int_eq(redlock_election_campaign(first->election, &options, candidate_on_event, first), 0);
    try_inside(first, "z");
    rig_wait_quiet(&rig, rig.client);
    if (redlock_election_state(first->election) == REDLOCK_ELECTION_LEADING)
        ck_assert_int_eq(redlock_election_resign(first->election), 0);
    rig_wait(&rig, candidate_has_ended, first, "the end of the candidacy");
    ck_assert_int_eq(first->status, first->elected ? REDLOCK_OK : REDLOCK_CANCELED);
    ck_assert_uint_eq(first->ended_term, first->elected ? first->term : 0);
    rig_wait_absent(&rig, "leader");
}

/* --- Losses ------------------------------------------------------------------------------------------------------- */

/* Of three masters two fall silent. LOST comes by timer, before anybody could be elected, and the candidate is elected
 * anew when the masters are back. */
TEST(three, a_leader_without_a_quorum_is_told_so_in_time_and_campaigns_again)
{
    struct candidate *first = candidate_leader(0, SHORT_TTL_MS);
    int again = RIG_LATE_ATTEMPTS;

    do {
        uint64_t term = first->term;

        ck_assert_int_gt(again--, 0);
        first->lost = first->at_risk = 0;
        first->at_risk_ms = 0;
        rig_hang_masters(&rig, 0x3);
        rig_wait(&rig, candidate_has_lost, first, "the loss");
        ck_assert_uint_eq(first->lost_term, term);
        ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_CAMPAIGNING);
        ck_assert_uint_eq(first->lost, 1);
        ck_assert_uint_le(first->at_risk, 1);
        ck_assert_int_le(first->at_risk_ms, SHORT_TTL_MS / 6); /* what it has asked for */
        rig_resume_masters(&rig, 0x3);
        rig_wait(&rig, candidate_leads, first, "another election");
        ck_assert_uint_gt(first->term, term);
    } while (first->at_risk == 0); /* the process was stopped from before the warning to the loss */
}

/* Only one of three masters is left to confirm that it has given the key back. */
TEST(three, a_resignation_that_is_not_confirmed_says_so)
{
    struct candidate *first = candidate_leader(0, ELECTION_TTL_MS);

    for (size_t i = 0; i < 2; i++)
        rig_kill_master(&rig, i);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    ck_assert_int_eq(redlock_election_resign(first->election), REDLOCK_E_BUSY);
    rig_wait(&rig, candidate_has_ended, first, "the end of the resignation");
    ck_assert_int_eq(first->status, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(first->resigned, 1);
}

/* The process stands still: whoever asks then knows before the loop can tell. */
TEST(three, a_term_is_over_before_the_loss_is_told)
{
    struct candidate *first = candidate_leader(0, 300);

    while (redlock_election_remaining_ns(first->election) > 0)
        poll(NULL, 0, 10);
    ck_assert_uint_eq(first->lost, 0);
    ck_assert_uint_eq(redlock_election_term(first->election), 0);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_CAMPAIGNING);
    rig_wait(&rig, candidate_has_lost, first, "the loss");
}

static void with_short_ttls(struct redlock_options *options)
{
    options->max_ttl_ms = 5000;
}

TEST(three, without_options_the_ttl_is_the_largest_that_the_client_may_ask_for)
{
    struct candidate *first = &candidates[0];

    rig_close(&rig);
    rig_open_with(&rig, 3, 0, with_short_ttls);
    first->client = rig.client;
    ck_assert_int_eq(redlock_election_create(rig.client, "leader", 6, &first->election), 0);
    ck_assert_int_eq(redlock_election_campaign(first->election, NULL, candidate_on_event, first), 0);
    rig_wait(&rig, candidate_leads, first, "an election");
}

/* The key is another's until the renewal has found that out. */
static void tell_loss(struct candidate *candidate)
{
    rig_do_all(&rig, "SET", "leader", "usurper", NULL);
    rig_wait(&rig, candidate_has_lost, candidate, "the loss");
}

TEST(three, a_leader_whose_key_is_gone_has_lost_before_another_is_elected)
{
    struct candidate *first = candidate_leader(0, ELECTION_TTL_MS);
    struct candidate *second = candidate_follower(1, 1);
    struct redlock_stats before = watch_stats(first->client);

    ck_assert_uint_gt(before.elected, before.leaderships_lost);
    tell_loss(first);
    ck_assert_uint_eq(watch_stats(first->client).leaderships_lost, before.leaderships_lost + 1);
    ck_assert_uint_eq(second->elected, 0);
    rig_do_all(&rig, "DEL", "leader", NULL);
    rig_wait(&rig, candidate_leads, second, "the next leader");
    ck_assert_uint_gt(second->term, first->term);
    ck_assert_uint_eq(first->elected, 1);
}

/* It is not renewed, and so leads for one ttl. Returns its options, to be used again. */
static struct redlock_election_options campaign_once(struct candidate *candidate)
{
    struct redlock_election_options options = candidate_options(SHORT_TTL_MS);

    candidate->client = rig.client;
    options.once = 1;
    options.max_hold_ms = 1;
    ck_assert_int_eq(redlock_election_create(rig.client, "leader", 6, &candidate->election), 0);
    ck_assert_int_eq(redlock_election_campaign(candidate->election, &options, candidate_on_event, candidate), 0);
    return options;
}

TEST(three, a_candidate_that_campaigns_once_is_idle_after_a_loss)
{
    struct candidate *first = &candidates[0];
    struct redlock_election_options options = campaign_once(first);

    ck_assert_int_eq(redlock_election_campaign(first->election, &options, candidate_on_event, first), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_CAMPAIGNING);
    rig_wait(&rig, candidate_was_elected, first, "an election");
    rig_wait(&rig, candidate_has_lost, first, "the loss");
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_IDLE);
    ck_assert_int_eq(redlock_election_campaign(first->election, &options, candidate_on_event, first), 0);
    rig_wait(&rig, candidate_leads, first, "another election");
    ck_assert_uint_eq(first->elected, 2);
}

/* The clock has ended the leadership, and the loop has yet to say so. */
TEST(three, whoever_has_lost_the_only_campaign_cannot_resign_from_it)
{
    struct candidate *first = &candidates[0];
    struct redlock_election_options options = campaign_once(first);

    rig_wait(&rig, candidate_was_elected, first, "an election");
    while (redlock_election_remaining_ns(first->election) > 0)
        (void)poll(NULL, 0, 1);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_IDLE);
    ck_assert_int_eq(redlock_election_resign(first->election), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_election_campaign(first->election, &options, candidate_on_event, first), REDLOCK_E_BUSY);
    rig_wait(&rig, candidate_has_lost, first, "the loss");
    ck_assert_uint_eq(first->lost_term, first->term);
    ck_assert_uint_eq(first->resigned, 0);
}

static int lead_and_stay(struct rig *child, void *unused)
{
    candidate_leader(0, SHORT_TTL_MS);
    return child_stay(child);
}

/* It was a process of its own: its ttl is all that it costs. */
TEST(three, a_leader_that_is_killed_is_replaced_when_its_ttl_is_over)
{
    pid_t pid = child_start_ready(&rig, lead_and_stay, NULL);
    struct candidate *second = candidate_follower(1, 1);
    int64_t killed;

    ck_assert_uint_eq(second->elected, 0);
    killed = rig_now_ms();
    child_kill(pid);
    rig_wait(&rig, candidate_leads, second, "the next leader");
    printf("# elected %lld ms after the kill, ttl %d ms\n", (long long)(rig_now_ms() - killed), SHORT_TTL_MS);
}

TESTS(three, a_master_that_comes_back_empty_elects_nobody_else, 0, 3)
{
    struct candidate *first, *second;

    rig_kill_master(&rig, (size_t)_i % 3);
    first = candidate_leader(0, ELECTION_TTL_MS);
    second = candidate_follower(1, 1);
    ck_assert(masters_restart(rig.masters, (size_t)_i % 3));
    rig_wait_link(&rig, rig.client, (size_t)_i % 3, REDLOCK_LINK_READY);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_LEADING);
    ck_assert_uint_eq(second->elected, 0);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    rig_wait(&rig, candidate_leads, second, "the next leader");
    ck_assert_uint_gt(second->term, first->term);
}

/* --- Callbacks and ends ------------------------------------------------------------------------------------------- */

TEST(three, callbacks_may_resign_campaign_and_destroy)
{
    struct candidate *first = &candidates[0];
    struct candidate *second = &candidates[1];

    first->resign = true;
    candidate_campaign(0, ELECTION_TTL_MS);
    rig_wait(&rig, candidate_has_ended, first, "a resignation at once");
    ck_assert_uint_eq(first->elected, 1);
    first->resigned = 0;
    first->destroy = true;
    second->destroy = true;
    candidate_campaign(1, ELECTION_TTL_MS);
    rig_run_for(&rig, 0);
    ck_assert_int_eq(redlock_election_campaign(first->election, NULL, candidate_on_event, first), 0);
    while (first->election || second->election)
        rig_run_for(&rig, 1);
    ck_assert_uint_eq(second->elected, 1);
    rig_wait_absent(&rig, "leader");
}

TEST(three, a_callback_that_is_told_of_a_loss_may_resign_or_destroy)
{
    struct candidate *first = candidate_leader(0, ELECTION_TTL_MS);
    struct candidate *second = candidate_campaign(1, ELECTION_TTL_MS);

    first->resign = true;
    tell_loss(first);
    rig_wait(&rig, candidate_has_ended, first, "the end of the candidacy");
    ck_assert_int_eq(first->status, REDLOCK_CANCELED);
    ck_assert_uint_eq(first->elected, 1);
    rig_do_all(&rig, "DEL", "leader", NULL);
    rig_wait(&rig, candidate_leads, second, "the next leader");
    second->destroy = true;
    tell_loss(second);
    rig_wait_no_claims(&rig, second->client);
}

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
    *(int *)user_data = status;
}

static bool is_zero(void *argument)
{
    return *(int *)argument == 0;
}

static void must_not_see(struct redlock_election *election, const struct redlock_leader *leader, void *user_data)
{
    ck_abort_msg("an observer of a client that ends was told of a leader");
}

TEST(three, a_shutdown_ends_leaders_and_candidates)
{
    struct candidate *first = candidate_leader(0, ELECTION_TTL_MS);
    struct candidate *second = candidate_follower(1, 1);
    int ended = 1;

    ck_assert_int_eq(redlock_client_shutdown(second->client, 10000, on_shutdown, &ended), 0);
    ck_assert_int_eq(redlock_election_observe(second->election, 1000, must_not_see, NULL), REDLOCK_E_CLOSING);
    rig_wait(&rig, is_zero, &ended, "the shutdown of a candidate");
    ck_assert_uint_eq(second->failed, 1);
    ck_assert_int_eq(second->status, REDLOCK_CANCELED);
    ended = 1;
    ck_assert_int_eq(redlock_client_shutdown(first->client, 10000, on_shutdown, &ended), 0);
    ck_assert_int_eq(redlock_election_remaining_ns(first->election), 0);
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_IDLE);
    ck_assert_int_eq(redlock_election_resign(first->election), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_election_campaign(first->election, NULL, candidate_on_event, first), REDLOCK_E_CLOSING);
    rig_wait(&rig, is_zero, &ended, "the shutdown of a leader");
    ck_assert_uint_eq(first->lost + first->resigned, 0);
    rig_wait_absent(&rig, "leader");
}

TEST(three, destroying_the_client_ends_its_elections)
{
    candidate_leader(0, ELECTION_TTL_MS);
    candidate_follower(1, 1);
    redlock_client_destroy(candidates[1].client);
    candidates[1].client = NULL;
    candidates[1].election = NULL;
    ck_assert_uint_eq(candidates[1].elected + candidates[1].resigned + candidates[1].failed, 0);
    redlock_election_destroy(candidates[0].election);
    candidates[0].election = NULL;
    rig_wait_absent(&rig, "leader");
}

SUITE_WITH_SERVER("election")
