/* For systems whose lock belongs to the connection that took it: a connection for each hold, which serves another one
 * afterwards. */
#ifndef ENGINES_SESSIONS_H
#define ENGINES_SESSIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

struct session {
    void *connection; /* the client library's own */
    struct session *next;
    atomic_bool ended; /* as seen while it was held */
};

/* The host of the first node, which is all that such a system has. Returns the port, which stands behind it in the
 * buffer; NULL: the node does not name one. */
const char *session_host_and_port(const struct engine_settings *settings, char *ret_host, size_t size);

struct session *session_take_idle(void); /* NULL: there is none */
void session_give_back(struct session *session);

/* main() of an engine for the system of its own name. The state of a hold is its session: without a lease a hold ends
 * with its connection alone, which is all that a client can know, and all that is looked for. */
int session_engine_main(struct engine engine);

/* For its renewal. */
void session_check(struct engine_hold *hold, bool (*has_ended)(struct session *session));

#endif
