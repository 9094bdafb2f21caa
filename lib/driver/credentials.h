/* Requests for credentials: from a connection to whoever has the user and password of its master, and the answer back.
 *
 * A request is pending until it is answered or its connection ends it. It lives as long as anybody refers to it: the
 * connection, and whoever wants to answer later. One that has ended takes an answer and does nothing with it. */
#ifndef RL_DRIVER_CREDENTIALS_H
#define RL_DRIVER_CREDENTIALS_H

#include <stdbool.h>

#include "util/instant.h"

struct rl_shared;
struct redlock_credentials_request;

/* Why credentials are needed. */
enum rl_credentials_need {
    RL_CREDENTIALS_CONNECTING, /* a connection is being opened */
    RL_CREDENTIALS_REFUSED,    /* the same, and the master has refused what this connection was given last */
    RL_CREDENTIALS_EXPIRING,   /* the connection is in use, and what it was given does not hold for long any more */
};

/* Whom to ask. The function does not wait. It may answer the request at once. */
struct rl_credentials_source {
    void (*ask)(void *ctx, struct redlock_credentials_request *request, unsigned node, enum rl_credentials_need need);
    void *ctx;
};

/* Strings are of rl_secret_create(), or NULL. */
struct rl_credentials {
    char *user;
    char *password;               /* NULL: nothing is said to the master */
    struct rl_instant good_until; /* RL_NEVER: they do not end */
};

void rl_credentials_fini(struct rl_credentials *credentials);

/* --- For the connection. NULL: no memory. */
struct redlock_credentials_request *rl_credentials_ask(struct rl_shared *shared, unsigned node,
                                                       enum rl_credentials_need need);

/* The connection refers to it no more. */
void rl_credentials_end(struct redlock_credentials_request *request);

bool rl_credentials_answered(const struct redlock_credentials_request *request);

#define RL_CREDENTIALS_WHY_MAX 151 /* its terminating 0 included */

/* Moves the answer out of a request that has been answered, and ends it. false: there are no credentials, and `why` is
 * the reason. */
bool rl_credentials_take(struct redlock_credentials_request *request, struct rl_credentials *ret,
                         char why[RL_CREDENTIALS_WHY_MAX]);

/* --- For whoever answers. The strings are copied. Both return 0, or REDLOCK_E_NOT_ASKED if the request is not pending,
 * or REDLOCK_E_NOMEM. */
int rl_credentials_answer(struct redlock_credentials_request *request, const char *user, const char *password,
                          struct rl_span good_for);
int rl_credentials_fail(struct redlock_credentials_request *request, const char *why);

void rl_credentials_ref(struct redlock_credentials_request *request);
void rl_credentials_unref(struct redlock_credentials_request *request);

/* Was it made by a process of which this one is a fork? */
bool rl_credentials_forked(const struct redlock_credentials_request *request);

#endif
