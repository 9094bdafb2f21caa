#include "blocking/turn.h"

#include <assert.h>
#include <event2/event.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "blocking/holds.h"

void rl_turn_run_posts(struct rl_turn *turn)
{
    rl_holds_publish_stale(turn->holds);
    rl_inbox_run(&turn->inbox);
}

/* An event that is edge triggered, where libevent has it, is set off by each write to the descriptor, whether that is
 * read or not; and its counter does not overflow. */
static void on_posted(evutil_socket_t fd, short what, void *arg)
{
    struct rl_turn *turn = arg;

    if (!(what & EV_ET))
        rl_inbox_drain(&turn->inbox);
    rl_turn_run_posts(turn);
    (void)fd;
}

/* libevent puts an event that is activated by hand behind those that are due already. So the client has had its turn,
 * and has written what it had to write, before callers are woken. */
static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct rl_turn *turn = arg;

    turn->end_due = false;
    rl_holds_publish_stale(turn->holds);
    turn->at_end(turn->service);
    (void)fd;
    (void)what;
}

void rl_turn_want_end(struct rl_turn *turn)
{
    assert(turn->end);
    if (turn->end_due)
        return;
    turn->end_due = true;
    event_active(turn->end, EV_TIMEOUT, 0);
}

bool rl_turn_run(struct rl_turn *turn, int flags)
{
    return event_base_loop(turn->base, EVLOOP_ONCE | flags) >= 0;
}

/* libevent ends the process if it finds no descriptor for a base's signals, so they are tried before it is asked. Other
 * threads may still be quicker. */
static bool has_descriptors_for_base(void)
{
    int fds[4]; /* epoll, a timer, and a pair */
    size_t n = 0;
    bool all;

    while (n < sizeof fds / sizeof fds[0] && (fds[n] = eventfd(0, EFD_CLOEXEC)) >= 0)
        n++;
    all = n == sizeof fds / sizeof fds[0];
    while (n > 0)
        close(fds[--n]);
    return all;
}

/* Only one thread at a time uses the base: it needs no locks, whatever the program has told libevent. */
static struct event_base *create_base(void)
{
    struct event_config *config = has_descriptors_for_base() ? event_config_new() : NULL;
    struct event_base *base = NULL;

    if (!config)
        return NULL;
    if (event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) == 0)
        base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

bool rl_turn_init(struct rl_turn *turn, struct rl_holds *holds, rl_turn_end_fn at_end,
                  struct redlock_service *service)
{
    short what = EV_READ | EV_PERSIST;

    *turn = (struct rl_turn){.holds = holds, .at_end = at_end, .service = service};
    if (!rl_inbox_init(&turn->inbox))
        return false;
    turn->base = create_base();
    if (!turn->base)
        return false;
    if (event_base_get_features(turn->base) & EV_FEATURE_ET)
        what |= EV_ET;
    turn->end = event_new(turn->base, -1, 0, on_end, turn);
    turn->posted = event_new(turn->base, turn->inbox.fd, what, on_posted, turn);
    return turn->end && turn->posted && event_add(turn->posted, NULL) == 0;
}

void rl_turn_free_events(struct rl_turn *turn)
{
    if (turn->posted)
        event_free(turn->posted);
    if (turn->end)
        event_free(turn->end);
    if (turn->base)
        event_base_free(turn->base);
    turn->posted = turn->end = NULL;
    turn->base = NULL;
}

void rl_turn_fini(struct rl_turn *turn)
{
    rl_inbox_fini(&turn->inbox);
}
