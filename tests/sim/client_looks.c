/* Looks at keys: what host/look.c does is the host's; this file is in the place of lib/api/look.c. */
#include "client_looks.h"

#include <stdlib.h>
#include <string.h>

#include "world.h"

static void on_done(struct rl_look *core)
{
    RL_CONTAINER_OF(core, struct client_look, core)->over = true;
}

static void finish(struct client_look *look)
{
    rl_look_fini(&look->core);
    look->number = 0;
}

void client_look(struct client *client, uint8_t key)
{
    struct rl_key *name;
    unsigned place = 0;

    while (place < MAX_LOOKS && client->looks[place].number)
        place++;
    if (place == MAX_LOOKS || client->host.closing)
        return;
    TRACE(client->world, name_of_client(client->index), "looks at %s", name_of_key(key));
    rl_host_read_clock(&client->host);
    client->looks[place] = (struct client_look){.number = ++client->world->looks_begun, .key = key};
    look_on_start(client->world, client, &client->looks[place]);
    name = rl_key_create((struct rl_slice){"", 0}, name_of_key(key), strlen(name_of_key(key)));
    if (!rl_look_start(&client->host, &client->looks[place].core, name, on_done))
        abort();
    rl_key_unref(name);
}

/* Before redlock_look() returns, its read has been asked: the host has set the pointer to it first. */
uint32_t client_look_number(const struct client *client, const struct rl_tag *tag)
{
    for (unsigned i = 0; tag->step == RL_TAG_QUORUM_READ && i < MAX_LOOKS; i++) {
        if (client->looks[i].number && client->looks[i].core.read == tag->owner)
            return client->looks[i].number;
    }
    return 0;
}

static void trace_end(const struct client *client, const struct client_look *look,
                      const struct rl_look_picture *picture)
{
    static const char *const verdicts[] = {"free", "exclusive", "shared", "upgrading", "unsettled", "unknown"};
    static const char modes[] = "xur";

    TRACE(client->world, name_of_client(client->index), "sees %s: %s", name_of_key(look->key),
          verdicts[picture->verdict]);
    for (size_t i = 0; i < picture->n_values; i++) {
        const struct rl_look_value *value = &picture->values[i];

        TRACE(client->world, name_of_client(client->index), "  %c %.*s on %u, counter %llu", modes[value->mode],
              (int)value->value.size, (const char *)value->value.data, value->masters,
              (unsigned long long)value->counter);
    }
}

void client_deliver_looks(struct client *client)
{
    static struct rl_look_picture picture;

    for (unsigned i = 0; i < MAX_LOOKS; i++) {
        struct client_look *look = &client->looks[i];

        if (!look->number || !look->over)
            continue;
        if (!rl_look_picture(&look->core, &picture))
            abort();
        trace_end(client, look, &picture);
        look_on_end(client->world, client, look, &picture);
        elections_on_look(client->world, client, look, &picture);
        finish(look);
    }
}

void client_end_looks(struct client *client)
{
    for (unsigned i = 0; i < MAX_LOOKS; i++) {
        if (client->looks[i].number)
            finish(&client->looks[i]);
    }
}
