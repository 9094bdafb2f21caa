/* Elections while masters and candidates fail: never two leaders, and whoever leads goes on as long as a quorum keeps
 * its votes. */
#include <string.h>

#include "child_rig.h"
#include "election_rig.h"
#include "suite.h"
#include "watch.h"

#define MASKS_OF_5 32
#define ATTEMPTS 3

static struct candidate *first, *second;

/* A leader, and a candidate behind it. */
static void open_two(void)
{
    first = candidate_leader(0, ELECTION_TTL_MS);
    second = candidate_follower(1, 1);
}

static void expect_leads_on(uint64_t term)
{
    ck_assert_int_eq(redlock_election_state(first->election), REDLOCK_ELECTION_LEADING);
    ck_assert_uint_eq(redlock_election_term(first->election), term);
    ck_assert_uint_eq(first->lost, 0);
    ck_assert_uint_eq(second->elected, 0);
}

/* Whether it leads, or has lost its first lease on a machine that stood still, and is a candidate again. */
static void pass_on(void)
{
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    rig_wait(&rig, candidate_was_elected, second, "the next leader");
    ck_assert_uint_gt(second->term, first->term);
}

/* --- Masters that are dead or hung -------------------------------------------------------------------------------- */

static bool has_tried_often(void *argument)
{
    return watch_stats(((const struct candidate *)argument)->client).attempts >= ATTEMPTS;
}

static void expect_no_election(void)
{
    rig_wait(&rig, has_tried_often, first, "attempts to be elected");
    ck_assert_uint_eq(first->elected, 0);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    rig_wait(&rig, candidate_has_ended, first, "the end of the candidacy");
    ck_assert_int_eq(first->status, REDLOCK_CANCELED);
}

GROUP(five, "five masters", election_open_five, election_close)

TESTS(five, a_quorum_of_masters_elects_one_leader_after_the_other_and_less_elects_nobody, 0, MASKS_OF_5)
{
    bool enough = rig_kill_masters(&rig, (unsigned)_i) <= 2;

    first = candidate_campaign(0, ELECTION_TTL_MS);
    if (!enough) {
        expect_no_election();
        return;
    }
    rig_wait(&rig, candidate_was_elected, first, "an election");
    second = candidate_campaign(1, ELECTION_TTL_MS);
    pass_on();
}

TESTS(five, a_minority_that_hangs_does_not_keep_the_next_one_from_being_elected, 0, RIG_MINORITIES_OF_5)
{
    first = candidate_campaign(0, ELECTION_TTL_MS);
    rig_wait(&rig, candidate_was_elected, first, "an election");
    second = candidate_campaign(1, ELECTION_TTL_MS);
    rig_hang_masters(&rig, rig_minority_of_5(_i));
    pass_on();
    rig_resume_masters(&rig, rig_minority_of_5(_i));
}

TEST(five, a_leader_leads_on_while_a_minority_hangs)
{
    uint64_t term;

    open_two();
    term = first->term;
    rig_hang_masters(&rig, 1 << 1 | 1 << 4);
    watch_wait_renewed(&rig);
    expect_leads_on(term);
    rig_resume_masters(&rig, 1 << 1 | 1 << 4);
}

/* --- Masters that forget ------------------------------------------------------------------------------------------ */

/* Each gets the leader's key back before the next one forgets. Nobody else asks meanwhile: a master that was flushed
 * might have another's value before the leader asks there, and that vote would be lost. */
TESTS(five, a_leader_leads_on_while_one_master_after_the_other_forgets, 0, RIG_LOSSES)
{
    uint64_t term;

    first = candidate_leader(0, ELECTION_TTL_MS);
    term = first->term;
    rig_wait_count(&rig, "leader", 5);
    for (size_t i = 0; i < 5; i++) {
        rig_lose_memory(&rig, i, (enum rig_loss)_i);
        rig_wait_count(&rig, "leader", 5);
    }
    second = candidate_campaign(1, ELECTION_TTL_MS);
    watch_wait_renewed(&rig);
    expect_leads_on(term);
}

TESTS(five, the_next_term_is_larger_although_a_minority_has_forgotten_the_last_one, 0, RIG_LOSSES)
{
    uint64_t term;

    open_two();
    term = first->term;
    rig_wait_count(&rig, "leader", 5);
    rig_lose_memory(&rig, 0, (enum rig_loss)_i);
    rig_lose_memory(&rig, 3, (enum rig_loss)_i);
    watch_wait_renewed(&rig);
    expect_leads_on(term);
    pass_on();
}

static bool is_back(void *node)
{
    return rig_pttl(&rig, *(const size_t *)node, "leader") > 0;
}

GROUP(three, "three masters", election_open, election_close)

/* One of the two that have elected the leader forgets, and the third comes back empty. Without a quarantine these two
 * would elect the other candidate. */
TESTS(three, masters_that_come_back_empty_elect_nobody_else_while_a_leader_leads, 0, 3)
{
    size_t away = (size_t)_i, emptied = (size_t)(_i + 1) % 3;
    uint64_t term;

    rig_kill_master(&rig, away);
    open_two();
    term = first->term;
    rig_restart_master(&rig, emptied);
    ck_assert(masters_restart(rig.masters, away));
    rig_wait_link(&rig, rig.client, away, REDLOCK_LINK_READY);
    rig_wait(&rig, is_back, &emptied, "the leader's key on the master that has lost it");
    watch_wait_renewed(&rig);
    expect_leads_on(term);
    ck_assert_int_lt(rig_pttl(&rig, away, "leader"), 0);
}

/* --- Masters that are full ---------------------------------------------------------------------------------------- */

/* What is there is renewed and given back. The next one may have been handed the key, or gets it when there is room. */
TEST(three, full_masters_keep_their_leader)
{
    uint64_t term;

    open_two();
    term = first->term;
    rig_do_all(&rig, "CONFIG", "SET", "maxmemory", "1", NULL);
    watch_wait_renewed(&rig);
    expect_leads_on(term);
    ck_assert_int_eq(redlock_election_resign(first->election), 0);
    rig_wait(&rig, candidate_has_ended, first, "the end of the resignation");
    ck_assert_int_eq(first->status, REDLOCK_OK);
    rig_do_all(&rig, "CONFIG", "SET", "maxmemory", "0", NULL);
    rig_wait(&rig, candidate_was_elected, second, "the next leader");
    ck_assert_uint_gt(second->term, term);
}

/* --- Candidates that are killed ----------------------------------------------------------------------------------- */

/* The elections of the parent are none of this process. */
static int follow_and_stay(struct rig *child, void *unused)
{
    memset(candidates, 0, sizeof candidates);
    candidate_follower(0, 1);
    return child_stay(child);
}

/* The key is handed to the dead one first, for the lease of a waiter. */
TEST(three, a_killed_head_of_the_queue_delays_the_election_of_the_next_one_for_its_lease)
{
    pid_t head;
    uint64_t term;

    first = candidate_leader(0, ELECTION_TTL_MS);
    term = first->term;
    head = child_start_ready(&rig, follow_and_stay, NULL);
    second = candidate_follower(1, 2);
    child_kill(head);
    expect_leads_on(term);
    pass_on();
}

SUITE_WITH_SERVER("election_faults")
