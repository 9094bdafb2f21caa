/* Redis with two replicas, watched by three Sentinels.
 *
 * Who is the master of whom stands in a file for each server, which Sentinel rewrites; a server that starts again
 * begins with what the file says, as the manual wants it. The files are beside the members' directories: a member that
 * has lost its memory knows its place all the same. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system.h"

#define SERVERS 3

static bool is_sentinel(const struct master *master)
{
    return master->index >= SERVERS;
}

static char *file_of(const struct masters *masters, const struct master *master)
{
    char *path = NULL;

    if (asprintf(&path, "%s/%zu.conf", masters->dir, master->index) < 0) {
        fail("out of memory");
        return NULL;
    }
    return path;
}

/* Failures are seen after two seconds; the manual's examples wait for five to sixty. Of the replicas Sentinel would
 * hear by itself ten seconds later. */
static void write_sentinel(FILE *file, const struct masters *masters, const struct master *master)
{
    fprintf(file,
            "port %u\nbind 127.0.0.1\ndir %s\n"
            "sentinel announce-ip 127.0.0.1\nsentinel announce-port %u\n"
            "sentinel monitor redlock 127.0.0.1 %u 2\n"
            "sentinel down-after-milliseconds redlock 2000\n"
            "sentinel failover-timeout redlock 10000\n"
            "sentinel parallel-syncs redlock 1\n",
            (unsigned)master->ports[PORT_CLIENTS], master->dir, (unsigned)master->announced[PORT_CLIENTS],
            (unsigned)masters->list[0].announced[PORT_CLIENTS]);
    for (size_t i = 1; i < SERVERS; i++)
        fprintf(file, "sentinel known-replica redlock 127.0.0.1 %u\n",
                (unsigned)masters->list[i].announced[PORT_CLIENTS]);
}

/* A diskless transfer and no delay before it: a replica is there at once. */
static void write_server(FILE *file, const struct masters *masters, const struct master *master)
{
    fprintf(file, "replica-announce-ip 127.0.0.1\nreplica-announce-port %u\nrepl-diskless-sync-delay 0\n",
            (unsigned)master->announced[PORT_CLIENTS]);
    if (master->index > 0)
        fprintf(file, "replicaof 127.0.0.1 %u\n", (unsigned)masters->list[0].announced[PORT_CLIENTS]);
}

static bool prepare(const struct masters *masters, const struct master *master)
{
    char *path = file_of(masters, master);
    FILE *file;
    bool written;

    if (!path)
        return false;
    file = access(path, F_OK) == 0 ? NULL : fopen(path, "we");
    if (file) {
        (is_sentinel(master) ? write_sentinel : write_server)(file, masters, master);
        written = fclose(file) == 0;
    } else {
        written = access(path, F_OK) == 0;
    }
    if (!written)
        fail("%s: %s", path, strerror(errno));
    free(path);
    return written;
}

static bool add_arguments(const struct masters *masters, const struct master *master, struct arguments *arguments)
{
    if (!arguments_print(arguments, "%s/%zu.conf", masters->dir, master->index))
        return false;
    return is_sentinel(master) ? arguments_add(arguments, "--sentinel", NULL)
                               : redis_arguments(masters, master, arguments);
}

/* Whether the reply has the name, and the value on the line behind it. */
static bool has_field(const char *reply, const char *name, const char *value)
{
    char field[96];

    snprintf(field, sizeof field, "\n%s\n%s\n", name, value);
    return reply && strstr(reply, field);
}

/* Whether a Sentinel knows both replicas and both other Sentinels; whether a replica's link to its master is up. */
static bool serves(const struct masters *masters, const struct master *master)
{
    const char *const known[] = {"SENTINEL", "MASTER", "redlock", NULL};
    const char *const info[] = {"INFO", "replication", NULL};
    char *reply = command_run(master, is_sentinel(master) ? known : info, COMMAND_TIMEOUT_MS);
    bool found;

    if (is_sentinel(master))
        found = has_field(reply, "num-slaves", "2") && has_field(reply, "num-other-sentinels", "2");
    else
        found = reply && (strstr(reply, "role:master") || strstr(reply, "master_link_status:up"));
    free(reply);
    return found || fail("member %zu does not know all the others", master->index);
}

static const struct master *running_sentinel(const struct masters *masters)
{
    for (size_t i = SERVERS; i < masters->count; i++)
        if (masters->list[i].pid && !masters->list[i].hung)
            return &masters->list[i];
    return NULL;
}

/* The address is Sentinel's word: two servers may believe for a while that they are the master. */
static bool leads(const struct masters *masters, const struct master *master)
{
    const char *const ask[] = {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "redlock", NULL};
    const struct master *sentinel = running_sentinel(masters);
    char address[32];
    char *reply = sentinel ? command_run(sentinel, ask, COMMAND_TIMEOUT_MS) : NULL;
    bool same;

    snprintf(address, sizeof address, "127.0.0.1\n%u", (unsigned)master->announced[PORT_CLIENTS]);
    same = reply && strcmp(reply, address) == 0;
    free(reply);
    return same;
}

const struct system system_sentinel = {
    .name = "sentinel",
    .program = "redis-server",
    .package = "redis-server",
    .count = 6,
    .first_entry = SERVERS,
    .ports = 1,
    .meet = true,
    .url_before = "redis://",
    .url_after = "",
    .prepare = prepare,
    .arguments = add_arguments,
    .answers = redis_answers,
    .serves = serves,
    .leads = leads,
    .version = redis_version,
};
