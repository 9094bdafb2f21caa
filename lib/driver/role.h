/* What a connection is for: to carry commands (conn_commands.c), or to listen (conn_listen.c). All the rest, from the
 * backoff to the bytes, is the same. The table is how the files below the roles reach them. */
#ifndef RL_DRIVER_ROLE_H
#define RL_DRIVER_ROLE_H

#include <stdbool.h>

#include "util/instant.h"
#include "util/link.h"
#include "util/resp.h"

struct rl_conn;
struct rl_setup;

struct rl_conn_role {
    const struct rl_setup *setup; /* the Redis handshake */
    bool greets;                  /* it is followed by the sink's */
    enum rl_link first_link;      /* before the first attempt to connect has ended */

    /* The connection has just become READY. May be NULL. */
    void (*begin)(struct rl_conn *conn);

    /* The connection's state, as far as others care, is now this. Tells the sink what is new to it. */
    void (*set_link)(struct rl_conn *conn, enum rl_link link, const char *why, struct rl_instant now);

    /* READY: writes AUTH, whose reply is for rl_reauth_reply(). false: no memory. */
    bool (*authenticate)(struct rl_conn *conn, struct rl_instant now);

    /* READY: a reply has arrived. false: the connection is not usable; its error is set. */
    bool (*deliver)(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);

    /* READY: the watch has gone off. is_overdue: does what has been read so far miss something that should be there?
     * Then what the socket holds is read first: it may be the loop that was late. watch: acts on what is overdue, and
     * arms the watch again; results as above. */
    bool (*is_overdue)(const struct rl_conn *conn, struct rl_instant now);
    bool (*watch)(struct rl_conn *conn, struct rl_instant now);
};

#endif
