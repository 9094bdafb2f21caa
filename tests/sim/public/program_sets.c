/* Sets of locks and permits. */
#include <string.h>

#include "players.h"

static void on_alarm(struct redlock_set *set, size_t part, const struct redlock_alarm *alarm, void *user_data)
{
    struct player *player = user_data;

    if (player->set.set != set) {
        run_violation("an alarm of a set that is gone");
        return;
    }
    run_note("player %u: its set: %s, by %zu", player->index,
             alarm->kind == REDLOCK_ALARM_LOST ? "lost" : "at risk", part);
    run_count(alarm->kind == REDLOCK_ALARM_LOST ? COUNT_SETS_LOST : COUNT_SETS_AT_RISK);
    if (!player->set.hold.held)
        run_violation("a set of player %u is not held, and has an alarm", player->index);
    if (alarm->kind == REDLOCK_ALARM_LOST) {
        player->set.hold.held = false;
        if (redlock_set_remaining_ns(set) > 0 || redlock_set_state(set) != REDLOCK_STATE_LOST)
            run_violation("a set of player %u is said to be lost, and is %s", player->index,
                          redlock_state_name(redlock_set_state(set)));
    }
    player_goes_on(player);
}

static void add_keys(struct redlock_set *set)
{
    for (unsigned i = 0; i < LOCK_KEYS; i++) {
        if (maybe(600))
            redlock_set_add_mode(set, lock_keys[i], strlen(lock_keys[i]), (enum redlock_mode)any_of(3));
    }
    if (maybe(400))
        redlock_set_add_permits(set, SEMAPHORE, strlen(SEMAPHORE), 1 + any_of(2), semaphore_limit);
    if (maybe(100))
        redlock_set_add(set, ELECTION_KEY, strlen(ELECTION_KEY));
}

static void create(struct player *player)
{
    struct redlock_set *set;

    if (player->set.set || redlock_set_create(player->client, &set) < 0)
        return;
    player->set = (struct set_object){.set = set, .hold = {.seen_lost = INT64_MAX}};
    redlock_set_watch(set, on_alarm, player);
    add_keys(set);
}

static void add_more(struct player *player)
{
    if (player->set.set)
        add_keys(player->set.set);
}

static void destroy(struct player *player)
{
    struct redlock_set *set = player->set.set;

    if (!set)
        return;
    run_note("player %u: destroys its set", player->index);
    if (player->set.ending || player->ending) {
        redlock_set_destroy(set);
        return;
    }
    player->set.ending = true;
    player->set.hold.held = false;
    tickets_destroying(set);
    redlock_set_destroy(set);
    tickets_destroyed(set);
    if (player->set.set == set)
        player->set.set = NULL;
}

void set_forget(struct player *player)
{
    player->set = (struct set_object){0};
}

/* --- Operations --------------------------------------------------------------------------------------------------- */

static void count(enum redlock_op op, int status)
{
    static const enum run_count counts[] = {[REDLOCK_OP_ACQUIRE] = COUNT_SETS_ACQUIRED,
                                            [REDLOCK_OP_EXTEND] = COUNT_SETS_EXTENDED,
                                            [REDLOCK_OP_RELEASE] = COUNT_SETS_RELEASED};

    if (status == REDLOCK_OK)
        run_count(counts[op]);
    else if (op == REDLOCK_OP_ACQUIRE)
        run_count(COUNT_SETS_REFUSED);
}

static struct player *end(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct player *player = &players[ticket_end(user_data)];

    run_note("player %u: its set: %s: %s%s%s", player->index, redlock_op_name(result->op),
             redlock_status_name(result->status), *result->why ? ", " : "", result->why);
    if (player->set.set != set) {
        run_violation("%s: a callback of a set that is gone", redlock_op_name(result->op));
        return NULL;
    }
    count(result->op, result->status);
    if (result->part > result->n_keys || (result->part_result && result->part == result->n_keys))
        run_violation("part %zu of %zu decides", result->part, result->n_keys);
    return player;
}

static void release(struct player *player, bool told);

static void on_acquired(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct player *player = end(set, result, user_data);

    if (!player)
        return;
    if (result->status == REDLOCK_OK) {
        player->set.hold.held = true;
        player->own.set_acquired++;
    } else if (redlock_set_remaining_ns(set) > 0) {
        run_violation("a set is acquired with %s, and valid", redlock_status_name(result->status));
    }
    if (run.phase == RUN_WINDING)
        release(player, false);
    else
        player_goes_on(player);
}

