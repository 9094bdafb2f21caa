/* Waiters of one client that have got in line together: what lib/host/cohort.c does. */
#include "world.h"

/* Its first ENQUEUE has been sent, in which turn? 0: not in this operation. */
static uint32_t moment_of(const struct handle *handle, uint32_t operation)
{
    return handle->turn.operation == operation ? handle->turn.moment : 0;
}

static struct handle *follower_of(struct client *client, const struct handle *holder, uint32_t operation)
{
    uint32_t moment = moment_of(holder, operation);

    for (unsigned i = 0; moment && i < client->n_handles; i++) {
        struct handle *handle = &client->handles[i];

        if (handle == holder || handle->key != holder->key || handle->lock.state != RL_LOCK_WAITING)
            continue;
        if (moment_of(handle, handle->pending.generation) == moment || RL_MUTANT(COHORT_OF_ANYBODY))
            return handle;
    }
    return NULL;
}

static void swap_owners(struct handle *from, struct handle *to)
{
    box_of_claim(from->lock.claim)->handle = from->index;
    box_of_claim(to->lock.claim)->handle = to->index;
}

bool client_pass_on(struct client *client, struct handle *handle)
{
    struct handle *heir = follower_of(client, handle, handle->turn.served);

    if (!heir || !rl_lock_cohort_hand_off(&client->engine, &handle->lock, client->now, &heir->lock))
        return false;
    TRACE(client->world, name_of_handle(client, handle), "passes on %s", box_of_claim(heir->lock.claim)->token);
    swap_owners(handle, heir);
    exclusion_observe(client->world, client, handle, client_true_now(client));
    once_on_pass(client->world, client, heir);
    idle_on_accept(client->world, client, heir);
    line_on_accept(client->world, client, heir);
    return true;
}
