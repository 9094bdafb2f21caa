/* Simulated masters in the memory of a program, and the connections to them.
 *
 * One mutex guards all of it. A command is carried out while its bytes are written, so that nothing is ever on its way
 * to a master; its answer, and what it publishes, waits on the connections until that is read. */
#ifndef RL_SIMULATED_WORLD_H
#define RL_SIMULATED_WORLD_H

#include <pthread.h>
#include <redlock/options.h>
#include <redlock/simulation.h>

#include "driver/simulator.h"
#include "kinds/command.h"
#include "simulated/keyspace.h"
#include "simulated/lua_host.h"
#include "util/bytes.h"
#include "util/list.h"

struct simulated_master {
    struct redlock_simulation *simulation;
    struct keyspace keys;
    bool down;
    bool scripts[RL_SCRIPT_COUNT]; /* which ones it knows */
    char info[400];
    struct rl_list pipes;
};

/* A connection. The client has the other end of it, a stream. */
struct pipe {
    struct rl_list link;
    struct simulated_master *master;
    struct rl_simulated *client;
    int fd;                  /* readable while there is something to read */
    bool broken;             /* the master has closed it */
    bool rung;
    struct rl_bytes answers;
    struct rl_list channels; /* struct pipe_channel */
    int64_t n_channels;
};

struct pipe_channel {
    struct rl_list link;
    size_t size;
    char name[];
};

struct redlock_simulation {
    pthread_mutex_t mutex;
    pthread_cond_t rested;
    struct lua_host *lua;
    size_t n_masters;
    struct simulated_master *masters[REDLOCK_MAX_MASTERS];
    char urls[REDLOCK_MAX_MASTERS][40];
    const char *url_list[REDLOCK_MAX_MASTERS];
    struct rl_list clients;
    bool ended;            /* by the program; clients may be there still */
    _Atomic int64_t *ahead_ns;
    int64_t wall_less_boot_ns; /* of the masters' clocks */
    bool moving;           /* time is being advanced ... */
    bool arriving;         /* ... and has been: everybody looks once more */
    int64_t target_boot_ns;
    redlock_simulation_fn done;
    void *done_data;
    bool seeded;
    uint64_t random;
};

/* The simulation of this process; NULL: there is none. It is guarded by a mutex, which comes before that of a
 * simulation. A client may read it without: its simulation stays. */
extern pthread_mutex_t world_presence;
extern struct redlock_simulation *world_present;

/* NULL: no memory. */
struct redlock_simulation *world_create(size_t n_masters);
void world_dispose(struct redlock_simulation *simulation);

/* CLOCK_BOOTTIME, with what that is ahead by: the clock of clients. */
int64_t world_boot_ns(const struct redlock_simulation *simulation);

/* Under the mutex. */
void world_draw_uuid(struct redlock_simulation *simulation, unsigned char uuid[16]);

/* What libredlock is told of (passage.c). */
extern const struct rl_simulator world_simulator;

/* --- pipes.c: all of these under the mutex. */

/* NULL: no memory or descriptor. */
struct pipe *pipe_open(struct simulated_master *master, struct rl_simulated *client);
void pipe_free(struct pipe *pipe);

/* The master closes it. */
void pipe_break(struct pipe *pipe);

/* Carries out all commands in these bytes. */
void pipe_execute(struct pipe *pipe, const void *bytes, size_t size);

/* There is something to read. */
void pipe_ring(struct pipe *pipe);

/* It has been read. */
void pipe_hush(struct pipe *pipe);

#endif
