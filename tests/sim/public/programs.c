#include "programs.h"

#include <stdlib.h>
#include <string.h>

#include "players.h"

/* Callbacks that act in which callbacks run, and so on: only a destroy call does that. */
#define MAX_DEPTH 3

const char *const lock_keys[LOCK_KEYS] = {"a", "b", "c"};
struct player players[PLAYERS];
uint32_t semaphore_limit;

static unsigned depth;
static bool classic;

/* --- Options ------------------------------------------------------------------------------------------------------ */

void options_draw(struct redlock_acquire_options *options)
{
    static const int64_t timeouts[] = {0, 0, REDLOCK_FOREVER, 20, 200, 1000, 5000};

    redlock_acquire_options_init(options);
    options->ttl_ms = (uint32_t)rng_scaled(&run.rng, 50, MAX_TTL_MS);
    options->timeout_ms = timeouts[any_of(sizeof timeouts / sizeof timeouts[0])];
    options->mode = maybe(500) ? REDLOCK_EXCLUSIVE : (enum redlock_mode)any_of(3);
    options->wait = (enum redlock_wait)any_of(3);
    options->fenced = maybe(500);
    options->own_token = maybe(200);
    if (maybe(150))
        options->max_attempts = 1 + any_of(3);
    if (maybe(150))
        options->renew_ms = REDLOCK_NO_RENEWAL;
    if (maybe(150))
        options->max_hold_ms = 1 + any_of(4000);
    if (maybe(200))
        options->at_risk_ms = any_of(options->ttl_ms / 2);
    if (maybe(200))
        options->min_validity_ms = 1 + any_of(options->ttl_ms / 2);
}

/* --- Clients ------------------------------------------------------------------------------------------------------ */

