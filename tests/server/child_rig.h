/* What the tests with further processes share: children with a client of their own on the masters of the test. */
#ifndef TESTS_CHILD_RIG_H
#define TESTS_CHILD_RIG_H

#include <sys/types.h>

#include "rig.h"

/* What a child does; the result is its exit status. In the child the rig has a new client, and the parent's is gone. */
typedef int (*child_fn)(struct rig *rig, void *argument);

/* Starts a child. It never returns from here. */
pid_t child_start(struct rig *rig, child_fn does, void *argument);

/* Starts a child, and waits until it calls child_stay(). */
pid_t child_start_ready(struct rig *rig, child_fn does, void *argument);

/* In such a child: says so, and runs its loop until it is killed. */
int child_stay(struct rig *rig);

/* kill -9. When it returns, the process is gone. */
void child_kill(pid_t pid);

#endif
