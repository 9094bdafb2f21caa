#include "simulated/world.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "util/clock.h"
#include "util/instant.h"

pthread_mutex_t world_presence = PTHREAD_MUTEX_INITIALIZER;
struct redlock_simulation *world_present;

int64_t redlock_simulation_advanced_ns(const struct redlock_simulation *simulation)
{
    return atomic_load_explicit(simulation->ahead_ns, memory_order_acquire);
}

int64_t world_boot_ns(const struct redlock_simulation *simulation)
{
    return rl_clock_kernel_ns(CLOCK_BOOTTIME) + redlock_simulation_advanced_ns(simulation);
}

/* splitmix64 */
static uint64_t draw_number(struct redlock_simulation *simulation)
{
    uint64_t number = simulation->random += UINT64_C(0x9e3779b97f4a7c15);

    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

void world_draw_uuid(struct redlock_simulation *simulation, unsigned char uuid[16])
{
    const uint64_t numbers[2] = {draw_number(simulation), draw_number(simulation)};

    memcpy(uuid, numbers, 16);
    uuid[6] = (unsigned char)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
}

void world_dispose(struct redlock_simulation *simulation)
{
    for (size_t i = 0; i < simulation->n_masters; i++) {
        keyspace_clear(&simulation->masters[i]->keys);
        free(simulation->masters[i]);
    }
    if (simulation->lua)
        lua_host_destroy(simulation->lua);
    if (simulation->ahead_ns)
        atomic_store(simulation->ahead_ns, 0);
    pthread_cond_destroy(&simulation->rested);
    pthread_mutex_destroy(&simulation->mutex);
    free(simulation);
}

static bool add_master(struct redlock_simulation *simulation, size_t i, unsigned long long run)
{
    struct simulated_master *master = calloc(1, sizeof *master);

    if (!master)
        return false;
    master->simulation = simulation;
    rl_list_init(&master->pipes);
    snprintf(master->info, sizeof master->info,
             "# Server\nredis_version:7.4.0\nrun_id:%08zx%032llx\nmaxmemory:0\nmaxmemory_policy:noeviction\n"
             "aof_enabled:0\nrole:master\nconnected_slaves:0\nmaster_replid:%08zx%032llx\nmaster_replid2:0\n"
             "cluster_enabled:0\n", i + 1, run, i + 1, run);
    snprintf(simulation->urls[i], sizeof simulation->urls[i], "simulated://%zu", i + 1);
    simulation->url_list[i] = simulation->urls[i];
    simulation->masters[i] = master;
    simulation->n_masters++;
    return true;
}

static int64_t read_wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 * RL_NS_PER_MS + now.tv_nsec;
}

struct redlock_simulation *world_create(size_t n_masters)
{
    struct redlock_simulation *simulation = calloc(1, sizeof *simulation);

    if (!simulation)
        return NULL;
    pthread_mutex_init(&simulation->mutex, NULL);
    pthread_cond_init(&simulation->rested, NULL);
    rl_list_init(&simulation->clients);
    simulation->lua = lua_host_create();
    simulation->wall_less_boot_ns = read_wall_ns() - rl_clock_kernel_ns(CLOCK_BOOTTIME);
    if (getrandom(&simulation->random, sizeof simulation->random, 0) != sizeof simulation->random)
        simulation->random = (uint64_t)simulation->wall_less_boot_ns;
    for (size_t i = 0; i < n_masters; i++) {
        if (!add_master(simulation, i, (unsigned long long)draw_number(simulation))) {
            world_dispose(simulation);
            return NULL;
        }
    }
    return simulation;
}
