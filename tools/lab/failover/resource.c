#include "resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "plant.h"

const char *const fo_resource_words[FO_NO_RESOURCE + 1] = {"redis", "postgres", "mariadb", "file", NULL};

struct fo_store {
    const struct fo_resource_type *type;
    void *connection;
};

static const struct fo_resource_type *const types[] = {
    [FO_RESOURCE_REDIS] = &fo_resource_redis,
    [FO_RESOURCE_POSTGRES] = &fo_resource_postgres,
    [FO_RESOURCE_MARIADB] = &fo_resource_mariadb,
    [FO_RESOURCE_FILE] = &fo_resource_file,
};

static bool start_server(struct fo_resource *resource, enum masters_system system, char *ret_why, size_t size)
{
    const struct masters_options options = {.system = system, .count = 1, .tcp = system != MASTERS_REDIS};

    resource->server = masters_create(&options);
    if (resource->server && masters_cleanup_on_exit(resource->server)) {
        resource->url = masters_url(resource->server, 0);
        return true;
    }
    snprintf(ret_why, size, "the store of --resource does not start: %s", masters_error());
    return false;
}

bool fo_resource_open(struct fo_resource *resource, enum fo_resource_kind kind, char *ret_why, size_t size)
{
    const struct fo_resource_type *type = kind == FO_NO_RESOURCE ? NULL : types[kind];

    *resource = (struct fo_resource){.kind = kind, .files = {-1, -1}};
    return !type || ((type->system == MASTERS_SYSTEMS || start_server(resource, type->system, ret_why, size)) &&
                     type->prepare(resource, ret_why, size));
}

void fo_resource_close(struct fo_resource *resource)
{
    for (int i = 0; i < FO_STORE_RECORDS; i++)
        if (resource->files[i] > 0)
            close(resource->files[i]);
    masters_destroy(resource->server);
    *resource = (struct fo_resource){.kind = FO_NO_RESOURCE};
}

struct fo_store *fo_store_connect(const struct fo_resource *resource, char *ret_why, size_t size)
{
    struct fo_store *store = calloc(1, sizeof *store);

    if (!store) {
        snprintf(ret_why, size, "out of memory");
        return NULL;
    }
    store->type = types[resource->kind];
    store->connection = store->type->connect(resource, ret_why, size);
    if (store->connection)
        return store;
    free(store);
    return NULL;
}

void fo_store_disconnect(struct fo_store *store)
{
    if (!store)
        return;
    store->type->disconnect(store->connection);
    free(store);
}

enum fo_answer fo_store_write(struct fo_store *store, enum fo_store_record record, uint64_t token, uint64_t turn)
{
    bool guarded = record == FO_GUARDED && !fo_planted(FO_PLANT_UNGUARDED);

    return store->type->write(store->connection, record, guarded, token, turn);
}

bool fo_store_read(struct fo_store *store, enum fo_store_record record, struct fo_stored *ret_stored)
{
    *ret_stored = (struct fo_stored){0};
    return store->type->read(store->connection, record, ret_stored);
}
