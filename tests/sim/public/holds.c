/* What must hold at every instant for all who hold something. */
#include <string.h>

#include "driver.h"
#include "players.h"

/* A loss is told by timer; a loop may be late for it by its stops. */
#define TOLD_WITHIN_NS (1000 * RL_NS_PER_MS)

bool is_overdue(int64_t since)
{
    return net.now > since + TOLD_WITHIN_NS && net.now > drivers_stopped_until() + TOLD_WITHIN_NS;
}

void hold_check(struct hold *hold, const char *what, unsigned player, int64_t remaining_ns, enum redlock_state state,
                bool pending)
{
    if (remaining_ns > 0 && !hold->held && !pending)
        run_violation("%s of player %u is valid, and its owner does not know", what, player);
    if (remaining_ns > 0 && state != REDLOCK_STATE_HELD && state != REDLOCK_STATE_EXTENDING)
        run_violation("%s of player %u is valid and %s", what, player, redlock_state_name(state));
    if (!hold->held || state != REDLOCK_STATE_LOST)
        hold->seen_lost = INT64_MAX;
    else if (hold->seen_lost == INT64_MAX)
        hold->seen_lost = net.now;
    else if (is_overdue(hold->seen_lost))
        run_violation("%s of player %u is lost, and its owner was not told", what, player);
}

void hold_check_refusal(const char *what, unsigned player, enum redlock_state before, int status)
{
    if (status == REDLOCK_E_ALREADY_HELD && (before == REDLOCK_STATE_IDLE || before == REDLOCK_STATE_LOST))
        run_violation("%s of player %u is %s, and said to be held", what, player, redlock_state_name(before));
}

/* --- Together ----------------------------------------------------------------------------------------------------- */

#define MAX_HOLDERS 64

struct holder {
    char key[8];
    enum redlock_mode mode;
    unsigned player;
};

static struct holder holders[MAX_HOLDERS];
static unsigned n_holders;

static void add(const char *key, enum redlock_mode mode, unsigned player)
{
    if (n_holders == MAX_HOLDERS)
        return;
    snprintf(holders[n_holders].key, sizeof holders[n_holders].key, "%s", key);
    holders[n_holders].mode = mode;
    holders[n_holders++].player = player;
}

static void add_lock(const struct redlock_lock *lock, unsigned player)
{
    char key[8];
    size_t size;
    const char *name = redlock_lock_key(lock, &size);

    if (redlock_remaining_ns(lock) <= 0)
        return;
    if (redlock_lock_limit(lock))
        snprintf(key, sizeof key, "%.*s#%d", (int)size, name, (int)redlock_lock_slot(lock));
    else
        snprintf(key, sizeof key, "%.*s", (int)size, name);
    add(key, redlock_lock_mode(lock), player);
}

static bool agree(enum redlock_mode a, enum redlock_mode b)
{
    return a != REDLOCK_EXCLUSIVE && b != REDLOCK_EXCLUSIVE && (a == REDLOCK_SHARED || b == REDLOCK_SHARED);
}

/* A program may stop while it asks one lock after the other: no time may pass meanwhile. */
void holds_check_together(void)
{
    unsigned hiccups = net.hiccup_permille;

    net.hiccup_permille = 0;
    n_holders = 0;
    for (unsigned p = 0; p < PLAYERS; p++) {
        const struct player *player = &players[p];

        for (unsigned i = 0; i < LOCKS; i++) {
            if (player->locks[i].lock)
                add_lock(player->locks[i].lock, p);
        }
        for (size_t i = 0; player->set.set && i < redlock_set_size(player->set.set); i++)
            add_lock(redlock_set_lock(player->set.set, i), p);
        if (redlock_election_remaining_ns(player->election.election) > 0)
            add(ELECTION_KEY, REDLOCK_EXCLUSIVE, p);
    }
    for (unsigned a = 0; a < n_holders; a++) {
        for (unsigned b = a + 1; b < n_holders; b++) {
            if (strcmp(holders[a].key, holders[b].key) == 0 && !agree(holders[a].mode, holders[b].mode))
                run_violation("%s is held by player %u (%s) and player %u (%s)", holders[a].key, holders[a].player,
                              redlock_mode_name(holders[a].mode), holders[b].player,
                              redlock_mode_name(holders[b].mode));
        }
    }
    net.hiccup_permille = hiccups;
}

/* --- Fencing tokens ----------------------------------------------------------------------------------------------- */

#define MAX_KEYS 16

static struct {
    char key[8];
    uint64_t token;
} fences[MAX_KEYS];

void fences_start(void)
{
    memset(fences, 0, sizeof fences);
}

void fence_check(const char *key, uint64_t token)
{
    int at = 0;

    while (fences[at].key[0] && strcmp(fences[at].key, key) != 0 && at < MAX_KEYS - 1)
        at++;
    if (fences[at].token >= token)
        run_violation("%s has the fencing token %llu, and had %llu", key, (unsigned long long)token,
                      (unsigned long long)fences[at].token);
    snprintf(fences[at].key, sizeof fences[at].key, "%s", key);
    fences[at].token = token;
}
