/* One simulated process that uses the library: the host and the engine that ship (host/host.h), with client*.c and
 * wire.c in the place of lib/api and lib/driver.
 *
 * Things happen in turns, as in an event loop: something arrives or is due, the host is told, callbacks run, what was
 * written goes to the kernel. The process may be stopped wherever the host reads the clock, sends or reports
 * something: time that passes within a turn is `lag`, and until the turn has ended nothing else happens to this
 * client. */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "box.h"
#include "simulated/clockwork.h"
#include "engine/election.h"
#include "engine/set.h"
#include "host/host.h"
#include "host/latch.h"
#include "host/election.h"
#include "host/look.h"
#include "host/operations.h"
#include "host/lock.h"
#include "host/commands.h"
#include "kinds/join.h"
#include "votes/clocks.h"
#include "network.h"

/* After which a master that does not vote is looked at anew. */
#define CLIENT_LOOKS_AGAIN_NS (10000 * RL_NS_PER_MS)

#define MAX_HANDLES 4
#define MAX_LOOKS 3 /* of one client at a time */
#define MAX_SEEN_VOTES 128

/* Two keys of mutexes, the gate of a semaphore, and its slots: the order of their names. */
#define LOCK_KEYS 2
#define GATE_KEY LOCK_KEYS
#define FIRST_SLOT (GATE_KEY + 1)
#define MAX_PERMITS 4
#define MAX_KEYS (FIRST_SLOT + MAX_PERMITS)

struct parcel;
struct world;

/* Steps of messages beside those of the host's tags. */
enum wire_step {
    WIRE_SETUP = RL_TAG_RECHECK_JOIN + 1,
    WIRE_GREETING_ROUND,
    WIRE_SUBSCRIBE,
    WIRE_UNSUBSCRIBE,
    WIRE_MESSAGE,
};

/* What the client waits for on a connection. */
struct pending {
    struct rl_tag tag;
    uint32_t claims[MESSAGE_CLAIMS]; /* boxes */
    uint8_t n_claims;
    bool own; /* part of the handshake: not the host's */
};

enum wire_phase {
    WIRE_WAITING, /* for the next connection attempt */
    WIRE_CONNECTING,
    WIRE_SETTING_UP,
    WIRE_GREETING,
    WIRE_OPEN,
};

/* The client's connection to one master: what lib/driver is. */
struct wire {
    enum wire_phase phase;
    enum rl_link link;
    uint16_t conn;
    uint8_t failures;
    bool failed;                 /* the host has given it up: it is closed at the end of the turn */
    bool leaving;                /* ... for good: its machine has left the list of masters */
    uint8_t round;               /* GREETING: the round under way, its commands, and how many are answered */
    uint8_t size;
    uint8_t answered;
    char why[80];
    struct rl_instant due;       /* of the connection attempt, or of its success */
    struct rl_instant last_byte; /* received */
    int64_t timer_at;            /* true time of the pending timer event; INT64_MAX: none */
    uint32_t timer_generation;
    struct message_list unsent;  /* written by the host, not yet taken by the kernel */
    struct pending *ring;
    uint32_t ring_size;          /* power of two */
    uint32_t head;
    uint32_t count;
};

/* The client's second connection to a master, on which it is notified (rule 7.7). */
struct listener {
    enum wire_phase phase;
    uint16_t conn;
    uint8_t failures;
    uint32_t timer_generation;
};

/* A further channel on which the listeners of a process listen. Masters are bits. */
#define MAX_FURTHER MAX_KEYS

struct further_channel {
    char name[64];    /* "": the place is free */
    unsigned users;
    uint32_t entered; /* as in lib/driver/shared.h */
    uint32_t asked;
};

/* An operation from its start to its completion. */
struct op_record {
    uint32_t generation;
    uint8_t op; /* enum rl_op; RL_OP_NONE: none is pending */
    struct rl_instant started;
    struct rl_instant due; /* it must have completed by then, apart from pauses; RL_NEVER */
};

