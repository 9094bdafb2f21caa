#include "tickets.h"

#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "net.h"
#include "run.h"

/* How late a callback may be: the longest odd delay, and a node's time-out. */
#define SLACK_NS (5000 * RL_NS_PER_MS)

struct ticket {
    struct rl_list link;
    const void *object;
    unsigned player;
    const char *call;
    int64_t due;
    bool starting;
    bool destroying;
};

static struct rl_list tickets = {&tickets, &tickets};

static struct ticket *ticket_at(struct rl_list *at)
{
    return RL_CONTAINER_OF(at, struct ticket, link);
}

struct ticket *ticket_begin(const void *object, unsigned player, const char *call, int64_t within_ms)
{
    struct ticket *ticket = calloc(1, sizeof *ticket);

    if (!ticket)
        abort();
    ticket->object = object;
    ticket->player = player;
    ticket->call = call;
    ticket->starting = true;
    ticket->due = within_ms == TICKET_FOREVER ? INT64_MAX : net.now + within_ms * RL_NS_PER_MS + SLACK_NS;
    rl_list_append(&tickets, &ticket->link);
    return ticket;
}

static void drop(struct ticket *ticket)
{
    rl_list_remove(&ticket->link);
    free(ticket);
}

void ticket_begun(struct ticket *ticket, int status)
{
    ticket->starting = false;
    if (status < 0)
        drop(ticket);
}

/* Whether the ticket is there at all says whether its callback has run before. */
static bool is_there(const struct ticket *wanted)
{
    for (struct rl_list *at = tickets.next; at != &tickets; at = at->next) {
        if (ticket_at(at) == wanted)
            return true;
    }
    return false;
}

unsigned ticket_end(struct ticket *ticket)
{
    unsigned player = 0;

    run_count(COUNT_CALLBACKS);
    if (!is_there(ticket)) {
        run_violation("a callback runs that is not awaited");
        return player;
    }
    player = ticket->player;
    if (ticket->starting)
        run_violation("%s: its callback runs inside of the call", ticket->call);
    drop(ticket);
    return player;
}

void tickets_destroying(const void *object)
{
    for (struct rl_list *at = tickets.next; at != &tickets; at = at->next) {
        if (ticket_at(at)->object == object)
            ticket_at(at)->destroying = true;
    }
}

void tickets_destroyed(const void *object)
{
    for (struct rl_list *at = tickets.next; at != &tickets; at = at->next) {
        if (ticket_at(at)->object == object && ticket_at(at)->destroying)
            run_violation("%s: no callback has run, and its object is gone", ticket_at(at)->call);
    }
}

bool tickets_pending(const void *object, const char *call)
{
    for (struct rl_list *at = tickets.next; at != &tickets; at = at->next) {
        if (ticket_at(at)->object == object && strcmp(ticket_at(at)->call, call) == 0)
            return true;
    }
    return false;
}

void tickets_check(void)
{
    int64_t stopped_until = drivers_stopped_until();

    for (struct rl_list *at = tickets.next; at != &tickets; at = at->next) {
        const struct ticket *ticket = ticket_at(at);

        if (ticket->due < net.now && stopped_until + SLACK_NS < net.now)
            run_violation("%s of player %u: no callback in time", ticket->call, ticket->player);
    }
}

bool tickets_none(void)
{
    return rl_list_empty(&tickets);
}

void tickets_complain(void)
{
    const struct ticket *ticket = ticket_at(tickets.next);

    run_violation("%s of player %u: it never ends", ticket->call, ticket->player);
}

void tickets_end(void)
{
    while (!rl_list_empty(&tickets))
        drop(ticket_at(tickets.next));
}
