#include "parts.h"

#include <stdio.h>

#include "relays.h"
#include "system.h"

#define CLIENTS_APART 1
#define FIRST_MEMBER 2

enum { URL_SIZE = sizeof "redis://127.0.0.1:65535" };

size_t parts_ports(const struct system *system)
{
    return system->cannot_part ? PORT_CLIENTS + 1 : system->ports;
}

/* Entries on sockets are reached past all relays. */
static size_t relayed_members(const struct masters *masters)
{
    return masters->system->entries_on_sockets ? masters->system->first_entry : masters->count;
}

bool parts_add_process(const struct masters *masters, const struct master *master)
{
    bool is_other_machine = masters->system->entries_on_sockets && master->index > masters->system->first_entry;
    unsigned side = is_other_machine ? CLIENTS_APART : FIRST_MEMBER + (unsigned)master->index;

    return !masters->relays || (!masters->system->meet && !is_other_machine) ||
           relays_assign(masters->relays, master->pid, side) || fail("the relays are gone");
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
static struct relay_toxics toxics_between(const struct masters *masters, size_t i, unsigned side)
{
    bool parted = is_parted(masters) && is_apart(masters, side) != masters->list[i].apart;

    return (struct relay_toxics){.latency_us = masters->delay_us, .hold = parted};
}

static bool set(const struct masters *masters, size_t relay, unsigned side, struct relay_toxics toxics)
{
    return (relays_set(masters->relays, relay, side, RELAY_UPSTREAM, &toxics) &&
            relays_set(masters->relays, relay, side, RELAY_DOWNSTREAM, &toxics)) ||
           fail("the relays are gone");
}

/* The relays before the ports come first, those for clients that are apart behind them. */
static size_t first_apart(const struct masters *masters)
{
    return relayed_members(masters) * parts_ports(masters->system);
}

static bool set_member(const struct masters *masters, size_t i, unsigned side)
{
    size_t ports = parts_ports(masters->system);

    for (size_t port = 0; port < ports; port++)
        if (!set(masters, i * ports + port, side, toxics_between(masters, i, side)))
            return false;
    return set(masters, first_apart(masters) + i, side, toxics_between(masters, i, CLIENTS_APART));
}

static bool set_all(const struct masters *masters)
{
    for (size_t i = 0; i < relayed_members(masters); i++)
        for (unsigned side = 0; side < FIRST_MEMBER + masters->count; side++)
            if (!set_member(masters, i, side))
                return false;
    return true;
}

/* Where relays listen, and what is behind them. */
struct plan {
    char urls[2][RELAYS_MAX][URL_SIZE];
    const char *listen[RELAYS_MAX];
    const char *upstream[RELAYS_MAX];
    size_t n;
};

static void add(struct plan *plan, uint16_t announced, uint16_t port)
{
    if (plan->n == RELAYS_MAX)
        return;
    snprintf(plan->urls[0][plan->n], URL_SIZE, "redis://127.0.0.1:%u", (unsigned)announced);
    snprintf(plan->urls[1][plan->n], URL_SIZE, "redis://127.0.0.1:%u", (unsigned)port);
    plan->listen[plan->n] = plan->urls[0][plan->n];
    plan->upstream[plan->n] = plan->urls[1][plan->n];
    plan->n++;
}

bool parts_begin(struct masters *masters)
{
    struct plan plan = {.n = 0};
    char why[160];

    for (size_t i = 0; i < relayed_members(masters); i++)
        for (size_t port = 0; port < parts_ports(masters->system); port++)
            add(&plan, masters->list[i].announced[port], masters->list[i].ports[port]);
    for (size_t i = 0; i < relayed_members(masters); i++)
        add(&plan, masters->list[i].announced_apart, masters->list[i].ports[PORT_CLIENTS]);
    masters->relays = relays_create_at(plan.listen, plan.upstream, plan.n, 0, why, sizeof why);
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
    return !masters->system->meet || relays_assign(masters->relays, client, CLIENTS_APART) ||
           fail("the relays are gone");
}
