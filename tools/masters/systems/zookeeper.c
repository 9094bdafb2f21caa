/* Three servers of a ZooKeeper ensemble. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "system.h"

#define ANSWER_MS 2000
#define CLASSES "/etc/zookeeper/conf:/usr/share/java/zookeeper.jar"

static FILE *open_file(const struct master *master, const char *name)
{
    char path[SOCKET_PATH_MAX + 32];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", master->dir, name);
    file = fopen(path, "we");
    if (!file)
        fail("%s: %s", path, strerror(errno));
    return file;
}

/* Its own entry has the ports that it listens on, the others' those that they are told to others. With the manual's
 * tick of two seconds no session could be shorter than four; with half a second a dead server is found after two. */
static bool prepare(const struct masters *masters, const struct master *master)
{
    FILE *file = open_file(master, "myid");

    if (!file)
        return false;
    fprintf(file, "%zu\n", master->index + 1);
    fclose(file);
    file = open_file(master, "zoo.cfg");
    if (!file)
        return false;
    fprintf(file,
            "tickTime=500\ninitLimit=20\nsyncLimit=4\ndataDir=%s\nclientPort=%u\nclientPortAddress=127.0.0.1\n"
            "maxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=srvr\n",
            master->dir, (unsigned)master->ports[PORT_CLIENTS]);
    for (size_t i = 0; i < masters->count; i++) {
        const uint16_t *ports = i == master->index ? masters->list[i].ports : masters->list[i].announced;

        fprintf(file, "server.%zu=127.0.0.1:%u:%u\n", i + 1, (unsigned)ports[PORT_PEERS],
                (unsigned)ports[PORT_ELECTION]);
    }
    return fclose(file) == 0 || fail("zoo.cfg: %s", strerror(errno));
}

/* Java's own record of the process would stay behind in /tmp. */
static bool add_arguments(const struct masters *masters, const struct master *master, struct arguments *arguments)
{
    return arguments_add(arguments, "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
                         "-cp", CLASSES, "org.apache.zookeeper.server.quorum.QuorumPeerMain", NULL) &&
           arguments_print(arguments, "%s/zoo.cfg", master->dir);
}

static char *ask(const struct master *master)
{
    return connection_exchange(master->ports[PORT_CLIENTS], "srvr", SIZE_MAX, ANSWER_MS);
}

static bool says(const struct master *master, const char *word)
{
    char *text = ask(master);
    bool found = text && strstr(text, word);

    free(text);
    return found || fail("ZooKeeper does not say \"%s\"", word);
}

/* A server without a majority answers, too: that it does not serve. */
static bool answers(const struct master *master)
{
    char *text = ask(master);
    bool came = text && !process_has_ended(master);

    free(text);
    return came;
}

static bool serves(const struct masters *masters, const struct master *master)
{
    return says(master, "\nMode: ");
}

static bool leads(const struct masters *masters, const struct master *master)
{
    return says(master, "\nMode: leader");
}

static bool version(const struct master *master, char *ret_text, size_t size)
{
    char *text = ask(master);
    const char *number = text ? strstr(text, "version: ") : NULL;

    if (number) {
        number += strlen("version: ");
        snprintf(ret_text, size, "ZooKeeper %.*s", (int)strcspn(number, "-,"), number);
    }
    free(text);
    return number != NULL;
}

const struct system system_zookeeper = {
    .name = "zookeeper",
    .program = "java",
    .needs = "/usr/share/java/zookeeper.jar",
    .package = "zookeeper",
    .count = 3,
    .ports = 3,
    .cannot_part = true, /* the address in an election's first message is that which the sender is bound to */
    .url_before = "zookeeper://",
    .url_after = "",
    .prepare = prepare,
    .arguments = add_arguments,
    .answers = answers,
    .serves = serves,
    .leads = leads,
    .version = version,
};
