/* redlock agent: the command, and the life of the agent. */
#include "agent/agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <redlock/log.h>

#include "cli/commands.h"
#include "cli/notify.h"
#include "options/value.h"

static const char agent_help[] =
    "Usage: redlock agent [OPTION...]\n"
    "\n"
    "Holds locks for the programs of this machine, which connect to its socket and\n"
    "speak lines of JSON, as PROTOCOL.md among its sources describes; clients for\n"
    "Python, Node and Go are in tools/clients there. When a program closes its\n"
    "connection, or dies, its locks are released at once.\n"
    "\n"
    "  -s, --socket PATH    where it listens ($XDG_RUNTIME_DIR/redlock.sock, or\n"
    "                       /run/redlock.sock); a socket that systemd passes comes\n"
    "                       first\n"
    "  --socket-mode MODE   the rights of that file, in octal digits (0600)\n"
    "  --socket-group NAME  its group\n"
    "  --allow USER:PREFIX  USER (a name, a number, or * for all) may use keys that\n"
    "                       begin with PREFIX. If given, nobody may use others\n"
    "  --state FILE         where it leaves its locks when it ends, for the next agent.\n"
    "                       Without it they are given back when the deadlines that\n"
    "                       programs were told have passed\n"
    "  --metrics-listen [ADDRESS:]PORT   answers GET /metrics there for Prometheus;\n"
    "                       without ADDRESS on 127.0.0.1 alone\n"
    CLI_CLASS_HELP
    "  --drain DUR          how long it waits for connections to end after SIGTERM\n"
    "                       (0; a second signal ends that), before it leaves them\n"
    "                       alone; a further one ends it without waiting for deadlines\n"
    "  --max-connections N  at most so many (1000)\n"
    "  --max-locks N        of one connection: locks, candidates, observers, latches\n"
    "                       (10000)\n"
    "  --max-requests N     of one connection: pending at one time (1000)\n"
    "  --simulate           three masters in its own memory, for the tests of programs:\n"
    "                       no servers, and requests that advance time, lose or steal\n"
    "                       locks and fail masters (PROTOCOL.md)\n"
    CLI_PROFILE_HELP
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "\n" CLI_COMMON_HELP
    "\n"
    "'redlock status KEY' shows who holds a lock: USER@HOST:PID/PROGRAM of the\n"
    "connection, as the kernel knows it.\n"
    "\n"
    "Exit status: 0 it has ended as it was asked to; 2 wrong usage; 3 the socket or\n"
    "the masters cannot be used.\n"
    "\n"
    "Example:\n"
    "  redlock agent --nodes 10.0.0.1,10.0.0.2,10.0.0.3 --socket /run/redlock.sock &\n"
    "  redlock run nightly --agent /run/redlock.sock -- ./nightly.sh\n"
    "  nc -U /run/redlock.sock\n"
    "  {\"id\":1,\"op\":\"acquire\",\"key\":\"orders\"}\n";

enum { FINISH_MS = 2000 };

/* What concerns masters; a program is told of its own locks. */
static void on_event(const struct redlock_event *event, void *data)
{
    char line[REDLOCK_MAX_LINE_BYTES];

    held_on_event(event, data);
    if (!event->lock && redlock_event_level(event) <= REDLOCK_LEVEL_WARNING)
        cli_error("agent", "%s", redlock_event_line(event, line, sizeof line));
}

static void on_tell(evutil_socket_t fd, short what, void *data)
{
    held_tell_moved(data);
    candidates_tell(data, false);
}

