#include "election_rig.h"

#include <string.h>

#include "queue_rig.h"
#include "suite.h"

#define AT_RISK_MS 2000

struct candidate candidates[N_CANDIDATES];

struct redlock_election_options candidate_options(uint32_t ttl_ms)
{
    struct redlock_election_options options;

    redlock_election_options_init(&options);
    options.ttl_ms = ttl_ms;
    options.at_risk_ms = ttl_ms / 6;
    if (ttl_ms == ELECTION_TTL_MS) {
        options.renew_ms = ELECTION_RENEW_MS;
        options.at_risk_ms = AT_RISK_MS;
    }
    return options;
}

void candidate_on_event(struct redlock_election *election, const struct redlock_election_event *event, void *user_data)
{
    struct candidate *candidate = user_data;
    struct redlock_election_options options = candidate_options(ELECTION_TTL_MS);

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
        candidate->at_risk_ms = event->remaining_ms;
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
        candidate->ended_term = event->term;
        ck_assert_int_eq(redlock_election_state(election), REDLOCK_ELECTION_IDLE);
        break;
    }
    if (candidate->resign) {
        candidate->resign = false;
        ck_assert_int_eq(redlock_election_resign(election), 0);
    }
    if (candidate->campaign) {
        candidate->campaign = false;
        ck_assert_int_eq(redlock_election_campaign(election, &options, candidate_on_event, candidate), 0);
    }
    if (candidate->destroy) {
        redlock_election_destroy(election);
        candidate->election = NULL;
    }
}

struct candidate *candidate_campaign(size_t i, uint32_t ttl_ms)
{
    struct redlock_election_options options = candidate_options(ttl_ms);
    struct candidate *candidate = &candidates[i];

    candidate->client = i ? rig_new_client(&rig) : rig.client;
    ck_assert_int_eq(redlock_election_create(candidate->client, "leader", 6, &candidate->election), 0);
    ck_assert_int_eq(redlock_election_campaign(candidate->election, &options, candidate_on_event, candidate), 0);
    ck_assert_uint_eq(candidate->elected, 0);
    return candidate;
}

bool candidate_leads(void *argument)
{
    return redlock_election_state(((const struct candidate *)argument)->election) == REDLOCK_ELECTION_LEADING;
}

static bool leads_for_long(void *argument)
{
    const struct candidate *candidate = argument;

    return redlock_election_remaining_ns(candidate->election) > INT64_C(1000000) * ELECTION_TTL_MS / 2;
}

void candidate_wait_leads_for_long(struct candidate *candidate)
{
    rig_wait(&rig, leads_for_long, candidate, "a leader with its full ttl");
}

bool candidate_was_elected(void *argument)
{
    return ((const struct candidate *)argument)->elected > 0;
}

bool candidate_has_lost(void *argument)
{
    return ((const struct candidate *)argument)->lost > 0;
}

bool candidate_has_ended(void *argument)
{
    const struct candidate *candidate = argument;

    return candidate->resigned + candidate->failed > 0;
}

struct candidate *candidate_leader(size_t i, uint32_t ttl_ms)
{
    struct candidate *candidate = candidate_campaign(i, ttl_ms);

    rig_wait(&rig, ttl_ms == ELECTION_TTL_MS ? leads_for_long : candidate_leads, candidate, "an election");
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

struct candidate *candidate_follower(size_t i, size_t in_queue)
{
    struct candidate *candidate = candidate_campaign(i, ELECTION_TTL_MS);

    rig_wait(&rig, is_in_queue, &in_queue, "a candidate in the wait queue");
    return candidate;
}

static void tune(struct redlock_options *options)
{
    options->node_timeout_ms = 2000;
}

static void open_masters(size_t n)
{
    memset(candidates, 0, sizeof candidates);
    rig_open_with(&rig, n, 0, tune);
}

void election_open(void)
{
    open_masters(3);
}

void election_open_five(void)
{
    open_masters(5);
}

void election_close(void)
{
    for (size_t i = 0; i < N_CANDIDATES; i++) {
        redlock_election_destroy(candidates[i].election);
        if (i)
            redlock_client_destroy(candidates[i].client);
    }
    rig_close(&rig);
}