static void create_client(struct player *player)
{
    static const char *const urls[NET_MASTERS] = {"redis://m0", "redis://m1", "redis://m2", "redis://m3",
                                                  "redis://m4"};
    struct redlock_options options;
    struct redlock_error error;

    redlock_options_init(&options);
    options.max_ttl_ms = MAX_TTL_MS;
    options.node_timeout_ms = NODE_TIMEOUT_MS;
    options.connect_timeout_ms = 1000;
    options.stall_timeout_ms = 2000;
    options.backoff_max_ms = 1000;
    options.label = maybe(200) ? "label" : NULL;
    player->limited = maybe(100);
    if (player->limited)
        options.max_claims = 4 + any_of(20);
    options.profile = classic ? REDLOCK_PROFILE_CLASSIC : REDLOCK_PROFILE_GUARDED;
    if (redlock_client_create((void *)&net, urls, net.n_masters, &options, &player->client, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    player->closing = false;
    player->own = (struct redlock_stats){0};
}

static void forget_objects(struct player *player)
{
    lock_forget(player);
    set_forget(player);
    election_forget(player);
    latch_forget(player);
}

static void mark_all(const struct player *player, void (*mark)(const void *object))
{
    for (unsigned i = 0; i < LOCKS; i++)
        mark(player->locks[i].lock);
    for (unsigned i = 0; i < LATCHES; i++)
        mark(player->latches[i].latch);
    mark(player->set.set);
    mark(player->client);
}

/* Callbacks that run meanwhile may destroy objects themselves, but not make new ones. */
static void destroy_client(struct player *player)
{
    struct player before = *player;

    if (player->ending)
        return;
    run_note("player %u: destroys its client", player->index);
    if (depth)
        run_count(COUNT_DESTROYED_INSIDE);
    player->closing = player->ending = true;
    for (unsigned i = 0; i < LOCKS; i++)
        player->locks[i].hold.held = false;
    player->set.hold.held = false;
    mark_all(&before, tickets_destroying);
    redlock_client_destroy(player->client);
    mark_all(&before, tickets_destroyed);
    forget_objects(player);
    player->client = NULL;
    player->ending = false;
}

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    struct player *player = &players[ticket_end(user_data)];

    run_note("player %u: shut down: %s", player->index, redlock_status_name(status));
    run_count(status == REDLOCK_DEADLINE ? COUNT_SHUTDOWNS_LATE : COUNT_SHUTDOWNS);
    if (player->client != client)
        run_violation("shutdown: a callback of a client that is gone");
    else if (status != REDLOCK_CANCELED && depth < MAX_DEPTH && maybe(800))
        destroy_client(player);
}

/* Held locks are released, without an alarm. What has been lost by now may still be told. */
static void shut_down(struct player *player)
{
    int64_t timeout_ms = 1 + any_of(3000);
    struct ticket *ticket = ticket_begin(player->client, player->index, "shutdown", timeout_ms);
    unsigned hiccups = net.hiccup_permille;
    bool led;
    int status;

    net.hiccup_permille = 0;
    led = redlock_election_remaining_ns(player->election.election) > 0;
    status = redlock_client_shutdown(player->client, timeout_ms, on_shut_down, ticket);
    net.hiccup_permille = hiccups;
    run_note("player %u: shuts down: %s", player->index, redlock_status_name(status));
    if (status == 0) {
        player->closing = true;
        for (unsigned i = 0; i < LOCKS; i++)
            player->locks[i].hold.held &= redlock_state(player->locks[i].lock) == REDLOCK_STATE_LOST;
        player->set.hold.held &= redlock_set_state(player->set.set) == REDLOCK_STATE_LOST;
        if (led)
            player->election.leading = player->election.campaigning = false;
    }
    ticket_begun(ticket, status);
}

/* --- Acts --------------------------------------------------------------------------------------------------------- */

static void act(struct player *player)
{
    static void (*const acts[])(struct player *player) = {
        lock_act, lock_act, lock_act, lock_act, lock_act, lock_act,     set_act,
        set_act,  set_act,  set_act,  look_act, latch_act, election_act};

    run_count(COUNT_CALLS);
    if (!player->client) {
        if (!depth)
            create_client(player);
        return;
    }
    if (maybe(player->closing ? 100 : 2))
        destroy_client(player);
    else if (maybe(3))
        shut_down(player);
    else
        acts[any_of(sizeof acts / sizeof acts[0])](player);
}

void player_goes_on(struct player *player)
{
    if (!may_begin() || depth == MAX_DEPTH || !maybe(300))
        return;
    depth++;
    act(player);
    depth--;
}

void programs_start(void)
{
    memset(players, 0, sizeof players);
    depth = 0;
    semaphore_limit = 1 + any_of(MAX_LIMIT);
    classic = maybe(200);
    run.forgets = !classic;
    fences_start();
    latches_start();
    for (unsigned i = 0; i < PLAYERS; i++) {
        players[i].index = i;
        create_client(&players[i]);
    }
}

void programs_act(void)
{
    act(&players[any_of(PLAYERS)]);
}

void programs_check(void)
{
    unsigned hiccups = net.hiccup_permille;

    net.hiccup_permille = 0;
    for (unsigned i = 0; i < PLAYERS; i++) {
        lock_check(&players[i]);
        set_check(&players[i]);
        election_check(&players[i]);
    }
    holds_check_together();
    net.hiccup_permille = hiccups;
}

void programs_wind_up(void)
{
    for (unsigned i = 0; i < PLAYERS; i++) {
        lock_wind_up(&players[i]);
        set_wind_up(&players[i]);
        election_wind_up(&players[i]);
        latch_wind_up(&players[i]);
    }
}

/* No operation is pending, so each acquisition has had one of the outcomes. */
static void check_stats(const struct player *player)
{
    const struct redlock_stats *own = &player->own;
    struct redlock_stats stats;
    uint64_t ended;

    redlock_client_stats(player->client, &stats, sizeof stats);
    ended = stats.acquired + stats.held + stats.no_quorum + stats.too_slow + stats.deadline + stats.canceled;
    if (!player->limited && stats.acquires != ended)
        run_violation("player %u: acquisitions do not add up", player->index);
    if (stats.reentries != own->reentries || stats.set_acquires != own->set_acquires ||
        stats.set_acquired != own->set_acquired || stats.elected != own->elected ||
        stats.leaderships_lost != own->leaderships_lost || stats.latch_arrivals != own->latch_arrivals ||
        stats.latch_arrived != own->latch_arrived || stats.latch_awaits != own->latch_awaits ||
        stats.latch_opened != own->latch_opened)
        run_violation("player %u: its client has counted something else", player->index);
}

void programs_close(void)
{
    for (unsigned i = 0; i < PLAYERS; i++) {
        if (!players[i].client)
            continue;
        check_stats(&players[i]);
        destroy_client(&players[i]);
    }
}

void programs_end(void)
{
    run.phase = RUN_OVER;
    for (unsigned i = 0; i < PLAYERS; i++) {
        redlock_client_destroy(players[i].client);
        players[i] = (struct player){0};
    }
}
