/* What the processes of a scenario share. Every client process writes what it does into a journal of its own, from
 * which the referee and the report read: nothing is lost when a process is killed or stopped in the middle.
 *
 * All instants are CLOCK_BOOTTIME, which the processes of a machine have in common, and which goes on while a process
 * stands still. */
#ifndef FAILOVER_SHARED_H
#define FAILOVER_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define FO_MAX_CLIENTS 32
#define FO_KEYS 256          /* keys of the requests; the leader's comes after them */
#define FO_LEADER_KEY FO_KEYS
#define FO_ALL_KEYS (FO_KEYS + 1)
#define FO_PHASES 3
#define FO_TOKEN_SIZE 40
#define FO_ERROR_SIZE 240
#define FO_NOBODY UINT32_MAX
#define FO_BUCKET_NS INT64_C(100000000) /* in which the report counts */
#define FO_STALLS 12000                 /* of them, at most */

enum fo_phase { FO_BEFORE, FO_DURING, FO_AFTER };

enum fo_kind {
    FO_REQUEST = 1, /* a request has ended: status, cause, trip_us; until_ns is its intended start */
    FO_ACQUIRED,    /* until_ns: the end of the validity; token, fence; nodes: masters that granted */
    FO_RENEWED,     /* until_ns: the new end */
    FO_RELEASED,    /* from here on this client does not believe to hold the key; written before the call */
    FO_LOST,        /* the library has said so */
    FO_WRITTEN,     /* to the counter file: detail is an enum fo_write; count; status 1: with validity left */
    FO_LINK,        /* a master as this client sees it: node, detail is an enum redlock_link */
    FO_STANDING,    /* ... enum redlock_standing */
    FO_CLOCK,       /* ... its clock has been found to be set */
};

struct fo_record {
    int64_t at_ns;
    int64_t until_ns;
    uint64_t fence;
    uint32_t key;
    uint32_t nodes;
    uint32_t count;  /* as the writer had read it */
    int32_t trip_us; /* the masters' round trip, on average; 0: not known */
    int16_t status;
    int16_t cause;
    uint8_t kind;
    uint8_t node;
    uint8_t detail;
    uint8_t client;
    char token[FO_TOKEN_SIZE];
};

/* One writer; readers look at the first `n`. A full journal ends the scenario: nothing may go unseen. */
#define FO_JOURNAL_RECORDS 300000
struct fo_journal {
    _Atomic uint32_t n;
    _Atomic bool full;
    struct fo_record records[FO_JOURNAL_RECORDS];
};

/* What the library has counted, one for each phase, and how the masters look to this client. */
struct fo_meter {
    uint64_t commands[FO_PHASES];
    uint64_t acquired[FO_PHASES];
    double cpu_s;
};

/* The records of the store of --resource: one that its guard keeps, and one that anybody may write to. */
enum fo_store_record { FO_GUARDED, FO_UNGUARDED, FO_STORE_RECORDS };

/* What a record has stored, by the store's own order. */
struct fo_stored {
    uint64_t n;
    uint64_t late;    /* writes of holders from before one that had written already */
    uint64_t largest; /* the last of the holders' turns so far */
};

/* The referee's findings. The first five, and late writes in a guarded record, are broken promises. */
struct fo_verdict {
    uint64_t double_holds;      /* two clients believed to hold one key at the same instant */
    uint64_t fence_regressions; /* a token not larger than that of an earlier acquisition, or refused though valid */
    uint64_t mixed_writes;      /* two valid holders wrote to the counter at a time */
    uint64_t foreign_releases;  /* a valid holder's key was gone from a master that nothing was done to */
    uint64_t leaked_keys;       /* keys found after the end of every ttl */
    uint64_t late_acquired;     /* told "acquired" when the validity had already ended: of no use, but no harm */
    uint64_t late_refused;      /* writes of former holders that the fence kept out */
    uint64_t late_landed;       /* ... that came before any successor's: not promised, see redlock(7) */
    uint64_t late_mixed;        /* writes of former holders over, or amid, those of a successor, and no fence to keep
                                 * them out */
    uint64_t acquired;
    uint64_t writes;            /* that the counter file has taken */
    uint64_t probes;            /* looks at a held key on the masters, past the library */
    struct fo_stored stored[FO_STORE_RECORDS];
    uint64_t guard_refused;     /* writes that the store's guard has refused */
};

/* What a client finds out about the masters for the report. */
struct fo_version {
    char server[40];
    char fsync[16];
};

/* What the operator of a scenario has told: see change.h. */
#define FO_LISTS 8
struct fo_lists {
    _Atomic uint32_t n;
    struct {
        int64_t at_ns;
        uint32_t members; /* a mask */
    } at[FO_LISTS];
    char why[200]; /* it was stopped; "" */
};

struct fo_shared {
    int64_t start_ns;                   /* of the schedule */
    uint64_t token_base;                /* see counter.h */
    _Atomic uint32_t phase;
    _Atomic uint32_t touched;           /* masters that something has been done to, as a mask */
    _Atomic bool hold_on;               /* the leader goes on for as long as its lock lasts */
    _Atomic bool stand_back;            /* nobody asks for the leader lock any more */
    _Atomic bool contends[FO_MAX_CLIENTS]; /* the client asks for the leader lock, or has it */
    _Atomic uint32_t leader;            /* client that holds the leader lock, or FO_NOBODY */
    _Atomic int64_t leader_since_ns;
    _Atomic bool in_step[FO_MAX_CLIENTS]; /* the client has read the leader's counter, and has not written yet */
    _Atomic int engines[FO_MAX_CLIENTS]; /* process groups of the clients' engines; 0: there is none */
    _Atomic int64_t crashed_ns[FO_MAX_CLIENTS]; /* the process has been killed, and has ended; 0: it has not */
    _Atomic bool finished;              /* all clients have ended: the referee may come to its end */
    _Atomic uint64_t cells[FO_ALL_KEYS]; /* the counter file, see counter.h */
    _Atomic uint64_t taken[FO_MAX_CLIENTS]; /* increments that it has taken from each client */
    _Atomic uint32_t stalls_us[FO_STALLS];      /* see ticker.h */
    _Atomic uint64_t stored[FO_STORE_RECORDS];  /* writes that the store of --resource has confirmed */
    _Atomic uint64_t guard_refused;             /* ... and that its guard has refused */
    struct fo_lists lists;
    struct fo_version version;
    struct fo_verdict verdict;
    struct fo_meter meters[FO_MAX_CLIENTS];
    char errors[FO_MAX_CLIENTS + 1][FO_ERROR_SIZE]; /* the last is the referee's */
    uint32_t clients;
    struct fo_journal journals[];
};

/* NULL on failure. Forked processes share it. */
struct fo_shared *fo_shared_create(uint32_t clients);
void fo_shared_destroy(struct fo_shared *shared);

/* Appends, and fills in the client. */
void fo_journal_add(struct fo_shared *shared, uint32_t client, struct fo_record record);

uint64_t fo_verdict_violations(const struct fo_verdict *verdict);
void fo_verdict_add(struct fo_verdict *into, const struct fo_verdict *more);

/* The next one that the store has kept. */
static inline void fo_stored_take(struct fo_stored *stored, uint64_t turn)
{
    stored->n++;
    stored->late += turn < stored->largest;
    if (turn > stored->largest)
        stored->largest = turn;
}

static inline int64_t fo_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#endif
