/* Redis or Valkey: independent masters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

static bool add_tls(struct arguments *arguments, const struct masters *masters, const struct master *master)
{
    const char *dir = masters->dir;

    return arguments_add(arguments, "--port", "0", "--tls-port", NULL) &&
           arguments_print(arguments, "%u", (unsigned)master->ports[PORT_CLIENTS]) &&
           arguments_add(arguments, "--tls-cert-file", NULL) && arguments_print(arguments, "%s/server.crt", dir) &&
           arguments_add(arguments, "--tls-key-file", NULL) && arguments_print(arguments, "%s/server.key", dir) &&
           arguments_add(arguments, "--tls-ca-cert-file", NULL) && arguments_print(arguments, "%s/ca.crt", dir) &&
           arguments_add(arguments, "--tls-auth-clients", masters->tls == MASTERS_TLS_MUTUAL ? "yes" : "no", NULL);
}

static bool add_address(struct arguments *arguments, const struct masters *masters, const struct master *master)
{
    if (masters->tls ? !add_tls(arguments, masters, master)
                     : !arguments_add(arguments, "--port", NULL) ||
                           !arguments_print(arguments, "%u", (unsigned)master->ports[PORT_CLIENTS]))
        return false;
    if (!arguments_add(arguments, "--bind", "127.0.0.1", NULL))
        return false;
    return !master->socket_path ||
           arguments_add(arguments, "--unixsocket", master->socket_path, "--unixsocketperm", "700", NULL);
}

/* Eviction would remove locks silently; snapshots would bring back an old past. */
bool redis_arguments(const struct masters *masters, const struct master *master, struct arguments *arguments)
{
    enum masters_persistence persistence = master->setup.persistence;
    bool durable = persistence != MASTERS_VOLATILE;

    if (!add_address(arguments, masters, master) ||
        !arguments_add(arguments, "--dir", master->dir, "--save", "", "--daemonize", "no", "--maxmemory-policy",
                       "noeviction", "--appendonly", durable ? "yes" : "no", NULL))
        return false;
    return !durable ||
           arguments_add(arguments, "--appendfsync", persistence == MASTERS_ALWAYS ? "always" : "everysec", NULL);
}

/* Whether the server that answers is the one that was started: on a lost race for the port it is another one. */
static bool is_same_process(const struct master *master)
{
    const char *const info[] = {"INFO", "server", NULL};
    char line[48];
    char *text = command_run(master, info, COMMAND_TIMEOUT_MS);
    bool same;

    if (!text) /* NOAUTH or NOPERM: it answers, which must do */
        return !process_has_ended(master);
    snprintf(line, sizeof line, "process_id:%d\r", (int)master->pid);
    same = strstr(text, line) != NULL;
    free(text);
    return same;
}

/* A server that refuses PING for good is up all the same; one that is LOADING is not. */
static bool is_lasting_refusal(const char *error)
{
    return strncmp(error, "NOAUTH", 6) == 0 || strncmp(error, "NOPERM", 6) == 0 ||
           strncmp(error, "MASTERDOWN", 10) == 0;
}

bool redis_answers(const struct master *master)
{
    const char *const ping[] = {"PING", NULL};
    char *text = command_run(master, ping, COMMAND_TIMEOUT_MS);

    if (!text && !is_lasting_refusal(masters_error()))
        return false;
    free(text);
    return is_same_process(master);
}

/* Valkey says both redis_version, which it only claims to be compatible with, and valkey_version. */
void masters_version(const char *info, char *ret_text, size_t size)
{
    const char *valkey = info ? strstr(info, "valkey_version:") : NULL;
    const char *version = valkey || !info ? valkey : strstr(info, "redis_version:");

    if (version) {
        version = strchr(version, ':') + 1;
        snprintf(ret_text, size, "%s %.*s", valkey ? "valkey" : "redis", (int)strcspn(version, "\r\n"), version);
    } else {
        snprintf(ret_text, size, "unknown server");
    }
}

bool redis_version(const struct master *master, char *ret_text, size_t size)
{
    const char *const info[] = {"INFO", "server", NULL};
    char *text = command_run(master, info, COMMAND_TIMEOUT_MS);

    masters_version(text, ret_text, size);
    free(text);
    return true;
}

const struct system system_redis = {
    .name = "redis",
    .program = "redis-server",
    .package = "redis-server",
    .ports = 1,
    .url_before = "redis://",
    .url_after = "",
    .arguments = redis_arguments,
    .answers = redis_answers,
    .version = redis_version,
};