static void on_ended(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct player *player = end(set, result, user_data);

    if (!player)
        return;
    if (result->status == REDLOCK_LOST && result->op != REDLOCK_OP_RELEASE && redlock_set_remaining_ns(set) > 0)
        run_violation("%s of a set ends with LOST, and it is valid", redlock_op_name(result->op));
    player_goes_on(player);
}

static void acquire(struct player *player)
{
    struct redlock_acquire_options options;
    enum redlock_state before = redlock_set_state(player->set.set);
    struct ticket *ticket;
    int status;

    if (!player->set.set)
        return;
    options_draw(&options);
    options.max_attempts = 0;
    ticket = ticket_begin(player->set.set, player->index, "acquire", within(options.timeout_ms, ACQUISITION_ANSWERS));
    status = redlock_set_acquire(player->set.set, &options, on_acquired, ticket);
    hold_check_refusal("a set", player->index, before, status);
    run_note("player %u: acquires its set of %zu, timeout %lld: %s", player->index, redlock_set_size(player->set.set),
             (long long)options.timeout_ms, redlock_status_name(status));
    if (status == 0) {
        player->set.hold.held = false;
        player->own.set_acquires++;
    }
    ticket_begun(ticket, status);
}

static void extend(struct player *player)
{
    struct ticket *ticket;

    if (!player->set.set)
        return;
    ticket = ticket_begin(player->set.set, player->index, "extend", NODE_TIMEOUT_MS);
    ticket_begun(ticket, redlock_set_extend(player->set.set, maybe(500) ? 0 : 50 + any_of(MAX_TTL_MS - 50), on_ended,
                                            ticket));
}

static void release(struct player *player, bool told)
{
    struct ticket *ticket = told ? ticket_begin(player->set.set, player->index, "release", NODE_TIMEOUT_MS) : NULL;
    int status = redlock_set_release(player->set.set, told ? on_ended : NULL, ticket);

    run_note("player %u: releases its set: %s", player->index, redlock_status_name(status));
    if (status == 0) {
        player->set.hold.held = false;
        if (redlock_set_remaining_ns(player->set.set) > 0)
            run_violation("a set of player %u is released, and valid", player->index);
    }
    if (ticket)
        ticket_begun(ticket, status);
}

static void release_some(struct player *player)
{
    if (player->set.set)
        release(player, maybe(800));
}

static void cancel(struct player *player)
{
    if (player->set.set)
        redlock_set_cancel(player->set.set);
}

static void keep_rest(struct player *player)
{
    if (player->set.set)
        redlock_set_keep_rest(player->set.set, (int)any_of(2));
}

static void detach(struct player *player)
{
    if (player->set.set && redlock_set_detach(player->set.set) == 0)
        player->set.hold.held = false;
}

static void move(struct player *player)
{
    static char text[REDLOCK_MAX_SET_EXPORT_BYTES];

    if (!player->set.set || redlock_set_export(player->set.set, text, sizeof text) < 0)
        return;
    player->set.hold.held = redlock_set_adopt(player->set.set, NULL, text) == 0;
    if (player->set.hold.held)
        run_count(COUNT_SETS_ADOPTED);
    run_note("player %u: exports its set, and adopts it: %s", player->index,
             player->set.hold.held ? "held" : "not held");
}

void set_act(struct player *player)
{
    static void (*const acts[])(struct player *player) = {
        create, create, add_more,  acquire, acquire, acquire, release_some, release_some,
        extend, cancel, keep_rest, detach,  move,    destroy};

    acts[any_of(sizeof acts / sizeof acts[0])](player);
}

void set_wind_up(struct player *player)
{
    if (player->set.set)
        release(player, false);
}

void set_check(struct player *player)
{
    struct redlock_set *set = player->set.set;
    int64_t remaining_ns = redlock_set_remaining_ns(set);

    if (!set)
        return;
    hold_check(&player->set.hold, "a set", player->index, remaining_ns, redlock_set_state(set),
               tickets_pending(set, "acquire"));
    for (size_t i = 0; remaining_ns > 0 && !net.hiccup_permille && i < redlock_set_size(set); i++) {
        if (redlock_remaining_ns(redlock_set_lock(set, i)) < remaining_ns)
            run_violation("a set of player %u is valid for longer than its key %zu", player->index, i);
    }
}
