/* What differs between the systems whose servers are run here: one struct for each, in systems/. Its functions leave a
 * sentence in masters_error() when they fail. */
#ifndef MASTERS_SYSTEM_H
#define MASTERS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

#include "internal.h"
#include "process.h"

struct system {
    const char *name;
    const char *program;    /* of the server, and where it is if not in PATH: program_find() */
    const char *places;
    const char *needs;      /* another file that must be there; NULL: none */
    const char *package;    /* of Debian, that has it */
    const char *user;       /* whom servers that refuse root run as; NULL: whoever runs this */
    size_t count;           /* of members; 0: as many as the caller wants */
    size_t first_entry;     /* from this member on, they are what clients are told of */
    bool entries_on_sockets; /* to clients that are apart these are named the other way round */
    size_t ports;           /* of each member */
    bool cannot_part;       /* its members tell each other on which ports they really listen: relays are for clients */
    bool meet;              /* its members connect to each other by relays, which must know whose a connection is */
    const char *url_before; /* its port */
    const char *url_after;

    /* Before each start: makes what the server wants to find in its directory. NULL: nothing. */
    bool (*prepare)(const struct masters *masters, const struct master *master);
    /* The command that makes the directory of a database, before the first start. NULL: the server needs none. */
    bool (*installer)(const struct masters *masters, const char *data, struct arguments *arguments);
    /* Adds the program's name, where not all members run the same. NULL: they run `program`. */
    bool (*command)(const struct masters *masters, const struct master *master, struct arguments *arguments);
    /* What stands behind it. */
    bool (*arguments)(const struct masters *masters, const struct master *master, struct arguments *arguments);
    /* Whether this one is up: it listens, and is the process that was started. */
    bool (*answers)(const struct master *master);
    /* Whether the members have found each other and this one serves clients. NULL: an answer says so. */
    bool (*serves)(const struct masters *masters, const struct master *master);
    /* Whether this one leads, as it says itself. NULL: the only one that there is. */
    bool (*leads)(const struct masters *masters, const struct master *master);
    /* Commands that an entry has sent to the others, as it says; -1: it does not say. NULL: entries send none. */
    int64_t (*sent)(const struct master *master);
    /* "etcd 3.4.23", as the server says. */
    bool (*version)(const struct master *master, char *ret_text, size_t size);
};

extern const struct system system_redis;
extern const struct system system_sentinel;
extern const struct system system_etcd;
extern const struct system system_zookeeper;
extern const struct system system_postgres;
extern const struct system system_mariadb;
extern const struct system system_agent;

/* What redis-server is told, whether alone or with replicas. */
bool redis_arguments(const struct masters *masters, const struct master *master, struct arguments *arguments);
bool redis_answers(const struct master *master);
bool redis_version(const struct master *master, char *ret_text, size_t size);

#endif
