#include "blocking/loop.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>

#include "blocking/holder.h"

#define REST_MS 1
#define MANY_FOLLOWERS 2

enum { FREE, THREAD, CALLER, WATCHED };

/* Of the service whose thread this is. */
static _Thread_local const struct rl_loop *own_loop;

bool rl_loop_is_own_thread(const struct rl_loop *loop)
{
    return own_loop == loop;
}

static bool change_owner(struct rl_loop *loop, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&loop->owner, &from, to);
}

/* The thread that has made the inbox non-empty sees to it that an owner looks into it. */
static void make_owner_check(struct rl_loop *loop)
{
    if (change_owner(loop, FREE, THREAD))
        rl_futex_wake(&loop->owner);
    else
        rl_inbox_wake(&loop->turn.inbox);
}

bool rl_loop_post(struct rl_loop *loop, struct rl_post *post)
{
    enum rl_pushed pushed = rl_inbox_push(&loop->turn.inbox, post);

    if (pushed == RL_PUSHED_FIRST)
        make_owner_check(loop);
    return pushed != RL_PUSHED_NOT;
}

bool rl_loop_move_to_thread(struct rl_loop *loop, struct rl_post *post)
{
    if (rl_loop_is_own_thread(loop))
        return true;
    loop->wanted = true;
    rl_inbox_push(&loop->turn.inbox, post);
    return false;
}

static void turn(struct rl_loop *loop, int flags)
{
    if (loop->wanted || loop->ending)
        flags |= EVLOOP_NONBLOCK; /* no event may come to end the wait */
    if (!rl_turn_run(&loop->turn, flags))
        loop->wanted = loop->ending = true;
}

/* --- Followers -------------------------------------------------------------------------------------------------- */

void rl_loop_follow(struct rl_loop *loop, struct rl_waiter *waiter)
{
    assert(rl_list_empty(&waiter->follower));
    rl_list_append(&loop->followers, &waiter->follower);
    loop->n_followers++;
}

static void stop_following(struct rl_loop *loop, struct rl_waiter *waiter)
{
    if (!rl_list_empty(&waiter->follower)) {
        assert(loop->n_followers > 0);
        loop->n_followers--;
    }
    rl_list_remove(&waiter->follower);
    loop->told = true;
}

bool rl_loop_tell(struct rl_loop *loop, struct rl_waiter *waiter)
{
    stop_following(loop, waiter);
    return rl_waiter_tell(waiter, &loop->sleepers);
}

/* The caller that has begun last will own the loop longest. */
static bool give_to_follower(struct rl_loop *loop, const struct rl_waiter *self)
{
    for (struct rl_list *at = loop->followers.prev; at != &loop->followers; at = at->prev) {
        struct rl_waiter *waiter = RL_CONTAINER_OF(at, struct rl_waiter, follower);

        if (waiter != self && rl_waiter_give_loop(waiter, &loop->sleepers))
            return true;
    }
    return false;
}

/* False: something has been posted meanwhile, and `self` is the owner again. */
static bool leave_free(struct rl_loop *loop, uint32_t self)
{
    uint32_t was = atomic_exchange(&loop->owner, FREE);

    assert(was == self || (was == WATCHED && self == CALLER));
    if (was == WATCHED)
        rl_futex_wake(&loop->owner);
    return rl_inbox_is_empty(&loop->turn.inbox) || !change_owner(loop, FREE, self);
}

/* --- Callers ---------------------------------------------------------------------------------------------------- */

/* Afterwards nothing is touched that only operations in flight would keep. */
static void give_up_loop(struct rl_loop *loop, const struct rl_waiter *self)
{
    for (;;) {
        bool many = loop->n_followers >= MANY_FOLLOWERS;

        if (!loop->wanted && !many && give_to_follower(loop, self))
            return;
        if (loop->wanted || many || loop->n_queued) {
            atomic_store(&loop->owner, THREAD);
            rl_futex_wake(&loop->owner);
            return;
        }
        if (leave_free(loop, CALLER))
            return;
        rl_turn_run_posts(&loop->turn);
        turn(loop, EVLOOP_NONBLOCK);
    }
}

