/* Permits (rules 10): the host chooses the slot, the same on all masters, and a claim is for one slot only.
 *
 * IMPLEMENTATION NOTES
 *
 * A first attempt is made at the home slot: one that a handle of this client has released without handing it off; or
 * one that masters have lately shown to be free to another handle, which has chosen a different one; or a random one
 * that no other handle of this client has a claim for, if there is such a slot. If the attempt is refused, the masters
 * have said which of some other slots are free, and the next attempt is made at one that a majority shows to be free.
 * If there is none, the lock waits in the queue of its home slot. Each refresh asks about other slots, and the waiter
 * moves to one that a quorum shows to be free (rl_lock_move()). It stays where masters have given it their votes of
 * late: those may be the first ones of a quorum (rl_wait_may_move()).
 *
 * Masters list the waiters of all slots in a directory (kinds/scripts/directory.lua). A release tells one of them that
 * waits elsewhere: the one with the lowest ticket, if the slot is free or, now and then, if it has gone to a higher
 * ticket. It moves there at once, and has the slot if it is free, or is the next one to have it.
 *
 * Nothing here matters for safety. A slot that was taken to be free is another one to wait for. */
#include "host/permits.h"

#include <stdlib.h>

#include "engine/handle.h"
#include "engine/set.h"
#include "host/host.h"
#include "host/semaphore.h"
#include "kinds/permit.h"
#include "util/random.h"

static struct rl_permit *permit_of(const struct rl_host_lock *lock)
{
    return RL_CONTAINER_OF(lock->variant, struct rl_permit, variant);
}

static struct rl_semaphore *semaphore_of(const struct rl_host_lock *lock)
{
    return permit_of(lock)->semaphore;
}

static uint32_t limit_of(const struct rl_host_lock *lock)
{
    return permit_of(lock)->limit;
}

/* --- Slots ------------------------------------------------------------------------------------------------------ */

static uint32_t random_below(const struct rl_host_lock *lock, uint32_t limit)
{
    return (uint32_t)(rl_random_next(&lock->host->permits.random) % limit);
}

/* The latest of those that this client has released and not chosen since then. Commands for it come behind the release,
 * on the same connections. */
static uint32_t latest_released(const struct rl_host_lock *lock)
{
    const struct rl_semaphore *semaphore = semaphore_of(lock);

    for (uint32_t i = semaphore->n_released; i-- > 0;) {
        if (semaphore->released[i] < limit_of(lock))
            return semaphore->released[i];
    }
    return RL_NO_SLOT;
}

#define DRAWS 8

static uint32_t draw_slot(struct rl_host_lock *lock)
{
    uint32_t best = random_below(lock, limit_of(lock));

    for (int i = 1; i < DRAWS && rl_semaphore_claims_at(semaphore_of(lock), best); i++) {
        uint32_t slot = random_below(lock, limit_of(lock));

        if (rl_semaphore_claims_at(semaphore_of(lock), slot) < rl_semaphore_claims_at(semaphore_of(lock), best))
            best = slot;
    }
    return best;
}

/* Some slots from this one on that this client has no claim for; returns how many. One that wants all permits at once
 * finds a slot for each. */
static uint32_t list_unclaimed(const struct rl_host_lock *lock, uint32_t slot, uint32_t ret_slots[RL_SET_MAX_PARTS])
{
    uint32_t n = 0;

    for (unsigned i = 0; i < RL_SET_MAX_PARTS && i < limit_of(lock); i++, slot = (slot + 1) % limit_of(lock)) {
        if (!rl_semaphore_claims_at(semaphore_of(lock), slot))
            ret_slots[n++] = slot;
    }
    return n;
}

static uint32_t seen_free(const struct rl_host_lock *lock)
{
    const struct rl_semaphore *semaphore = semaphore_of(lock);

    return rl_before(lock->host->now, semaphore->free_until) && semaphore->free_slot < limit_of(lock) &&
                   !rl_semaphore_claims_at(semaphore, semaphore->free_slot)
               ? semaphore->free_slot
               : RL_NO_SLOT;
}

static uint32_t choose_home(struct rl_host_lock *lock)
{
    uint32_t slot = latest_released(lock);
    uint32_t unclaimed[RL_SET_MAX_PARTS];

    if (slot == RL_NO_SLOT)
        slot = seen_free(lock);
    if (slot != RL_NO_SLOT)
        return slot;
    slot = draw_slot(lock);
    return list_unclaimed(lock, slot, unclaimed) ? unclaimed[0] : slot;
}

