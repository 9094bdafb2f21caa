/* The harness's masters with their queues, and notifications. */
#include <string.h>

#include "core_harness.h"

static bool is_waiting(const struct rl_lock *lock)
{
    return lock && lock->state == RL_LOCK_WAITING;
}

/* --- For the harness ---------------------------------------------------------------------------------------------- */

/* The engine must not rely on what is in there. */
void core_lend_line(struct core *core, unsigned i)
{
    memset(&core->lines[i], 0xa5, sizeof(core->lines[i]));
    core->wishes[i].line = core->wishes[i].wait == RL_WAIT_SPIN ? NULL : &core->lines[i];
}

uint64_t core_ticket_of(const struct core_claim *claim)
{
    const struct rl_lock *lock = claim->claim->lock;

    return is_waiting(lock) ? lock->wish->line->ticket : 0;
}

/* A host hands on what else the reply says, before what it answers. */
void core_tell_place(struct core *core, const struct core_command *command, unsigned node, enum rl_outcome outcome)
{
    struct rl_place place = core->places[node];

    if (command->step != RL_STEP_ENQUEUE || (outcome != RL_GRANTED && outcome != RL_QUEUED))
        return;
    if (command->ticket)
        place.ticket = command->ticket;
    if (outcome == RL_GRANTED) {
        place.rank = 0;
        place.look_ms = -1;
    } else {
        place.lower = false;
    }
    rl_engine_placed(&core->engine, core->now, command->claim->claim, command->round, node, &place);
}

void core_say_place(struct core *core, const struct rl_lock *lock)
{
    struct rl_instant held_until;
    uint32_t rank;

    CORE_DEMAND(is_waiting(lock), "a place of a lock that does not wait\n%s", core->log);
    rl_lock_place(&core->engine, lock, &rank, &held_until);
    core_say(core, "WAITING behind %u\n", rank);
}

/* --- Notifications ------------------------------------------------------------------------------------------------ */

void core_call(struct core *core, struct core_claim *claim, unsigned node, const struct rl_call *call)
{
    if (core->watch)
        core->watch->called(core, claim, node, call);
    rl_engine_notified(&core->engine, core->now, claim->claim, node, call);
    core_drain(core);
}

void core_hand_over_in(struct core *core, unsigned node, uint32_t round)
{
    struct rl_claim *claim = core->locks[core->handle].claim;
    struct rl_call call = {.round = round, .granted = true, .fence = claim->kind->has_token ? core->counters[node] : 0};

    core_call(core, core_claim_of(claim), node, &call);
}

void core_hand_over(struct core *core, unsigned node)
{
    core_hand_over_in(core, node, core->locks[core->handle].claim->round);
}

void core_tell_of_lower(struct core *core, unsigned node)
{
    struct rl_call call = {.granted = false};

    core_call(core, core_claim_of(core->locks[core->handle].claim), node, &call);
}

void core_look_again(struct core *core, unsigned node)
{
    rl_lock_look_again(&core->engine, &core->locks[core->handle], core->now, node);
    core_drain(core);
}

/* --- Beginnings --------------------------------------------------------------------------------------------------- */

struct rl_acquire core_wish_in_line(void)
{
    struct rl_acquire wish = core_wish_to_queue();

    wish.wait = RL_WAIT_FIFO;
    return wish;
}

struct rl_acquire core_wish_to_queue(void)
{
    struct rl_acquire wish = core_wish();

    wish.ttl_ms = 4000;
    wish.wait = RL_WAIT_QUEUE;
    return wish;
}

struct core *core_start_in_line(size_t n_nodes)
{
    struct rl_acquire wish = core_wish_in_line();
    struct core *core = core_start(n_nodes);

    core_acquire(core, &wish);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    core_skip(core);
    return core;
}

struct core *core_start_queued(size_t n_nodes)
{
    struct core *core = core_start_in_line(n_nodes);

    for (unsigned node = 0; node < n_nodes; node++)
        core_answer(core, node, RL_QUEUED);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    core_skip(core);
    return core;
}
