#include "tiny.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/recipe.h"

struct rl_instant tiny_instant(unsigned tick)
{
    return (struct rl_instant){(int64_t)(tick + 1) * TICK_NS};
}

static uint32_t ttl_ms(unsigned ticks)
{
    return (uint32_t)(ticks * (TICK_NS / RL_NS_PER_MS));
}

static uint8_t number_of(const struct tiny *tiny, unsigned client, const struct rl_claim *claim)
{
    for (uint8_t i = 0; i < TINY_CLAIMS; i++) {
        if ((const void *)tiny->claims[client][i].memory == (const void *)claim)
            return i;
    }
    assert(false); /* a claim of another client */
    return 0;
}

/* --- The host ----------------------------------------------------------------------------------------------------- */

static void push(struct tiny_pipe *pipe, struct tiny_message message)
{
    assert(pipe->count < TINY_PIPE);
    pipe->messages[pipe->count++] = message;
}

/* What is beyond the end is kept zero: equal states have equal bytes. */
static struct tiny_message shift(struct tiny_pipe *pipe)
{
    struct tiny_message first = pipe->messages[0];

    pipe->count--;
    memmove(pipe->messages, pipe->messages + 1, pipe->count * sizeof first);
    memset(&pipe->messages[pipe->count], 0, sizeof first);
    return first;
}

static void tell(struct tiny *tiny, unsigned client, unsigned master, struct tiny_message message)
{
    struct tiny_claim *claim = &tiny->claims[client][message.claim];

    if (claim->state != 1) {
        tiny->wrong = "an answer for a claim that was disposed of";
        return;
    }
    rl_engine_reply(&tiny->engines[client], tiny_instant(tiny->now), tiny_claim(claim), (enum rl_step)message.step,
                    message.round, master,
                    (struct rl_answer){(enum rl_outcome)message.outcome, (enum rl_detail)message.detail},
                    RL_NO_LATENCY);
}

static void send(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, const struct rl_effect *effect)
{
    struct tiny_message message = {
        .step = (uint8_t)effect->step,
        .claim = number_of(tiny, client, effect->claim),
        .round = (uint8_t)effect->round,
        .ttl = (uint8_t)(effect->claim->ttl_ms / ttl_ms(1)),
    };

    for (unsigned master = 0; master < setup->masters; master++) {
        if (!(effect->nodes >> master & 1u))
            continue;
        if (tiny->open[client][master]) {
            push(&tiny->up[client][master], message);
            continue;
        }
        message.outcome = RL_FAILED;
        message.detail = RL_DETAIL_DOWN;
        tell(tiny, client, master, message);
    }
}

static void begin_attempt(struct tiny *tiny, unsigned client)
{
    struct rl_engine *engine = &tiny->engines[client];

    for (uint8_t i = 0; i < TINY_CLAIMS; i++) {
        struct tiny_claim *claim = &tiny->claims[client][i];

        if (claim->state)
            continue;
        claim->state = 1;
        rl_lock_begin_attempt(engine, &tiny->locks[client], tiny_instant(tiny->now), tiny_claim(claim));
        return;
    }
    rl_lock_refuse_attempt(engine, &tiny->locks[client], tiny_instant(tiny->now));
}

static bool holds(const struct tiny *tiny, unsigned master, unsigned client, unsigned claim)
{
    return tiny->masters[master].owner == 1 + client * TINY_CLAIMS + claim &&
           tiny->masters[master].expires > tiny->now;
}

static void dispose(struct tiny *tiny, unsigned client, struct rl_claim *claim)
{
    uint8_t number = number_of(tiny, client, claim);
    struct tiny_claim *box = &tiny->claims[client][number];

    for (unsigned master = 0; master < TINY_MASTERS; master++) {
        if (holds(tiny, master, client, number) && !(box->strays >> master & 1u))
            tiny->wrong = "a claim was disposed of while a master held its value";
    }
    box->state = 2;
    memset(box->memory, 0, sizeof box->memory);
}

