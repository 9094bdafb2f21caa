/* User and password from the program, for each connection to a master: tokens that end, and passwords that are changed
 * while the program runs.
 *
 *     static void on_credentials(struct redlock_credentials_request *request,
 *                                const struct redlock_credentials_wanted *wanted, void *user_data)
 *     {
 *         struct redlock_credentials credentials;
 *
 *         redlock_credentials_init(&credentials);
 *         credentials.user = "locks";
 *         credentials.password = current_token(user_data);
 *         credentials.good_for_ms = 15 * 60 * 1000;
 *         redlock_credentials_answer(request, &credentials);
 *     }
 *
 *     options.on_credentials = on_credentials;
 *
 * The library has two connections to a master: commands, and notifications once somebody waits. It asks for each of
 * them alone:
 *
 * - for every new connection, as soon as it is open, within connect_timeout_ms of the whole attempt;
 * - again after the master has refused what it was given, or does not serve the connection any more (WRONGPASS,
 *   NOAUTH). The connection has failed then, with the master's words as the reason, and another one is made after the
 *   usual pause (backoff_max_ms at most). So a wrong password is mended as soon as the program answers the right one;
 * - for a connection in use, when three quarters of good_for_ms have passed. It is then authenticated in line with the
 *   other commands; locks are held and renewed meanwhile. If the program has no other credentials the connection stays
 *   in use, and the library asks again, more and more often, and after their end every backoff_max_ms, until the master
 *   ends the connection. A refusal ends it, too.
 *
 * The callback runs from the event loop, on the client's thread or a service's. It must not wait, and must not call the
 * library, except for the functions below. It may answer at once, or keep the request and answer later, from anything
 * that runs on the same loop (for a service: redlock_service_run()). A request that is not answered ends with the
 * attempt to connect, or after connect_timeout_ms. A later answer fails with E_NOT_ASKED: a program that needs longer
 * keeps it for the next request.
 *
 * The library copies what it is given into pages that core dumps leave out, and wipes it when the master has agreed.
 * Neither errors, events nor the log show it. What the program has is the program's to wipe. */
#ifndef REDLOCK_CREDENTIALS_H
#define REDLOCK_CREDENTIALS_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/options.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDLOCK_MAX_USER_BYTES 1024     /* length of a user's name */
#define REDLOCK_MAX_PASSWORD_BYTES 8192 /* length of a password or token */

/* Why the library asks. */
enum redlock_credentials_why {
    REDLOCK_CREDENTIALS_CONNECTING, /* a connection is being opened */
    REDLOCK_CREDENTIALS_REFUSED,    /* the same, and the master has refused what this connection was given last */
    REDLOCK_CREDENTIALS_EXPIRING,   /* the connection is in use, and its credentials do not hold for long any more */
};

/* The connection that needs credentials; valid until the callback returns. Later versions may append members. */
struct redlock_credentials_wanted {
    size_t node;      /* which master: its place in the list */
    const char *name; /* "host:port" or the socket's path */
    enum redlock_credentials_why why;
};

struct redlock_credentials {
    size_t size; /* set by redlock_credentials_init() */

    /* NULL: that of the URL ("redis://user@host"), or the default user. */
    const char *user;

    /* NULL: the connection is not authenticated. Then there must be no user either. */
    const char *password;

    /* For how long from now on they hold; 0, the default: without end. */
    uint32_t good_for_ms;
};

REDLOCK_API void redlock_credentials_init_size(struct redlock_credentials *credentials, size_t size);
#define redlock_credentials_init(credentials) redlock_credentials_init_size((credentials), sizeof(*(credentials)))

/* Answers. The strings are copied. Errors: E_ARGUMENT, E_OPTIONS_SIZE, E_CREDENTIALS, E_NOMEM, after which the request
 * is as before; E_NOT_ASKED: it has been answered already, or has ended; E_FORKED. */
REDLOCK_API int redlock_credentials_answer(struct redlock_credentials_request *request,
                                           const struct redlock_credentials *credentials);

/* Answers that there are none. `why` is a sentence for people, cut to 150 characters, which becomes the reason why the
 * master is not reached; NULL is allowed. A connection in use stays in use. Errors: E_ARGUMENT, E_NOT_ASKED,
 * E_FORKED. */
REDLOCK_API int redlock_credentials_fail(struct redlock_credentials_request *request, const char *why);

/* A request is valid until its callback returns. A program that answers later keeps it, and drops it as often as it has
 * kept it: it stays valid in between, whatever happens to the connection and the client. NULL is allowed. */
REDLOCK_API void redlock_credentials_keep(struct redlock_credentials_request *request);
REDLOCK_API void redlock_credentials_drop(struct redlock_credentials_request *request);

#ifdef __cplusplus
}
#endif
#endif
