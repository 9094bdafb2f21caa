#include "core_harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/answer.h"

static const char *const step_names[RL_STEP_COUNT] = {
    [RL_STEP_CLAIM] = "claim",   [RL_STEP_RAISE] = "raise",     [RL_STEP_EXTEND] = "extend",
    [RL_STEP_REPAIR] = "repair", [RL_STEP_RELEASE] = "release", [RL_STEP_ROLLBACK] = "rollback",
    [RL_STEP_ENQUEUE] = "enqueue",
};
static const char *const op_names[] = {"none", "acquire", "extend", "release"};
static const char *const end_names[] = {"none",     "ok",       "held", "no-quorum",      "too-slow",
                                        "deadline", "canceled", "lost", "refused-by-host"};

/* --- Transcript ----------------------------------------------------------------------------------------------- */

static void append(struct core *core, const char *text, size_t size)
{
    if (core->log_size + size > CORE_LOG) {
        size_t half = core->log_size / 2;

        memmove(core->log, core->log + half, core->log_size - half);
        core->log_size -= half;
    }
    memcpy(core->log + core->log_size, text, size);
    core->log_size += size;
    core->log[core->log_size] = '\0';
}

void core_say(struct core *core, const char *format, ...)
{
    char text[256];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    append(core, text, (size_t)size);
}

static void say_time(struct core *core)
{
    int64_t below_ms = core->now.ns % RL_NS_PER_MS;

    core_say(core, "t=%lld", (long long)(core->now.ns / RL_NS_PER_MS));
    if (below_ms)
        core_say(core, ".%06lld", (long long)below_ms);
    core_say(core, "ms ");
}

void core_expect(struct core *core, const char *text)
{
    CORE_DEMAND(strcmp(core->log, text) == 0, "expected:\n%sbut was:\n%s", text, core->log);
    core_skip(core);
}

void core_skip(struct core *core)
{
    core->log_size = 0;
    core->log[0] = '\0';
}

/* --- Effects -------------------------------------------------------------------------------------------------- */

static unsigned index_of(const struct core *core, const struct rl_lock *lock)
{
    return (unsigned)(lock - core->locks);
}

/* The transitions of the state, for those who want to know that each one occurs. */
static void note(struct core *core, unsigned i)
{
    const struct rl_lock *lock = &core->locks[i];

    if (lock->state != core->state[i])
        core->seen[core->state[i]] |= UINT32_C(1) << lock->state;
    core->state[i] = lock->state;
}

/* Each operation completes once, and is pending until then. */
static void check_balance(const struct core *core, unsigned i)
{
    unsigned pending = rl_lock_is_pending(&core->locks[i]);

    CORE_DEMAND(core->started[i] == core->completed[i] + pending, "lock %u: %u started, %u completed, %u pending\n%s",
                  i, core->started[i], core->completed[i], pending, core->log);
}

struct rl_claim *core_make_claim(struct core *core, const struct rl_kind *kind)
{
    size_t size = rl_claim_size(core->engine.votes.config.n_nodes, kind);
    struct core_claim *record = calloc(1, sizeof *record);
    struct core_claim **memory = malloc(sizeof record + size);

    CORE_DEMAND(record && memory, "out of memory");
    *memory = record;
    record->claim = (struct rl_claim *)(void *)(memory + 1);
    memset(record->claim, 0xa5, size);
    record->number = ++core->n_claims;
    rl_list_append(&core->live, &record->link);
    return record->claim;
}

static bool is_rollback(enum rl_step step)
{
    return step == RL_STEP_RELEASE || step == RL_STEP_ROLLBACK;
}

static void check_send(const struct core *core, const struct core_command *command, unsigned node)
{
    const struct core_claim *claim = command->claim;
    uint32_t bit = UINT32_C(1) << node;
    enum rl_link link = core->engine.votes.links[node];

    CORE_DEMAND(link == RL_LINK_READY || link == RL_LINK_LATE, "%s to master %u, down\n%s",
                step_names[command->step], node, core->log);
    if (is_rollback(command->step))
        return;
    CORE_DEMAND(!claim->rolled_back, "%s of #%u after its rollback\n%s", step_names[command->step], claim->number,
                core->log);
    if (command->step == RL_STEP_RAISE)
        return;
    CORE_DEMAND(link == RL_LINK_READY, "%s to master %u, not ready\n%s", step_names[command->step], node, core->log);
    CORE_DEMAND(command->step != RL_STEP_CLAIM || !((claim->claimed | claim->enqueued) & bit), "#%u claimed twice\n%s",
                claim->number, core->log);
    CORE_DEMAND(command->step != RL_STEP_ENQUEUE || !claim->claimed, "#%u in the wait queue after a claim\n%s",
                claim->number,
                core->log);
    core_check_trusted(core, command, node);
}