static void pump(struct tiny *tiny, const struct tiny_setup *setup, unsigned client)
{
    struct rl_effect effect;

    while (rl_engine_poll(&tiny->engines[client], &effect)) {
        if (effect.kind == RL_EFFECT_SEND)
            send(tiny, setup, client, &effect);
        else if (effect.kind == RL_EFFECT_WANT_CLAIM)
            begin_attempt(tiny, client);
        else if (effect.kind == RL_EFFECT_ACCEPT)
            rl_lock_accept(&tiny->engines[client], &tiny->locks[client], tiny_instant(tiny->now));
        else if (effect.kind == RL_EFFECT_DISPOSE)
            dispose(tiny, client, effect.claim);
        else if (effect.kind == RL_EFFECT_COMPLETE)
            rl_lock_forget(&tiny->engines[client], &tiny->locks[client]);
    }
    /* What has no influence on what follows must not make states differ. */
    memset(&tiny->engines[client].counters, 0, sizeof tiny->engines[client].counters);
    tiny->engines[client].random = 0;
}

static void start(struct tiny *tiny, const struct tiny_setup *setup, unsigned client)
{
    struct rl_acquire wish = {
        .ttl_ms = ttl_ms(setup->ttl),
        .max_attempts = setup->attempts,
        .retry_delay = {TICK_NS},
        .deadline = RL_NEVER,
        .once = setup->attempts == 1,
    };

    tiny->started[client] = true;
    rl_lock_acquire(&tiny->engines[client], &tiny->locks[client], tiny_instant(tiny->now), &wish);
}

void tiny_init(struct tiny *tiny, const struct tiny_setup *setup)
{
    struct rl_config config = {
        .n_nodes = setup->masters,
        .quorum = setup->quorum,
        .node_timeout = {TICK_NS},
    };

    memset(tiny, 0, sizeof *tiny);
    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        rl_engine_init(&tiny->engines[client], &config);
        rl_lock_init(&tiny->locks[client]);
        for (unsigned master = 0; master < setup->masters; master++) {
            tiny->open[client][master] = true;
            rl_engine_link(&tiny->engines[client], tiny_instant(0), master, RL_LINK_READY);
        }
        pump(tiny, setup, client);
    }
    start(tiny, setup, 0); /* the first client is the one that begins */
    pump(tiny, setup, 0);
}

/* --- Masters ------------------------------------------------------------------------------------------------------ */

static struct rl_answer refuse(const struct tiny_master *master)
{
    return (struct rl_answer){RL_REFUSED, master->owner ? RL_DETAIL_FOREIGN : RL_DETAIL_MISSING};
}

/* One command at one master: what SET NX PX, extend.lua and release.lua do. */
static struct rl_answer execute(struct tiny *tiny, unsigned index, unsigned client, struct tiny_message message)
{
    struct tiny_master *master = &tiny->masters[index];
    uint8_t owner = (uint8_t)(1 + client * TINY_CLAIMS + message.claim);

    if (master->owner && master->expires <= tiny->now)
        *master = (struct tiny_master){.back_at = master->back_at};
    if (message.step == RL_STEP_CLAIM) {
        if (master->owner)
            return (struct rl_answer){RL_REFUSED, RL_DETAIL_HELD};
        master->owner = owner;
    } else if (master->owner != owner) {
        return refuse(master);
    }
    if (message.step == RL_STEP_CLAIM || message.step == RL_STEP_EXTEND) {
        master->expires = (uint8_t)(tiny->now + message.ttl);
    } else {
        master->owner = 0;
        master->expires = 0;
    }
    return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE};
}

static void carry_out(struct tiny *tiny, unsigned client, unsigned master)
{
    struct tiny_message message = shift(&tiny->up[client][master]);
    struct rl_answer answer = execute(tiny, master, client, message);

    message.outcome = (uint8_t)answer.outcome;
    message.detail = (uint8_t)answer.detail;
    push(&tiny->down[client][master], message);
}