/* The client ends an operation when its time is over, and it has no code of the program to run meanwhile. So the loop
 * comes back before the end. */
static void own_loop_until_done(struct rl_loop *loop, const struct rl_waiter *waiter, int64_t end_ns)
{
    atomic_fetch_add_explicit(&loop->uses, 1, memory_order_relaxed);
    rl_turn_run_posts(&loop->turn);
    if (rl_waiter_is_done(waiter))
        turn(loop, EVLOOP_NONBLOCK);
    while (!rl_waiter_is_done(waiter) && !loop->wanted && rl_monotonic_ns() < end_ns)
        turn(loop, 0);
    give_up_loop(loop, waiter);
}

enum rl_asked rl_loop_ask(struct rl_loop *loop, struct rl_post *post, struct rl_waiter *waiter, int64_t end_ns)
{
    enum rl_pushed pushed;
    enum rl_waited waited;
    bool owns;

    assert(!rl_loop_is_own_thread(loop));
    rl_waiter_reset(waiter);
    pushed = rl_inbox_push(&loop->turn.inbox, post);
    if (pushed == RL_PUSHED_NOT)
        return RL_ASKED_CLOSED;
    owns = change_owner(loop, FREE, CALLER);
    if (!owns && pushed == RL_PUSHED_FIRST)
        make_owner_check(loop);
    do {
        if (owns)
            own_loop_until_done(loop, waiter, end_ns);
        waited = rl_waiter_wait(waiter, &loop->sleepers, end_ns);
        owns = waited == RL_WAITED_OWNER;
    } while (owns);
    return waited == RL_WAITED_DONE ? RL_ASKED_DONE : RL_ASKED_TIMEOUT;
}

/* --- The thread ------------------------------------------------------------------------------------------------- */

/* The thread leaves the loop to a caller that waits; or to nobody, if callers have just been told and may come back
 * soon. */
static bool leave(struct rl_loop *loop)
{
    if (loop->n_queued || loop->n_followers >= MANY_FOLLOWERS || loop->ending || loop->pinned)
        return false;
    if (rl_list_empty(&loop->followers))
        return loop->told && leave_free(loop, THREAD);
    atomic_store(&loop->owner, CALLER);
    if (give_to_follower(loop, NULL))
        return true;
    atomic_store(&loop->owner, THREAD);
    return false;
}

/* If no caller has become the owner since the last look, the loop is unused, or one caller has owned it ever since. */
static void wait_for_loop(struct rl_loop *loop)
{
    uint32_t uses = atomic_load_explicit(&loop->uses, memory_order_relaxed);
    uint32_t owner;

    while ((owner = atomic_load(&loop->owner)) != THREAD) {
        int64_t end_ns = owner == WATCHED ? RL_WAIT_FOREVER : rl_monotonic_after_ms(REST_MS);
        uint32_t uses_now;

        if (rl_futex_wait(&loop->owner, owner, RL_ANY_BIT, end_ns))
            continue;
        uses_now = atomic_load_explicit(&loop->uses, memory_order_relaxed);
        if (uses_now == uses && !change_owner(loop, FREE, THREAD))
            change_owner(loop, CALLER, WATCHED);
        uses = uses_now;
    }
}

