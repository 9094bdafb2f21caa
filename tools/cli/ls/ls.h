/* redlock ls: what its files share. A walk over the masters finds names, a look at each of them tells what it is, and
 * rows are what is shown. */
#ifndef CLI_LS_H
#define CLI_LS_H

#include "cli/common.h"
#include "cli/probe.h"
#include "cli/term.h"
#include "cli/verdict.h"
#include "cli/wire.h"

struct redlock_client;

enum ls_sort { LS_BY_WAIT, LS_BY_HOLD, LS_BY_NAME };

extern const char *const ls_sort_words[];

enum { LS_RATE = 20000, LS_MOST_RATE = 10000000 };

/* The options that choose keys, and what --help says of those that need no more than this. */
#define LS_OPTIONS(request)                                                                                        \
    {.name = "sort", .choice = &(request)->sort, .words = ls_sort_words},                                          \
        {.name = "limit", .number = &(request)->limit, .least = 1},                                                \
        {.name = "rate", .number = &(request)->rate, .least = 1, .most = LS_MOST_RATE},                            \
        {.name = "all", .flag = &(request)->all}
#define LS_HELP                                                                                                    \
    "  --rate N             how many keys a second may go by on each master (20000)\n"                             \
    "  --all                latches that are open, too, and without a prefix also\n"                               \
    "                       keys that are no locks of this library\n"

struct ls_request {
    struct cli_common common;
    const char *pattern; /* NULL: all keys */
    uint32_t rate;       /* keys a second on each master */
    uint32_t limit;      /* rows shown; 0: all */
    uint32_t sort;       /* enum ls_sort */
    bool all;            /* open latches, and where there is no prefix, keys of others, too */
    bool verbose;        /* whole tokens */
    struct probe_place places[REDLOCK_MAX_MASTERS];
};

/* The key of a lock or the name of a latch, as names on the masters have told of it. */
struct ls_subject {
    char *key;        /* behind the prefix */
    size_t base_size; /* how much of it is the semaphore's name; all of it: it is no permit's */
    bool latch;
    bool queued;      /* there is a wait queue */
    bool dull;        /* it does not end as locks do: nobody asks for its value, which may be large */
    bool observed;    /* somebody listens to what a leader of this name tells */
};

struct ls_subjects {
    struct ls_subject *items;
    size_t n, room;
    size_t *table; /* by hash: positions and 1, or 0; twice as many as there is room for */
};

/* More than these are not kept. */
enum { LS_MOST_SUBJECTS = 1 << 20 };

struct ls_master {
    bool open;       /* its wire is */
    bool walked;     /* to the end */
    bool forbidden;  /* the user has no right to SCAN ... */
    bool deaf;       /* ... and none to PUBSUB, or the server does not know it */
    char cursor[24]; /* "": the walk is over */
};

/* How many keys were looked at so far, of those that may be in a second. */
struct ls_pace {
    int64_t begun_us;
    uint64_t done;
    uint32_t rate;
    bool (*rest)(void *data, uint32_t ms); /* NULL, or waits in place of a pause, and before each step. False: enough */
    void *data;
};

/* Waits until as many more may be looked at, which then count as that. False: no more is wanted. */
bool ls_pace(struct ls_pace *pace, uint64_t keys);

struct ls_holder {
    char value[PROBE_VALUE_SIZE];
    char mode;     /* as in struct probe_vote */
    int64_t slot;  /* of a permit; -1: it is none */
    int64_t left_ms;
};

enum ls_kind { LS_LOCK, LS_SEMAPHORE, LS_ELECTION, LS_LATCH, LS_FOREIGN };

struct ls_row {
    char *key;
    enum ls_kind kind;
    enum verdict_kind verdict;
    size_t present; /* on so many masters; of a semaphore, that of its permits which is on the fewest */
    size_t answered;
    struct ls_holder *holders; /* where no majority agrees: who has some masters, for people */
    size_t n_holders;
    size_t n_sharers; /* of a key that is shared: perhaps more than could be listed */
    int64_t left_ms;  /* of a semaphore: of the permit that ends first; -1: it never ends */
    int64_t asked_us; /* by the label of the holder that asked first; 0: none says */
    size_t waiting;
    uint64_t ticket;  /* the lowest */
    size_t unsettled; /* permits that are on some masters, and have no majority */
    uint32_t slots;   /* the largest permit that is in use, and 1 */
    uint32_t parties; /* of a latch ... */
    uint32_t arrived;
    bool is_open;
};

struct ls {
    const struct ls_request *request;
    const struct redlock_client *client; /* for the names of the masters */
    size_t n;
    size_t quorum;
    struct ls_master masters[REDLOCK_MAX_MASTERS];
    struct probe probes[REDLOCK_MAX_MASTERS]; /* whether they answer, and why not */
    struct wire wires[REDLOCK_MAX_MASTERS];
    struct ls_subjects subjects;
    bool full;       /* there are more than LS_MOST_SUBJECTS */
    size_t unusual;  /* names with a byte 0, which nobody looks at */
    size_t unreadable; /* keys that no master shows to this user */
    struct ls_row *rows;
    size_t n_rows;
    struct ls_pace pace;
    bool no_memory;
};

/* Are there masters, and can the server and this program read the pattern? False after a message. */
bool ls_request_fits(const char *command, struct ls_request *request);
bool ls_pattern_fits(const char *command, const char *pattern);

/* Opens connections, and finds the subjects: in order, what belongs to one semaphore side by side. */
void ls_walk(struct ls *ls);

/* Looks at all of them, and makes the rows. */
void ls_look(struct ls *ls);

/* Does whatever a majority has show up, since enough masters were walked and answered? */
bool ls_is_whole(const struct ls *ls);

/* What it has found is given back. */
void ls_free(struct ls *ls);

void ls_sort(struct ls *ls);

/* The heading, and so many rows from this one on. The row `chosen` is marked, which takes two columns of all; SIZE_MAX:
 * none is. */
void ls_print_rows(const struct ls *ls, const struct term *term, size_t from, size_t n, size_t chosen);
void ls_print_sum(const struct ls *ls, const struct term *term);
void ls_print(const struct ls *ls);
void ls_print_json(const struct ls *ls);

#endif
