#include "cli/finish.h"

#include <signal.h>
#include <stdio.h>

#include "cli/commands.h"

int finish(struct session *session, struct redlock_client *client, uint32_t timeout_ms, int code)
{
    int caught;

    session_finish(session, client, timeout_ms);
    caught = session->caught;
    session_close(session);
    if (caught != 0) {
        fflush(stdout);
        signal(caught, SIG_DFL);
        raise(caught);
    }
    return code;
}

int refused_call(const char *command, int status)
{
    bool retryable = redlock_status_retryable(status);

    cli_error(command, "%s", redlock_strerror(status));
    return retryable ? CLI_INFRASTRUCTURE : cli_usage(command);
}
