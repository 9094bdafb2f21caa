/* What may happen next, and how it happens. */
#include <stdio.h>
#include <string.h>

#include "engine/lock.h"
#include "engine/hold.h"
#include "holders_parts.h"
#include "kinds/mutex.h"
#include "kinds/shared.h"

static void add(struct search_list *list, bool possible, enum holders_kind kind, unsigned a, unsigned b, unsigned c)
{
    search_add(list, possible, (struct search_action){(uint8_t)kind, (uint8_t)a, (uint8_t)b, (uint8_t)c});
}

static bool timer_is_due(const struct holders *world, unsigned number)
{
    const struct holders_client *client = &world->clients[number];
    struct rl_instant wakeup = rl_earlier(rl_lock_wakeup(&client->engine, &client->lock),
                                          rl_lock_wakeup(&client->engine, &client->second));

    return !rl_before(holders_instant(world->now), rl_earlier(wakeup, rl_engine_wakeup(&client->engine)));
}

static bool is_pending(const struct holders_client *client)
{
    return client->upgrading || rl_lock_is_acquiring(&client->lock) || client->lock.state == RL_LOCK_EXTENDING;
}

/* A program may begin another operation once the one before has ended, and only with a lock that is valid. */
static void add_client(const struct holders *world, unsigned number, struct search_list *list)
{
    const struct holders_client *client = &world->clients[number];
    const struct holders_wishes *left = &client->left;
    uint8_t state = client->lock.state;
    bool may = state == RL_LOCK_HELD && !client->upgrading && holders_is_valid(world, number);
    enum rl_mode mode = may ? rl_lock_mode(&client->lock) : RL_SHARED;
    bool over = state == RL_LOCK_HELD || state == RL_LOCK_EXTENDING || state == RL_LOCK_LOST;

    add(list, !client->started, HOLDERS_ACQUIRE, number, 0, 0);
    add(list, timer_is_due(world, number), HOLDERS_TIMER, number, 0, 0);
    add(list, may && left->extends, HOLDERS_EXTEND, number, 0, 0);
    for (unsigned weaker = mode + 1; weaker <= RL_SHARED; weaker++)
        add(list, left->lowers, HOLDERS_LOWER, number, 0, weaker);
    add(list, mode == RL_UPGRADEABLE && left->upgrades, HOLDERS_UPGRADE, number, 0, 0);
    add(list, mode == RL_UPGRADEABLE && left->tries, HOLDERS_TRY_UPGRADE, number, 0, 0);
    add(list, is_pending(client) && left->cancels, HOLDERS_CANCEL, number, 0, 0);
    add(list, over && left->releases, HOLDERS_RELEASE, number, 0, 0);
}

static void add_path(const struct holders *world, unsigned client, unsigned master, struct search_list *list)
{
    add(list, world->up[client][master].count > 0, HOLDERS_UP, client, master, 0);
    add(list, world->down[client][master].count > 0, HOLDERS_DOWN, client, master, 0);
    add(list, world->told[client][master].count > 0, HOLDERS_TOLD, client, master, 0);
}

/* Before the first acquisition nothing happens. */
size_t holders_actions(const struct holders *world, const struct holders_setup *setup,
                       struct search_action *ret_actions)
{
    struct search_list list = {ret_actions, 0};

    for (unsigned client = 0; client < HOLDERS_CLIENTS; client++) {
        add_client(world, client, &list);
        for (unsigned master = 0; master < HOLDERS_MASTERS; master++)
            add_path(world, client, master, &list);
    }
    add(&list, world->now < setup->last_tick && (world->clients[0].started || world->clients[1].started), HOLDERS_TICK,
        0, 0, 0);
    return list.count;
}

/* --- How it happens ----------------------------------------------------------------------------------------------- */

static void pass_tick(struct holders *world, const struct holders_setup *setup)
{
    world->now++;
    for (unsigned master = 0; master < HOLDERS_MASTERS; master++)
        world->masters[master] =
            script_states_age(setup->states, world->masters[master], holders_node_ms(world->now));
}

static void run_timers(struct holders *world, const struct holders_setup *setup, unsigned number)
{
    struct holders_client *client = &world->clients[number];
    struct rl_instant now = holders_instant(world->now);

    rl_lock_tick(&client->engine, &client->lock, now);
    holders_pump(world, setup, number);
    rl_lock_tick(&client->engine, &client->second, now);
    rl_engine_tick(&client->engine, now);
}

