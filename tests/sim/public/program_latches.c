/* Latches, in one generation after the other. And looks at keys. */
#include <string.h>

#include "players.h"

#define PARTIES 2
#define MAX_GENERATIONS 1000

static const char *const parties[PARTIES] = {"left", "right"};

/* Parties that have ever called to arrive, as a set; and the largest generation that somebody was told is open. */
static unsigned arrived[MAX_GENERATIONS];
static unsigned latest_open;

void latches_start(void)
{
    memset(arrived, 0, sizeof arrived);
    latest_open = 0;
}

static struct latch_object *some_latch(struct player *player)
{
    struct latch_object *object = &player->latches[any_of(LATCHES)];

    return object->latch ? object : NULL;
}

static const struct latch_object *object_of(const struct player *player, const struct redlock_latch *latch)
{
    for (unsigned i = 0; i < LATCHES; i++) {
        if (player->latches[i].latch == latch)
            return &player->latches[i];
    }
    return NULL;
}

static void create(struct player *player)
{
    struct latch_object *object = &player->latches[any_of(LATCHES)];
    int party = (int)any_of(PARTIES + 1) - 1;
    unsigned generation = latest_open + 1 - any_of(2);
    struct redlock_latch *latch;

    if (object->latch || !generation || generation >= MAX_GENERATIONS)
        return;
    if (redlock_latch_create(player->client, "l", 1, PARTIES, generation, party < 0 ? NULL : parties[party], NULL,
                             &latch) == 0)
        *object = (struct latch_object){.latch = latch, .generation = generation, .party = party};
}

static void destroy(struct player *player)
{
    struct latch_object *object = some_latch(player);
    struct redlock_latch *latch;

    if (!object)
        return;
    latch = object->latch;
    if (object->ending || player->ending) {
        redlock_latch_destroy(latch);
        return;
    }
    object->ending = true;
    tickets_destroying(latch);
    redlock_latch_destroy(latch);
    tickets_destroyed(latch);
    if (object->latch == latch)
        object->latch = NULL;
}

void latch_forget(struct player *player)
{
    memset(player->latches, 0, sizeof player->latches);
}

static void on_arrived(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    struct player *player = &players[ticket_end(user_data)];

    if (!object_of(player, latch))
        run_violation("arrive: a callback of a latch that is gone");
    if (result->status == REDLOCK_OK) {
        run_count(COUNT_ARRIVED);
        player->own.latch_arrived++;
    }
    run_note("player %u: arrive: %s", player->index, redlock_status_name(result->status));
    player_goes_on(player);
}

static void on_open(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    struct player *player = &players[ticket_end(user_data)];
    const struct latch_object *object = object_of(player, latch);

    if (!object) {
        run_violation("await: a callback of a latch that is gone");
        return;
    }
    run_note("player %u: await %u: %s", player->index, object->generation, redlock_status_name(result->status));
    if (result->status == REDLOCK_OK) {
        if (arrived[object->generation] != (1u << PARTIES) - 1)
            run_violation("generation %u is open, and not all have arrived", object->generation);
        run_count(COUNT_OPENED);
        player->own.latch_opened++;
        if (object->generation > latest_open)
            latest_open = object->generation;
    }
    player_goes_on(player);
}

static int64_t draw_timeout(void)
{
    return maybe(200) ? 0 : maybe(300) ? REDLOCK_FOREVER : rng_between(&run.rng, 1, 3000);
}

static void arrive(struct player *player)
{
    struct latch_object *object = some_latch(player);
    struct ticket *ticket;
    int64_t timeout_ms;
    int status;

    if (!object)
        return;
    timeout_ms = draw_timeout();
    ticket = ticket_begin(object->latch, player->index, "arrive", within(timeout_ms, 1));
    status = redlock_latch_arrive(object->latch, timeout_ms, on_arrived, ticket);
    if (status == 0) {
        arrived[object->generation] |= 1u << object->party;
        player->own.latch_arrivals++;
    }
    ticket_begun(ticket, status);
}

static void await(struct player *player)
{
    struct latch_object *object = some_latch(player);
    struct ticket *ticket;
    int64_t timeout_ms;
    int status;

    if (!object)
        return;
    timeout_ms = draw_timeout();
    ticket = ticket_begin(object->latch, player->index, "await", within(timeout_ms, 1));
    status = redlock_latch_await(object->latch, timeout_ms, on_open, ticket);
    player->own.latch_awaits += status == 0;
    ticket_begun(ticket, status);
}

static void cancel(struct player *player)
{
    struct latch_object *object = some_latch(player);

    if (object)
        redlock_latch_cancel(object->latch);
}

void latch_act(struct player *player)
{
    static void (*const acts[])(struct player *player) = {create, create, create, arrive, arrive, arrive,
                                                          await,  await,  cancel, destroy};

    acts[any_of(sizeof acts / sizeof acts[0])](player);
}

/* Nobody else will arrive. */
void latch_wind_up(struct player *player)
{
    for (unsigned i = 0; i < LATCHES; i++) {
        if (player->latches[i].latch)
            redlock_latch_cancel(player->latches[i].latch);
    }
}

/* --- Looks -------------------------------------------------------------------------------------------------------- */

static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    struct player *player = &players[ticket_end(user_data)];

    run_count(COUNT_LOOKS);
    if (player->client != client)
        run_violation("look: a callback of a client that is gone");
    if (result->n_holders > result->n_values ||
        (result->verdict == REDLOCK_LOOK_EXCLUSIVE && result->n_holders == 0))
        run_violation("a look has %zu holders", result->n_holders);
    player_goes_on(player);
}

void look_act(struct player *player)
{
    const char *key = maybe(300) ? ELECTION_KEY : lock_keys[any_of(LOCK_KEYS)];
    struct ticket *ticket = ticket_begin(player->client, player->index, "look", 2 * NODE_TIMEOUT_MS);
    int status = redlock_look(player->client, key, strlen(key), on_look, ticket);

    player->own.looks += status == 0;
    ticket_begun(ticket, status);
}
