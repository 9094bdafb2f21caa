/* Candidates and observers. */
#include <string.h>

#include "players.h"

static void check_event(struct player *player, const struct redlock_election_event *event)
{
    struct election_object *object = &player->election;
    bool needs_leader = event->kind == REDLOCK_ELECTION_AT_RISK || event->kind == REDLOCK_ELECTION_LOST;

    if (!object->campaigning)
        run_violation("player %u is no candidate, and is told something", player->index);
    if (needs_leader != object->leading && event->kind <= REDLOCK_ELECTION_LOST)
        run_violation("player %u is told %d, and leads: %d", player->index, (int)event->kind, object->leading);
    if (event->term && (event->kind == REDLOCK_ELECTION_FAILED || event->status == REDLOCK_CANCELED))
        run_violation("player %u has not led, and is told of a term", player->index);
    if (needs_leader && event->term != object->term)
        run_violation("player %u is told of another term", player->index);
}

static void resign(struct player *player);

static void on_event(struct redlock_election *election, const struct redlock_election_event *event, void *user_data)
{
    static const char *const words[] = {"?", "is elected", "is at risk", "leads no more", "has resigned",
                                        "is no candidate any more"};
    static const enum run_count counts[] = {
        [REDLOCK_ELECTION_ELECTED] = COUNT_ELECTED,   [REDLOCK_ELECTION_AT_RISK] = COUNT_LEADERS_AT_RISK,
        [REDLOCK_ELECTION_LOST] = COUNT_LEADERS_LOST, [REDLOCK_ELECTION_RESIGNED] = COUNT_RESIGNED,
        [REDLOCK_ELECTION_FAILED] = COUNT_CANDIDATES_FAILED};
    struct player *player = user_data;
    struct election_object *object = &player->election;

    if (object->election != election) {
        run_violation("an event of an election that is gone");
        return;
    }
    run_note("player %u %s, term %llu", player->index, words[event->kind], (unsigned long long)event->term);
    run_count(counts[event->kind]);
    player->own.elected += event->kind == REDLOCK_ELECTION_ELECTED;
    player->own.leaderships_lost += event->kind == REDLOCK_ELECTION_LOST;
    check_event(player, event);
    object->leading = event->kind == REDLOCK_ELECTION_ELECTED || event->kind == REDLOCK_ELECTION_AT_RISK;
    object->term = event->term;
    if (event->kind == REDLOCK_ELECTION_ELECTED && redlock_election_remaining_ns(election) > 0)
        fence_check(ELECTION_KEY, event->term);
    if (event->kind >= REDLOCK_ELECTION_RESIGNED || (event->kind == REDLOCK_ELECTION_LOST && object->once))
        object->campaigning = false;
    if (event->kind == REDLOCK_ELECTION_LOST && redlock_election_remaining_ns(election) > 0)
        run_violation("player %u has lost, and leads", player->index);
    if (run.phase == RUN_WINDING)
        resign(player);
    else
        player_goes_on(player);
}

static void on_leader(struct redlock_election *election, const struct redlock_leader *leader, void *user_data)
{
    struct player *player = user_data;

    run_note("player %u sees %s, term %llu", player->index, leader->present ? "a leader" : "no leader",
             (unsigned long long)leader->term);
    run_count(COUNT_OBSERVED);
    if (player->election.election != election || !player->election.observes)
        run_violation("player %u does not observe, and is told of a leader", player->index);
    player_goes_on(player);
}

static void create(struct player *player)
{
    struct redlock_election *election;

    if (!player->election.election &&
        redlock_election_create(player->client, ELECTION_KEY, strlen(ELECTION_KEY), &election) == 0)
        player->election = (struct election_object){.election = election, .idle_since = INT64_MAX};
}

static void destroy(struct player *player)
{
    struct redlock_election *election = player->election.election;

    election_forget(player);
    redlock_election_destroy(election);
}

void election_forget(struct player *player)
{
    player->election = (struct election_object){0};
}

/* A loss that ends a campaign (`once`) is the last event: the next campaign may begin in its callback. */
static void campaign(struct player *player)
{
    struct redlock_election_options options;

    if (!player->election.election)
        return;
    redlock_election_options_init(&options);
    options.ttl_ms = 50 + any_of(MAX_TTL_MS - 50);
    options.once = maybe(300);
    if (maybe(200))
        options.max_hold_ms = 1 + any_of(4000);
    if (redlock_election_campaign(player->election.election, &options, on_event, player) < 0)
        return;
    player->election.campaigning = true;
    player->election.once = options.once;
}

static void resign(struct player *player)
{
    int status = redlock_election_resign(player->election.election);

    if (status < 0)
        return;
    run_note("player %u resigns", player->index);
    player->election.leading = false;
    if (redlock_election_remaining_ns(player->election.election) > 0)
        run_violation("player %u has resigned, and leads", player->index);
}

static void observe(struct player *player)
{
    if (!player->election.election)
        return;
    player->election.observes |=
        redlock_election_observe(player->election.election, 20 + any_of(1000), on_leader, player) == 0;
}

static void look_away(struct player *player)
{
    int status = redlock_election_observe(player->election.election, 0, NULL, NULL);

    player->election.observes = false;
    if (status < 0 && player->election.election && !player->ending)
        run_violation("player %u cannot look away: %s", player->index, redlock_status_name(status));
}

void election_act(struct player *player)
{
    static void (*const acts[])(struct player *player) = {create,  create,  create,    campaign, campaign, campaign,
                                                          resign,  resign,  observe,   observe,  look_away, destroy};

    acts[any_of(sizeof acts / sizeof acts[0])](player);
}

void election_wind_up(struct player *player)
{
    if (player->election.election)
        resign(player);
}

/* A client that shuts down ends a leadership without an event; one that was lost, and whose loss was still to be told,
 * may end like that, too. */
static bool may_end_in_silence(const struct player *player)
{
    return player->closing && player->election.leading;
}

void election_check(struct player *player)
{
    struct redlock_election *election = player->election.election;
    enum redlock_election_state state = redlock_election_state(election);

    if (!player->election.campaigning || state != REDLOCK_ELECTION_IDLE || may_end_in_silence(player))
        player->election.idle_since = INT64_MAX;
    else if (player->election.idle_since == INT64_MAX)
        player->election.idle_since = net.now;
    else if (is_overdue(player->election.idle_since))
        run_violation("player %u is no candidate any more, and was not told", player->index);
    if (redlock_election_remaining_ns(election) > 0 && !player->election.leading)
        run_violation("player %u leads, and was not told", player->index);
    if (!net.hiccup_permille && (state == REDLOCK_ELECTION_LEADING) != (redlock_election_remaining_ns(election) > 0))
        run_violation("player %u is %s", player->index, redlock_election_state_name(state));
}
