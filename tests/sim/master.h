/* One simulated master: keys, clock, process. */
#ifndef SIM_MASTER_H
#define SIM_MASTER_H

#include <stdbool.h>
#include <stdint.h>

#include "simulated/clockwork.h"
#include "simulated/keyspace.h"
#include "simulated/redis.h"

struct message;
struct rl_join_report;
struct world;

/* What a restart finds of the keys. */
enum master_loss {
    LOSS_NONE,        /* fsync always */
    LOSS_LAST_SECOND, /* fsync every second */
    LOSS_ALL,         /* no persistence */
};

/* How commands are refused while a fault lasts. */
enum master_error {
    ERROR_NONE,
    ERROR_BEFORE,  /* any command, before it runs: LOADING, BUSY, NOAUTH, ... */
    ERROR_WRITES,  /* any write, inside of scripts too: READONLY, MISCONF, NOREPLICAS */
    ERROR_MEMORY,  /* writes that may need memory: OOM */
    ERROR_OBSCURE, /* an error that says nothing: the command may have been carried out */
};

/* What a master does for its keys to survive a crash: its configuration. */
enum durability {
    DURABILITY_NONE,     /* a crash loses everything */
    DURABILITY_EVERYSEC, /* ... the last second */
    DURABILITY_ALWAYS,   /* ... nothing */
};

#define MASTER_INFO 160

struct master {
    struct clockwork clock;
    struct keyspace keys;
    struct keyspace synced; /* what an everysec master has on its disk */
    int64_t unsynced_since; /* true time of the first write after that; INT64_MAX: none */
    int64_t restart_at;     /* while it is down */
    uint32_t scripts;       /* set of enum rl_script that it knows */
    uint8_t index;
    bool up;
    uint8_t durability;     /* enum durability, as CONFIG shows it */
    int64_t disturbed;      /* true time of the latest thing that happened to it */
    uint8_t list;           /* the one that its marker has, in worlds where that changes */
    bool replica;
    bool promoted;          /* has been a replica before */
    uint32_t run;           /* how many processes there have been */
    bool silent_death;      /* while it is down, connection requests are not even refused */
    uint8_t hung;           /* how many faults keep it from running */
    uint8_t error;          /* enum master_error */
    uint8_t error_choice;   /* which of the texts */
    uint8_t loss;           /* enum master_loss of the next restart */
    char scratch[REDIS_SCRATCH];
    char info[MASTER_INFO]; /* what INFO says; empty: to be written when a script wants it */
};

void master_init(struct master *master, unsigned index);

bool master_running(const struct master *master);
int64_t master_time(const struct world *world, const struct master *master);

/* Carries out what has arrived on a connection; fills in the reply's items. */
void master_execute(struct world *world, struct master *master, const struct message *message, bool ghost,
                    struct message *reply);

void master_crash(struct world *world, struct master *master, enum master_loss loss, bool silent);
void master_restart(struct world *world, struct master *master);
void master_hang(struct world *world, struct master *master);
void master_resume(struct world *world, struct master *master);
/* FLUSHALL: the connections stay. */
void master_flush(struct world *world, struct master *master);

/* Becomes a replica: of `source`, whose memory it takes over, or, if that is NULL, of nobody that it can reach. And a
 * master again. */
void master_demote(struct world *world, struct master *master, const struct master *source);
void master_promote(struct world *world, struct master *master);

/* What somebody asks JOIN who is not part of the model. */
struct telling {
    const char *mode;
    uint32_t max_ttl_ms;
    int64_t number;   /* of a declaration, or the turn */
    unsigned list;
    const char *view; /* text; "": the list that is configured */
    const char *inc;  /* TELL: what the view is for */
    const char *node_id; /* NULL: the machine's own */
};

/* A deployment that has been declared to be new: the marker is there, without a quarantine. */
bool master_tell(struct world *world, struct master *master, const struct telling *telling,
                 struct rl_join_report *ret_report, struct rl_slice *ret_view);
void master_declare(struct world *world, struct master *master);

void master_step_clock(struct world *world, struct master *master, int64_t by);
void master_set_rate(struct world *world, struct master *master, int64_t rate);

/* The entry under this key that will be alive at true time `at`, if nothing else happens; NULL if there is none. */
const struct entry *master_peek(struct master *master, const char *key, int64_t at);

#endif
