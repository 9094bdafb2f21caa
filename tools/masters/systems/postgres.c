/* One PostgreSQL server. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include "system.h"

#define PLACES "/usr/lib/postgresql/*/bin"
#define LINE_MAX_SIZE 256

/* A program beside the server's. */
static bool add_installer(const struct masters *masters, const char *data, struct arguments *arguments)
{
    return arguments_print(arguments, "%.*s/initdb", (int)(strrchr(masters->server, '/') - masters->server),
                           masters->server) &&
           arguments_add(arguments, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale",
                         "--no-sync", NULL);
}

static bool add_arguments(const struct masters *masters, const struct master *master, struct arguments *arguments)
{
    return arguments_add(arguments, "-h", "127.0.0.1", "-k", master->dir, "-p", NULL) &&
           arguments_print(arguments, "%u", (unsigned)master->ports[PORT_CLIENTS]) &&
           arguments_add(arguments, "-c", "max_connections=1000", "-D", NULL) &&
           arguments_print(arguments, "%s/data", master->dir);
}

/* The lines of the server's own record: process, directory, time, port, socket, address, shared memory, state. */
static bool read_record(const struct master *master, char lines[8][LINE_MAX_SIZE])
{
    char path[SOCKET_PATH_MAX + 32];
    FILE *file;
    size_t n = 0;

    snprintf(path, sizeof path, "%s/data/postmaster.pid", master->dir);
    file = fopen(path, "re");
    if (!file)
        return fail("%s: %s", path, strerror(errno));
    while (n < 8 && fgets(lines[n], LINE_MAX_SIZE, file))
        n++;
    fclose(file);
    return n == 8 || fail("%s is not complete", path);
}

/* The small piece of System V shared memory would outlive a server that is killed. It is given back already: it goes
 * with the last process that uses it, and until then tells the next server that the old one is not gone, as before. */
static void release_memory(const char *line)
{
    unsigned long key;
    int number;

    if (sscanf(line, "%lu %d", &key, &number) == 2)
        shmctl(number, IPC_RMID, NULL);
}

static bool answers(const struct master *master)
{
    char lines[8][LINE_MAX_SIZE];

    if (!read_record(master, lines) || strtol(lines[0], NULL, 10) != master->pid || strncmp(lines[7], "ready", 5) != 0)
        return fail("PostgreSQL is not ready");
    release_memory(lines[6]);
    return true;
}

static bool version(const struct master *master, char *ret_text, size_t size)
{
    char path[SOCKET_PATH_MAX + 32];
    char number[16] = "";
    FILE *file;

    snprintf(path, sizeof path, "%s/data/PG_VERSION", master->dir);
    file = fopen(path, "re");
    if (!file || !fgets(number, sizeof number, file))
        fail("%s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    snprintf(ret_text, size, "PostgreSQL %.*s", (int)strcspn(number, "\n"), number);
    return number[0] != '\0';
}

const struct system system_postgres = {
    .name = "postgres",
    .program = "postgres",
    .places = PLACES,
    .package = "postgresql",
    .user = "postgres",
    .count = 1,
    .ports = 1,
    .url_before = "postgresql://postgres@",
    .url_after = "/postgres",
    .installer = add_installer,
    .arguments = add_arguments,
    .answers = answers,
    .version = version,
};
