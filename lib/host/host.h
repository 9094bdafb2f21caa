/* The host of the engine: it carries out the engine's effects through a transport, and brings it what the transport
 * reports.
 *
 *     above      api, or a test        sink.h         what the host reports
 *                  |       ^
 *     the host   operations.h, shutdown.h; rl_host_end_turn() at the end of each turn of the loop
 *                  |       ^
 *     below      transport.h, environment.h           connections, timers, clocks, randomness
 *
 * What it does is in files that call downwards only:
 *
 *     operations.c      what is done with a lock: acquire, extend, release, ...; held locks as data
 *     upgrade.c         a held lock on its way to the exclusive mode
 *     shutdown.c        the orderly end
 *     host.c            what the transport reports, timers, the end of a turn
 *     answers.c         replies to commands for one and for many, and commands that are written once more
 *     notifications.c   what masters say of entries in wait queues
 *     trust/            which masters may vote: handshake, admission, epoch checks
 *     effects.c         what the engine wants done
 *     batch.c           what is written for many
 *     look.c, latch.c   what the masters know of a key; latches
 *     quorum_read.c     one command for all masters, outside of locks
 *     election.c        who leads: what a leader tells, and when observers look
 *     commands.c        the bytes of commands, and what is written for one
 *     permits.c         slots of semaphores
 *     claims.c          memory of claims; their tokens, and what is proposed for the masters' fencing counters
 *     contended.c       keys that others want, too, those who wait for them, and cohorts
 *     lock.c            what is known of a lock, what variants of it do otherwise; a held lock that its owner enters
 *                       again */
#ifndef RL_HOST_HOST_H
#define RL_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>

#include "engine/engine.h"
#include "host/batch.h"
#include "host/claims.h"
#include "host/commands.h"
#include "host/contended.h"
#include "host/environment.h"
#include "host/lock.h"
#include "host/permits.h"
#include "host/shutdown.h"
#include "host/sink.h"
#include "host/transport.h"
#include "host/trust/trust.h"
#include "util/bytes.h"
#include "util/list.h"
#include "util/pool.h"
#include "util/wheel.h"

struct rl_host_counters {
    uint64_t commands;       /* written */
    uint64_t script_reloads; /* commands repeated with the script's text */
    uint64_t clock_steps;    /* masters' clocks that moved forward against ours */
    uint64_t claims;         /* that there are at present */
};

/* Answers of one master to requests for a vote. */
struct rl_host_votes {
    uint64_t granted;
    uint64_t refused;
    uint64_t failed;
    uint64_t unknown;
    uint64_t queued;
};

struct rl_host {
    const struct redlock_options *options;
    const struct rl_host_sink *sink;
    struct rl_environment environment;
    struct rl_transport transport;
    struct rl_engine engine;
    struct rl_instant now;       /* the latest reading */
    struct rl_instant drained;   /* time of the wake-up for which the transport has delivered what had arrived */
    struct rl_list locks;
    struct rl_list reads;
    struct rl_list latches;
    struct rl_list observers;
    struct rl_list garbage;      /* freed at the end of the turn, since the caller may still look at it: the node is at
                                    the front of the memory */
    struct rl_pool claims[RL_CLAIM_SIZES];
    struct rl_trust trust;
    struct rl_waiters waiters;
    struct rl_contended contended;
    struct rl_permits permits;
    struct rl_timer rollback_timer;
    struct rl_batching batching;
    uint32_t cohorts;            /* the latest one's number */
    struct rl_bytes scratch;     /* the command that is being fanned out ... */
    struct rl_scripting scripting; /* ... and how it is sent */
    struct rl_host_counters counters;
    struct rl_host_votes votes[REDLOCK_MAX_MASTERS];
    uint64_t answers[REDLOCK_MAX_MASTERS]; /* replies of each master, of any kind */
    struct rl_host_lock *successor; /* during a hand-off within a cohort: the lock that has the value from now on */
    struct rl_host_shutdown shutdown;
    bool closing;                /* no new attempts: answers to what is written may not be read any more */
};

/* The masters, what the program wants of them, and what the host has around it. The options and the sink are borrowed.
 * host->transport is filled in after rl_host_init(), before the first event. */
struct rl_host_config {
    const struct redlock_options *options;
    const struct rl_deployment_names *names;
    const struct rl_host_sink *sink;
    struct rl_environment environment;
    struct rl_config engine;
};

/* 0, or REDLOCK_E_NOMEM with nothing to be freed. */
int rl_host_init(struct rl_host *host, const struct rl_host_config *config);

/* Not before the transport has been closed. */
void rl_host_fini(struct rl_host *host);

/* For the transport; its ctx is the host. `turn` is missing: whoever owns the host calls rl_host_end_turn() from it. */
extern const struct rl_transport_sink rl_host_events;

/* A lock's life in the host. */
void rl_host_add_lock(struct rl_host *host, struct rl_host_lock *lock, struct rl_key *key);

/* Takes it out. The key is the caller's still. */
void rl_host_remove_lock(struct rl_host_lock *lock);

/* The lock's time, at host->now. While it has a result to tell, that is rl_host_tick_alarm(). */
void rl_host_tick(struct rl_host_lock *lock);

/* The same for its alarm alone: a loss is noticed, and no round begins. */
void rl_host_tick_alarm(struct rl_host_lock *lock);

/* At the end of each turn of the loop: writes what has been gathered, and asks what has to be asked behind it. */
void rl_host_end_turn(struct rl_host *host);

static inline struct rl_instant rl_host_read_clock(struct rl_host *host)
{
    host->now = host->environment.now(host->environment.ctx);
    return host->now;
}

/* Of a reply to the command of this tag. */
static inline uint32_t rl_host_latency_us(const struct rl_tag *tag, struct rl_instant now)
{
    int64_t us = rl_until(tag->sent, now).ns / RL_NS_PER_US;

    return us < RL_NO_LATENCY ? (uint32_t)us : RL_NO_LATENCY - 1;
}

#endif
