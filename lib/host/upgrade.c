#include "host/upgrade.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "engine/hold.h"
#include "engine/lock.h"
#include "host/effects.h"
#include "host/host.h"
#include "kinds/command.h"

struct upgrade {
    struct rl_list ended; /* in the host's garbage: the caller may still look at the hidden lock */
    struct rl_variant variant;
    struct rl_host_lock hidden; /* its call is the owner's */
    struct rl_host_lock *owner;
};

static struct upgrade *upgrade_of(const struct rl_host_lock *lock)
{
    return RL_CONTAINER_OF(lock->variant, struct upgrade, variant);
}

/* The second claim goes, and what it was answered with it. */
static void keep_answers(const struct rl_claim *claim, struct rl_host_call *call)
{
    if (!claim || !call->answers)
        return;
    memcpy(call->answers, claim->votes, claim->n_nodes * sizeof *call->answers);
    call->answered = true;
}

static void end(struct rl_host_lock *lock)
{
    struct upgrade *upgrade = upgrade_of(lock);
    struct rl_host_lock *owner = upgrade->owner;
    struct rl_host *host = owner->host;

    rl_lock_fini(&host->engine, &upgrade->hidden.core, host->now);
    rl_list_remove(&upgrade->hidden.link);
    rl_transport_disarm(&host->transport, &upgrade->hidden.timer);
    owner->refusal = upgrade->hidden.refusal;
    owner->variant = NULL;
    owner->call->worker = owner;
    upgrade->hidden.call = NULL;
    rl_list_append(&host->garbage, &upgrade->ended);
}

/* The second claim's acquisition has completed: the end is that of the conversion. */
static bool completed(struct rl_host_lock *lock, const struct rl_effect *effect)
{
    struct rl_host_lock *owner = upgrade_of(lock)->owner;
    struct rl_host *host = owner->host;
    enum rl_end status = effect->status;

    assert(lock != owner);
    if (status == RL_END_OK && !rl_lock_replace(&host->engine, &owner->core, host->now, &lock->core))
        status = RL_END_LOST;
    else if (status != RL_END_OK)
        keep_answers(lock->core.claim, owner->call);
    end(lock);
    rl_host_report_end(owner, RL_OP_CONVERT, status, effect->cause);
    rl_host_rearm(owner);
    return true;
}

/* The first claim replaces nothing, though its commands may still be under way: a master that has given the second one
 * its vote must not make that weaker. It is put back beside the second one, too. */
static void name_replaced(struct rl_host_lock *lock, const struct rl_tag *tag, struct rl_subject *subject)
{
    const struct upgrade *upgrade = upgrade_of(lock);
    const struct rl_claim *other = lock == upgrade->owner ? upgrade->hidden.core.claim : upgrade->owner->core.claim;

    if (other && (tag->step == RL_STEP_REPAIR || lock != upgrade->owner))
        subject->replaces = rl_slice_of(rl_host_token(other));
}

static const struct rl_hooks hooks = {.complete_subject = name_replaced, .completed = completed, .leave = end};

static struct upgrade *create(struct rl_host_lock *owner)
{
    struct upgrade *upgrade = calloc(1, sizeof *upgrade);

    if (!upgrade)
        return NULL;
    rl_list_init(&upgrade->ended);
    upgrade->variant.hooks = &hooks;
    upgrade->owner = owner;
    rl_host_add_lock(owner->host, &upgrade->hidden, owner->key);
    upgrade->hidden.call = owner->call;
    upgrade->hidden.variant = owner->variant = &upgrade->variant;
    owner->call->worker = &upgrade->hidden;
    return upgrade;
}

/* An upgrade stands first in the queue: whoever stood before it would wait for the lock that it still holds. */
int rl_host_upgrade(struct rl_host_lock *lock, struct rl_instant deadline, bool once)
{
    struct rl_host *host = lock->host;
    struct rl_acquire *request = &lock->call->request;
    struct upgrade *upgrade;

    assert(lock->core.state == RL_LOCK_HELD && rl_lock_mode(&lock->core) == RL_UPGRADEABLE && !lock->variant);
    upgrade = create(lock);
    if (!upgrade)
        return REDLOCK_E_NOMEM;
    rl_lock_describe_hold(&host->engine, &lock->core, request);
    rl_host_label(lock->call, rl_host_token_label(rl_host_token(lock->core.claim)));
    request->mode = RL_EXCLUSIVE;
    request->front = true;
    request->own_token = rl_host_claim_of(lock->core.claim)->token.own.exposed;
    request->deadline = deadline;
    request->once = once;
    request->wait = once ? RL_WAIT_SPIN : RL_WAIT_FIFO;
    request->entry = &lock->call->entry;
    rl_lock_acquire(&host->engine, &upgrade->hidden.core, host->now, request);
    rl_host_run(host);
    rl_host_rearm(&upgrade->hidden);
    return 0;
}
