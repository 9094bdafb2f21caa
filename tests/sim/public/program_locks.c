/* Mutexes, read-write locks and permits. */
#include <string.h>

#include "players.h"

/* Held locks on their way from one handle to another. */
#define PARCELS 4

static struct parcel {
    bool full;
    bool permit;
    const char *key;
    char text[REDLOCK_MAX_EXPORT_BYTES];
} parcels[PARCELS];

static const char *name_of(const struct lock_object *object)
{
    return object->permit ? "a permit" : "a lock";
}

/* Callbacks find the object by its handle: it may have been destroyed and made anew. */
static struct lock_object *object_of(struct player *player, const struct redlock_lock *lock)
{
    for (unsigned i = 0; i < LOCKS; i++) {
        if (player->locks[i].lock == lock)
            return &player->locks[i];
    }
    return NULL;
}

static struct lock_object *some_lock(struct player *player)
{
    struct lock_object *object = &player->locks[any_of(LOCKS)];

    return object->lock ? object : NULL;
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    struct player *player = user_data;
    struct lock_object *object = object_of(player, lock);

    if (!object) {
        run_violation("an alarm of a lock that is gone");
        return;
    }
    run_note("player %u: %s %s: %s", player->index, name_of(object), object->key,
             alarm->kind == REDLOCK_ALARM_LOST ? "lost" : "at risk");
    run_count(alarm->kind == REDLOCK_ALARM_LOST ? COUNT_LOST : COUNT_AT_RISK);
    if (!object->hold.held)
        run_violation("%s of player %u is not held, and has an alarm", name_of(object), player->index);
    if (alarm->kind == REDLOCK_ALARM_LOST) {
        object->hold.held = false;
        if (redlock_remaining_ns(lock) > 0 || redlock_state(lock) != REDLOCK_STATE_LOST)
            run_violation("%s of player %u is said to be lost, and is %s", name_of(object), player->index,
                          redlock_state_name(redlock_state(lock)));
    }
    player_goes_on(player);
}

static void create(struct player *player)
{
    struct lock_object *object = &player->locks[any_of(LOCKS)];
    struct redlock_lock *lock;
    bool permit = maybe(350);
    const char *key = permit ? SEMAPHORE : maybe(100) ? ELECTION_KEY : lock_keys[any_of(LOCK_KEYS)];
    int status;

    if (object->lock)
        return;
    status = permit ? redlock_permit_create(player->client, key, strlen(key), semaphore_limit, &lock)
                    : redlock_lock_create(player->client, key, strlen(key), &lock);
    if (status < 0)
        return;
    *object = (struct lock_object){.lock = lock, .permit = permit, .key = key, .hold = {.seen_lost = INT64_MAX}};
    redlock_lock_watch(lock, on_alarm, player);
}

static void destroy(struct player *player, struct lock_object *object)
{
    struct redlock_lock *lock = object->lock;

    run_note("player %u: destroys %s %s", player->index, name_of(object), object->key);
    if (object->ending || player->ending) {
        redlock_lock_destroy(lock);
        return;
    }
    object->ending = true;
    object->hold.held = false;
    tickets_destroying(lock);
    redlock_lock_destroy(lock);
    tickets_destroyed(lock);
    if (object->lock == lock)
        object->lock = NULL;
}

void lock_forget(struct player *player)
{
    for (unsigned i = 0; i < LOCKS; i++)
        player->locks[i] = (struct lock_object){0};
}

/* --- Operations --------------------------------------------------------------------------------------------------- */

static void check_fence(const struct lock_object *object, const struct redlock_result *result)
{
    char key[8];

    if (!result->fence || redlock_lock_mode(object->lock) != REDLOCK_EXCLUSIVE ||
        redlock_remaining_ns(object->lock) <= 0)
        return;
    snprintf(key, sizeof key, object->permit ? "%s#%d" : "%s", object->key, (int)redlock_lock_slot(object->lock));
    fence_check(key, result->fence);
}

static void count(enum redlock_op op, int status)
{
    static const enum run_count counts[] = {
        [REDLOCK_OP_ACQUIRE] = COUNT_ACQUIRED, [REDLOCK_OP_EXTEND] = COUNT_EXTENDED,
        [REDLOCK_OP_RELEASE] = COUNT_RELEASED, [REDLOCK_OP_CONVERT] = COUNT_CONVERTED};

    if (status == REDLOCK_OK)
        run_count(counts[op]);
    else if (status == REDLOCK_CANCELED)
        run_count(COUNT_CANCELED);
    else if (op == REDLOCK_OP_ACQUIRE)
        run_count(COUNT_REFUSED);
}

/* NULL: it is being destroyed, which result->status says. */
static struct lock_object *end(struct redlock_lock *lock, const struct redlock_result *result, void *user_data,
                               struct player **ret_player)
{
    struct lock_object *object;