static void carry_out_ghost(struct tiny *tiny, unsigned client, unsigned master)
{
    struct tiny_message message = shift(&tiny->ghost[client][master]);
    struct rl_answer answer = execute(tiny, master, client, message);

    if (answer.outcome == RL_GRANTED && (message.step == RL_STEP_CLAIM || message.step == RL_STEP_EXTEND))
        tiny->claims[client][message.claim].strays |= (uint8_t)(1u << master);
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

static void deliver(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master)
{
    tell(tiny, client, master, shift(&tiny->down[client][master]));
    pump(tiny, setup, client);
}

/* Every command without a reply is unknown, in its order; then the link is down. */
static void disconnect(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master)
{
    struct tiny_pipe pending[2] = {tiny->down[client][master], tiny->up[client][master]};

    memset(&tiny->down[client][master], 0, sizeof pending[0]);
    memset(&tiny->up[client][master], 0, sizeof pending[0]);
    tiny->open[client][master] = false;
    for (unsigned i = 0; i < 2; i++) {
        while (pending[i].count) {
            struct tiny_message message = shift(&pending[i]);

            message.outcome = RL_UNKNOWN;
            message.detail = RL_DETAIL_DISCONNECTED;
            tell(tiny, client, master, message);
            pump(tiny, setup, client);
        }
    }
    rl_engine_link(&tiny->engines[client], tiny_instant(tiny->now), master, RL_LINK_DOWN);
    pump(tiny, setup, client);
}

static void break_connection(struct tiny *tiny, const struct tiny_setup *setup, struct tiny_action action)
{
    const struct tiny_pipe *up = &tiny->up[action.a][action.b];

    tiny->breaks++;
    for (uint8_t i = 0; i < action.c; i++)
        push(&tiny->ghost[action.a][action.b], up->messages[i]);
    disconnect(tiny, setup, action.a, action.b);
}

static void crash(struct tiny *tiny, const struct tiny_setup *setup, unsigned master)
{
    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        memset(&tiny->ghost[client][master], 0, sizeof tiny->ghost[client][master]);
        if (tiny->open[client][master])
            disconnect(tiny, setup, client, master);
    }
}

/* --- Actions ------------------------------------------------------------------------------------------------------ */

static bool timer_is_due(const struct tiny *tiny, unsigned client)
{
    const struct rl_engine *engine = &tiny->engines[client];
    struct rl_instant wakeup = rl_earlier(rl_engine_wakeup(engine), rl_lock_wakeup(engine, &tiny->locks[client]));

    return !rl_before(tiny_instant(tiny->now), wakeup);
}

static bool is_valid(const struct tiny *tiny, unsigned client)
{
    return rl_before(tiny_instant(tiny->now), rl_lock_deadline(&tiny->engines[client], &tiny->locks[client]));
}

struct list {
    struct tiny_action *actions;
    size_t count;
};

static void add(struct list *list, bool possible, enum tiny_kind kind, unsigned a, unsigned b, unsigned c)
{
    if (!possible)
        return;
    assert(list->count < TINY_MAX_ACTIONS);
    list->actions[list->count++] = (struct tiny_action){(uint8_t)kind, (uint8_t)a, (uint8_t)b, (uint8_t)c};
}

static void add_client(const struct tiny *tiny, const struct tiny_setup *setup, unsigned client, struct list *list)
{
    uint8_t state = tiny->locks[client].state;
    bool held = state == RL_LOCK_HELD || state == RL_LOCK_EXTENDING || state == RL_LOCK_LOST;

    add(list, !tiny->started[client], TINY_ACQUIRE, client, 0, 0);
    add(list, timer_is_due(tiny, client), TINY_TIMER, client, 0, 0);
    if (client > 0)
        return;
    add(list, state == RL_LOCK_HELD && is_valid(tiny, client) && tiny->extends < setup->extends, TINY_EXTEND, client, 0,
        0);
    add(list, held && setup->release, TINY_RELEASE, client, 0, 0);
    add(list, (state == RL_LOCK_ACQUIRING || state == RL_LOCK_EXTENDING) && setup->cancel && !tiny->canceled,
        TINY_CANCEL, client, 0, 0);
}

