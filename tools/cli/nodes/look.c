/* Looking at the masters as a client does, but with its hands behind its back. */
#include <stdio.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/commands.h"
#include "cli/nodes/nodes.h"

/* A look sends nothing after its handshake, so that the client knows no latency, and no rights but those that the
 * handshake needs: questions of our own find out. */
static void measure(const struct nodes_request *request, struct nodes_look *look)
{
    const struct probe_masters masters = {request->common.masters.urls, look->sum.n, request->common.node_timeout_ms,
                                          &request->common.masters.tls,
                                          &request->common.masters.password};
    struct probe probes[REDLOCK_MAX_MASTERS];
    char name[REDLOCK_MAX_PREFIX_BYTES + 64]; /* that nothing else has */

    snprintf(name, sizeof(name), "%sredlock:rights:%ld-%llx", request->common.prefix, (long)getpid(),
             (unsigned long long)clock_now_us());
    probe_rights(&masters, name, probes, look->rights);
    for (size_t i = 0; i < look->sum.n; i++)
        look->latency_us[i] = probes[i].latency_us;
}

bool nodes_look(struct session *session, const struct nodes_request *request, enum redlock_join join,
                struct nodes_look *ret_look, int *ret_exit)
{
    struct cli_common common = request->common;
    size_t n;

    common.join = join;
    *ret_exit = CLI_INFRASTRUCTURE;
    *ret_look = (struct nodes_look){.request = request, .session = session};
    ret_look->client = session_client(session, "nodes", &common, ret_exit);
    if (ret_look->client == NULL)
        return false;
    session_join(session, ret_look->client);
    n = standings_read(ret_look->client, ret_look->infos);
    ret_look->sum = standings_of(ret_look->infos, n, cli_quorum(&request->common));
    measure(request, ret_look);
    return session->caught == 0;
}

void nodes_look_end(struct nodes_look *look)
{
    redlock_client_destroy(look->client);
    look->client = NULL;
}