    *ret_player = &players[ticket_end(user_data)];
    object = object_of(*ret_player, lock);
    if (!object) {
        run_violation("%s: a callback of a lock that is gone", redlock_op_name(result->op));
        return NULL;
    }
    run_note("player %u: %s %s: %s: %s%s%s", (*ret_player)->index, name_of(object), object->key,
             redlock_op_name(result->op), redlock_status_name(result->status), *result->why ? ", " : "", result->why);
    count(result->op, result->status);
    if (result->status == REDLOCK_OK && result->op != REDLOCK_OP_RELEASE && result->granted < result->quorum)
        run_violation("%s of player %u: %s is OK, and %u masters have granted it", name_of(object),
                      (*ret_player)->index, redlock_op_name(result->op), result->granted);
    return object;
}

static void give_back(struct player *player, struct lock_object *object);

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct player *player;
    struct lock_object *object = end(lock, result, user_data, &player);

    if (!object)
        return;
    if (result->status == REDLOCK_OK) {
        object->hold.held = true;
        check_fence(object, result);
    } else if (redlock_remaining_ns(lock) > 0) {
        run_violation("%s of player %u: acquired with %s, and valid", name_of(object), player->index,
                      redlock_status_name(result->status));
    }
    if (run.phase == RUN_WINDING)
        give_back(player, object);
    else
        player_goes_on(player);
}

static void on_ended(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct player *player;

    if (!end(lock, result, user_data, &player))
        return;
    if (result->status == REDLOCK_LOST && result->op != REDLOCK_OP_RELEASE && redlock_remaining_ns(lock) > 0)
        run_violation("%s ends with LOST, and the lock is valid", redlock_op_name(result->op));
    player_goes_on(player);
}

static void acquire_as(struct player *player, struct lock_object *object,
                       const struct redlock_acquire_options *options)
{
    struct ticket *ticket = ticket_begin(object->lock, player->index, "acquire",
                                         within(options->timeout_ms, ACQUISITION_ANSWERS));
    enum redlock_state before = redlock_state(object->lock);
    int status = redlock_acquire(object->lock, options, on_acquired, ticket);

    hold_check_refusal(name_of(object), player->index, before, status);
    run_note("player %u: acquires %s %s, %s, timeout %lld: %s", player->index, name_of(object), object->key,
             redlock_mode_name(options->mode), (long long)options->timeout_ms, redlock_status_name(status));
    if (status == 0)
        object->hold.held = false; /* what was lost before, and was not told, is told no more */
    ticket_begun(ticket, status);
}

static void acquire(struct player *player)
{
    struct lock_object *object = some_lock(player);
    struct redlock_acquire_options options;

    options_draw(&options);
    if (object)
        acquire_as(player, object, &options);
}

/* All locks at once, so that several of one key may join its queue together. */
static void acquire_all(struct player *player)
{
    struct redlock_acquire_options options;

    options_draw(&options);
    for (unsigned i = 0; i < LOCKS; i++) {
        if (player->locks[i].lock)
            acquire_as(player, &player->locks[i], &options);
    }
}

static void extend(struct player *player)
{
    struct lock_object *object = some_lock(player);
    struct ticket *ticket;

    if (!object)
        return;
    ticket = ticket_begin(object->lock, player->index, "extend", NODE_TIMEOUT_MS);
    ticket_begun(ticket, redlock_extend(object->lock, maybe(500) ? 0 : 50 + any_of(MAX_TTL_MS - 50), on_ended, ticket));
}

static void convert(struct player *player)
{
    struct lock_object *object = some_lock(player);
    int64_t timeout_ms = maybe(300) ? 0 : maybe(200) ? REDLOCK_FOREVER : rng_between(&run.rng, 1, 3000);
    enum redlock_mode mode = (enum redlock_mode)any_of(3);
    struct ticket *ticket;
    int status;

    if (!object)
        return;
    ticket = ticket_begin(object->lock, player->index, "convert", within(timeout_ms, 1));
    status = redlock_convert(object->lock, mode, timeout_ms, on_ended, ticket);
    run_note("player %u: converts %s %s to %s: %s", player->index, name_of(object), object->key,
             redlock_mode_name(mode), redlock_status_name(status));
    ticket_begun(ticket, status);
}

/* An inner entry is left, or the lock released. */
static void release(struct player *player, struct lock_object *object, bool told)
{
    uint32_t depth = redlock_lock_depth(object->lock);
    struct ticket *ticket = told ? ticket_begin(object->lock, player->index, "release", NODE_TIMEOUT_MS) : NULL;
    int status = redlock_release(object->lock, told ? on_ended : NULL, ticket);

    run_note("player %u: releases %s %s at depth %u: %s", player->index, name_of(object), object->key, depth,
             redlock_status_name(status));
    if (status == 0 && depth <= 1) {
        object->hold.held = false;
        if (redlock_remaining_ns(object->lock) > 0)
            run_violation("%s of player %u is released, and valid", name_of(object), player->index);
    }
    if (ticket)
        ticket_begun(ticket, status);
}

static void give_back(struct player *player, struct lock_object *object)
{
    for (uint32_t depth = redlock_lock_depth(object->lock); depth; depth--)
        release(player, object, false);
}

