/* Masters and the connections to them, in virtual time: what programs that use the public interface run against.
 *
 * Time stands still while something happens, but for hiccups (net_read_clock()), and then jumps to whatever comes next.
 * A run is decided by its seed. */
#ifndef SIM_PUBLIC_NET_H
#define SIM_PUBLIC_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "simulated/keyspace.h"
#include "message.h"
#include "rng.h"
#include "util/instant.h"
#include "util/list.h"
#include "util/slice.h"

#define NET_MASTERS 5
#define NET_CHANNELS 8      /* on which one connection listens */
#define NET_CHANNEL_BYTES 96

struct rl_driver;
struct lua_host;

struct net_master {
    struct keyspace keys;
    bool up;
    bool has_scripts;
    unsigned runs;            /* how often it has been started */
    int64_t hung_until;
    int64_t back_at;          /* while it is down; INT64_MAX: it stays down */
    const char *write_error;  /* NULL: none */
    int64_t write_error_until;
    char info[120];
};

/* A connection. The ends are closed one after the other. */
struct net_pipe {
    struct rl_list link;
    struct rl_driver *driver; /* the client's end; NULL: it is closed */
    unsigned master;
    int64_t open_at;
    bool broken;              /* the master's end is closed, which the client sees at `closed_at` */
    int64_t closed_at;
    int64_t stuck_until;      /* the kernel takes nothing */
    struct message_list requests; /* on their way to the master ... */
    struct message_list answers;  /* ... and from it */
    int64_t latest_request;
    int64_t latest_answer;
    char channels[NET_CHANNELS][NET_CHANNEL_BYTES];
};

struct net {
    struct rng rng;
    int64_t now;
    struct lua_host *lua;
    unsigned n_masters;
    struct net_master masters[NET_MASTERS];
    struct rl_list pipes;
    struct message_pool messages;
    int64_t delay_min;
    int64_t delay_max;
    unsigned odd_permille;    /* delays that are much longer; 0 when all has healed */
    unsigned hiccup_permille;
};

extern struct net net;

void net_start(uint64_t seed, unsigned n_masters);
void net_end(void);

/* The client's clock. The process may be stopped for a moment before it reads it. */
struct rl_instant net_read_clock(void);

/* A connection, which is open one delay later; NULL: it is refused. */
struct net_pipe *net_connect(struct rl_driver *driver, unsigned master);

/* The client closes its end. Of what is on its way to the master a part may get lost. */
void net_close(struct net_pipe *pipe);

/* Takes over the request. */
void net_send(struct net_pipe *pipe, uint32_t message);

/* An answer that has arrived, or MESSAGE_NONE. */
uint32_t net_receive(struct net_pipe *pipe);

/* When the client has something to read here, or sees the end; INT64_MAX: nothing is on its way. */
int64_t net_readable_at(const struct net_pipe *pipe);

/* When a master has something to do; INT64_MAX: never. */
int64_t net_due(void);
void net_run_due(void);

/* --- Faults ------------------------------------------------------------------------------------------------------- */

void net_crash(unsigned master, bool forgets, int64_t back_at);
void net_flush(unsigned master);
void net_cut(unsigned choice);
void net_stick(unsigned choice, int64_t until);
void net_heal(void);

/* --- What masters have -------------------------------------------------------------------------------------------- */

/* Keys, queues and directories of locks, which are alive. */
unsigned net_count_locks(char *ret_example, size_t size);

#endif