static void add_path(const struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master,
                     struct list *list)
{
    bool up = tiny->masters[master].back_at == 0;
    bool open = tiny->open[client][master];
    uint8_t on_their_way = tiny->up[client][master].count;

    add(list, tiny->down[client][master].count > 0, TINY_DOWN, client, master, 0);
    add(list, up && on_their_way > 0, TINY_UP, client, master, 0);
    add(list, up && tiny->ghost[client][master].count > 0, TINY_GHOST, client, master, 0);
    add(list, up && !open, TINY_RECONNECT, client, master, 0);
    if (!open || tiny->breaks == setup->breaks)
        return;
    for (unsigned survive = 0; survive <= on_their_way; survive++)
        add(list, tiny->ghost[client][master].count + survive <= TINY_PIPE, TINY_BREAK, client, master, survive);
}

size_t tiny_actions(const struct tiny *tiny, const struct tiny_setup *setup, struct tiny_action *ret_actions)
{
    struct list list = {ret_actions, 0};

    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        add_client(tiny, setup, client, &list);
        for (unsigned master = 0; master < setup->masters; master++)
            add_path(tiny, setup, client, master, &list);
    }
    for (unsigned master = 0; master < setup->masters; master++) {
        uint8_t back_at = tiny->masters[master].back_at;

        add(&list, back_at == 0 && tiny->crashes < setup->crashes, TINY_CRASH, master, 0, 0);
        add(&list, back_at == 0 && tiny->losses < setup->losses, TINY_LOSE, master, 0, 0);
        add(&list, back_at && back_at <= tiny->now + 1, TINY_RETURN, master, 0, 0);
    }
    add(&list, tiny->now < setup->last_tick, TINY_TICK, 0, 0, 0);
    return list.count;
}

static void run_timers(struct tiny *tiny, unsigned client)
{
    rl_lock_tick(&tiny->engines[client], &tiny->locks[client], tiny_instant(tiny->now));
    rl_engine_tick(&tiny->engines[client], tiny_instant(tiny->now));
}

static void extend(struct tiny *tiny, const struct tiny_setup *setup, unsigned client)
{
    unsigned ticks = tiny->extends++ == 0 && setup->extend_ttl ? setup->extend_ttl : setup->ttl;

    rl_lock_extend(&tiny->engines[client], &tiny->locks[client], tiny_instant(tiny->now), ttl_ms(ticks));
}

static void perform_client(struct tiny *tiny, const struct tiny_setup *setup, struct tiny_action action)
{
    struct rl_engine *engine = &tiny->engines[action.a];
    struct rl_lock *lock = &tiny->locks[action.a];

    switch ((enum tiny_kind)action.kind) {
    case TINY_ACQUIRE:
        start(tiny, setup, action.a);
        break;
    case TINY_EXTEND:
        extend(tiny, setup, action.a);
        break;
    case TINY_RELEASE:
        rl_lock_release(engine, lock, tiny_instant(tiny->now));
        break;
    case TINY_CANCEL:
        tiny->canceled = true;
        rl_lock_cancel(engine, lock, tiny_instant(tiny->now));
        break;
    case TINY_TIMER:
        run_timers(tiny, action.a);
        break;
    case TINY_RECONNECT:
    default:
        tiny->open[action.a][action.b] = true;
        rl_engine_link(engine, tiny_instant(tiny->now), action.b, RL_LINK_READY);
        break;
    }
    pump(tiny, setup, action.a);
}