void core_end(struct core *core, const struct core_command *command, unsigned node, struct rl_answer answer)
{
    struct core_claim *record = command->claim;
    const struct rl_event event = {core->now, record->claim, command->step, command->round, node, answer, 1000};

    record->in_flight--;
    if (core->watch)
        core->watch->ended(core, command, node, answer.outcome);
    core_report_entry(core, command, node, answer.outcome);
    rl_engine_reply(&core->engine, &event);
}

static void enqueue(struct core *core, const struct core_command *command, unsigned node)
{
    struct core_queue *queue = &core->queues[node];

    check_send(core, command, node);
    CORE_DEMAND(queue->size < CORE_QUEUE, "master %u has too much to answer\n%s", node, core->log);
    command->claim->in_flight++;
    if (command->step == RL_STEP_CLAIM)
        command->claim->claimed |= UINT32_C(1) << node;
    if (command->step == RL_STEP_ENQUEUE) {
        command->claim->enqueued |= UINT32_C(1) << node;
        command->claim->enqueued_round[node] = command->round;
    }
    if (is_rollback(command->step))
        command->claim->rolled_back |= UINT32_C(1) << node;
    if (core->watch)
        core->watch->sent(core, command, node);
    if (core->clogged[node])
        core_end(core, command, node, (struct rl_answer){RL_FAILED, RL_DETAIL_BACKLOG, 0});
    else
        queue->commands[(queue->head + queue->size++) % CORE_QUEUE] = *command;
}

static void carry_out_send(struct core *core, const struct rl_effect *effect)
{
    struct core_command command = {core_claim_of(effect->claim), effect->step, effect->round,
                                   core_ticket_of(core_claim_of(effect->claim))};

    core_say(core, "SEND %s #%u:", step_names[effect->step], command.claim->number);
    for (unsigned node = 0; node < core->engine.votes.config.n_nodes; node++) {
        if (effect->nodes & (UINT32_C(1) << node))
            core_say(core, " %u", node);
    }
    core_say(core, "\n");
    CORE_DEMAND(effect->nodes && !(effect->nodes >> core->engine.votes.config.n_nodes), "no such masters\n%s",
                core->log);
    for (unsigned node = 0; node < core->engine.votes.config.n_nodes; node++) {
        if (effect->nodes & (UINT32_C(1) << node))
            enqueue(core, &command, node);
    }
}

static void carry_out_complete(struct core *core, const struct rl_effect *effect)
{
    unsigned i = index_of(core, effect->lock);

    core->last = *effect;
    core->completed[i]++;
    if (effect->op == RL_OP_ACQUIRE) /* it was lent until now */
        memset(&core->requests[i], 0xa5, sizeof core->requests[i]);
    if (effect->op == RL_OP_ACQUIRE)
        memset(&core->entries[i], 0xa5, sizeof core->entries[i]);
    core_say(core, "COMPLETE %s %s", op_names[effect->op], end_names[effect->status]);
    if (effect->cause)
        core_say(core, " (%s)", end_names[effect->cause]);
    core_say(core, "\n");
    CORE_DEMAND(core->completed[i] <= core->started[i], "completed more than started\n%s", core->log);
}

static bool is_live(const struct core *core, const struct rl_claim *claim)
{
    for (struct rl_list *at = core->live.next; at != &core->live; at = at->next) {
        if (RL_CONTAINER_OF(at, struct core_claim, link)->claim == claim)
            return true;
    }
    return false;
}

static void carry_out_dispose(struct core *core, const struct rl_effect *effect)
{
    struct core_claim *record;

    CORE_DEMAND(is_live(core, effect->claim), "a claim disposed of twice\n%s", core->log);
    record = core_claim_of(effect->claim);
    core_say(core, "DISPOSE #%u\n", record->number);
    CORE_DEMAND(record->in_flight == 0, "#%u disposed of with %u in flight\n%s", record->number, record->in_flight,
                  core->log);
    rl_list_remove(&record->link);
    free(record->watched);
    free((struct core_claim **)(void *)record->claim - 1);
    free(record);
}

static void answer_want_claim(struct core *core, struct rl_lock *lock)
{
    if (core->refuse_claims)
        rl_lock_refuse_attempt(&core->engine, lock, core->now);
    else
        rl_lock_begin_attempt(&core->engine, lock, core->now, core_make_claim(core, lock->acquisition.request->kind),
                              core->proposal);
}

