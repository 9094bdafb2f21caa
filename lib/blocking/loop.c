#include "blocking/loop.h"

#include <assert.h>
#include <event2/event.h>

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
static void make_owner_look(struct rl_loop *loop)
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
        make_owner_look(loop);
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

bool rl_loop_tell_and_wake_later(struct rl_loop *loop, struct rl_waiter *waiter)
{
    stop_following(loop, waiter);
    return rl_waiter_tell_and_wake_later(waiter, &loop->sleepers);
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
        make_owner_look(loop);
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

bool rl_loop_init(struct rl_loop *loop, struct rl_holds *holds, rl_turn_end_fn at_end,
                  struct redlock_service *service)
{
    atomic_init(&loop->owner, THREAD);
    atomic_init(&loop->uses, 0);
    rl_sleepers_init(&loop->sleepers);
    rl_list_init(&loop->followers);
    loop->stop.run = stop;
    return rl_turn_init(&loop->turn, holds, at_end, service);
}
