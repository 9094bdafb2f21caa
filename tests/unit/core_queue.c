/* The harness's masters with their queues, and notifications. */
#include <string.h>

#include "core_harness.h"
#include "engine/answer.h"
#include "engine/refresh.h"
#include "engine/wait.h"

static bool is_waiting(const struct rl_lock *lock)
{
    return lock && lock->state == RL_LOCK_WAITING;
}

/* --- For the harness ---------------------------------------------------------------------------------------------- */

/* The engine must not rely on what is in there. */
void core_lend_entry(struct core *core, unsigned i)
{
    memset(&core->entries[i], 0xa5, sizeof core->entries[i]);
    core->requests[i].entry = core->requests[i].wait == RL_WAIT_SPIN ? NULL : &core->entries[i];
}

uint64_t core_ticket_of(const struct core_claim *claim)
{
    const struct rl_lock *lock = claim->claim->lock;

    return is_waiting(lock) ? lock->acquisition.request->entry->ticket : 0;
}

/* A host hands on what else the reply says, before what it answers. */
void core_report_entry(struct core *core, const struct core_command *command, unsigned node, enum rl_outcome outcome)
{
    struct rl_entry_report report = core->reports[node];

    if (command->step != RL_STEP_ENQUEUE || (outcome != RL_GRANTED && outcome != RL_QUEUED))
        return;
    if (command->ticket)
        report.ticket = command->ticket;
    if (outcome == RL_GRANTED) {
        report.rank = 0;
        report.look_ms = -1;
    } else {
        report.lower = false;
    }
    rl_engine_queued(core->now, command->claim->claim, command->round, node, &report);
}

void core_say_position(struct core *core, const struct rl_lock *lock)
{
    struct rl_instant held_until;
    uint32_t rank;

    CORE_DEMAND(is_waiting(lock), "a place of a lock that does not wait\n%s", core->log);
    rl_lock_queue_position(&core->engine, lock, &rank, &held_until);
    core_say(core, "WAITING behind %u\n", rank);
}

/* --- Notifications ------------------------------------------------------------------------------------------------ */

void core_notify(struct core *core, struct core_claim *claim, unsigned node, const struct rl_notification *notification)
{
    if (core->watch)
        core->watch->called(core, claim, node, notification);
    rl_engine_notified(&core->engine, core->now, claim->claim, node, notification);
    core_drain(core);
}

void core_hand_off_in(struct core *core, unsigned node, uint32_t round)
{
    struct rl_claim *claim = core->locks[core->handle].claim;
    struct rl_notification notification = {.round = round, .kind = RL_TOLD_GRANTED,
                                           .fence = claim->kind->has_token ? core->counters[node] : 0};

    core_notify(core, core_claim_of(claim), node, &notification);
}

void core_hand_off(struct core *core, unsigned node)
{
    core_hand_off_in(core, node, core->locks[core->handle].claim->round);
}

void core_notify_of_lower(struct core *core, unsigned node)
{
    struct rl_notification notification = {.kind = RL_TOLD_LOWER};

    core_notify(core, core_claim_of(core->locks[core->handle].claim), node, &notification);
}

void core_look_again(struct core *core, unsigned node)
{
    rl_lock_ask_again(&core->engine, &core->locks[core->handle], core->now, node);
    core_drain(core);
}

/* --- Beginnings --------------------------------------------------------------------------------------------------- */

struct rl_acquire core_request_fifo(void)
{
    struct rl_acquire request = core_request_to_queue();

    request.wait = RL_WAIT_FIFO;
    return request;
}

struct rl_acquire core_request_to_queue(void)
{
    struct rl_acquire request = core_request();

    request.ttl_ms = 4000;
    request.wait = RL_WAIT_QUEUE;
    return request;
}

struct core *core_start_enqueued(size_t n_nodes)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core = core_start(n_nodes);

    core_acquire(core, &request);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    core_skip(core);
    return core;
}

struct core *core_start_queued(size_t n_nodes)
{
    struct core *core = core_start_enqueued(n_nodes);

    for (unsigned node = 0; node < n_nodes; node++)
        core_answer(core, node, RL_QUEUED);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    core_skip(core);
    return core;
}
