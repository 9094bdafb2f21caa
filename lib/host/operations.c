#include "host/operations.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "engine/hold.h"
#include "engine/lock.h"
#include "host/contended.h"
#include "host/effects.h"
#include "host/host.h"
#include "host/trust/view.h"
#include "kinds/shared.h"
#include "votes/quorum.h"

static void carry_out(struct rl_host_lock *lock)
{
    rl_host_run(lock->host);
    rl_host_rearm(lock);
}

void rl_host_begin_operation(struct rl_host_lock *lock)
{
    rl_host_read_clock(lock->host);
    if (lock->core.state == RL_LOCK_HELD)
        rl_host_tick(lock);
    else if (rl_lock_is_held(&lock->core))
        rl_host_tick_alarm(lock);
}

/* An acquisition for a key that others want enters the wait queue at once: contended.c. */
void rl_host_acquire(struct rl_host_lock *lock, const struct rl_acquire *request)
{
    struct rl_host *host = lock->host;
    struct rl_host_call *call = lock->call;

    assert(call && !lock->inner_entries);
    lock->cohort = 0;
    call->request = *request;
    call->request.entry = &call->entry;
    rl_host_label(call, request->label);
    if (request->wait == RL_WAIT_QUEUE && rl_contended(&host->contended, lock->key, host->now))
        call->request.wait = RL_WAIT_FIFO;
    rl_lock_acquire(&host->engine, &lock->core, host->now, &call->request);
    carry_out(lock);
}

void rl_host_extend(struct rl_host_lock *lock, uint32_t ttl_ms)
{
    assert(lock->call && lock->core.state == RL_LOCK_HELD);
    rl_lock_extend(&lock->host->engine, &lock->core, lock->host->now, ttl_ms);
    carry_out(lock);
}

void rl_host_lower(struct rl_host_lock *lock, enum rl_mode mode)
{
    const struct rl_kind *kind = rl_shared_form(lock->core.claim->kind);

    assert(lock->call && lock->core.state == RL_LOCK_HELD && kind);
    lock->call->converts = true;
    rl_lock_lower(&lock->host->engine, &lock->core, lock->host->now, kind, mode);
    carry_out(lock);
}

void rl_host_confirm_mode(struct rl_host_lock *lock)
{
    lock->call->converts = true;
    rl_host_extend(lock, 0);
}

/* The completion of a conversion comes before that of the release. */
void rl_host_release(struct rl_host_lock *lock)
{
    struct rl_host *host = lock->host;

    if (lock->call && lock->call->worker != lock)
        rl_host_cancel(lock);
    lock->inner_entries = 0;
    host->successor = rl_cohort_hand_off(lock);
    if (!host->successor)
        rl_lock_release(&host->engine, &lock->core, host->now);
    rl_host_run(host);
    host->successor = NULL;
    rl_host_rearm(lock);
}

int rl_host_release_value(struct rl_host_lock *lock, const struct rl_kind *kind, uint32_t slot, const char *token)
{
    struct rl_host *host = lock->host;
    struct rl_key *key = rl_host_key(lock, slot);
    int error = REDLOCK_E_NOMEM;
    struct rl_claim *claim = key ? rl_host_claim_create(host, key, kind, token, NULL, &error) : NULL;

    if (!claim)
        return error;
    rl_lock_release_value(&host->engine, &lock->core, host->now, claim, kind, host->engine.votes.config.max_ttl_ms);
    carry_out(lock);
    return 0;
}

void rl_host_detach(struct rl_host_lock *lock)
{
    assert(lock->core.state == RL_LOCK_HELD && !lock->inner_entries);
    rl_lock_detach(&lock->host->engine, &lock->core, lock->host->now);
    carry_out(lock);
}

bool rl_host_cancel(struct rl_host_lock *lock)
{
    struct rl_host_lock *worker = lock->call ? lock->call->worker : lock;
    bool canceled = rl_lock_cancel(&lock->host->engine, &worker->core, lock->host->now);

    carry_out(lock);
    return canceled;
}

void rl_host_abandon(struct rl_host_lock *lock)
{
    if (lock->call)
        rl_cohort_leave(lock->call);
    rl_host_read_clock(lock->host);
    rl_host_drop_worker(lock);
    rl_lock_fini(&lock->host->engine, &lock->core, lock->host->now);
    carry_out(lock);
}

void rl_host_end_lock(struct rl_host_lock *lock)
{
    rl_host_remove_lock(lock);
    rl_host_abandon(lock);
}

/* An extension without an answer may be carried out after the first ones of the new holder, like one that was lost. A
 * lock that was handed off to its holder for a lease still needs its full ttl (engine/wait.c). */
void rl_host_export(const struct rl_host_lock *lock, struct rl_host_exported *ret_exported)
{
    const struct rl_claim *claim = lock->core.claim;

    assert(lock->core.state == RL_LOCK_HELD);
    ret_exported->state = (struct rl_exported_state){
        .kind = claim->kind,
        .mode = claim->mode,
        .ttl_ms = claim->ttl_ms,
        .longest_ttl_ms = claim->longest_ttl_ms,
        .shortest_extension_ms = claim->shortest_extension_ms,
        .fence = rl_claim_token(claim),
        .bounds = ret_exported->bounds,
        .unresolved_extension = rl_claim_unresolved(claim),
        .full_ttl_ms = claim->full_ttl_ms > claim->ttl_ms ? claim->full_ttl_ms : 0,
        .ungreeted = lock->host->engine.votes.members & ~claim->counts,
        .newcomers = claim->newcomers,
        .standing = claim->standing,
    };
    for (unsigned i = 0; i < claim->n_nodes; i++)
        ret_exported->bounds[i] = claim->votes[i].bound;
    snprintf(ret_exported->token, sizeof ret_exported->token, "%s", rl_host_token(claim));
}