/* --- What masters say ------------------------------------------------------------------------------------------- */

static struct rl_slot_search *search_of(const struct rl_host_lock *lock)
{
    return &permit_of(lock)->search;
}

/* By another handle of this client. A claim that is being rolled back is nobody's: it may stay for as long as a master
 * is silent, and what it wants there is that the key is deleted. */
static bool is_wanted(const struct rl_host_lock *lock, uint32_t slot)
{
    const struct rl_list *locks = &lock->host->locks;

    if (!rl_semaphore_claims_at(semaphore_of(lock), slot))
        return false;
    for (struct rl_list *at = locks->next; at != locks; at = at->next) {
        const struct rl_host_lock *other = RL_CONTAINER_OF(at, struct rl_host_lock, link);
        const struct rl_permit *permit = rl_permit_of(other);
        const struct rl_claim *claim = other->core.claim;

        if (other != lock && permit && permit->semaphore == semaphore_of(lock) && permit->slot == slot && claim &&
            !claim->rolling_back)
            return true;
    }
    return false;
}

/* One of the slots that at least so many masters show to be free, and that no other handle of this client is about to
 * have; RL_NO_SLOT: there is none. */
static uint32_t choose_free(const struct rl_host_lock *lock, uint32_t masters)
{
    const struct rl_slot_search *search = search_of(lock);
    uint32_t chosen = RL_NO_SLOT;
    uint32_t n = 0;

    for (uint32_t i = 0; i < search->n; i++) {
        if (rl_count_bits(search->free_at[i]) >= masters && !is_wanted(lock, search->slots[i]) &&
            random_below(lock, ++n) == 0)
            chosen = search->slots[i];
    }
    return chosen;
}

/* An attempt that was refused may not have heard of a quorum of masters. */
static uint32_t free_by_majority(const struct rl_host_lock *lock)
{
    uint32_t answers = rl_count_bits(search_of(lock)->answered);

    return answers ? choose_free(lock, answers / 2 + 1) : RL_NO_SLOT;
}

/* For how long a slot is taken to be free that masters have shown to be. */
#define RECENT_MS 100

/* Where the answers have shown several slots to be free, another handle may begin with one of those that are left. */
static void note_free(struct rl_host_lock *lock, uint32_t chosen)
{
    struct rl_semaphore *semaphore = semaphore_of(lock);
    const struct rl_slot_search *search = search_of(lock);
    uint32_t half = rl_count_bits(search->answered) / 2;

    if (semaphore->free_slot == chosen)
        semaphore->free_until = RL_LONG_AGO;
    for (uint32_t i = 0; i < search->n; i++) {
        if (search->slots[i] != chosen && rl_count_bits(search->free_at[i]) > half) {
            semaphore->free_slot = search->slots[i];
            semaphore->free_until = rl_after(lock->host->now, rl_ms(RECENT_MS));
        }
    }
}

static void forget_answers(struct rl_slot_search *search)
{
    search->n = 0;
    search->answered = 0;
    search->claim = NULL;
}

/* The next of those that a single attempt has not asked about; RL_NO_SLOT: there is none. */
static uint32_t next_unseen(const struct rl_host_lock *lock)
{
    const struct rl_slot_search *search = search_of(lock);

    return search->looked < limit_of(lock) ? (search->home + search->looked) % limit_of(lock) : RL_NO_SLOT;
}

static uint32_t choose_first(struct rl_host_lock *lock)
{
    struct rl_slot_search *search = search_of(lock);
    uint32_t slot = lock->call->request.once && search->looked ? next_unseen(lock) : RL_NO_SLOT;

    if (slot != RL_NO_SLOT) {
        search->looked++;
        return slot;
    }
    search->home = choose_home(lock);
    search->looked = 1;
    return search->home;
}

/* The slot of the next attempt. */
static uint32_t choose(struct rl_host_lock *lock)
{
    struct rl_slot_search *search = search_of(lock);
    uint32_t slot;

    if (!lock->core.acquisition.attempts)
        *search = (struct rl_slot_search){.target = RL_NO_SLOT, .moved = RL_LONG_AGO};
    slot = search->target != RL_NO_SLOT ? search->target : free_by_majority(lock);
    if (slot == RL_NO_SLOT && lock->core.state == RL_LOCK_WAITING && lock->core.acquisition.attempts)
        slot = permit_of(lock)->slot;
    if (slot == RL_NO_SLOT)
        slot = choose_first(lock);
    search->target = RL_NO_SLOT;
    note_free(lock, slot);
    forget_answers(search);
    rl_semaphore_forget_released(semaphore_of(lock), slot);
    return slot;
}