/* No time passes between the call and the check. */
static void reenter(struct player *player)
{
    struct lock_object *object = some_lock(player);
    uint32_t min_validity_ms = any_of(maybe(500) ? 100 : MAX_TTL_MS);
    unsigned hiccups = net.hiccup_permille;

    if (!object)
        return;
    net.hiccup_permille = 0;
    if (redlock_reenter(object->lock, min_validity_ms) == 0) {
        run_count(COUNT_ENTERED);
        player->own.reentries++;
        if (redlock_remaining_ms(object->lock) < min_validity_ms || redlock_remaining_ns(object->lock) == 0)
            run_violation("%s of player %u is entered, and has not the validity for it", name_of(object),
                          player->index);
    }
    net.hiccup_permille = hiccups;
}

/* Locks that their handles have left, and whose values are known. */
static struct left {
    bool full;
    bool permit;
    const char *key;
    int32_t slot;
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
} left;

static void detach(struct player *player)
{
    struct lock_object *object = some_lock(player);
    struct left leaves;

    if (!object)
        return;
    leaves = (struct left){true, object->permit, object->key, redlock_lock_slot(object->lock), ""};
    snprintf(leaves.token, sizeof leaves.token, "%s", redlock_lock_token(object->lock));
    if (redlock_lock_detach(object->lock) < 0)
        return;
    run_note("player %u: detaches %s %s", player->index, name_of(object), object->key);
    object->hold.held = false;
    left = leaves;
}

static void release_value(struct player *player)
{
    struct lock_object *object = some_lock(player);
    struct ticket *ticket;
    int status;

    if (!object || !left.full || object->permit != left.permit || strcmp(object->key, left.key) != 0)
        return;
    ticket = ticket_begin(object->lock, player->index, "release_value", NODE_TIMEOUT_MS);
    if (object->permit)
        status = redlock_release_permit(object->lock, (uint32_t)left.slot, left.token, on_ended, ticket);
    else
        status = redlock_release_token(object->lock, left.token, on_ended, ticket);
    run_note("player %u: releases a value of %s: %s", player->index, object->key, redlock_status_name(status));
    if (status == 0) {
        run_count(COUNT_VALUES_RELEASED);
        object->hold.held = false;
    }
    ticket_begun(ticket, status);
}

static void export(struct player *player)
{
    struct lock_object *object = some_lock(player);
    struct parcel *parcel = &parcels[any_of(PARCELS)];

    if (!object || redlock_lock_export(object->lock, parcel->text, sizeof parcel->text) < 0)
        return;
    run_note("player %u: exports %s %s: %s", player->index, name_of(object), object->key, parcel->text);
    object->hold.held = false;
    parcel->full = true;
    parcel->permit = object->permit;
    parcel->key = object->key;
}

/* A text that was exported may be adopted once. */
static void adopt(struct player *player)
{
    struct lock_object *object = some_lock(player);
    struct parcel *parcel = &parcels[any_of(PARCELS)];
    int status;

    if (!object || !parcel->full)
        return;
    status = redlock_lock_adopt(object->lock, NULL, parcel->text);
    run_note("player %u: adopts %s %s: %s, %lld ms left", player->index, name_of(object), object->key,
             redlock_status_name(status), (long long)redlock_remaining_ms(object->lock));
    if (status < 0)
        return;
    if (parcel->permit != object->permit || strcmp(parcel->key, object->key) != 0)
        run_violation("%s of another key is adopted", name_of(object));
    run_count(COUNT_ADOPTED);
    object->hold.held = true;
    parcel->full = false;
}

static void release_some(struct player *player)
{
    struct lock_object *object = some_lock(player);

    if (object)
        release(player, object, maybe(800));
}

static void destroy_some(struct player *player)
{
    struct lock_object *object = some_lock(player);

    if (object)
        destroy(player, object);
}

static void cancel(struct player *player)
{
    struct lock_object *object = some_lock(player);

    if (object)
        redlock_cancel(object->lock);
}

void lock_act(struct player *player)
{
    static void (*const acts[])(struct player *player) = {
        create,       create,       create, acquire, acquire, acquire, acquire, acquire_all,   release_some,
        release_some, release_some, extend, convert, reenter, cancel,  detach,  release_value, export,
        adopt,        adopt,        destroy_some};

    acts[any_of(sizeof acts / sizeof acts[0])](player);
}

void lock_wind_up(struct player *player)
{
    for (unsigned i = 0; i < LOCKS; i++) {
        if (player->locks[i].lock)
            give_back(player, &player->locks[i]);
    }
    for (int i = 0; i < PARCELS; i++)
        parcels[i].full = false;
    left.full = false;
}

void lock_check(struct player *player)
{
    for (unsigned i = 0; i < LOCKS; i++) {
        struct lock_object *object = &player->locks[i];

        if (object->lock)
            hold_check(&object->hold, name_of(object), player->index, redlock_remaining_ns(object->lock),
                       redlock_state(object->lock), tickets_pending(object->lock, "acquire"));
    }
}
