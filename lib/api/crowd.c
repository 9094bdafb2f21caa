/* A crowd lets others go first: several newcomers to one key in one turn. If the same happens in other clients, too, as
 * at the beginning of a round, then all of them ask all masters, which grant the key to different ones, who then must
 * yield, while nobody has it. So the client that has just given the key up asks at once, and a crowd elsewhere waits
 * for a moment: when it comes the key is taken, and all it does is to get in line. All but one of a crowd wait for
 * whole holds anyway.
 *
 * That is done where the masters share this machine's processors with each other and the clients, as in precedence.c:
 * what so many ask at a time is in the way of the one who gets the key. */
#include "api/batch.h"

/* So many make a crowd. */
#define CROWD 3

/* Some round trips, so that who goes first has the key by then. A loop that sleeps whole milliseconds waits for one. */
#define PAUSE_NS (500 * RL_NS_PER_US)

/* Who has begun to release the key less than that ago is taken for the last one who had it. */
#define JUST_NOW_NS RL_NS_PER_MS

/* What counts from before the pause must be long against it: the time that a master may take, the leases, and what is
 * left until the deadlines. */
#define AMPLE_NS (20 * RL_NS_PER_MS)

static bool has_time(const struct redlock_client *client, const struct rl_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct rl_lock *lock = batch->entries[i].claim->lock;

        if (lock && rl_until(client->now, lock->wish->deadline).ns < AMPLE_NS)
            return false;
    }
    return rl_ms(batch->ttl_ms).ns >= AMPLE_NS && client->engine.config.node_timeout.ns >= AMPLE_NS;
}

static bool is_crowd(struct redlock_client *client, const struct rl_batch *batch)
{
    const struct rl_key *key = rl_host_claim_of(batch->entries[0].claim)->key;

    return batch->n >= CROWD && !client->closing &&
           !rl_contended_was_ours(client, key, (struct rl_span){JUST_NOW_NS}) &&
           rl_precedence_are_near(client, batch->nodes);
}

/* Those who come meanwhile join them. */
static bool may_pause(struct redlock_client *client, const struct rl_batch *batch)
{
    struct rl_timer *timer = &client->batching.pause;

    if (batch->kind != RL_BATCH_NEWCOMERS || !has_time(client, batch))
        return false;
    if (!rl_timer_armed(timer) && is_crowd(client, batch))
        rl_timers_arm_exactly(rl_driver_timers(client->driver), timer,
                              rl_after(client->now, (struct rl_span){PAUSE_NS}));
    return rl_timer_armed(timer);
}

bool rl_crowd_end_turn(struct redlock_client *client)
{
    const struct rl_batch *batch = client->batching.gathered;

    return batch && !may_pause(client, batch) && rl_batch_flush(client);
}

static void on_pause_over(struct rl_timer *timer, struct rl_instant now)
{
    struct redlock_client *client = RL_CONTAINER_OF(timer, struct redlock_client, batching.pause);

    client->now = now;
    rl_batch_flush(client);
    rl_host_run(client);
}

void rl_crowd_init(struct redlock_client *client)
{
    rl_timer_init(&client->batching.pause, on_pause_over);
}