void rl_loop_run(struct rl_loop *loop)
{
    own_loop = loop;
    while (!loop->ending) {
        turn(loop, 0);
        if (!leave(loop))
            continue;
        wait_for_loop(loop);
        loop->told = false;
        loop->wanted = false;
        rl_turn_run_posts(&loop->turn);
    }
    assert(atomic_load(&loop->owner) == THREAD);
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

static void stop(struct rl_post *post)
{
    struct rl_loop *loop = RL_CONTAINER_OF(post, struct rl_loop, stop);

    loop->ending = loop->wanted = true;
}

void rl_loop_stop(struct rl_loop *loop)
{
    rl_loop_post(loop, &loop->stop);
}

bool rl_loop_init(struct rl_loop *loop, struct rl_holders *holders, rl_turn_end_fn at_end,
                  struct redlock_service *service)
{
    atomic_init(&loop->owner, THREAD);
    atomic_init(&loop->uses, 0);
    rl_sleepers_init(&loop->sleepers);
    rl_list_init(&loop->followers);
    loop->stop.run = stop;
    return rl_turn_init(&loop->turn, holders, at_end, service);
}

void rl_turn_run_posts(struct rl_turn *turn)
{
    rl_holders_publish_stale(turn->holders);
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
}

/* libevent puts an event that is activated by hand behind those that are due already. So the client has had its turn,
 * and has written what it had to write, before callers are woken. */
static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct rl_turn *turn = arg;

    turn->end_due = false;
    rl_holders_publish_stale(turn->holders);
    turn->at_end(turn->service);
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

bool rl_turn_init(struct rl_turn *turn, struct rl_holders *holders, rl_turn_end_fn at_end,
                  struct redlock_service *service)
{
    short what = EV_READ | EV_PERSIST;

    *turn = (struct rl_turn){.holders = holders, .at_end = at_end, .service = service};
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

/* On top of the stack of an inbox that is closed. */
static struct rl_post closed;

bool rl_inbox_init(struct rl_inbox *inbox)
{
    atomic_init(&inbox->newest, NULL);
    inbox->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return inbox->fd >= 0;
}

void rl_inbox_fini(struct rl_inbox *inbox)
{
    if (inbox->fd >= 0)
        close(inbox->fd);
    inbox->fd = -1;
}

/* The counter cannot overflow, and a write to it cannot fail otherwise. But a thread that is canceled in it would
 * leave an inbox behind into which nobody looks. */
void rl_inbox_wake(const struct rl_inbox *inbox)
{
    uint64_t one = 1;
    ssize_t written;
    int cancelable;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    written = write(inbox->fd, &one, sizeof one);
    pthread_setcancelstate(cancelable, NULL);
    (void)written;
}

/* A thread that finds the inbox closed sees all that was done before that. */
enum rl_pushed rl_inbox_push(struct rl_inbox *inbox, struct rl_post *post)
{
    struct rl_post *top = atomic_load_explicit(&inbox->newest, memory_order_acquire);

    assert(post->run);
    do {
        if (top == &closed)
            return RL_PUSHED_NOT;
        post->next = top;
    } while (!atomic_compare_exchange_weak(&inbox->newest, &top, post));
    return top ? RL_PUSHED_BEHIND : RL_PUSHED_FIRST;
}

bool rl_inbox_is_empty(const struct rl_inbox *inbox)
{
    return !atomic_load(&inbox->newest);
}

void rl_inbox_drain(struct rl_inbox *inbox)
{
    uint64_t posts;
    ssize_t got = read(inbox->fd, &posts, sizeof posts);

    (void)got;
}

/* The oldest comes first. Once a post has been run its memory may be gone, or it may have been pushed again. */
static void run_all(struct rl_post *newest)
{
    struct rl_post *oldest = NULL;

    for (struct rl_post *post = newest, *next; post; post = next) {
        next = post->next;
        post->next = oldest;
        oldest = post;
    }
    for (struct rl_post *post = oldest, *next; post; post = next) {
        next = post->next;
        post->run(post);
    }
}

void rl_inbox_run(struct rl_inbox *inbox)
{
    run_all(atomic_exchange(&inbox->newest, NULL));
}

void rl_inbox_close(struct rl_inbox *inbox)
{
    struct rl_post *newest = atomic_exchange_explicit(&inbox->newest, &closed, memory_order_acq_rel);

    assert(newest != &closed);
    run_all(newest);
}
