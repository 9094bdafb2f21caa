/* Texts that a thread of their own writes: a disk that stalls, or a reader that does not read, holds up that thread
 * and not the loop that renews the lock.
 *
 * Messages share standard error with the command, so the descriptor itself must stay a blocking one. */
#ifndef CLI_RUN_OUTLET_H
#define CLI_RUN_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct outlet;

enum outlet_kind {
    OUTLET_ALL,    /* every text in its order, as long as there is room for those that wait */
    OUTLET_LATEST, /* a text replaces one that waits */
};

/* Both have the data of outlet_open(). The first runs in the thread: writes a text, however long that takes, and gives
 * 0 or errno. The second runs in the loop, whenever all that was put has been written. */
typedef int (*outlet_write_fn)(void *data, const char *text, size_t size);
typedef void (*outlet_told_fn)(void *data);

/* NULL with errno if the system refuses. All signals that the process takes must be blocked. */
struct outlet *outlet_open(struct event_base *base, enum outlet_kind kind, outlet_write_fn write, outlet_told_fn told,
                           void *data);

/* Takes over the text, which free() must be able to free, and never waits. False: there was no room for it. */
bool outlet_put(struct outlet *outlet, char *text, size_t size);

/* How many texts have had no room since this was asked with success; 0 as long as there is none. */
uint64_t outlet_take_missed(struct outlet *outlet);

/* Everything has been written, or has failed; errno of the latest failure, or 0. */
bool outlet_is_idle(struct outlet *outlet);
int outlet_error(struct outlet *outlet);

/* Waits, outside of the loop, until the outlet is idle. False if that takes longer. */
bool outlet_drain(struct outlet *outlet, int patience_ms);

/* Ends the thread. One that is held up is left alone, and false is given: then the data must outlive the process. */
bool outlet_close(struct outlet *outlet);

#endif