static struct rl_key *key(struct rl_host_lock *lock, uint32_t slot)
{
    permit_of(lock)->slot = slot == RL_NO_SLOT ? choose(lock) : slot;
    return rl_semaphore_key(semaphore_of(lock), permit_of(lock)->slot);
}

static bool is_asked_about(const struct rl_slot_search *search, uint32_t slot)
{
    for (uint32_t i = 0; i < search->n; i++) {
        if (search->slots[i] == slot)
            return true;
    }
    return false;
}

static void ask_about(const struct rl_host_lock *lock, uint32_t slot)
{
    struct rl_slot_search *search = search_of(lock);

    if (slot == permit_of(lock)->slot || search->n == RL_MAX_CANDIDATES || is_asked_about(search, slot) ||
        !rl_semaphore_key(semaphore_of(lock), slot))
        return;
    search->free_at[search->n] = 0;
    search->slots[search->n++] = slot;
}

/* Each attempt of one that does not wait asks about slots that the others have not asked about. */
static void choose_unseen(struct rl_host_lock *lock)
{
    struct rl_slot_search *search = search_of(lock);

    for (uint32_t slot = next_unseen(lock); slot != RL_NO_SLOT && search->n < RL_MAX_CANDIDATES;
         slot = next_unseen(lock)) {
        ask_about(lock, slot);
        search->looked++;
    }
}

/* Asks about the slots that this client has no claim for, from a random one on. */
static void ask_about_unclaimed(struct rl_host_lock *lock)
{
    uint32_t slots[RL_SET_MAX_PARTS];
    uint32_t n = list_unclaimed(lock, random_below(lock, limit_of(lock)), slots);

    for (uint32_t i = 0; i < n; i++)
        ask_about(lock, slots[i]);
}

/* All others, if they are few. Otherwise those that this client has released last, some that it has no claim for, and
 * random ones. */
static void choose_candidates(struct rl_host_lock *lock)
{
    const struct rl_semaphore *semaphore = semaphore_of(lock);

    if (lock->call->request.once && limit_of(lock) > RL_MAX_CANDIDATES + 1) {
        choose_unseen(lock);
        return;
    }
    search_of(lock)->looked = limit_of(lock);
    if (limit_of(lock) <= RL_MAX_CANDIDATES + 1) {
        for (uint32_t slot = 0; slot < limit_of(lock); slot++)
            ask_about(lock, slot);
        return;
    }
    for (uint32_t i = semaphore->n_released; i-- > 0 && search_of(lock)->n < RL_MAX_CANDIDATES / 2;) {
        if (semaphore->released[i] < limit_of(lock))
            ask_about(lock, semaphore->released[i]);
    }
    ask_about_unclaimed(lock);
    for (int i = 0; i < 2 * RL_MAX_CANDIDATES; i++)
        ask_about(lock, draw_slot(lock));
}

/* A command of a round that has not been written yet chooses the slots that all of the round ask about. */
static void ask(struct rl_host_lock *lock, const struct rl_tag *tag)
{
    struct rl_slot_search *search = search_of(lock);

    if (search->claim == tag->owner && search->round == tag->round)
        return;
    forget_answers(search);
    search->claim = tag->owner;
    search->round = tag->round;
    choose_candidates(lock);
}

/* An attempt that has ended asks about no other slots. */
static void add_candidates(struct rl_host_lock *lock, const struct rl_tag *tag, struct rl_subject *subject)
{
    const struct rl_permit *permit = permit_of(lock);

    subject->limit = permit->limit;
    if (!lock->call || (tag->step != RL_STEP_CLAIM && tag->step != RL_STEP_ENQUEUE))
        return;
    ask(lock, tag);
    subject->candidates.n = permit->search.n;
    for (size_t i = 0; i < permit->search.n; i++)
        subject->candidates.keys[i] = rl_key_slice(rl_semaphore_key(permit->semaphore, permit->search.slots[i]));
}

