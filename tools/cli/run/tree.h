/* The descendants of a process, found in /proc: also those that have left its process group and session.
 *
 * A descendant whose parent has ended belongs to the nearest ancestor that is a subreaper (prctl(2)); a process that
 * is one therefore finds all that it has ever started, however they have forked. A process may fork between the look
 * and the signal, so to end a tree is to sweep it again until nothing is left. */
#ifndef CLI_RUN_TREE_H
#define CLI_RUN_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Children that were there before, and are nobody's business: a program can be replaced by this one and have left
 * some. */
struct run_strangers {
    pid_t *pids;
    size_t n;
};

/* The children that the calling process has now. False: out of memory, or /proc cannot be read. */
bool run_strangers_note(struct run_strangers *ret_strangers);
void run_strangers_free(struct run_strangers *strangers);

/* Whether /proc shows the processes of this PID namespace. If it does not, nothing below can find a descendant. */
bool run_tree_is_visible(void);

struct run_process {
    pid_t pid;
    char name[16]; /* as in ps(1); "?" if it cannot be read */
};

enum { RUN_MOST_LISTED = 8 };

struct run_listing {
    size_t n; /* that there are; more than are listed, perhaps */
    struct run_process items[RUN_MOST_LISTED];
};

struct run_sweep {
    pid_t root;
    pid_t but_group;                      /* not those of this process group; 0: of any ... */
    pid_t only_group;                     /* ... and of this one alone; 0: of any */
    const struct run_strangers *strangers; /* nor these and theirs; may be NULL */
    bool reap;                            /* children of the calling process that have ended */
};

/* Sends the signal to every living descendant of the root; 0 only counts them. Returns how many were alive, -1 if
 * /proc cannot be read. */
ssize_t run_tree_signal(const struct run_sweep *sweep, int number);

/* The living descendants; none if /proc cannot be read. */
struct run_listing run_tree_list(pid_t root);

#endif
