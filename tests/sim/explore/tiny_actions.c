/* What may happen next, and how it happens. */
#include <stdio.h>

#include "tiny_parts.h"

static bool timer_is_due(const struct tiny *tiny, unsigned client)
{
    const struct rl_engine *engine = &tiny->engines[client];
    struct rl_instant wakeup = rl_earlier(rl_engine_wakeup(engine), rl_lock_wakeup(engine, &tiny->locks[client]));

    return !rl_before(tiny_instant(tiny->now), wakeup);
}

static void add(struct search_list *list, bool possible, enum tiny_kind kind, unsigned a, unsigned b, unsigned c)
{
    search_add(list, possible, (struct search_action){(uint8_t)kind, (uint8_t)a, (uint8_t)b, (uint8_t)c});
}

static void add_client(const struct tiny *tiny, const struct tiny_setup *setup, unsigned client,
                       struct search_list *list)
{
    uint8_t state = tiny->locks[client].state;
    bool held = state == RL_LOCK_HELD || state == RL_LOCK_EXTENDING || state == RL_LOCK_LOST;

    add(list, !tiny->started[client] && tiny->now >= setup->late_from, TINY_ACQUIRE, client, 0, 0);
    add(list, timer_is_due(tiny, client), TINY_TIMER, client, 0, 0);
    if (client > 0)
        return;
    add(list, state == RL_LOCK_HELD && tiny_is_valid(tiny, client) && tiny->extends < setup->extends, TINY_EXTEND,
        client, 0, 0);
    add(list, held && setup->release, TINY_RELEASE, client, 0, 0);
    add(list, (state == RL_LOCK_ACQUIRING || state == RL_LOCK_EXTENDING) && setup->cancel && !tiny->canceled,
        TINY_CANCEL, client, 0, 0);
}

static void add_path(const struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master,
                     struct search_list *list)
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

/* Nobody acquires a second time. */
static bool is_over(const struct tiny *tiny)
{
    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        uint8_t state = tiny->locks[client].state;

        if (tiny->started[client] &&
            (state == RL_LOCK_IDLE || state == RL_LOCK_LOST || state == RL_LOCK_RELEASING))
            return true;
    }
    return false;
}

size_t tiny_actions(const struct tiny *tiny, const struct tiny_setup *setup, struct search_action *ret_actions)
{
    struct search_list list = {ret_actions, 0};

    if (setup->exclusion && is_over(tiny))
        return 0;
    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        add_client(tiny, setup, client, &list);
        for (unsigned master = 0; master < setup->masters; master++)
            add_path(tiny, setup, client, master, &list);
    }
    for (unsigned master = 0; master < setup->masters; master++) {
        uint8_t back_at = tiny->masters[master].back_at;
        bool flush = tiny->now >= setup->late_from && tiny_may_flush(tiny, setup, master);

        add(&list, back_at == 0 && tiny->crashes < setup->crashes, TINY_CRASH, master, 0, 0);
        add(&list, back_at == 0 && tiny->losses < setup->losses, TINY_LOSE, master, 0, 0);
        add(&list, back_at == 0 && flush, TINY_FLUSH, master, 0, 0);
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

    rl_lock_extend(&tiny->engines[client], &tiny->locks[client], tiny_instant(tiny->now), tiny_ms(ticks));
}

static void perform_client(struct tiny *tiny, const struct tiny_setup *setup, struct search_action action)
{
    struct rl_engine *engine = &tiny->engines[action.a];
    struct rl_lock *lock = &tiny->locks[action.a];

    switch ((enum tiny_kind)action.kind) {
    case TINY_ACQUIRE:
        tiny_start(tiny, setup, action.a);
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
        tiny_join(tiny, setup, action.a, action.b);
        break;
    }
    tiny_pump(tiny, setup, action.a);
}

static void perform_master(struct tiny *tiny, const struct tiny_setup *setup, struct search_action action)
{
    struct tiny_master *master = &tiny->masters[action.a];

    if (action.kind == TINY_RETURN) {
        master->back_at = 0;
        tiny_empty(master);
        return;
    }
    if (action.kind == TINY_FLUSH) {
        tiny->flushes++;
        tiny_empty(master);
        return;
    }
    tiny_crash(tiny, setup, action.a);
    if (action.kind == TINY_CRASH) {
        tiny->crashes++;
        return;
    }
    tiny->losses++;
    master->back_at = (uint8_t)(tiny->now + 1 + (setup->late_return ? setup->ttl : 0));
}

static bool is_guard_next(const struct tiny *tiny, unsigned client, unsigned master)
{
    const struct tiny_pipe *up = &tiny->up[client][master];

    return up->count && up->messages[0].step == TINY_EPOCH_CHECK;
}

/* Where the memory cannot be lost but together with the connection, it makes no difference whether an epoch check
 * is carried out at once or later. */
static void carry_out(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master)
{
    bool prompt = setup->prompt || (setup->prompt_rival && client == 1);

    do {
        tiny_carry_out(tiny, client, master);
        if (prompt)
            tiny_deliver(tiny, setup, client, master);
    } while (prompt && !tiny_may_flush(tiny, setup, master) && is_guard_next(tiny, client, master));
}

void tiny_perform(struct tiny *tiny, const struct tiny_setup *setup, struct search_action action)
{
    switch ((enum tiny_kind)action.kind) {
    case TINY_TICK:
        tiny->now++;
        break;
    case TINY_UP:
        carry_out(tiny, setup, action.a, action.b);
        break;
    case TINY_GHOST:
        tiny_carry_out_ghost(tiny, action.a, action.b);
        break;
    case TINY_DOWN:
        tiny_deliver(tiny, setup, action.a, action.b);
        break;
    case TINY_BREAK:
        tiny_break(tiny, setup, action);
        break;
    case TINY_CRASH:
    case TINY_LOSE:
    case TINY_FLUSH:
    case TINY_RETURN:
        perform_master(tiny, setup, action);
        break;
    default:
        perform_client(tiny, setup, action);
        break;
    }
    for (unsigned client = 0; client < TINY_CLIENTS; client++)
        tiny_guard(tiny, setup, client);
}

void tiny_describe(struct search_action action, char *text, size_t size)
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
        [TINY_FLUSH] = "loses its memory, connections stay",
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
