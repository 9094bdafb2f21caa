/* The store of --resource: what a lock is for. Leaders write to it besides the counter file, each time into two records
 * of it: one that a guard of tools/fencing keeps, and one that anybody may write to. The store itself keeps the order
 * in which it took the writes; the referee reads that, and finds the late ones. */
#ifndef FAILOVER_RESOURCE_H
#define FAILOVER_RESOURCE_H

#include "masters/masters.h"
#include "shared.h"

enum fo_resource_kind {
    FO_RESOURCE_REDIS,
    FO_RESOURCE_POSTGRES,
    FO_RESOURCE_MARIADB,
    FO_RESOURCE_FILE,
    FO_NO_RESOURCE,
};

/* As --resource has them; the last is NULL. */
extern const char *const fo_resource_words[FO_NO_RESOURCE + 1];

enum fo_answer {
    FO_STORE_TOOK,
    FO_STORE_REFUSED, /* by the guard: a larger token has written */
    FO_STORE_BROKE,   /* the store has said something else, or nothing */
};

struct fo_resource {
    enum fo_resource_kind kind;
    struct masters *server;      /* NULL: files */
    const char *url;             /* of the server */
    int files[FO_STORE_RECORDS]; /* without names, open in all processes; -1 */
};

/* What a kind of store can do. A connection is of one process. */
struct fo_resource_type {
    enum masters_system system; /* that is started; MASTERS_SYSTEMS: none */
    bool (*prepare)(struct fo_resource *resource, char *ret_why, size_t size); /* the guard, and two empty records */
    void *(*connect)(const struct fo_resource *resource, char *ret_why, size_t size);
    void (*disconnect)(void *connection);
    /* `turn` goes into the record, if the guard lets the token pass or is not asked. */
    enum fo_answer (*write)(void *connection, enum fo_store_record record, bool guarded, uint64_t token, uint64_t turn);
    /* All turns of the record, in the order in which they were stored. */
    bool (*read)(void *connection, enum fo_store_record record, struct fo_stored *ret_stored);
};

extern const struct fo_resource_type fo_resource_redis;    /* resource_redis.c */
extern const struct fo_resource_type fo_resource_postgres; /* resource_sql.c */
extern const struct fo_resource_type fo_resource_mariadb;
extern const struct fo_resource_type fo_resource_file;     /* resource_file.c */

/* Starts the store, for all processes that are forked later. Without one there is nothing to do. */
bool fo_resource_open(struct fo_resource *resource, enum fo_resource_kind kind, char *ret_why, size_t size);
void fo_resource_close(struct fo_resource *resource); /* also of all zeros */

/* A process's way to the store. NULL: ret_why. */
struct fo_store *fo_store_connect(const struct fo_resource *resource, char *ret_why, size_t size);
void fo_store_disconnect(struct fo_store *store); /* NULL is fine */

/* The token is compared only where the record is guarded. Later holders have larger turns. */
enum fo_answer fo_store_write(struct fo_store *store, enum fo_store_record record, uint64_t token, uint64_t turn);
bool fo_store_read(struct fo_store *store, enum fo_store_record record, struct fo_stored *ret_stored);

#endif
