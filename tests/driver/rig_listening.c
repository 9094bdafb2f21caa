/* The rig's listeners. */
#include <stdio.h>
#include <string.h>

#include <redlock/status.h>

#include "rig.h"
#include "rig_listening.h"

/* Each call must be news: on and off in turn, or another reason for being off. */
void rig_on_listening(void *ctx, unsigned node, bool on, const char *why, struct rl_instant now)
{
    struct rig_listening *listening = &rig.listening[node];
    size_t length = strlen(listening->path);

    ck_assert(on != listening->on || (!on && strcmp(why, listening->why) != 0));
    listening->on = on;
    listening->changes++;
    snprintf(listening->path + length, sizeof listening->path - length, "%s", on ? "ON " : "OFF ");
    snprintf(listening->why, sizeof listening->why, "%s", why);
    if (rig.on_listening)
        rig.on_listening(node, now);
}

void rig_on_subscribed(void *ctx, unsigned node, struct rl_slice channel, bool on, const char *why,
                       struct rl_instant now)
{
    struct rig_listening *listening = &rig.listening[node];
    size_t length = strlen(listening->subscribed);

    ck_assert(listening->on && on == !*why);
    listening->subscriptions++;
    snprintf(listening->subscribed + length, sizeof listening->subscribed - length, "%c%.*s ", on ? '+' : '-',
             (int)channel.size, (const char *)channel.data);
    if (!on)
        snprintf(listening->why, sizeof listening->why, "%s", why);
    if (rig.on_subscribed)
        rig.on_subscribed(node);
}

void rig_on_message(void *ctx, unsigned node, struct rl_slice channel, struct rl_slice payload,
                    struct rl_instant now)
{
    struct rig_listening *listening = &rig.listening[node];

    ck_assert(listening->on);
    listening->messages++;
    snprintf(listening->channel, sizeof listening->channel, "%.*s", (int)channel.size, (const char *)channel.data);
    listening->payload_size = payload.size;
    snprintf(listening->payload, sizeof listening->payload, "%.*s", (int)payload.size, (const char *)payload.data);
    if (rig.on_message)
        rig.on_message(node);
}

void rig_add_notifiers(enum fake_kind kind)
{
    for (unsigned i = 0; i < rig.n_nodes; i++) {
        rig.notifiers[i] = fake_server_create(rig.base, kind, 16);
        ck_assert_ptr_nonnull(rig.notifiers[i]);
    }
}

/* The scripted server's address with the credentials of the master's. */
static void lead_to_notifier(unsigned node)
{
    const char *credentials = strstr(rig.urls[node], "://") + 3;
    const char *at = strchr(credentials, '@');
    const char *address = strstr(rig.notifiers[node]->url, "://") + 3;
    const char *why = "";
    char url[512];

    snprintf(url, sizeof url, "%.*s%.*s%s", (int)(address - rig.notifiers[node]->url), rig.notifiers[node]->url,
             at ? (int)(at + 1 - credentials) : 0, credentials, address);
    ck_assert_msg(rl_master_parse(url, &rig.listening[node].master, &why) == REDLOCK_OK, "%s: %s", url, why);
    rig.driver->nodes[node]->listener->master = &rig.listening[node].master;
}

void rig_listen(void)
{
    ck_assert_int_eq(rl_transport_listen(&rig.transport, RIG_CHANNEL), REDLOCK_OK);
    for (unsigned i = 0; i < rig.n_nodes; i++) {
        if (rig.notifiers[i])
            lead_to_notifier(i);
    }
}

struct fake_server *rig_start_listening(enum fake_kind kind)
{
    rig_add(FAKE_UNIX);
    rig_add_notifiers(kind);
    rig_start_ready();
    rig_listen();
    rig_until_listening(0, true);
    return rig.notifiers[0];
}

void rig_until_listening(unsigned node, bool on)
{
    while (rig.listening[node].on != on)
        rig_turn();
}

void rig_say_on(unsigned node, const char *channel, const char *payload)
{
    static char text[8192];

    snprintf(text, sizeof text, "*3\r\n$7\r\nmessage\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(channel), channel,
             strlen(payload), payload);
    fake_server_say(rig.notifiers[node], text);
}

void rig_say_message(unsigned node, const char *payload)
{
    rig_say_on(node, RIG_CHANNEL, payload);
}

int rig_subscribe(const char *channel)
{
    return rl_transport_subscribe(&rig.transport, rl_slice_of(channel));
}

void rig_unsubscribe(const char *channel)
{
    rl_transport_unsubscribe(&rig.transport, rl_slice_of(channel));
}

void rig_free_notifiers(void)
{
    for (unsigned i = 0; i < rig.n_nodes; i++) {
        fake_server_destroy(rig.notifiers[i]);
        rl_master_fini(&rig.listening[i].master);
    }
}
