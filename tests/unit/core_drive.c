/* Driving the harness: time, masters, operations. */
#include <stdlib.h>
#include <string.h>

#include "core_harness.h"
#include "engine/answer.h"
#include "engine/cohort.h"
#include "engine/lock.h"
#include "engine/hold.h"
#include "kinds/mutex.h"

/* --- Time ----------------------------------------------------------------------------------------------------- */

static struct rl_instant next_wakeup(const struct core *core)
{
    struct rl_instant next = rl_engine_wakeup(&core->engine);

    for (unsigned i = 0; i < CORE_LOCKS; i++)
        next = rl_earlier(next, rl_lock_wakeup(&core->engine, &core->locks[i]));
    return next;
}

void core_tick(struct core *core)
{
    for (unsigned i = 0; i < CORE_LOCKS; i++) {
        rl_lock_tick(&core->engine, &core->locks[i], core->now);
        core_drain_for(core, i);
    }
    rl_engine_tick(&core->engine, core->now);
    core_drain(core);
}

void core_run_to(struct core *core, int64_t ms)
{
    struct rl_instant end = {ms * RL_NS_PER_MS};

    for (unsigned ticks = 0; !rl_before(end, next_wakeup(core)); ticks++) {
        CORE_DEMAND(ticks < 100000, "ticks without end\n%s", core->log);
        core->now = rl_later(core->now, next_wakeup(core));
        core_tick(core);
    }
    core_sleep_to(core, ms);
}

void core_sleep_to(struct core *core, int64_t ms)
{
    CORE_DEMAND(ms * RL_NS_PER_MS >= core->now.ns, "time does not go back\n%s", core->log);
    core->now.ns = ms * RL_NS_PER_MS;
}

/* --- Masters -------------------------------------------------------------------------------------------------- */

unsigned core_queued(const struct core *core, unsigned node)
{
    return core->queues[node].size;
}

/* Claims with a fencing token are answered with the master's counter, whether they are granted or refused; those in
 * line only when they are granted. */
static uint64_t counter_of(const struct core *core, const struct core_command *command, unsigned node,
                           enum rl_outcome outcome)
{
    bool claim = command->step == RL_STEP_CLAIM && (outcome == RL_GRANTED || outcome == RL_REFUSED);
    bool place = command->step == RL_STEP_ENQUEUE && outcome == RL_GRANTED;

    return command->claim->claim->kind->has_token && (claim || place) ? core->counters[node] : 0;
}

/* Without a reply there is no epoch check, and the connection is about to end. */
static void end_guard(struct core *core, unsigned node, enum rl_outcome outcome)
{
    if (outcome == RL_GRANTED || outcome == RL_REFUSED)
        rl_engine_epoch_checked(&core->engine, core->now, node, outcome == RL_GRANTED);
}

void core_answer_for(struct core *core, unsigned node, enum rl_outcome outcome, enum rl_detail detail)
{
    struct core_queue *queue = &core->queues[node];
    struct core_command command = queue->commands[queue->head];

    CORE_DEMAND(queue->size > 0, "master %u has nothing to answer\n%s", node, core->log);
    queue->head = (queue->head + 1) % CORE_QUEUE;
    queue->size--;
    if (command.claim)
        core_end(core, &command, node, (struct rl_answer){outcome, detail, counter_of(core, &command, node, outcome)});
    else
        end_guard(core, node, outcome);
    core_drain(core);
}

static enum rl_detail usual_detail(enum rl_step step, enum rl_outcome outcome)
{
    if (outcome == RL_REFUSED)
        return step == RL_STEP_CLAIM ? RL_DETAIL_HELD : RL_DETAIL_MISSING;
    if (outcome == RL_FAILED)
        return RL_DETAIL_BUSY;
    return outcome == RL_UNKNOWN ? RL_DETAIL_DISCONNECTED : RL_DETAIL_NONE;
}

