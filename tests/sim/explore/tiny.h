/* A tiny world for the exhaustive search: two clients with the real engine, up to three masters, time in ticks.
 *
 * Everything lives in one block of memory without pointers to the outside, so a state is saved and brought back by
 * copying bytes, and two states are the same when their bytes are, but for what tiny_hash.c says. Values are never used
 * twice. The masters carry out the mutex kind's steps directly; a key lives exactly its ttl, as short as a master may
 * let it. */
#ifndef SIM_TINY_H
#define SIM_TINY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "search.h"

#define TINY_CLIENTS 2
#define TINY_MASTERS 3
#define TINY_CLAIMS 2 /* attempts of a client */
#define TINY_PIPE 8

#define TICK_NS (100 * RL_NS_PER_MS)

/* What is to be explored. Budgets are for the whole world. */
struct tiny_setup {
    struct search_setup search;
    uint8_t masters;
    uint8_t quorum;
    uint8_t ttl;          /* ticks */
    uint8_t extend_ttl;   /* of the first client's extensions, in turn: this, then ttl; 0: as before */
    uint8_t last_tick;
    uint8_t attempts;     /* of each acquisition */
    uint8_t extends;      /* by the first client */
    uint8_t breaks;       /* connections that may be lost */
    uint8_t crashes;      /* masters that may restart, keys kept */
    uint8_t losses;       /* masters that may restart empty */
    uint8_t flushes;      /* masters that may lose their memory while the connections stay (FLUSHALL) */
    uint8_t quarantine;   /* ticks that a new memory does not vote for; 0: classic masters, without markers */
    bool cancel;          /* the first client may cancel */
    bool release;         /* the first client may release */
    uint8_t late_from;    /* tick before which the second client does not acquire, and no memory is flushed ... */
    bool same_again;      /* ... and then only one that is not a master's first */
    bool prompt;          /* both clients get each reply as soon as the command is carried out ... */
    bool prompt_rival;    /* ... or the second one does */
    bool late_return;     /* a master that lost its keys stays away for ttl */
    bool exclusion;       /* only that: the world ends when one of the clients can never be valid again */
    bool stale_repair;    /* a bug: the answer to a repair is told with the time at which its round began */
};

/* The epoch check (engine/engine.h) is one more kind of command. */
#define TINY_EPOCH_CHECK RL_STEP_COUNT

struct tiny_message {
    uint8_t step;
    uint8_t claim;
    uint8_t round;
    uint8_t ttl;     /* ticks */
    uint8_t outcome; /* of a reply */
    uint8_t detail;
    uint8_t memory;  /* repair: the incarnation that is expected; reply to an epoch check: the one that was found */
};

struct tiny_pipe {
    uint8_t count;
    struct tiny_message messages[TINY_PIPE];
};

struct tiny_master {
    uint8_t owner;   /* 1 + client * TINY_CLAIMS + claim; 0: no key */
    uint8_t expires; /* the first tick at which the key is gone */
    uint8_t back_at; /* down until then; 0: up */
    uint8_t memory;  /* the marker's incarnation; 0: no marker */
    uint8_t until;   /* the marker's end of quarantine, tick */
    uint8_t latest;  /* incarnation ever given */
};

struct tiny_claim {
    uint8_t state;  /* 0: not used yet, 1: known to the engine, 2: disposed of */
    uint8_t strays; /* masters on which it was set when its connection was gone */
    _Alignas(struct rl_claim) unsigned char memory[sizeof(struct rl_claim) + TINY_MASTERS * sizeof(struct rl_vote)];
};

struct tiny {
    uint8_t now; /* tick */
    uint8_t extends;
    uint8_t breaks;
    uint8_t crashes;
    uint8_t losses;
    uint8_t flushes;
    bool started[TINY_CLIENTS];
    bool canceled;
    bool open[TINY_CLIENTS][TINY_MASTERS]; /* the connections ... */
    uint8_t memory[TINY_CLIENTS][TINY_MASTERS]; /* ... and the incarnation that was admitted at their beginning */
    struct tiny_master masters[TINY_MASTERS];
    struct tiny_pipe up[TINY_CLIENTS][TINY_MASTERS];
    struct tiny_pipe down[TINY_CLIENTS][TINY_MASTERS];
    struct tiny_pipe ghost[TINY_CLIENTS][TINY_MASTERS];
    struct rl_engine engines[TINY_CLIENTS];
    struct rl_lock locks[TINY_CLIENTS];
    struct rl_acquire requests[TINY_CLIENTS]; /* borrowed by the locks */
    struct tiny_claim claims[TINY_CLIENTS][TINY_CLAIMS];
    bool stale_repair;
    bool lapsed[TINY_CLIENTS]; /* held as far as the client has noticed, but not valid any more */
    const char *wrong; /* what has been violated; static text */
};

/* An action: what may happen next. */
enum tiny_kind {
    TINY_TICK,      /* a tick passes */
    TINY_ACQUIRE,   /* a: client */
    TINY_EXTEND,    /* a: client */
    TINY_RELEASE,   /* a: client */
    TINY_CANCEL,    /* a: client */
    TINY_TIMER,     /* a: client; its timers are due, and only now does it notice */
    TINY_UP,        /* a: client, b: master; the next command is carried out */
    TINY_DOWN,      /* a: client, b: master; the next reply arrives */
    TINY_GHOST,     /* a: client, b: master; the next command of a dead connection is carried out */
    TINY_BREAK,     /* a: client, b: master, c: how many commands on their way survive as ghosts */
    TINY_RECONNECT, /* a: client, b: master */
    TINY_CRASH,     /* a: master; and restarts at once with its keys */
    TINY_LOSE,      /* a: master; restarts empty */
    TINY_FLUSH,     /* a: master; empty all at once, connections stay */
    TINY_RETURN,    /* a: master */
};

struct rl_instant tiny_instant(unsigned tick);

static inline struct rl_claim *tiny_claim(struct tiny_claim *claim)
{
    return (struct rl_claim *)(void *)claim->memory;
}

extern const struct search_rules tiny_rules;

void tiny_init(struct tiny *tiny, const struct tiny_setup *setup);

/* What may happen in this state; in the same order in every state that is the same. */
size_t tiny_actions(const struct tiny *tiny, const struct tiny_setup *setup, struct search_action *ret_actions);
void tiny_perform(struct tiny *tiny, const struct tiny_setup *setup, struct search_action action);

/* Sets tiny->wrong if something is violated in this state. */
void tiny_check(struct tiny *tiny, const struct tiny_setup *setup);

void tiny_describe(struct search_action action, char *text, size_t size);

/* tiny_hash.c: equal for states that cannot be told apart by anything that may follow. */
uint64_t tiny_hash(const struct tiny *tiny, const struct tiny_setup *setup);

#endif