struct completion {
    uint8_t handle;
    uint8_t op;
    uint8_t status;
    uint8_t cause;
};

#define MAX_COMPLETIONS 16

/* How a shutdown ends. */
enum shutdown_end {
    SHUTDOWN_OK,
    SHUTDOWN_DEADLINE,
    SHUTDOWN_CANCELED,
};

/* The orderly end of a process, from its call to its callback. */
struct shutdown_record {
    bool started;
    bool ending;             /* some lock is not idle, and is looked at again in the next turn */
    bool ended;
    bool late;               /* its time was up when it ended ... */
    uint32_t operations;     /* ... and the latest operation was this one */
    bool ample;              /* nothing is wrong, and its time is long enough */
    struct rl_instant since;
    struct rl_instant due;
};

/* Somebody who was in the queue before, and had completed that. */
struct ahead {
    uint32_t operation; /* its number among those of its client; 0: nobody */
    uint32_t attempts;
    uint32_t masters;
    int64_t since;      /* true time: from then on it must not have been disturbed */
};

/* For the oracle: the latest acquisition's place in the queue. */
struct turn {
    uint32_t operation; /* that has sent an ENQUEUE for the key ... */
    uint8_t key;
    uint32_t served;    /* ... that has got the lock */
    uint32_t attempts;  /* of all acquisitions */
    uint32_t failed;    /* the number of the latest of former acquisitions, or that has failed */
    struct ahead ahead[MAX_CLIENTS * MAX_HANDLES];
};

struct handle {
    struct rl_host_lock host;
    struct rl_host_call call; /* lent to the host while an acquisition or extension is pending */
    uint8_t index;
    uint8_t key;            /* of a permit: of the slot of its latest attempt or hold */
    bool permit;
    int64_t wanted_since;   /* true time: the beginning of its latest acquisition */
    bool candidate;         /* its owner campaigns with it, and does nothing else */
    bool leads;             /* the candidate has been told that it is elected, and nothing since */
    bool lost;              /* the loss of its lock was reported in this turn */
    struct rl_candidate election;
    struct rl_acquire campaign; /* what it acquires its lock with, time and again */
    uint8_t freed_slots;    /* for the oracle: slots that have become free since it waits, and that nobody has had */
    uint8_t call_op;     /* enum rl_op: what the attempt has been lent for */
    bool releasing;         /* the release's completion has not been delivered */
    uint32_t inner;         /* for the oracle: inner entries of its hold */
    uint8_t seen_state;     /* for the table of transitions */
    const struct rl_claim *seen_claim;
    const struct rl_claim *former_claim; /* the one before, if it has none */
    struct op_record pending;
    struct turn turn;
    struct op_record extension; /* one that a release has overtaken */
    /* The interval of true time in which remaining() > 0, as things stand. */
    uint32_t valid_box;
    int64_t valid_from;
    int64_t valid_until;
    enum rl_mode valid_mode;
    /* For the alarm: what the holder has been promised last, and what it has been told. */
    int64_t promised_since;
    int64_t promised_until;
    bool alarm_armed;
    bool risk_told;
};

enum client_set_state {
    SET_IDLE,
    SET_ACQUIRING,
    SET_HELD,
    SET_RELEASING,
    SET_LOST,
};

/* What a candidate of an election is told. */
enum election_event {
    ELECTION_ELECTED,
    ELECTION_LOST, /* and it campaigns again, unless it does so once */
    ELECTION_RESIGNED,
    ELECTION_FAILED,
};

/* A set of locks: the client's first handles, whose keys are in ascending order. Its permits, if they are several,
 * stand behind their gate. */
struct client_set {
    struct rl_set core;         /* n: 0 if the client has no set */
    struct rl_acquire request;  /* for each part that is awaited */
    uint8_t modes[MAX_HANDLES]; /* enum rl_mode of each part */
    int64_t in_vain_since;     /* for the oracle: true time; INT64_MAX: it does not wait in vain */
    uint32_t lost;             /* parts whose loss was reported in this turn */
    uint8_t state;             /* enum client_set_state */
};

