/* The functions of <redlock/simulation.h> that are not about time (passage.c). */
#include <stdio.h>
#include <string.h>

#include <redlock/status.h>
#include <redlock/version.h>

#include "simulated/world.h"
#include "util/instant.h"

static int fail(struct redlock_error *ret_error, int status, const char *why)
{
    if (ret_error) {
        ret_error->status = status;
        snprintf(ret_error->text, sizeof ret_error->text, "%s", why ? why : redlock_strerror(status));
    }
    return status;
}

int redlock_simulation_create(size_t n_masters, struct redlock_simulation **ret_simulation,
                              struct redlock_error *ret_error)
{
    int status = REDLOCK_OK;

    if (!ret_simulation || n_masters == 0)
        return fail(ret_error, REDLOCK_E_ARGUMENT, "there must be a master at least, and ret_simulation");
    if (n_masters > REDLOCK_MAX_MASTERS)
        return fail(ret_error, REDLOCK_E_TOO_MANY_MASTERS, NULL);
    pthread_mutex_lock(&world_presence);
    if (world_present)
        status = fail(ret_error, REDLOCK_E_BUSY, "this process has a simulation, or a client of an earlier one");
    else if (!(world_present = world_create(n_masters)))
        status = fail(ret_error, REDLOCK_E_NOMEM, NULL);
    else if (!(world_present->ahead_ns = redlock_private_simulator(REDLOCK_VERSION, &world_simulator)))
        status = fail(ret_error, REDLOCK_E_SYSTEM, "libredlock is of another version than libredlock-test");
    if (status == REDLOCK_E_SYSTEM) {
        world_dispose(world_present);
        world_present = NULL;
    }
    if (status == REDLOCK_OK)
        *ret_simulation = world_present;
    pthread_mutex_unlock(&world_presence);
    return status;
}

static void break_pipes(struct simulated_master *master)
{
    for (struct rl_list *at = master->pipes.next; at != &master->pipes; at = at->next)
        pipe_break(RL_CONTAINER_OF(at, struct pipe, link));
}

void redlock_simulation_destroy(struct redlock_simulation *simulation)
{
    if (!simulation)
        return;
    pthread_mutex_lock(&world_presence);
    pthread_mutex_lock(&simulation->mutex);
    simulation->ended = true;
    for (size_t i = 0; i < simulation->n_masters; i++)
        break_pipes(simulation->masters[i]);
    pthread_mutex_unlock(&simulation->mutex);
    if (rl_list_empty(&simulation->clients)) {
        world_present = NULL;
        world_dispose(simulation);
    }
    pthread_mutex_unlock(&world_presence);
}

const char *const *redlock_simulation_masters(const struct redlock_simulation *simulation)
{
    return simulation->url_list;
}

/* --- What becomes of locks ---------------------------------------------------------------------------------------- */

static bool remove_key(struct simulated_master *master, const char *key)
{
    int64_t now_ms = (world_boot_ns(master->simulation) + master->simulation->wall_less_boot_ns) / RL_NS_PER_MS;
    struct entry *entry = keyspace_lookup(&master->keys, key, strlen(key), now_ms);

    if (entry)
        keyspace_remove(&master->keys, entry);
    return entry != NULL;
}

static bool remove_from_majority(struct redlock_simulation *simulation, const char *key)
{
    bool had = false;

    for (size_t i = 0; i < simulation->n_masters / 2 + 1; i++)
        had |= remove_key(simulation->masters[i], key);
    return had;
}

int redlock_simulation_lose(struct redlock_simulation *simulation, const char *key)
{
    bool had;

    if (!simulation || !key)
        return REDLOCK_E_ARGUMENT;
    pthread_mutex_lock(&simulation->mutex);
    had = remove_from_majority(simulation, key);
    pthread_mutex_unlock(&simulation->mutex);
    return had ? REDLOCK_OK : REDLOCK_E_NOT_HELD;
}

static void give(struct simulated_master *master, const char *key, const char *value, uint32_t ttl_ms)
{
    int64_t now_ms = (world_boot_ns(master->simulation) + master->simulation->wall_less_boot_ns) / RL_NS_PER_MS;
    struct entry *entry = keyspace_add(&master->keys, key, strlen(key));

    if (!entry)
        return;
    text_set(&entry->value, value, strlen(value));
    entry->expire_ms = now_ms + ttl_ms;
}

/* A value as the library makes them, with a label. */
static void make_value(struct redlock_simulation *simulation, char *ret_value, size_t size)
{
    unsigned char uuid[16];
    size_t used = 0;

    world_draw_uuid(simulation, uuid);
    for (int i = 0; i < 16; i++) {
        const char *gap = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";

        used += (size_t)snprintf(ret_value + used, size - used, "%s%02x", gap, uuid[i]);
    }
    snprintf(ret_value + used, size - used, ":another-owner");
}

int redlock_simulation_steal(struct redlock_simulation *simulation, const char *key, uint32_t ttl_ms)
{
    char value[64];

    if (!simulation || !key)
        return REDLOCK_E_ARGUMENT;
    if (!*key)
        return REDLOCK_E_KEY_EMPTY;
    if (strlen(key) > REDLOCK_MAX_KEY_BYTES)
        return REDLOCK_E_KEY_TOO_LONG;
    if (ttl_ms == 0)
        return REDLOCK_E_TTL;
    pthread_mutex_lock(&simulation->mutex);
    make_value(simulation, value, sizeof value);
    remove_from_majority(simulation, key);
    for (size_t i = 0; i < simulation->n_masters / 2 + 1; i++)
        give(simulation->masters[i], key, value, ttl_ms);
    pthread_mutex_unlock(&simulation->mutex);
    return REDLOCK_OK;
}

int redlock_simulation_fail_master(struct redlock_simulation *simulation, size_t i, bool fails)
{
    if (!simulation || i >= simulation->n_masters)
        return REDLOCK_E_ARGUMENT;
    pthread_mutex_lock(&simulation->mutex);
    simulation->masters[i]->down = fails;
    if (fails)
        break_pipes(simulation->masters[i]);
    pthread_mutex_unlock(&simulation->mutex);
    return REDLOCK_OK;
}

int redlock_simulation_fail_masters(struct redlock_simulation *simulation, size_t n)
{
    if (!simulation || n > simulation->n_masters)
        return REDLOCK_E_ARGUMENT;
    for (size_t i = 0; i < simulation->n_masters; i++)
        redlock_simulation_fail_master(simulation, i, i < n);
    return REDLOCK_OK;
}

void redlock_simulation_seed(struct redlock_simulation *simulation, uint64_t seed)
{
    pthread_mutex_lock(&simulation->mutex);
    simulation->random = seed;
    simulation->seeded = true;
    pthread_mutex_unlock(&simulation->mutex);
}
