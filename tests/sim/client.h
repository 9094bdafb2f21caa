/* One simulated process that uses the library: the real engine (engine/engine.h), with this file and wire.c in the
 * place of lib/api and lib/driver.
 *
 * Things happen in turns, as in an event loop: something arrives or is due, the engine is told, its effects are
 * carried out, callbacks run, what was written goes to the kernel. The process may be stopped anywhere in a turn:
 * time that passes within a turn is `lag`, and until the turn has ended nothing else happens to this client. */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "box.h"
#include "clockwork.h"
#include "engine/engine.h"
#include "votes/join.h"
#include "votes/nodeclock.h"
#include "network.h"

/* After which a master that does not vote is looked at anew. */
#define CLIENT_LOOKS_AGAIN_NS (10000 * RL_NS_PER_MS)

#define MAX_HANDLES 3
#define MAX_KEYS 2

struct parcel;
struct world;

/* Commands that belong to no claim. */
enum host_step {
    HOST_GREETING = RL_STEP_COUNT,
    HOST_JOIN,
    HOST_GUARD,
    HOST_SUBSCRIBE,
    HOST_CALL,
};

/* What the client knows of a master. */
struct trust {
    struct rl_nodeclock clock;
    char incarnation[16];
    enum rl_durability durability;
    struct rl_join_report report; /* the latest, */
    struct rl_instant received;   /* ... and when it came */
    bool looked;
    uint32_t generation; /* of the next look */
};

/* NOSCRIPT: once more with the script's text. OTHERS_WAIT: once more with all keys of the line; the key has been
 * deleted. */
enum repeat { REPEAT_AS_EVAL = 1, REPEAT_IN_FULL = 2, REPEAT_DELETED = 4 };

/* What the client waits for on a connection. */
struct pending {
    uint32_t box; /* BOX_NONE: the host's own command */
    uint32_t round;
    struct rl_instant sent;
    uint8_t step; /* enum rl_step, or enum host_step */
    uint8_t send_as;
    uint8_t repeats; /* how it has been repeated: enum repeat */
};

enum wire_phase {
    WIRE_WAITING, /* for the next connection attempt */
    WIRE_CONNECTING,
    WIRE_GREETING,
    WIRE_OPEN,
};

