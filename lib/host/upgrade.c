#include "host/upgrade.h"

#include <stdlib.h>
#include <string.h>

#include "engine/lock.h"
#include "host/host.h"

struct rl_upgrade *rl_upgrade_create(struct rl_host_lock *owner)
{
    struct rl_upgrade *upgrade = calloc(1, sizeof *upgrade);

    if (!upgrade)
        return NULL;
    upgrade->owner = owner;
    rl_list_init(&upgrade->ended);
    owner->call->upgrade = upgrade;
    return upgrade;
}

const struct rl_claim *rl_upgrade_other_claim(const struct rl_claim *claim)
{
    const struct rl_host_lock *lock = rl_host_claim_lock(claim);
    const struct rl_upgrade *upgrade = lock ? rl_upgrade_of(lock) : NULL;

    if (!upgrade)
        return NULL;
    return &upgrade->lock == lock ? upgrade->owner->core.claim : upgrade->lock.core.claim;
}

/* The second claim goes, and what it was answered with it. */
static void keep_answers(const struct rl_claim *claim, struct rl_host_call *call)
{
    if (!claim || !call->answers)
        return;
    memcpy(call->answers, claim->votes, claim->n_nodes * sizeof *call->answers);
    call->answered = true;
}

static void end(struct rl_upgrade *upgrade)
{
    struct rl_host *host = upgrade->owner->host;

    rl_lock_fini(&host->engine, &upgrade->lock.core, host->now);
    rl_list_remove(&upgrade->lock.link);
    rl_transport_disarm(&host->transport, &upgrade->lock.timer);
    upgrade->owner->refusal = upgrade->lock.refusal;
    upgrade->owner->call->upgrade = NULL;
    upgrade->lock.call = NULL;
    rl_list_append(&host->ended_upgrades, &upgrade->ended);
}

enum rl_end rl_upgrade_completed(struct rl_upgrade *upgrade, enum rl_end status)
{
    struct rl_host *host = upgrade->owner->host;

    if (status == RL_END_OK &&
        !rl_lock_replace(&host->engine, &upgrade->owner->core, host->now, &upgrade->lock.core))
        status = RL_END_LOST;
    else if (status != RL_END_OK)
        keep_answers(upgrade->lock.core.claim, upgrade->owner->call);
    end(upgrade);
    return status;
}

bool rl_upgrade_drop(struct rl_host_lock *owner)
{
    struct rl_upgrade *upgrade = rl_upgrade_of(owner);

    if (upgrade)
        end(upgrade);
    return upgrade != NULL;
}

void rl_upgrades_free_ended(struct rl_host *host)
{
    while (!rl_list_empty(&host->ended_upgrades)) {
        struct rl_upgrade *upgrade = RL_CONTAINER_OF(host->ended_upgrades.next, struct rl_upgrade, ended);

        rl_list_remove(&upgrade->ended);
        free(upgrade);
    }
}