/* Whatever is said about a lock is said while it is held. Timers are asked for anew after every event here. */
static void carry_out_news(struct core *core, const struct rl_effect *effect)
{
    CORE_DEMAND(effect->kind == RL_EFFECT_LOST || effect->lock->state == RL_LOCK_HELD ||
                    effect->lock->state == RL_LOCK_EXTENDING,
                "news about a lock that is not held\n%s", core->log);
    if (effect->kind == RL_EFFECT_RENEWED)
        core_say(core, "RENEWED\n");
    else if (effect->kind == RL_EFFECT_AT_RISK)
        core_say(core, "AT-RISK\n");
    else
        core_say(core, "LOST\n");
    if (effect->kind == RL_EFFECT_LOST)
        core->lost[index_of(core, effect->lock)]++;
}

/* Claims and acceptances are routine, and so are votes that go: they leave no line. */
static void carry_out(struct core *core, const struct rl_effect *effect)
{
    if (effect->kind == RL_EFFECT_WANT_CLAIM) {
        answer_want_claim(core, effect->lock);
    } else if (effect->kind == RL_EFFECT_ACCEPT) {
        core->now = rl_after(core->now, core->accept_delay);
        rl_lock_accept(&core->engine, effect->lock, core->now);
    } else if (effect->kind != RL_EFFECT_EARLIER) { /* all timers are asked each time */
        say_time(core);
        if (effect->kind == RL_EFFECT_SEND)
            carry_out_send(core, effect);
        else if (effect->kind == RL_EFFECT_COMPLETE)
            carry_out_complete(core, effect);
        else if (effect->kind == RL_EFFECT_DISPOSE)
            carry_out_dispose(core, effect);
        else if (effect->kind == RL_EFFECT_BACKOFF)
            core_say(core, "BACKOFF %s\n", end_names[effect->status]);
        else if (effect->kind == RL_EFFECT_WAITING)
            core_say_position(core, effect->lock);
        else
            carry_out_news(core, effect);
    }
}

/* A timer that a host has armed is never late. */
static void check_timer(struct core *core, unsigned i)
{
    struct rl_instant wakeup = rl_lock_wakeup(&core->engine, &core->locks[i]);

    CORE_DEMAND(core->looks[i] || !rl_before(wakeup, core->timers[i]), "lock %u: its timer is %.3f ms late\n%s", i,
                (double)rl_until(wakeup, core->timers[i]).ns / RL_NS_PER_MS, core->log);
    core->looks[i] = false;
    core->timers[i] = wakeup;
}

void core_drain(struct core *core)
{
    struct rl_effect effect;

    for (unsigned i = 0; i < CORE_LOCKS; i++)
        note(core, i);
    while (rl_engine_poll(&core->engine, &effect)) {
        if (effect.lock)
            core->looks[effect.lock - core->locks] = true;
        carry_out(core, &effect);
        for (unsigned i = 0; i < CORE_LOCKS; i++)
            note(core, i);
    }
    core_write_epoch_checks(core);
    for (unsigned i = 0; i < CORE_LOCKS; i++) {
        check_balance(core, i);
        check_timer(core, i);
    }
}

void core_drain_for(struct core *core, unsigned lock)
{
    core->looks[lock] = true;
    core_drain(core);
}

/* --- World ---------------------------------------------------------------------------------------------------- */

struct rl_config core_config(size_t n_nodes)
{
    return (struct rl_config){
        .n_nodes = n_nodes,
        .quorum = n_nodes / 2 + 1,
        .drift = {.ppm = 10000, .fixed = rl_ms(2)},
        .node_timeout = rl_ms(50),
        .max_ttl_ms = 5000,
        .seed = 1,
    };
}

struct core *core_youngest;

struct core *core_new(const struct rl_config *config)
{
    struct core *core = calloc(1, sizeof *core);

    ck_assert_ptr_nonnull(core);
    core->older = core_youngest;
    core_youngest = core;
    rl_engine_init(&core->engine, config);
    rl_list_init(&core->live);
    for (unsigned i = 0; i < CORE_LOCKS; i++)
        rl_lock_init(&core->locks[i]);
    for (unsigned i = 0; i < CORE_LOCKS; i++)
        core->timers[i] = RL_NEVER;
    for (unsigned node = 0; node < config->n_nodes; node++)
        core_admit_voting(core, node, false);
    for (unsigned node = 0; node < config->n_nodes; node++)
        core->reports[node] = (struct rl_entry_report){.ticket = 100, .held_ms = 3000, .look_ms = 3000};
    return core;
}

struct core *core_start(size_t n_nodes)
{
    struct rl_config config = core_config(n_nodes);
    struct core *core = core_new(&config);

    for (unsigned node = 0; node < n_nodes; node++)
        core_link(core, node, RL_LINK_READY);
    return core;
}