void core_answer(struct core *core, unsigned node, enum rl_outcome outcome)
{
    const struct core_queue *queue = &core->queues[node];

    core_answer_for(core, node, outcome, usual_detail(queue->commands[queue->head].step, outcome));
}

void core_answers(struct core *core, const char *letters)
{
    static const char known[] = "grfuq";
    static const enum rl_outcome outcomes[] = {RL_GRANTED, RL_REFUSED, RL_FAILED, RL_UNKNOWN, RL_QUEUED};

    for (unsigned node = 0; letters[node]; node++) {
        const char *letter = strchr(known, letters[node]);

        if (letter)
            core_answer(core, node, outcomes[letter - known]);
    }
}

void core_link(struct core *core, unsigned node, enum rl_link link)
{
    rl_engine_link(&core->engine, core->now, node, link);
    for (unsigned i = 0; i < CORE_LOCKS; i++)
        rl_lock_joined(&core->engine, &core->locks[i], core->now, node);
    core_drain(core);
}

void core_clog(struct core *core, unsigned node, bool clogged)
{
    core->clogged[node] = clogged;
}

void core_drop(struct core *core, unsigned node)
{
    while (core_queued(core, node))
        core_answer(core, node, RL_UNKNOWN);
    core_link(core, node, RL_LINK_DOWN);
}

/* --- Operations ----------------------------------------------------------------------------------------------- */

struct rl_acquire core_request(void)
{
    return (struct rl_acquire){.kind = &rl_mutex_kind, .ttl_ms = 1000, .retry_delay = rl_ms(100), .deadline = RL_NEVER};
}

struct rl_acquire core_request_once(void)
{
    struct rl_acquire request = core_request();

    request.once = true;
    return request;
}

static struct rl_lock *core_lock(struct core *core)
{
    return &core->locks[core->handle];
}

void core_acquire(struct core *core, const struct rl_acquire *request)
{
    core->started[core->handle]++;
    core->requests[core->handle] = *request;
    core_lend_entry(core, core->handle);
    rl_lock_acquire(&core->engine, core_lock(core), core->now, &core->requests[core->handle]);
    core_drain_for(core, core->handle);
}

void core_extend(struct core *core, uint32_t ttl_ms)
{
    core->started[core->handle]++;
    rl_lock_extend(&core->engine, core_lock(core), core->now, ttl_ms);
    core_drain_for(core, core->handle);
}

void core_release(struct core *core)
{
    core->started[core->handle]++;
    rl_lock_release(&core->engine, core_lock(core), core->now);
    core_drain_for(core, core->handle);
}

bool core_cohort_hand_off(struct core *core, unsigned to)
{
    bool passed = rl_lock_cohort_hand_off(&core->engine, core_lock(core), core->now, &core->locks[to]);

    core->started[core->handle] += passed;
    core->looks[to] = true;
    core_drain_for(core, core->handle);
    return passed;
}

void core_release_value(struct core *core, uint32_t ttl_ms)
{
    core->started[core->handle]++;
    rl_lock_release_value(&core->engine, core_lock(core), core->now, core_make_claim(core, &rl_mutex_kind),
                          &rl_mutex_kind, ttl_ms);
    core_drain_for(core, core->handle);
}

void core_detach(struct core *core)
{
    rl_lock_detach(&core->engine, core_lock(core), core->now);
    core_drain_for(core, core->handle);
}

void core_forget(struct core *core)
{
    rl_lock_forget(&core->engine, core_lock(core));
    core_drain_for(core, core->handle);
}

