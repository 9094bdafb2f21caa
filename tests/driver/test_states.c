/* A connection moves between its states only as the drawing in conn.c says, and only when the data fit the new state.
 * The driver asserts it whenever a connection moves. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

/* What becomes of a process in which the first connection enters this state. */
static int status_after_entering(enum rl_conn_state state)
{
    const struct rlimit no_core = {0, 0};
    int status = -1;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (!child) {
        setrlimit(RLIMIT_CORE, &no_core);
        fclose(stderr);
        rl_conn_enter(&rig.driver->nodes[0]->conn, state);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

GROUP(states, "states", rig_setup, rig_teardown)

TEST(states, a_state_that_follows_is_entered)
{
    rig_add(FAKE_UNIX);
    rig_start();
    ck_assert_int_eq(rig.driver->nodes[0]->conn.state, RL_CONN_WAITING);
    ck_assert_int_eq(status_after_entering(RL_CONN_CONNECTING), 0);
}

#ifndef NDEBUG
static bool aborts(enum rl_conn_state state)
{
    int status = status_after_entering(state);

    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

TEST(states, a_state_that_may_not_follow_is_not_entered)
{
    rig_add(FAKE_UNIX);
    rig_start();
    ck_assert(aborts(RL_CONN_WAITING));
    rig_until_link(0, RL_LINK_READY);
    ck_assert(aborts(RL_CONN_GREETING));
}

TEST(states, a_state_that_the_data_do_not_fit_is_not_entered)
{
    rig_add(FAKE_UNIX);
    rig_start_ready();
    ck_assert(aborts(RL_CONN_WAITING)); /* the socket is still there */
}
#endif

SUITE("states")