/* What one master had of a key when it answered a look, for the oracle. */
struct seen_votes {
    bool taken;
    bool counted;
    uint8_t n;
    uint64_t counter;
    char memory[40]; /* the incarnation; "" if there is no marker */
    struct {
        uint32_t value; /* its maker's box */
        enum rl_mode mode;
    } at[MAX_SEEN_VOTES];
};

/* The latest term that this process was shown, for the oracle. */
struct seen_term {
    uint64_t term;
    int64_t at; /* true time */
};

struct client_look {
    struct rl_look core;
    uint32_t number;   /* 0: it is not under way */
    uint8_t key;
    bool over;         /* its callback has not run */
    int64_t asked;     /* true time */
    struct rl_instant due;
    struct seen_votes seen[MAX_MASTERS];
};

/* Who observes the leaders of a key; a process has one observer or none. */
struct client_observer {
    struct rl_observer core;
    struct rl_look look;
    struct rl_key *name;   /* NULL: it does not observe */
    uint8_t key;
    bool over;             /* its look's callback has not run */
    struct rl_leader seen;
    int64_t began;         /* true time of its latest look; 0: there was none */
    /* For the oracle, in true time; INT64_MAX: there is nothing that no look has answered to. */
    int64_t told_at;       /* what it was told first since it looked; the largest term */
    uint64_t told_term;
    int64_t elected_at;    /* the first election; the latest term */
    uint64_t elected_term;
};

/* Party of a latch: a bit of a set, or nobody. */
#define MAX_PARTIES 8
#define NO_PARTY MAX_PARTIES

/* What a master had of the latch when it carried out a command of this round. */
struct seen_names {
    uint32_t round;
    bool listed;      /* the command asked for the names */
    uint32_t parties; /* set of those that had arrived */
};

/* The end of an operation, from when it is known until its callback runs. */
struct latch_end {
    bool due;
    int status; /* of redlock/status.h */
};

/* A handle of a latch. */
struct client_latch {
    struct rl_latch core;
    uint32_t number;      /* of all handles of the world; 0: there is none here */
    uint8_t parties;      /* how many there are */
    uint8_t generation;
    uint8_t party;
    uint8_t actor;        /* whose it is */
    bool arrived;         /* that has been reported */
    struct latch_end ends[RL_LATCH_N_OPS];
    /* For the oracle: the number of the latest operation, and when it must have ended; ... */
    uint32_t operation[RL_LATCH_N_OPS];
    struct rl_instant due[RL_LATCH_N_OPS];
    int64_t patience;
    /* ... the latest round, and its beginning by both clocks. */
    const struct rl_quorum_read *read;
    struct rl_instant started;
    int64_t round_since;
    uint32_t round;
    struct seen_names seen[MAX_MASTERS];
};

/* A barrier's party may keep the handles of all of its rounds. */
#define MAX_LATCHES 24

/* The record of a claim. */
struct binding {
    const struct rl_claim *claim; /* NULL: the place is free */
    uint32_t box;
};

#define MAX_BINDINGS 1024

#define NO_MACHINE MAX_MASTERS
#define NO_PLACE MAX_MASTERS

