#include "host/effects.h"

#include <redlock/status.h>

#include "engine/wait.h"
#include "host/contended.h"
#include "host/claims.h"
#include "host/host.h"
#include "host/commands.h"
#include "votes/fence.h"

static void start_attempt(struct rl_host_lock *lock)
{
    struct rl_host *host = lock->host;
    struct rl_key *key = rl_host_key(lock, RL_NO_SLOT);
    const struct rl_kind *kind = lock->core.acquisition.request->kind;
    int error = REDLOCK_E_NOMEM;
    const char *label = lock->core.acquisition.request->label;
    struct rl_claim *claim =
        key ? rl_host_claim_create(host, key, kind, NULL, label ? label : host->options->label, &error) : NULL;

    if (!claim) {
        lock->refusal = (int16_t)error;
        rl_lock_refuse_attempt(&host->engine, &lock->core, host->now);
        return;
    }
    rl_host_claim_of(claim)->token.own.exposed = lock->core.acquisition.request->own_token;
    host->sink->attempt(rl_host_owner(lock), claim);
    /* The event that led here has just read the clock: earlier than the send, as t0 must be. */
    rl_lock_begin_attempt(&host->engine, &lock->core, host->now, claim, rl_counter_propose(lock));
}

/* A shorter ttl counts from here on. */
static void report_extending(struct rl_host *host, const struct rl_effect *effect)
{
    struct rl_host_lock *lock = rl_host_claim_lock(effect->claim);

    if (effect->step == RL_STEP_EXTEND && lock)
        host->sink->extending(lock);
}

/* A waiter's numbers must be as young as its commands. */
static void propose_anew(const struct rl_host *host, const struct rl_effect *effect)
{
    if (effect->step == RL_STEP_ENQUEUE && rl_claim_fence(effect->claim))
        rl_fence_propose(&host->engine.votes, effect->claim, rl_counter_propose(rl_host_claim_lock(effect->claim)));
}

static void send_or_gather(struct rl_host *host, const struct rl_effect *effect)
{
    report_extending(host, effect);
    propose_anew(host, effect);
    if (!rl_batch_gather(host, effect))
        rl_host_send_now(host, effect);
}

/* The position was known when the notice was made, but the waiter may have asked for it anew since. */
static void report_position(const struct rl_host *host, struct rl_host_lock *lock)
{
    struct rl_position position;

    if (lock->core.state != RL_LOCK_WAITING)
        return;
    rl_lock_queue_position(&host->engine, &lock->core, &position.rank, &position.held_until);
    if (position.rank != UINT32_MAX)
        host->sink->waiting(rl_host_owner(lock), &position);
}

/* To the engine a conversion is an extension, or the acquisition of a hidden lock. */
static void complete(struct rl_host_lock *lock, const struct rl_effect *effect)
{
    const struct rl_hooks *hooks = rl_hooks_of(lock);
    bool converts = effect->op == RL_OP_EXTEND && lock->call->converts;

    if (effect->op == RL_OP_ACQUIRE)
        rl_cohort_leave(lock->call);
    if (!hooks->completed || !hooks->completed(lock, effect))
        rl_host_report_end(lock, converts ? RL_OP_CONVERT : effect->op, effect->status, effect->cause);
}

/* Without the first claim there is nothing that a second one could replace. */
static void lose(struct rl_host *host, struct rl_host_lock *lock)
{
    host->sink->lost(lock);
    if (rl_host_drop_worker(lock))
        rl_host_report_end(lock, RL_OP_CONVERT, RL_END_LOST, RL_END_NONE);
}

static void carry_out(struct rl_host *host, const struct rl_effect *effect)
{
    const struct rl_host_sink *sink = host->sink;
    struct rl_host_lock *lock = effect->lock ? rl_host_lock_of(effect->lock) : NULL;

    switch (effect->kind) {
    case RL_EFFECT_SEND:
        send_or_gather(host, effect);
        break;
    case RL_EFFECT_WANT_CLAIM:
        start_attempt(lock);
        break;
    case RL_EFFECT_ACCEPT:
        rl_lock_accept(&host->engine, &lock->core, rl_host_read_clock(host));
        break;
    case RL_EFFECT_WAITING:
        report_position(host, lock);
        break;
    case RL_EFFECT_BACKOFF:
        sink->backoff(rl_host_owner(lock), effect->status, rl_until(host->now, lock->core.wake));
        break;
    case RL_EFFECT_EARLIER:
        break; /* the timer is set anew below */
    case RL_EFFECT_RENEWED:
        sink->renewed(lock);
        break;
    case RL_EFFECT_AT_RISK:
        sink->at_risk(lock);
        break;
    case RL_EFFECT_LOST:
        lose(host, lock);
        break;
    case RL_EFFECT_COMPLETE:
        complete(lock, effect);
        break;
    case RL_EFFECT_DISPOSE:
        if (sink->disposed)
            sink->disposed(host, effect->claim);
        rl_host_claim_dispose(host, effect->claim);
        break;
    }
    if (lock)
        rl_host_rearm(lock);
}

void rl_host_run(struct rl_host *host)
{
    struct rl_effect effect;

    while (rl_engine_has_effects(&host->engine) && rl_engine_poll(&host->engine, &effect))
        carry_out(host, &effect);
    if (rl_engine_wakeup(&host->engine).ns != RL_NEVER.ns && !rl_timer_armed(&host->rollback_timer))
        rl_transport_arm(&host->transport, &host->rollback_timer, rl_engine_wakeup(&host->engine));
}
