/* How every command that has talked to masters, or to an agent, begins and ends. */
#include "cli/session.h"

#include <signal.h>
#include <stdio.h>

#include "cli/agent_client.h"
#include "cli/commands.h"
#include "cli/common.h"

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

int session_command(struct session *session, const char *command, const struct cli_common *common,
                    uint32_t finish_ms, session_work work, void *data)
{
    struct redlock_client *client = NULL;
    int code = CLI_INFRASTRUCTURE;

    if (session_open(session, command) && session_catch_signals(session, command)) {
        if (!common->agent)
            client = session_client(session, command, common, &code);
        else if (!session_agent(session, command, common))
            code = CLI_INFRASTRUCTURE;
    }
    if (client || session->agent)
        code = work(session, client, data);
    return finish(session, client, finish_ms, code);
}

int refused_for(const char *command, int status, const char *why)
{
    cli_error(command, "%s", why);
    return redlock_status_retryable(status) ? CLI_INFRASTRUCTURE : cli_usage(command);
}

int refused_call(const char *command, int status)
{
    return refused_for(command, status, redlock_strerror(status));
}

int refused_operation(const struct session *session, const char *command, int status)
{
    return refused_for(command, status, *session->last.why != '\0' ? session->last.why : redlock_strerror(status));
}