bool core_import(struct core *core, const struct rl_acquire *request, int64_t until_ms, uint64_t fence)
{
    struct rl_instant bounds[RL_MAX_NODES];
    const struct rl_kind *kind = fence ? &rl_fenced_kind : &rl_mutex_kind;
    struct rl_exported_state state = {kind, 1000, 1000, UINT32_MAX, fence, bounds, 0, 0, RL_EXCLUSIVE, 0, 0, {0}};
    bool imported;

    for (unsigned node = 0; node < RL_MAX_NODES; node++)
        bounds[node].ns = rl_ms(until_ms).ns;
    imported = rl_lock_import(&core->engine, core_lock(core), core->now, core_make_claim(core, state.kind), request,
                            &state);
    core_drain_for(core, core->handle);
    return imported;
}

bool core_cancel(struct core *core)
{
    bool canceled = rl_lock_cancel(&core->engine, core_lock(core), core->now);

    core_drain_for(core, core->handle);
    return canceled;
}

/* The handle starts anew: what it had pending ends without a completion. */
void core_fini(struct core *core)
{
    rl_lock_fini(&core->engine, core_lock(core), core->now);
    core->completed[core->handle] = core->started[core->handle];
    core->state[core->handle] = core_lock(core)->state;
    core_drain_for(core, core->handle);
}

/* --- Claims about the world ----------------------------------------------------------------------------------- */

int64_t core_deadline_ms(const struct core *core)
{
    struct rl_instant deadline = rl_lock_deadline(&core->engine, &core->locks[core->handle]);

    return deadline.ns == RL_LONG_AGO.ns ? INT64_MIN : deadline.ns / RL_NS_PER_MS;
}

enum rl_lock_state core_state(const struct core *core)
{
    return (enum rl_lock_state)core->locks[core->handle].state;
}

const struct rl_vote *core_vote(const struct core *core, unsigned node)
{
    return &core->locks[0].claim->votes[node];
}

unsigned core_live_claims(const struct core *core)
{
    unsigned count = 0;

    for (const struct rl_list *at = core->live.next; at != &core->live; at = at->next)
        count++;
    return count;
}

/* --- Beginning and end ---------------------------------------------------------------------------------------- */

struct core *core_start_held(size_t n_nodes)
{
    struct rl_acquire request = core_request();

    return core_start_held_as(n_nodes, &request);
}

struct core *core_start_held_as(size_t n_nodes, const struct rl_acquire *request)
{
    struct core *core = core_start(n_nodes);

    core_acquire(core, request);
    for (unsigned node = 0; node < n_nodes; node++)
        core_answer(core, node, RL_GRANTED);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_skip(core);
    return core;
}

static void answer_everything(struct core *core)
{
    for (unsigned node = 0; node < core->engine.votes.config.n_nodes; node++) {
        while (core_queued(core, node))
            core_answer(core, node, RL_GRANTED);
    }
}

/* Three rounds of pending rollbacks: what is in flight may end as pending, and the next tick sends what is pending. */
void core_stop(struct core *core)
{
    for (core->handle = 0; core->handle < CORE_LOCKS; core->handle++)
        core_fini(core);
    memset(core->clogged, 0, sizeof core->clogged);
    for (unsigned node = 0; node < core->engine.votes.config.n_nodes; node++)
        core_link(core, node, RL_LINK_READY);
    for (unsigned round = 0; round < 3; round++) {
        answer_everything(core);
        core_run_to(core, core->now.ns / RL_NS_PER_MS + 300);
    }
    CORE_DEMAND(core_live_claims(core) == 0, "%u claims have leaked\n%s", core_live_claims(core), core->log);
    CORE_DEMAND(core->engine.votes.n_pending_rollbacks == 0, "%zu pending rollbacks are left\n%s",
                core->engine.votes.n_pending_rollbacks, core->log);
    CORE_DEMAND(rl_engine_wakeup(&core->engine).ns == RL_NEVER.ns, "a tick for nothing is asked for\n%s", core->log);
    for (struct core **at = &core_youngest; *at; at = &(*at)->older) {
        if (*at == core) {
            *at = core->older;
            break;
        }
    }
    free(core);
}

void core_stop_all(void)
{
    while (core_youngest)
        core_stop(core_youngest);
}