static void perform_master(struct tiny *tiny, const struct tiny_setup *setup, struct tiny_action action)
{
    struct tiny_master *master = &tiny->masters[action.a];

    if (action.kind == TINY_RETURN) {
        *master = (struct tiny_master){0};
        return;
    }
    crash(tiny, setup, action.a);
    if (action.kind == TINY_CRASH) {
        tiny->crashes++;
        return;
    }
    tiny->losses++;
    master->back_at = (uint8_t)(tiny->now + 1 + (setup->late_return ? setup->ttl : 0));
}

void tiny_perform(struct tiny *tiny, const struct tiny_setup *setup, struct tiny_action action)
{
    switch ((enum tiny_kind)action.kind) {
    case TINY_TICK:
        tiny->now++;
        break;
    case TINY_UP:
        carry_out(tiny, action.a, action.b);
        if (setup->prompt_rival && action.a == 1)
            deliver(tiny, setup, action.a, action.b);
        break;
    case TINY_GHOST:
        carry_out_ghost(tiny, action.a, action.b);
        break;
    case TINY_DOWN:
        deliver(tiny, setup, action.a, action.b);
        break;
    case TINY_BREAK:
        break_connection(tiny, setup, action);
        break;
    case TINY_CRASH:
    case TINY_LOSE:
    case TINY_RETURN:
        perform_master(tiny, setup, action);
        break;
    default:
        perform_client(tiny, setup, action);
        break;
    }
}

/* --- What must hold ----------------------------------------------------------------------------------------------- */

/* A quorum of masters holds the value until the deadline; a master that is down still counts, since nobody can be told
 * otherwise by it until it is back. */
static bool is_covered(const struct tiny *tiny, const struct tiny_setup *setup, unsigned client)
{
    struct rl_instant deadline = rl_lock_deadline(&tiny->engines[client], &tiny->locks[client]);
    uint8_t number = number_of(tiny, client, tiny->locks[client].claim);
    unsigned holding = 0;

    for (unsigned master = 0; master < setup->masters; master++)
        holding += holds(tiny, master, client, number) &&
                   !rl_before(tiny_instant(tiny->masters[master].expires), deadline);
    return holding >= setup->quorum;
}

void tiny_check(struct tiny *tiny, const struct tiny_setup *setup)
{
    bool valid[TINY_CLIENTS];

    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        valid[client] = is_valid(tiny, client);
        if (valid[client] && !is_covered(tiny, setup, client))
            tiny->wrong = "a client is valid beyond what a quorum of masters holds";
    }
    if (valid[0] && valid[1])
        tiny->wrong = "two clients are valid";
}

void tiny_describe(struct tiny_action action, char *text, size_t size)
{
    static const char *const texts[] = {
        [TINY_TICK] = "a tick passes",
        [TINY_ACQUIRE] = "acquires",
        [TINY_EXTEND] = "extends",
        [TINY_RELEASE] = "releases",
        [TINY_CANCEL] = "cancels",
        [TINY_TIMER] = "looks at its timers",
        [TINY_UP] = "the next command is carried out",
        [TINY_DOWN] = "the next reply arrives",
        [TINY_GHOST] = "the next command of a dead connection is carried out",
        [TINY_BREAK] = "the connection is lost",
        [TINY_RECONNECT] = "there is a connection again",
        [TINY_CRASH] = "restarts with its keys",
        [TINY_LOSE] = "crashes and loses its keys",
        [TINY_RETURN] = "is back, empty",
    };
    const char *what = texts[action.kind];

    if (action.kind == TINY_TICK)
        snprintf(text, size, "%s", what);
    else if (action.kind < TINY_UP)
        snprintf(text, size, "%c %s", 'A' + action.a, what);
    else if (action.kind == TINY_BREAK)
        snprintf(text, size, "%c-m%d: %s, commands that live on: %d", 'A' + action.a, action.b + 1, what, action.c);
    else if (action.kind < TINY_CRASH)
        snprintf(text, size, "%c-m%d: %s", 'A' + action.a, action.b + 1, what);
    else
        snprintf(text, size, "m%d %s", action.a + 1, what);
}
