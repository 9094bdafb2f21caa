#include <stdlib.h>

#include <event2/event.h>

#include "agent/agent.h"

struct request *request_begin(struct peer *peer, int64_t id, struct thing *thing)
{
    struct request *request = NULL;

    if (peer->n_requests >= peer->agent->options->most_requests)
        answer_refused(peer, id, "REDLOCK_E_LIMIT", "this connection has too many requests pending (--max-requests)");
    else if (!(request = calloc(1, sizeof *request)))
        answer_status(peer, id, REDLOCK_E_NOMEM);
    if (!request)
        return NULL;
    request->peer = peer;
    request->id = id;
    request->thing = thing;
    request->sink.data = request;
    list_append(&peer->requests, &request->link);
    peer->n_requests++;
    return request;
}

void request_end(struct request *request)
{
    list_remove(&request->link);
    if (request->peer)
        request->peer->n_requests--;
    free(request);
}

bool request_starts(struct request *request, int status)
{
    if (status == 0)
        return true;
    answer_status(request->peer, request->id, status);
    request_end(request);
    return false;
}

bool thing_fits(struct peer *peer, int64_t id)
{
    if (peer->agent->drains)
        answer_refused(peer, id, "REDLOCK_E_CLOSING", "the agent is ending: it begins nothing new");
    else if (peer->n_things >= peer->agent->options->most_locks)
        answer_refused(peer, id, "REDLOCK_E_LIMIT", "this connection has too many locks (--max-locks)");
    else
        return true;
    return false;
}

void thing_join(struct thing *thing, struct peer *peer)
{
    if (thing->timer)
        event_free(thing->timer);
    thing->timer = NULL;
    list_remove(&thing->link);
    thing->peer = peer;
    list_append(&peer->things, &thing->link);
    peer->n_things++;
}

void thing_begin(struct thing *thing, const struct thing_kind *kind, struct peer *peer)
{
    thing->kind = kind;
    thing->agent = peer->agent;
    thing->number = ++peer->agent->numbers;
    list_init(&thing->link);
    thing_join(thing, peer);
}

void thing_leave(struct thing *thing)
{
    list_remove(&thing->link);
    if (thing->peer)
        thing->peer->n_things--;
    thing->peer = NULL;
    if (thing->timer)
        event_free(thing->timer);
    thing->timer = NULL;
}

static int64_t promised_until_us(const struct thing *thing)
{
    return thing->told_us > thing->hold_until_us ? thing->told_us : thing->hold_until_us;
}

int64_t thing_promised_ms(const struct thing *thing)
{
    return boot_left_ms(promised_until_us(thing));
}

static bool set_timer(struct thing *thing)
{
    int64_t ms = boot_left_ms(thing->until_us);
    struct timeval after = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};

    return event_add(thing->timer, &after) == 0;
}

/* The loop's clock is coarse, and counts from the beginning of its turn: it may come too early. */
static void on_time(evutil_socket_t fd, short what, void *data)
{
    struct thing *thing = data;

    if (boot_left_ms(thing->until_us) == 0 || !set_timer(thing))
        thing->kind->end(thing);
}

bool thing_linger(struct thing *thing, int64_t ms)
{
    thing_leave(thing);
    list_append(&thing->agent->lingering, &thing->link);
    thing->timer = evtimer_new(thing->agent->session->base, on_time, thing);
    thing->until_us = boot_now_us() + ms * 1000;
    return thing->timer && set_timer(thing);
}

void things_shorten(struct agent *agent)
{
    struct list *next;

    for (struct list *node = agent->lingering.next; node != &agent->lingering; node = next) {
        struct thing *thing = LIST_OWNER(node, struct thing, link);
        int64_t until_us = simulation ? 0 : promised_until_us(thing); /* such masters end with the agent */

        next = node->next;
        if (until_us < thing->until_us)
            thing->until_us = until_us;
        if (boot_left_ms(thing->until_us) == 0 || !set_timer(thing))
            thing->kind->end(thing);
    }
}

void things_pass(struct agent *agent)
{
    struct list *next;

    for (struct list *node = agent->lingering.next; node != &agent->lingering; node = next) {
        next = node->next;
        on_time(-1, 0, LIST_OWNER(node, struct thing, link));
    }
}

uint64_t things_next_ms(const struct agent *agent)
{
    uint64_t next_ms = UINT64_MAX;

    for (struct list *node = agent->lingering.next; node != &agent->lingering; node = node->next) {
        uint64_t left_ms = (uint64_t)boot_left_ms(LIST_OWNER(node, struct thing, link)->until_us);

        if (left_ms < next_ms)
            next_ms = left_ms;
    }
    return next_ms;
}

struct thing *thing_find(struct peer *peer, const struct thing_kind *kind, uint64_t number)
{
    for (struct list *node = peer->things.prev; node != &peer->things; node = node->prev) {
        struct thing *thing = LIST_OWNER(node, struct thing, link);

        if (thing->number == number && thing->kind == kind)
            return thing;
    }
    return NULL;
}
