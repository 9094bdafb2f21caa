/* Handles of a latch: what host/latch.c does is the host's; this file is in the place of lib/api/latch.c. */
#include "client_latches.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "world.h"

static const char *const ops[] = {"arrive", "await"};

static struct client_latch *latch_at(struct rl_list *at)
{
    return RL_CONTAINER_OF(RL_CONTAINER_OF(at, struct rl_latch, link), struct client_latch, core);
}

static const char *name_of(const struct client *client, const struct client_latch *latch)
{
    return latch->party == NO_PARTY ? name_of_client(client->index) : name_of_party(latch->party);
}

/* --- Ends of operations ------------------------------------------------------------------------------------------- */

static void note_end(struct client_latch *latch, enum rl_latch_op op, int status)
{
    latch->ends[op] = (struct latch_end){.due = true, .status = status};
}

static void on_done(struct rl_latch *core, enum rl_latch_op op, int status, int cause)
{
    struct client_latch *latch = RL_CONTAINER_OF(core, struct client_latch, core);
    struct client *client = RL_CONTAINER_OF(core->host, struct client, host);

    latch_on_end(client, latch, op, status);
    note_end(latch, op, status);
}

static const char *name_of_status(int status)
{
    switch (status) {
    case REDLOCK_OK:
        return "ok";
    case REDLOCK_DEADLINE:
        return "not by the deadline";
    case REDLOCK_CANCELED:
        return "canceled";
    case REDLOCK_OTHER_PARTIES:
        return "refused, another number of parties";
    case REDLOCK_OTHER_GENERATION:
        return "refused, another generation";
    default:
        return "?";
    }
}

static void deliver(struct client *client, struct client_latch *latch, enum rl_latch_op op)
{
    struct latch_end end = latch->ends[op];

    if (!latch->number || !end.due)
        return;
    latch->ends[op].due = false;
    TRACE(client->world, name_of(client, latch), "%s, generation %u: %s", ops[op], latch->generation,
          name_of_status(end.status));
    workload_on_latch(client, latch, op, end.status);
}

/* A callback may destroy its handle, and make others. */
void client_deliver_latches(struct client *client)
{
    if (rl_list_empty(&client->host.latches))
        return;
    for (unsigned i = 0; i < MAX_LATCHES; i++) {
        for (enum rl_latch_op op = 0; op < RL_LATCH_N_OPS; op++)
            deliver(client, &client->latches[i], op);
    }
}

bool client_has_latch_due(const struct client *client)
{
    const struct rl_list *latches = &client->host.latches;

    for (struct rl_list *at = latches->next; at != latches; at = at->next) {
        if (latch_at(at)->ends[RL_LATCH_ARRIVE].due || latch_at(at)->ends[RL_LATCH_AWAIT].due)
            return true;
    }
    return false;
}

/* --- The library's calls ------------------------------------------------------------------------------------------ */

struct client_latch *client_add_latch(struct client *client, uint8_t parties, uint8_t generation, uint8_t party)
{
    const char *name = party == NO_PARTY ? "" : name_of_party(party);
    struct rl_latch_config config = {
        .name = rl_slice_of(LATCH),
        .parties = parties,
        .generation = generation,
        .party = rl_slice_of(name),
        .keep_ms = 86400000,
        .done = on_done,
    };
    struct client_latch *latch = client->latches;

    while (latch < client->latches + MAX_LATCHES && latch->number)
        latch++;
    if (latch == client->latches + MAX_LATCHES)
        abort();
    *latch = (struct client_latch){.number = ++client->world->latches_made, .parties = parties,
                                   .generation = generation, .party = party};
    if (!rl_latch_init(&client->host, &latch->core, &config))
        abort();
    return latch;
}

bool client_latch_is_busy(const struct client_latch *latch, enum rl_latch_op op)
{
    return latch->core.ops[op].pending || latch->ends[op].due;
}

void client_start_latch(struct client *client, struct client_latch *latch, enum rl_latch_op op, struct rl_span timeout)
{
    struct rl_instant now = rl_host_read_clock(&client->host);
    bool limited = timeout.ns && timeout.ns != INT64_MAX;
    struct rl_instant deadline = limited ? rl_after(now, timeout) : RL_NEVER;

    TRACE(client->world, name_of(client, latch), "%s, generation %u of %u%s", ops[op], latch->generation,
          latch->parties, timeout.ns ? "" : ", once");
    latch_on_start(client, latch, op, deadline, timeout.ns == 0);
    rl_latch_start(&latch->core, op, deadline, timeout.ns == 0);
}

void client_cancel_latch(struct client *client, struct client_latch *latch)
{
    for (enum rl_latch_op op = 0; op < RL_LATCH_N_OPS; op++) {
        if (rl_latch_cancel(&latch->core, op))
            note_end(latch, op, REDLOCK_CANCELED);
    }
}

static void fini(struct client_latch *latch)
{
    rl_latch_fini(&latch->core);
    latch->number = 0;
}

/* Nobody here wants to hear of what was pending. */
void client_destroy_latch(struct client *client, struct client_latch *latch)
{
    TRACE(client->world, name_of(client, latch), "destroys its handle of generation %u", latch->generation);
    fini(latch);
}

void client_stop_latches(struct client *client)
{
    for (struct rl_list *at = client->host.latches.next; at != &client->host.latches; at = at->next) {
        client_cancel_latch(client, latch_at(at));
        rl_latch_stop(&latch_at(at)->core);
    }
}

void client_destroy_latches(struct client *client)
{
    while (!rl_list_empty(&client->host.latches))
        client_destroy_latch(client, latch_at(client->host.latches.next));
}

void client_end_latches(struct client *client)
{
    while (client->has_host && !rl_list_empty(&client->host.latches))
        fini(latch_at(client->host.latches.next));
}