void rl_host_order_masters(const struct rl_host *host, const struct rl_member_list *list,
                           struct rl_host_order *ret_order)
{
    *ret_order = (struct rl_host_order){.n = list->n, .quorum = list->quorum};
    for (size_t i = 0; i < list->n; i++)
        ret_order->places[i] = rl_trust_place_of(host, list->members[i].node_id);
}

static uint32_t mask_in_order(const struct rl_host_order *order, uint32_t nodes)
{
    uint32_t mask = 0;

    for (size_t i = 0; i < order->n; i++)
        mask |= order->places[i] >= 0 && (nodes & rl_bit((size_t)order->places[i])) ? rl_bit(i) : 0;
    return mask;
}

static uint32_t mask_by_place(const struct rl_host_order *order, uint32_t mask)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < order->n; i++)
        nodes |= order->places[i] >= 0 && (mask & rl_bit(i)) ? rl_bit((size_t)order->places[i]) : 0;
    return nodes;
}

void rl_host_put_ledger(const struct rl_host_exported *exported, struct rl_host_origin *origin)
{
    const struct rl_host_order *order = &origin->order;

    for (size_t i = 0; i < order->n; i++)
        origin->bounds[i] = order->places[i] < 0 ? RL_LONG_AGO : exported->bounds[order->places[i]];
    origin->standing = exported->state.standing;
    origin->ungreeted = mask_in_order(order, exported->state.ungreeted);
    origin->newcomers = mask_in_order(order, exported->state.newcomers);
    origin->unresolved = mask_in_order(order, exported->state.unresolved_extension);
}

bool rl_host_knows_list(const struct rl_host *host, const char *id, struct rl_host_origin *origin)
{
    const struct rl_trust *trust = &host->trust;

    origin->older = strcmp(trust->names.list_id, id) != 0;
    return !origin->older || (rl_trust_view(host).size && rl_view_remembers(trust->view, id));
}

static bool follow(struct rl_host *host, struct rl_slice view)
{
    bool follows = host->trust.guarded && !rl_trust_adopt(host, view, rl_host_read_clock(host));

    rl_host_run(host);
    return follows;
}

/* By epochs: a list may come again, and then each of two remembers the other. */
static bool is_behind(const struct rl_host *host, const struct rl_view *view)
{
    static const struct rl_epoch configured;

    return rl_epoch_compare(&view->epoch, host->trust.view ? &host->trust.view->epoch : &configured) > 0;
}

/* rule 15.11: "An importer that knows less adopts first." */
bool rl_host_go_by(struct rl_host *host, const char *id, struct rl_slice text, struct rl_host_origin *origin)
{
    struct rl_view *view = malloc(sizeof *view);
    bool known = view && rl_view_parse(text, view) && strcmp(view->list.id, id) == 0 &&
                 (!is_behind(host, view) || follow(host, text)) && rl_host_knows_list(host, id, origin);

    if (known)
        rl_host_order_masters(host, &view->list, &origin->order);
    free(view);
    return known;
}

/* The deadline that the former holder's list gives. */
static struct rl_instant deadline_of(const struct rl_host_origin *origin)
{
    int64_t bounds[RL_MAX_NODES];

    for (size_t i = 0; i < origin->order.n; i++)
        bounds[i] = origin->ungreeted & rl_bit(i) ? RL_LONG_AGO.ns : origin->bounds[i].ns;
    return rl_later(origin->standing,
                    (struct rl_instant){rl_kth_largest(bounds, origin->order.n, origin->order.quorum)});
}

/* By a newer list it is as if the host had held the lock when it adopted that one (rule 15.9). */
void rl_host_take_ledger(const struct rl_host *host, const struct rl_host_origin *origin, struct rl_host_exported *ret)
{
    uint32_t members = host->engine.votes.members;
    uint32_t all = rl_bit(origin->order.n) - 1;
    uint32_t ungreeted = origin->older ? members : mask_by_place(&origin->order, origin->ungreeted);

    for (unsigned i = 0; i < host->engine.votes.config.n_nodes; i++)
        ret->bounds[i] = RL_LONG_AGO;
    for (size_t i = 0; i < origin->order.n; i++) {
        if (origin->order.places[i] >= 0)
            ret->bounds[origin->order.places[i]] = origin->bounds[i];
    }
    ret->state.ungreeted = ungreeted & ~rl_trust_greeted_members(host);
    ret->state.newcomers = mask_by_place(&origin->order, origin->newcomers) |
                           (members & ~mask_by_place(&origin->order, all));
    ret->state.standing = origin->older ? deadline_of(origin) : origin->standing;
    ret->state.unresolved_extension = mask_by_place(&origin->order, origin->unresolved);
    ret->state.bounds = ret->bounds;
}

int rl_host_import(struct rl_host_lock *lock, const struct rl_acquire *request, const struct rl_host_exported *exported)
{
    struct rl_host *host = lock->host;
    const struct rl_kind *kind = exported->state.kind;
    int error = REDLOCK_E_NOMEM;
    struct rl_key *key = rl_host_key(lock, exported->slot);
    struct rl_claim *claim = key ? rl_host_claim_create(host, key, kind, exported->token, NULL, &error) : NULL;
    bool held;

    if (!claim)
        return error;
    held = rl_lock_import(&host->engine, &lock->core, rl_host_read_clock(host), claim, request, &exported->state);
    rl_host_run(host);
    rl_host_rearm(lock);
    return held ? 0 : REDLOCK_E_NOT_HELD;
}
