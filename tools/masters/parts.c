#include "parts.h"

#include <stdio.h>

#include "relays.h"
#include "system.h"

#define CLIENTS_APART 1
#define FIRST_MEMBER 2

enum { URL_SIZE = sizeof("redis://127.0.0.1:65535") };

size_t parts_ports(const struct system *system)
{
    return system->cannot_part ? PORT_CLIENTS + 1 : system->ports;
}

bool parts_add_process(const struct masters *masters, const struct master *master)
{
    return !masters->relays || relays_assign(masters->relays, master->pid, FIRST_MEMBER + (unsigned)master->index) ||
           fail("the relays are gone");
}

static bool is_parted(const struct masters *masters)
{
    bool parted = masters->clients_apart;

    for (size_t i = 0; i < masters->count; i++)
        parted = parted || masters->list[i].apart;
    return parted;
}

static bool is_apart(const struct masters *masters, unsigned side)
{
    return side >= FIRST_MEMBER ? masters->list[side - FIRST_MEMBER].apart : side == CLIENTS_APART;
}

/* What comes from a side to a member passes if both are apart, or neither, or nobody is. */
static bool set_member(struct masters *masters, size_t i, unsigned side)
{
    bool parted = is_parted(masters) && is_apart(masters, side) != masters->list[i].apart;
    const struct relay_toxics toxics = {.latency_us = masters->delay_us, .hold = parted};
    size_t ports = parts_ports(masters->system);

    for (size_t port = 0; port < ports; port++)
        if (!relays_set(masters->relays, i * ports + port, side, RELAY_UPSTREAM, &toxics) ||
            !relays_set(masters->relays, i * ports + port, side, RELAY_DOWNSTREAM, &toxics))
            return fail("the relays are gone");
    return true;
}

static bool set_all(struct masters *masters)
{
    for (size_t member = 0; member < masters->count; member++)
        for (unsigned side = 0; side < FIRST_MEMBER + masters->count; side++)
            if (!set_member(masters, member, side))
                return false;
    return true;
}

bool parts_begin(struct masters *masters)
{
    char urls[2][RELAYS_MAX][URL_SIZE];
    const char *listen[RELAYS_MAX], *upstream[RELAYS_MAX];
    char why[160];
    size_t n = 0;

    for (size_t i = 0; i < masters->count; i++)
        for (size_t port = 0; port < parts_ports(masters->system) && n < RELAYS_MAX; port++, n++) {
            const struct master *master = &masters->list[i];

            snprintf(urls[0][n], URL_SIZE, "redis://127.0.0.1:%u", (unsigned)master->announced[port]);
            snprintf(urls[1][n], URL_SIZE, "redis://127.0.0.1:%u", (unsigned)master->ports[port]);
            listen[n] = urls[0][n];
            upstream[n] = urls[1][n];
        }
    masters->relays = relays_create_at(listen, upstream, n, 0, why, sizeof(why));
    if (!masters->relays)
        return fail("%s", why);
    return !masters->delay_us || set_all(masters);
}

bool masters_part(struct masters *masters, size_t i, bool apart)
{
    if (!masters->relays)
        return fail("the members are not relayed");
    if (masters->system->cannot_part)
        return fail("the members of %s cannot be parted", masters->system->name);
    masters->list[i].apart = apart;
    return set_all(masters);
}

bool masters_part_clients(struct masters *masters, bool apart)
{
    if (!masters->relays)
        return fail("the members are not relayed");
    masters->clients_apart = apart;
    return set_all(masters);
}

bool masters_part_client(struct masters *masters, pid_t client)
{
    if (!masters->relays)
        return fail("the members are not relayed");
    return relays_assign(masters->relays, client, CLIENTS_APART) || fail("the relays are gone");
}
