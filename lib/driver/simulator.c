#include "driver/simulator.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/status.h>
#include <redlock/version.h>

#include "util/clock.h"

static _Atomic(const struct rl_simulator *) present;

const struct rl_simulator *rl_simulator(void)
{
    return atomic_load_explicit(&present, memory_order_acquire);
}

_Atomic int64_t *redlock_private_simulator(const char *version, const struct rl_simulator *simulator)
{
    if (strcmp(version, REDLOCK_VERSION) != 0)
        return NULL;
    atomic_store_explicit(&present, simulator, memory_order_release);
    return &rl_clock_ahead_ns;
}

int rl_simulated_begin(struct rl_simulated *client, struct event_base *base, void (*rung)(int, short, void *),
                       void *ctx)
{
    atomic_init(&client->heard, true);
    client->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->bell < 0)
        return REDLOCK_E_SYSTEM;
    client->event = event_new(base, client->bell, EV_READ | EV_PERSIST, rung, ctx);
    if (client->event && event_add(client->event, NULL) == 0 && rl_simulator()->begin(client))
        return REDLOCK_OK;
    if (client->event)
        event_free(client->event);
    client->event = NULL;
    close(client->bell);
    return REDLOCK_E_SYSTEM;
}

/* A forked child does not touch what is the parent's: rl_driver_close() says why the descriptor is closed first. */
void rl_simulated_end(struct rl_simulated *client, bool in_child)
{
    if (!client->event)
        return;
    if (!in_child)
        rl_simulator()->end(client);
    close(client->bell);
    event_free(client->event);
    client->event = NULL;
}

void rl_simulated_hear(struct rl_simulated *client)
{
    uint64_t rung;
    ssize_t size = read(client->bell, &rung, sizeof rung);

    (void)size;
    atomic_store(&client->heard, true);
}
