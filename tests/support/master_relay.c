#include "master_relay.h"

#include <check.h>
#include <stdio.h>

#include "masters.h"

struct relay *master_relay_create(struct event_base *base, struct masters *masters, size_t node)
{
    char listen[160], why[200] = "";
    struct relay_options options = {.listen = listen, .upstream = masters_url(masters, node)};
    struct relay *relay;

    snprintf(listen, sizeof listen, "unix://%s/relay%zu", masters_dir(masters), node);
    relay = relay_create(base, &options, why, sizeof why);
    ck_assert_msg(relay != NULL, "%s", why);
    return relay;
}

static void hold(struct relay *relay, enum relay_direction direction, bool on)
{
    relay_set(relay, 0, direction, &(struct relay_toxics){.hold = on});
}

void master_relay_hold_requests(struct relay *relay, bool on)
{
    hold(relay, RELAY_UPSTREAM, on);
}

void master_relay_hold_replies(struct relay *relay, bool on)
{
    hold(relay, RELAY_DOWNSTREAM, on);
}

void master_relay_cut(struct relay *relay)
{
    relay_cut(relay);
    hold(relay, RELAY_UPSTREAM, false);
    hold(relay, RELAY_DOWNSTREAM, false);
}