/* A single attempt that is refused goes on where another slot may be free. */
static void replied(struct rl_host_lock *lock, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply)
{
    struct rl_slot_search *search = search_of(lock);
    uint32_t mask;

    if (!rl_permit_mask(reply, &mask) || !lock->call || search->claim != tag->owner || search->round != tag->round)
        return;
    search->answered |= rl_bit(node);
    for (uint32_t i = 0; i < search->n; i++) {
        search->free_at[i] &= ~rl_bit(node);
        if (mask & rl_bit(i))
            search->free_at[i] |= rl_bit(node);
    }
    lock->call->request.elsewhere =
        search->looked < limit_of(lock) || free_by_majority(lock) != RL_NO_SLOT;
}

/* --- Moving ----------------------------------------------------------------------------------------------------- */

/* Twice as long as the slowest answer took, so that waiters that see the same slot do not run after each other. */
static bool has_just_moved(const struct rl_host_lock *lock)
{
    const struct rl_claim *claim = lock->core.claim;
    int64_t round_trip_ns = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        int64_t latency_ns = claim->votes[i].latency_us * RL_NS_PER_US;

        if (claim->votes[i].latency_us != RL_NO_LATENCY && latency_ns > round_trip_ns)
            round_trip_ns = latency_ns;
    }
    return rl_before(lock->host->now, rl_after(search_of(lock)->moved, (struct rl_span){2 * round_trip_ns}));
}

static bool is_waiting(const struct rl_host_lock *lock)
{
    return lock->call && lock->core.state == RL_LOCK_WAITING && search_of(lock)->claim == lock->core.claim;
}

/* One that has to wait looks at what the masters have answered of other slots. */
static bool told(struct rl_host_lock *lock, uint64_t slot)
{
    struct rl_slot_search *search = search_of(lock);
    struct rl_host *host = lock->host;

    if (!is_waiting(lock))
        return false;
    if (slot == RL_NO_SLOT)
        slot = choose_free(lock, (uint32_t)host->engine.votes.config.quorum);
    if (slot >= limit_of(lock) || slot == permit_of(lock)->slot)
        return false;
    if (has_just_moved(lock))
        return true;
    search->target = (uint32_t)slot;
    if (rl_lock_move(&host->engine, &lock->core, host->now))
        search->moved = host->now;
    else
        search->target = RL_NO_SLOT;
    return true;
}

/* What is known of a slot that has been released is remembered. */
static bool completed(struct rl_host_lock *lock, const struct rl_effect *effect)
{
    const struct rl_claim *claim = lock->core.claim;
    size_t deleted = 0;

    if (effect->op != RL_OP_RELEASE)
        return false;
    for (size_t i = 0; claim && i < claim->n_nodes; i++)
        deleted += claim->votes[i].answer == RL_GRANTED && claim->votes[i].detail == RL_DETAIL_NONE;
    if (deleted >= lock->host->engine.votes.config.quorum)
        rl_semaphore_note_released(semaphore_of(lock), permit_of(lock)->slot);
    return false;
}

/* --- Life ---------------------------------------------------------------------------------------------------- */

static void leave(struct rl_host_lock *lock)
{
    struct rl_permit *permit = permit_of(lock);

    rl_semaphore_put(lock->host, permit->semaphore);
    lock->variant = NULL;
    free(permit);
}

static const struct rl_hooks hooks = {
    .key = key,
    .complete_subject = add_candidates,
    .replied = replied,
    .told = told,
    .completed = completed,
    .leave = leave,
};

void rl_permits_init(struct rl_permits *permits, uint64_t random)
{
    rl_table_init(&permits->semaphores, rl_semaphore_hash);
    permits->random = random;
}

bool rl_permit_attach(struct rl_host_lock *lock, uint32_t limit)
{
    struct rl_permit *permit = calloc(1, sizeof *permit);

    if (!permit)
        return false;
    permit->semaphore = rl_semaphore_get(lock->host, lock->key, limit);
    if (!permit->semaphore) {
        free(permit);
        return false;
    }
    permit->variant.hooks = &hooks;
    permit->limit = limit;
    permit->slot = RL_NO_SLOT;
    lock->variant = &permit->variant;
    return true;
}

struct rl_permit *rl_permit_of(const struct rl_host_lock *lock)
{
    return lock->variant && lock->variant->hooks == &hooks ? permit_of(lock) : NULL;
}