static void perform_client(struct holders *world, const struct holders_setup *setup, struct search_action action)
{
    struct holders_client *client = &world->clients[action.a];
    struct rl_instant now = holders_instant(world->now);

    switch ((enum holders_kind)action.kind) {
    case HOLDERS_ACQUIRE:
        holders_acquire(world, setup, action.a);
        break;
    case HOLDERS_EXTEND:
        client->left.extends--;
        rl_lock_extend(&client->engine, &client->lock, now, 0);
        break;
    case HOLDERS_LOWER:
        client->left.lowers--;
        rl_lock_lower(&client->engine, &client->lock, now, rl_shared_form(&rl_mutex_kind), (enum rl_mode)action.c);
        break;
    case HOLDERS_UPGRADE:
        client->left.upgrades--;
        holders_upgrade(world, action.a, false);
        break;
    case HOLDERS_TRY_UPGRADE:
        client->left.tries--;
        holders_upgrade(world, action.a, true);
        break;
    case HOLDERS_CANCEL:
        client->left.cancels--;
        holders_cancel(world, setup, action.a);
        break;
    case HOLDERS_RELEASE:
        holders_release(world, setup, action.a);
        break;
    default:
        run_timers(world, setup, action.a);
        break;
    }
    holders_pump(world, setup, action.a);
}

void holders_perform(struct holders *world, const struct holders_setup *setup, struct search_action action)
{
    switch ((enum holders_kind)action.kind) {
    case HOLDERS_TICK:
        pass_tick(world, setup);
        break;
    case HOLDERS_UP:
        holders_carry_out(world, setup, action.a, action.b);
        if (setup->wishes[action.a].prompt)
            holders_deliver(world, setup, action.a, action.b);
        break;
    case HOLDERS_DOWN:
        holders_deliver(world, setup, action.a, action.b);
        break;
    case HOLDERS_TOLD:
        holders_notify(world, setup, action.a, action.b);
        break;
    default:
        perform_client(world, setup, action);
        break;
    }
}

void holders_init(struct holders *world, const struct holders_setup *setup)
{
    struct rl_config config = {
        .n_nodes = HOLDERS_MASTERS,
        .quorum = HOLDERS_QUORUM,
        .node_timeout = rl_ms(HOLDERS_TICK_MS),
        .max_ttl_ms = setup->ttl * HOLDERS_TICK_MS,
    };
    struct rl_admission_status votes = {.kind = RL_ADMISSION_VOTES};

    memset(world, 0, sizeof *world);
    for (unsigned master = 0; master < HOLDERS_MASTERS; master++)
        world->masters[master] = script_states_empty(setup->states);
    for (unsigned number = 0; number < HOLDERS_CLIENTS; number++) {
        struct holders_client *client = &world->clients[number];

        client->left = setup->wishes[number];
        rl_engine_init(&client->engine, &config);
        rl_lock_init(&client->lock);
        rl_lock_init(&client->second);
        for (unsigned master = 0; master < HOLDERS_MASTERS; master++) {
            rl_engine_admission(&client->engine, master, &votes);
            rl_engine_link(&client->engine, holders_instant(0), master, RL_LINK_READY);
        }
        holders_pump(world, setup, number);
    }
}

void holders_describe(struct search_action action, char *text, size_t size)
{
    static const char *const texts[] = {
        [HOLDERS_TICK] = "a tick passes",
        [HOLDERS_ACQUIRE] = "acquires",
        [HOLDERS_EXTEND] = "extends",
        [HOLDERS_LOWER] = "lowers its mode to",
        [HOLDERS_UPGRADE] = "begins an upgrade",
        [HOLDERS_TRY_UPGRADE] = "begins an upgrade that does not wait",
        [HOLDERS_CANCEL] = "cancels",
        [HOLDERS_RELEASE] = "releases",
        [HOLDERS_TIMER] = "looks at its timers",
        [HOLDERS_UP] = "the next command is carried out",
        [HOLDERS_DOWN] = "the next reply arrives",
        [HOLDERS_TOLD] = "the next notification arrives",
    };
    static const char *const modes[] = {"", " upgradeable", " shared"};
    const char *what = texts[action.kind];

    if (action.kind == HOLDERS_TICK)
        snprintf(text, size, "%s", what);
    else if (action.kind < HOLDERS_UP)
        snprintf(text, size, "%c %s%s", 'A' + action.a, what, modes[action.c]);
    else
        snprintf(text, size, "%c-m%d: %s", 'A' + action.a, action.b + 1, what);
}
