/* Five independent masters, and two of `redlock agent` before them: one for the programs of each of two machines, which
 * know the agent's socket and no master. Both have the same list of masters; relays know the second one by its process,
 * as one of the clients that may be apart.
 *
 * Faults are done to the masters; the agents outlive them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "connection.h"
#include "system.h"

#define SERVERS 5
#define AGENTS 2
#define PAGE_MS 5000

static bool is_agent(const struct master *master)
{
    return master->index >= SERVERS;
}

/* Beside this program, as the laboratory is built and installed; else from PATH. */
static char *find_redlock(void)
{
    char path[PATH_MAX];
    size_t length;

    if (!program_directory(path, sizeof path))
        return program_find("redlock", NULL);
    length = strlen(path);
    snprintf(path + length, sizeof path - length, "redlock");
    return program_find(access(path, X_OK) == 0 ? path : "redlock", NULL);
}

static bool add_redlock(struct arguments *arguments)
{
    char *redlock = find_redlock();
    bool added = redlock && arguments_add(arguments, redlock, NULL);

    free(redlock);
    return added;
}

static bool command(const struct masters *masters, const struct master *master, struct arguments *arguments)
{
    return is_agent(master) ? add_redlock(arguments) : arguments_add(arguments, masters->server, NULL);
}

static bool add_nodes(const struct masters *masters, struct arguments *arguments)
{
    char nodes[SERVERS * sizeof "127.0.0.1:65535,"];
    size_t length = 0;

    for (size_t i = 0; i < SERVERS; i++)
        length += (size_t)snprintf(nodes + length, sizeof nodes - length, "%s127.0.0.1:%u", i ? "," : "",
                                   (unsigned)masters->list[i].announced[PORT_CLIENTS]);
    return arguments_add(arguments, "--nodes", nodes, NULL);
}

/* They have been started by now, and nobody has waited for them. */
static bool wait_for_servers(const struct masters *masters)
{
    int64_t give_up_ms = connection_now_ms() + COMMAND_TIMEOUT_MS;

    for (size_t i = 0; i < SERVERS; i++)
        while (!redis_answers(&masters->list[i]))
            if (connection_now_ms() > give_up_ms || process_wait_end(masters->list[i].pid, 2))
                return fail_with_log(&masters->list[i], "the server does not answer");
    return true;
}

/* The masters are new, and vote from the beginning. */
static bool declare(const struct masters *masters, const struct master *master)
{
    struct arguments arguments = {.n = 0};
    bool declared;

    if (!wait_for_servers(masters))
        return false;
    declared = add_redlock(&arguments) && arguments_add(&arguments, "nodes", "--new-deployment", "--yes", NULL) &&
               add_nodes(masters, &arguments) &&
               arguments_add_list(&arguments, (const char *const *)master->setup.extra_args) &&
               process_run(masters, master, &arguments);
    arguments_fini(&arguments);
    return declared;
}

static bool prepare(const struct masters *masters, const struct master *master)
{
    return master->index != SERVERS || masters->founded || declare(masters, master);
}

static bool add_arguments(const struct masters *masters, const struct master *master, struct arguments *arguments)
{
    if (!is_agent(master))
        return redis_arguments(masters, master, arguments);
    return arguments_add(arguments, "agent", "--socket", master->socket_path, "--metrics-listen", NULL) &&
           arguments_print(arguments, "%u", (unsigned)master->ports[PORT_CLIENTS]) && add_nodes(masters, arguments);
}

static bool answers(const struct master *master)
{
    int fd;

    if (!is_agent(master))
        return redis_answers(master);
    fd = connection_open(master->socket_path, 0, connection_now_ms() + COMMAND_TIMEOUT_MS);
    if (fd >= 0)
        close(fd);
    return fd >= 0 && !process_has_ended(master);
}

static int64_t sent(const struct master *master)
{
    static const char name[] = "\nredlock_commands_total ";
    char *page = connection_exchange(master->ports[PORT_CLIENTS], "GET /metrics HTTP/1.0\r\n\r\n", SIZE_MAX, PAGE_MS);
    const char *line = page ? strstr(page, name) : NULL;
    int64_t n = line ? strtoll(line + strlen(name), NULL, 10) : -1;

    free(page);
    return n;
}

const struct system system_agent = {
    .name = "agent",
    .program = "redis-server",
    .package = "redis-server",
    .count = SERVERS + AGENTS,
    .first_entry = SERVERS,
    .entries_on_sockets = true,
    .ports = 1,
    .url_before = "redis://",
    .url_after = "",
    .prepare = prepare,
    .command = command,
    .arguments = add_arguments,
    .answers = answers,
    .sent = sent,
    .version = redis_version,
};