/* The client's connection to one master: what lib/driver is. */
struct wire {
    enum wire_phase phase;
    enum rl_link link;
    uint16_t conn;
    uint8_t failures;
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

/* The client's second connection to a master, on which it is called (protocol 6.4). */
struct ear {
    enum wire_phase phase;
    uint16_t conn;
    uint8_t failures;
    uint32_t timer_generation;
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

/* Somebody who was in line before, and had completed that. */
struct ahead {
    uint32_t operation; /* its number among those of its client; 0: nobody */
    uint32_t attempts;
    uint32_t masters;
    int64_t since;      /* true time: from then on it must not have been disturbed */
};

/* For the oracle: the latest acquisition's place in line. */
struct turn {
    uint32_t operation; /* that has sent an ENQUEUE ... */
    uint32_t served;    /* ... that has got the lock */
    uint32_t attempts;  /* of all acquisitions */
    uint32_t moment;    /* of its client, in which that ENQUEUE was sent */
    struct ahead ahead[MAX_CLIENTS * MAX_HANDLES];
};

struct handle {
    struct rl_lock lock;
    struct rl_acquire request;
    struct rl_entry entry; /* lent with the request */
    uint8_t index;
    uint8_t key;
    uint8_t seen_state;     /* for the table of transitions */
    struct op_record pending;
    struct turn turn;
    struct op_record extension; /* one that a release has overtaken */
    /* The interval of true time in which remaining() > 0, as things stand. */
    uint32_t valid_box;
    int64_t valid_from;
    int64_t valid_until;
    /* For the alarm: what the holder has been promised last, and what it has been told. */
    int64_t promised_since;
    int64_t promised_until;
    bool alarm_armed;
    bool risk_told;
};

struct client {
    struct world *world;
    struct clockwork clock;
    struct rl_engine engine;
    struct wire wires[MAX_MASTERS];
    struct ear ears[MAX_MASTERS];
    bool listens;           /* since somebody has got in line */
    struct trust trust[MAX_MASTERS];
    struct handle handles[MAX_HANDLES];
    char channel[8];        /* on which its process is called */
    struct completion completions[MAX_COMPLETIONS];
    size_t n_completions;
    struct rl_instant now;  /* the clock as the host read it last */
    int64_t lag;            /* true time that has passed within this turn */
    int64_t busy_until;     /* the process is stopped, or in its turn */
    int64_t stopped_until;  /* the end of its latest stop */
    int64_t revive_at;      /* while it is dead */
    int64_t timer_at;       /* as in struct wire, for the engine's timers */
    uint32_t timer_generation;
    uint32_t life;          /* how many processes there have been */
    uint32_t ops;           /* operations started */
    uint32_t moments;       /* turns begun */
    struct rl_deployment known; /* what it has learned of max_ttl */
    uint64_t seen[MAX_KEYS]; /* the largest counters in any answer */
    int64_t step_slack;     /* see oracle_steps.c: what it knows of steps is as precise as that, in sum */
    int64_t hidden;         /* ... and what steps may have stayed hidden from it, at most */
    int64_t steps[MAX_MASTERS]; /* what its clock has been set forward by, and the client has not noticed */
    int64_t read_at;        /* true time of the latest reading that has shown a step, or that there was none */
    int64_t blind_until;
    uint32_t unseen_steps;  /* masters whose clocks were set forward, and it has not noticed */
    uint8_t index;
    uint8_t n_handles;
    bool alive;
};

void client_start(struct world *world, struct client *client);
void client_kill(struct world *world, struct client *client); /* the process dies on the spot */

/* Between turns only. */
void client_set_rate(struct client *client, int64_t rate);

/* A turn: begin, any number of events and calls, end. */
void client_begin(struct client *client);
void client_end(struct client *client);
struct rl_instant client_read_clock(struct client *client);
int64_t client_true_now(const struct client *client);

/* The process may be stopped here for a while, if the plan says so. */
void client_hiccup(struct client *client);

/* Carries out what the engine wants done; to be called after every event. */
void client_pump(struct client *client);

/* client_cohort.c. Who has got in line in the same turn and waits still has the lock, instead of its release. */
bool client_pass_on(struct client *client, struct handle *handle);

/* After every call of the engine: what has become of the handles. */
void client_watch(struct client *client);

/* Events. */
void client_on_timer(struct client *client);

/* The end of one command, as the engine is told. */
void client_answer(struct client *client, const struct pending *pending, unsigned node, struct rl_answer answer,
                   uint32_t latency_us);
void client_link(struct client *client, unsigned node, enum rl_link link);

/* The library's calls, for a lock in a state that allows them. */
void client_acquire(struct client *client, struct handle *handle, const struct rl_acquire *request);
void client_extend(struct client *client, struct handle *handle, uint32_t ttl_ms);
void client_release(struct client *client, struct handle *handle);
bool client_cancel(struct client *client, struct handle *handle);
void client_destroy(struct client *client, struct handle *handle); /* and creates it anew */

/* Lets go of a held lock, keys and all; and undoes a value that a process has let go of so. */
void client_detach(struct client *client, struct handle *handle);
/* Lets go of a held lock, so that another handle may adopt it. */
void client_export(struct client *client, struct handle *handle, struct parcel *ret_parcel);
void client_adopt(struct client *client, struct handle *handle, const struct parcel *parcel,
                  const struct rl_acquire *request);
void client_release_value(struct client *client, struct handle *handle, struct box *origin);

/* True instant at which the client's clock reads `local`; INT64_MAX for RL_NEVER. */
int64_t client_when(const struct client *client, struct rl_instant local);

/* --- client_commands.c -------------------------------------------------------------------------------------------- */

const struct rl_kind *client_kind(const struct box *box);

struct message client_command(const struct client *client, struct box *box, enum rl_step step, unsigned node,
                              unsigned repeats);

/* Those for several masters are not the same: each names the memory that it is meant for. */
bool client_command_differs(enum rl_step step);

/* --- client_effects.c --------------------------------------------------------------------------------------------- */

/* A new claim's memory. */
struct box *client_new_box(struct client *client, const struct handle *handle);

/* NOSCRIPT: writes the same command with the script's text; false if the wire does not take it. */
bool client_repeat(struct client *client, const struct pending *pending, unsigned node, unsigned how);

/* --- client_trust.c ----------------------------------------------------------------------------------------------- */

void client_trust_start(struct client *client);

/* The first round of the handshake has been answered: the second. */
void client_trust_greet(struct client *client, unsigned node, const struct rl_reply *settings);

/* To JOIN, or to a guard; false: the connection must be given up. */
bool client_trust_reply(struct client *client, unsigned node, const struct pending *pending,
                        const struct rl_reply *reply);

/* At the end of a turn: guards what has been written. */
void client_trust_guard(struct client *client);

/* Time to look again at a master that does not vote. */
void client_trust_look(struct client *client, unsigned node);

/* What a master's clock says, in an answer to a question or in a call; `sent`: it cannot be older. */
void client_trust_read_clock(struct client *client, unsigned node, int64_t node_us, struct rl_instant sent);

/* --- client_line.c ------------------------------------------------------------------------------------------------ */

/* What else the answer to an ENQUEUE says. */
void client_placed(struct client *client, unsigned node, const struct pending *pending, const struct rl_reply *reply);

/* A master calls: "value round granted|lower inc time_us counter". */
void client_called(struct client *client, unsigned node, struct rl_slice payload);

/* This master can be asked again, or can be heard again. */
void client_look_again(struct client *client, unsigned node);

/* --- ear.c -------------------------------------------------------------------------------------------------------- */

void ear_listen(struct client *client);  /* from the first ENQUEUE on */
void ear_abandon(struct client *client); /* the process is gone */
void ear_read(struct client *client, unsigned node);
void ear_on_timer(struct client *client, unsigned node);
void ear_on_connected(struct client *client, unsigned node, bool accepted);
void ear_on_closed(struct client *client, unsigned node);

/* --- wire.c ------------------------------------------------------------------------------------------------------- */

void wire_start(struct client *client, unsigned node);
void wire_fini(struct wire *wire);

/* wire_pending.c */
void pending_push(struct wire *wire, const struct pending *pending);
struct pending pending_shift(struct wire *wire);

/* Takes over the message; false if there is no connection or too much is unsent: then it does not. */
bool wire_write(struct client *client, unsigned node, const struct message *message, const struct pending *pending);

/* What has been written goes to the kernel. */
void wire_flush(struct client *client, unsigned node);

/* Everything that has arrived by now. */
void wire_read(struct client *client, unsigned node);

/* The client gives the connection up. */
void wire_give_up(struct client *client, unsigned node, const char *why);

/* The process is gone: its kernel closes the connection. */
void wire_abandon(struct client *client, unsigned node);

void wire_on_timer(struct client *client, unsigned node);
void wire_on_connected(struct client *client, unsigned node, bool accepted);
void wire_on_closed(struct client *client, unsigned node);

#endif
