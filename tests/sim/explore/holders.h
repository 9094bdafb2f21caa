/* A tiny world for locks that share and convert (rules 9): two clients with the real engine, three masters that
 * run the shipped scripts, time in ticks. Every command, reply and notification takes as long as it likes, each on the
 * connection that it belongs to.
 *
 * Everything lives in one block of memory without pointers to the outside, as in tiny.h; a master is the number of a
 * state (script_states.h). Values are never used twice. Nothing is lost here: for connections, crashes and memories see
 * tiny.h and the simulator. The masters are those of the classic profile, and the locks have no fencing tokens. */
#ifndef SIM_HOLDERS_H
#define SIM_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "script_states.h"
#include "search.h"

#define HOLDERS_CLIENTS 2
#define HOLDERS_MASTERS 3
#define HOLDERS_QUORUM 2
#define HOLDERS_CLAIMS (SCRIPT_VALUES / HOLDERS_CLIENTS) /* attempts of a client, an upgrade's among them */
#define HOLDERS_PIPE 8

#define HOLDERS_TICK_MS 100

/* What a client may do, each of it at any time at which a program may: so often. */
struct holders_wishes {
    uint8_t mode;    /* enum rl_mode: it acquires the key in this mode, once */
    bool waits;      /* ... in the wait queue, if others have it */
    uint8_t lowers;  /* to any weaker mode */
    uint8_t upgrades; /* in the wait queue */
    uint8_t tries;   /* upgrades that do not wait */
    uint8_t extends;
    uint8_t cancels; /* whatever is pending */
    bool releases;
    bool prompt;     /* it gets each reply as soon as the command is carried out */
};

/* What is to be explored. */
struct holders_setup {
    struct search_setup search;
    struct script_states *states;
    uint8_t ttl; /* ticks */
    uint8_t last_tick;
    struct holders_wishes wishes[HOLDERS_CLIENTS];
    bool other_key; /* a bug: votes that are shared have a key of their own */
};

/* A command on its way; the reply to one; or a notification. What does not belong to it is 0. */
struct holders_message {
    uint8_t step;
    uint8_t claim;
    uint8_t round;
    uint8_t ttl;      /* ticks */
    uint8_t mode;
    uint8_t replaces; /* 1 + the claim whose vote this one is to replace; 0: none */
    uint8_t ticket;
    bool shared;      /* the kind of lock knows modes */
    bool stronger;    /* the vote may be stronger than the mode */
    uint8_t notice;   /* of a notification: enum rl_notice_kind */
    uint16_t reply;
};

struct holders_pipe {
    uint8_t count;
    struct holders_message messages[HOLDERS_PIPE];
};

enum holders_claim_state {
    HOLDERS_UNUSED,
    HOLDERS_KNOWN, /* to the engine */
    HOLDERS_DISPOSED,
};

struct holders_claim {
    uint8_t state;
    _Alignas(struct rl_claim) unsigned char memory[sizeof(struct rl_claim) + HOLDERS_MASTERS * sizeof(struct rl_vote)];
};

struct holders_client {
    struct rl_engine engine;
    struct rl_lock lock;
    struct rl_lock second;     /* the hidden one of an upgrade (host/upgrade.h) */
    struct rl_acquire request; /* borrowed by the lock that acquires, of which there is one at a time */
    struct rl_entry entry;
    struct holders_claim claims[HOLDERS_CLAIMS];
    struct holders_wishes left;
    bool started;
    bool upgrading;
    bool lapsed; /* held as far as the client has noticed, but not valid any more */
};

struct holders {
    uint8_t now; /* tick */
    uint32_t masters[HOLDERS_MASTERS];
    struct holders_pipe up[HOLDERS_CLIENTS][HOLDERS_MASTERS];
    struct holders_pipe down[HOLDERS_CLIENTS][HOLDERS_MASTERS];
    struct holders_pipe told[HOLDERS_CLIENTS][HOLDERS_MASTERS];
    struct holders_client clients[HOLDERS_CLIENTS];
    const char *wrong; /* what has been violated; static text */
};

enum holders_kind {
    HOLDERS_TICK,    /* a tick passes */
    HOLDERS_ACQUIRE, /* a: client, as in all that follow */
    HOLDERS_EXTEND,
    HOLDERS_LOWER,   /* c: enum rl_mode */
    HOLDERS_UPGRADE,
    HOLDERS_TRY_UPGRADE,
    HOLDERS_CANCEL,
    HOLDERS_RELEASE,
    HOLDERS_TIMER,   /* its timers are due, and only now does it notice */
    HOLDERS_UP,      /* b: master; the next command is carried out */
    HOLDERS_DOWN,    /* b: master; the next reply arrives */
    HOLDERS_TOLD,    /* b: master; the next notification arrives */
};

static inline struct rl_instant holders_instant(unsigned tick)
{
    return (struct rl_instant){(int64_t)(tick + 1) * HOLDERS_TICK_MS * RL_NS_PER_MS};
}

/* The masters' clocks go as fast. */
static inline int64_t holders_node_ms(unsigned tick)
{
    return INT64_C(1000000) + (int64_t)tick * HOLDERS_TICK_MS;
}

static inline struct rl_claim *holders_claim(struct holders_claim *claim)
{
    return (struct rl_claim *)(void *)claim->memory;
}

/* A claim's value, as scripts know it. */
static inline unsigned holders_value(unsigned client, unsigned claim)
{
    return client * HOLDERS_CLAIMS + claim;
}

extern const struct search_rules holders_rules;

/* holders_actions.c: what may happen in this state, and how it happens. */
void holders_init(struct holders *world, const struct holders_setup *setup);
size_t holders_actions(const struct holders *world, const struct holders_setup *setup,
                       struct search_action *ret_actions);
void holders_perform(struct holders *world, const struct holders_setup *setup, struct search_action action);
void holders_describe(struct search_action action, char *text, size_t size);

/* holders_check.c: sets world->wrong if something is violated in this state. */
void holders_check(struct holders *world, const struct holders_setup *setup);

/* holders_hash.c: equal for states that cannot be told apart by anything that may follow. */
uint64_t holders_hash(const struct holders *world);

#endif