struct client {
    struct world *world;
    struct clockwork clock;
    struct rl_host host;
    struct redlock_options options;
    bool has_host;
    struct rl_list timers;  /* armed */
    struct binding bindings[MAX_BINDINGS];
    uint32_t n_bindings;
    uint32_t made;          /* the box of the latest value */
    uint32_t incoming;      /* the box whose value is about to be released or taken over; BOX_NONE ... */
    const struct handle *receiver; /* ... by this handle */
    const struct rl_tag *answering; /* the reply that the host is being told of is to this */
    bool late_import;       /* what is disposed of now has not been taken over: what is left of it runs out */
    bool clock_stepped;     /* the reply that is being delivered has shown that its master's clock was set */
    bool reading;           /* what has arrived is being delivered */
    uint8_t configured;     /* the list of masters that its process began with */
    uint16_t renamed;       /* set of machines that it knows by other names */
    uint32_t went_by;       /* set of lists that it has gone by since */
    struct rl_instant adopted_at; /* when its list of masters changed; RL_LONG_AGO: never */
    uint8_t n_places;       /* masters that the host knows, each under a number of its own ... */
    uint8_t machines[MAX_MASTERS]; /* ... and which machine each of them is; NO_MACHINE: it was dismissed */
    struct wire wires[MAX_MASTERS];
    struct listener listeners[MAX_MASTERS];
    bool listens;           /* since somebody has got in the queue */
    struct handle handles[MAX_HANDLES];
    struct client_set set;
    struct client_look looks[MAX_LOOKS];
    struct client_observer observer;
    struct seen_term seen_terms[MAX_KEYS];
    struct client_latch latches[MAX_LATCHES];
    char channel[64];       /* on which its process is notified ... */
    struct further_channel further[MAX_FURTHER]; /* ... and what it listens to besides */
    struct completion completions[MAX_COMPLETIONS];
    size_t n_completions;
    struct shutdown_record shutdown;
    bool quits;             /* the client has been destroyed: the process ends with this turn */
    int64_t lag;            /* true time that has passed within this turn */
    int64_t busy_until;     /* the process is stopped, or in its turn */
    int64_t stopped_until;  /* the end of its latest stop */
    int64_t revive_at;      /* while it is dead */
    int64_t timer_at;       /* as in struct wire, for the engine's timers */
    uint32_t timer_generation;
    uint32_t life;          /* how many processes there have been */
    uint32_t ops;           /* operations started */
    int64_t step_slack;     /* see oracle_steps.c: what it knows of steps is as precise as that, in sum */
    int64_t hidden;         /* ... and what steps may have stayed hidden from it, at most */
    int64_t steps[MAX_MASTERS]; /* what its clock has been set forward by, and the client has not noticed */
    struct rl_instant stood_at; /* when its own clock stood still, as that showed; RL_LONG_AGO: never */
    int64_t found_at;       /* true time at which it has found that, at one master or at all */
    int64_t stood_since;    /* ... by true time */
    bool stands_apart;      /* ... and it has not found that at all masters */
    bool must_explain;      /* nothing was on its way then, and no other clock had moved: it can find out what it was */
    unsigned slow_readings[MAX_MASTERS]; /* of a clock that is slow, each half a second after the one before */
    struct rl_instant slow_read_at[MAX_MASTERS];
    bool misled;            /* it has taken steps of a quorum of masters for a standstill of its own clock */
    uint32_t set_forward;   /* masters whose clocks were set forward since it knows them */
    int64_t read_at;        /* true time of the latest reading that has shown a step, or that there was none */
    int64_t blind_until;
    uint32_t unseen_steps;  /* masters whose clocks were set forward, and it has not noticed */
    uint8_t index;
    uint8_t n_handles;
    bool alive;
};

/* Between turns only. */
void client_set_rate(struct client *client, int64_t rate);
void client_stand_still(struct client *client, int64_t length);
void client_go_on(struct client *client);

/* A turn: begin, any number of events and calls, end. */
void client_begin(struct client *client);
void client_end(struct client *client);
int64_t client_true_now(const struct client *client);

/* The process may be stopped here for a while, if the plan says so. */
void client_hiccup(struct client *client);

/* What has become of the handles: wherever the host calls something of its surroundings, and after every call of it. */
void client_watch(struct client *client);

/* The client's timer is due. */
void client_on_timer(struct client *client);

/* True instant at which the client's clock reads `local`; INT64_MAX for RL_NEVER. */
int64_t client_when(const struct client *client, struct rl_instant local);

#endif