static void on_drained(evutil_socket_t fd, short what, void *data)
{
    *(bool *)data = true;
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

static void tell_all(struct agent *agent)
{
    for (struct list *node = agent->peers.next; node != &agent->peers; node = node->next)
        answer(LIST_OWNER(node, struct peer, link),
               json_pack("{s:s, s:s}", "event", "closing", "why", "the agent is ending"));
}

/* Nothing new is begun; what is held is renewed until its connection has ended, or the time is over. */
static void drain(struct agent *agent)
{
    uint32_t ms = agent->options->drain_ms;
    struct timeval after = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
    bool over = ms == 0;
    struct event *timer = evtimer_new(agent->session->base, on_drained, &over);

    agent->session->caught = 0;
    agent->drains = true;
    listener_close(agent);
    tell_all(agent);
    if (!timer || event_add(timer, &after) != 0)
        over = true;
    while (!over && agent->session->caught == 0 && agent->n_peers > 0)
        if (event_base_loop(agent->session->base, EVLOOP_ONCE) != 0)
            break;
    if (timer)
        event_free(timer);
    agent->session->caught = 0;
}

/* Nothing is released that a program may believe in: it ends with its ttl. */
static void end_by_signal(int number)
{
    cli_error("agent", "a further signal ends the agent: locks whose deadlines have not passed end with their ttl");
    signal(number, SIG_DFL);
    raise(number);
}

/* What a living program has been told of is given back when its deadlines have passed. */
static void end_all(struct agent *agent)
{
    while (!list_is_empty(&agent->peers))
        peer_end(LIST_OWNER(agent->peers.next, struct peer, link), true);
    things_shorten(agent);
    while (!list_is_empty(&agent->lingering) && agent->session->caught == 0 &&
           event_base_loop(agent->session->base, EVLOOP_ONCE) == 0)
        continue;
    if (agent->session->caught != 0 && !list_is_empty(&agent->lingering))
        end_by_signal(agent->session->caught);
}

static bool open_agent(struct agent *agent)
{
    list_init(&agent->peers);
    list_init(&agent->lingering);
    list_init(&agent->moved);
    list_init(&agent->candidates);
    list_init(&agent->spent);
    agent->tell = evtimer_new(agent->session->base, on_tell, agent);
    if (!agent->tell) {
        cli_error("agent", "the system refuses an event");
        return false;
    }
    return metrics_open(agent) && listener_open(agent) && (!agent->options->state || state_take(agent));
}

static int serve(struct session *session, struct redlock_client *client, void *data)
{
    struct agent *agent = data;
    bool opened;

    agent->session = session;
    agent->client = client;
    notify_open("agent");
    opened = open_agent(agent);
    if (opened)
        notify_send("READY=1");
    while (opened && session->caught == 0 && event_base_loop(session->base, EVLOOP_ONCE) == 0)
        continue;
    notify_send("STOPPING=1");
    if (opened)
        drain(agent);
    if (opened && agent->options->state)
        state_leave(agent);
    end_all(agent);
    spent_forget(agent);
    listener_close(agent);
    metrics_close(agent);
    if (agent->tell)
        event_free(agent->tell);
    agent->tell = NULL;
    return opened ? CLI_OK : CLI_INFRASTRUCTURE;
}

/* --- The command line --------------------------------------------------------------------------------------------- */

static bool complete_socket(struct agent_options *options, char buffer[128])
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char *end;

    if (!options->socket && runtime && *runtime != '\0') {
        snprintf(buffer, 128, "%s/redlock.sock", runtime);
        options->socket = buffer;
    }
    if (!options->socket)
        options->socket = "/run/redlock.sock";
    options->mode = (mode_t)strtoul(options->mode_word, &end, 8);
    if (*end == '\0' && options->mode > 0 && options->mode <= 0777)
        return true;
    cli_error("agent", "--socket-mode takes octal digits, such as 0660, not '%s'", options->mode_word);
    return false;
}

int agent_main(int argc, char **argv)
{
    struct agent_options request = {
        .mode_word = "0600", .most_peers = 1000, .most_locks = 10000, .most_requests = 1000};
    struct agent agent = {.options = &request};
    struct session session = {.observer = on_event, .observer_data = &agent};
    const struct cli_option options[] = {
        {.name = "socket", .letter = 's', .file = &request.socket},
        {.name = "socket-mode", .text = &request.mode_word},
        {.name = "socket-group", .text = &request.group},
        {.name = "allow", .texts = &request.allowed},
        {.name = "state", .file = &request.state},
        {.name = "metrics-listen", .text = &request.metrics},
        CLI_CLASS_OPTION(&request.common),
        {.name = "drain", .duration_ms = &request.drain_ms},
        {.name = "max-connections", .number = &request.most_peers, .least = 1},
        {.name = "max-locks", .number = &request.most_locks, .least = 1},
        {.name = "max-requests", .number = &request.most_requests, .least = 1},
        {.name = "simulate", .flag = &request.simulate},
        CLI_LOCK_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "agent", .help = agent_help, .options = options,
                                        .operands = (const char *const[]){NULL}};
    char path[128];
    const char *operands[1];
    int code;

    cli_common_init(&request.common);
    code = cli_common_parse(&command, argc, argv, operands, &request.common);
    if (code < 0 && !(complete_socket(&request, path) && rights_check(&request.allowed) &&
                      metrics_check(request.metrics) && cli_classes_fit("agent", &request.common) &&
                      (request.simulate ? simulate_begin(&request)
                                        : cli_need_masters("agent", &request.common.masters))))
        code = cli_usage("agent");
    if (code < 0)
        code = session_command(&session, "agent", &request.common, FINISH_MS, serve, &agent);
    simulate_end();
    cli_common_fini(&request.common);
    return code;
}
