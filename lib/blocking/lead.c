#include "blocking/lead.h"

#include <event2/event.h>
#include <pthread.h>

#include "blocking/service.h"

#define REST_MS 1
#define CROWD 2

enum { FREE, THREAD, CALLER, WATCHED };

void rl_lead_init(struct rl_lead *lead)
{
    atomic_init(&lead->holder, THREAD);
    atomic_init(&lead->uses, 0);
    rl_sleepers_init(&lead->sleepers);
    rl_list_init(&lead->followers);
}

static bool change(struct rl_lead *lead, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&lead->holder, &from, to);
}

static void give_to_thread(struct rl_lead *lead)
{
    atomic_store(&lead->holder, THREAD);
    rl_futex_wake(&lead->holder);
}

/* Who made the inbox non-empty sees to it that somebody looks into it. */
static void call_for_attention(struct redlock_service *service)
{
    if (change(&service->lead, FREE, THREAD))
        rl_futex_wake(&service->lead.holder);
    else
        rl_inbox_wake(&service->inbox);
}

bool rl_lead_post(struct redlock_service *service, struct rl_post *post)
{
    enum rl_pushed pushed = rl_inbox_push(&service->inbox, post);

    if (pushed == RL_PUSHED_FIRST)
        call_for_attention(service);
    return pushed != RL_PUSHED_NOT;
}

bool rl_lead_on_thread(struct redlock_service *service, struct rl_post *post)
{
    if (rl_service_is_own_thread(service))
        return true;
    service->lead.wanted = true;
    rl_inbox_push(&service->inbox, post);
    return false;
}

void rl_lead_follow(struct redlock_service *service, struct rl_waiter *waiter)
{
    rl_list_append(&service->lead.followers, &waiter->follower);
    service->lead.n_followers++;
}

static void follow_no_more(struct rl_lead *lead, struct rl_waiter *waiter)
{
    if (!rl_list_empty(&waiter->follower))
        lead->n_followers--;
    rl_list_remove(&waiter->follower);
    lead->told = true;
}

bool rl_lead_tell(struct redlock_service *service, struct rl_waiter *waiter)
{
    follow_no_more(&service->lead, waiter);
    return rl_waiter_tell(waiter, &service->lead.sleepers);
}

bool rl_lead_tell_asleep(struct redlock_service *service, struct rl_waiter *waiter)
{
    follow_no_more(&service->lead, waiter);
    return rl_waiter_tell_asleep(waiter, &service->lead.sleepers);
}

void rl_lead_wake_told(struct redlock_service *service)
{
    rl_sleepers_wake_called(&service->lead.sleepers);
}

static void turn(struct redlock_service *service, int flags)
{
    if (service->lead.wanted || service->lead.ending)
        flags |= EVLOOP_NONBLOCK; /* no event may come to end the wait */
    if (event_base_loop(service->base, EVLOOP_ONCE | flags) < 0)
        service->lead.wanted = service->lead.ending = true;
}

/* --- Callers ---------------------------------------------------------------------------------------------------- */

/* To the one that has begun last: it will lead longest. */
static bool pass_on(struct rl_lead *lead, const struct rl_waiter *self)
{
    for (struct rl_list *at = lead->followers.prev; at != &lead->followers; at = at->prev) {
        struct rl_waiter *waiter = RL_CONTAINER_OF(at, struct rl_waiter, follower);

        if (waiter != self && rl_waiter_call(waiter, &lead->sleepers))
            return true;
    }
    return false;
}

/* True: it has been given up. False: something came meanwhile, and it has been taken again. */
static bool let_go(struct redlock_service *service, uint32_t self)
{
    struct rl_lead *lead = &service->lead;

    if (atomic_exchange(&lead->holder, FREE) == WATCHED)
        rl_futex_wake(&lead->holder);
    return rl_inbox_is_empty(&service->inbox) || !change(lead, FREE, self);
}

/* Afterwards nothing is touched that only operations in flight would keep. */
static void hand_on(struct redlock_service *service, const struct rl_waiter *self)
{
    struct rl_lead *lead = &service->lead;

    for (;;) {
        bool crowd = lead->n_followers >= CROWD;

        if (!lead->wanted && !crowd && pass_on(lead, self))
            return;
        if (lead->wanted || crowd || lead->n_queued) {
            give_to_thread(lead);
            return;
        }
        if (let_go(service, CALLER))
            return;
        rl_service_read_inbox(service);
        turn(service, EVLOOP_NONBLOCK);
    }
}

/* The client ends an operation when its time is over, and has no code of the program to run in this turn: the loop
 * comes back before the end. */
static void lead(struct redlock_service *service, const struct rl_waiter *waiter, int64_t end_ns)
{
    struct rl_lead *lead = &service->lead;

    atomic_fetch_add_explicit(&lead->uses, 1, memory_order_relaxed);
    rl_service_read_inbox(service);
    if (rl_waiter_is_done(waiter))
        turn(service, EVLOOP_NONBLOCK);
    while (!rl_waiter_is_done(waiter) && !lead->wanted && rl_monotonic_ns() < end_ns)
        turn(service, 0);
    hand_on(service, waiter);
}

static bool wait_or_lead(struct redlock_service *service, struct rl_waiter *waiter, int64_t end_ns, bool first)
{
    bool leads = change(&service->lead, FREE, CALLER);
    enum rl_waited waited;

    if (!leads && first)
        call_for_attention(service);
    do {
        if (leads)
            lead(service, waiter, end_ns);
        waited = rl_waiter_wait(waiter, &service->lead.sleepers, end_ns);
        leads = waited == RL_WAITED_LEAD;
    } while (leads);
    return waited == RL_WAITED_DONE;
}

/* The loop has cancellation points, which nobody could recover from. The service is kept: an operation that is given
 * up keeps it no more. */
enum rl_asked rl_lead_ask(struct redlock_service *service, struct rl_post *post, struct rl_waiter *waiter,
                          int64_t end_ns)
{
    enum rl_asked asked = RL_ASKED_CLOSED;
    enum rl_pushed pushed;
    int cancelable;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    rl_service_ref(service);
    rl_waiter_reset(waiter);
    pushed = rl_inbox_push(&service->inbox, post);
    if (pushed != RL_PUSHED_NOT) {
        bool done = wait_or_lead(service, waiter, end_ns, pushed == RL_PUSHED_FIRST);

        asked = done ? RL_ASKED_DONE : RL_ASKED_GIVEN_UP;
    }
    rl_service_unref(service);
    pthread_setcancelstate(cancelable, NULL);
    return asked;
}

/* --- The thread ------------------------------------------------------------------------------------------------- */

/* To a caller that waits, which has to be woken sooner or later: while the masters are busy is the best time. Or to
 * nobody, when callers have just been told and may come back soon. */
static bool leave(struct redlock_service *service)
{
    struct rl_lead *lead = &service->lead;

    if (lead->n_queued || lead->n_followers >= CROWD || lead->ending || service->on_event || lead->bound)
        return false;
    if (rl_list_empty(&lead->followers))
        return lead->told && let_go(service, THREAD);
    atomic_store(&lead->holder, CALLER);
    if (pass_on(lead, NULL))
        return true;
    atomic_store(&lead->holder, THREAD);
    return false;
}

/* Nobody has led since the last look, or somebody has led ever since: true: the lead is the thread's. */
static bool look(struct rl_lead *lead)
{
    if (change(lead, FREE, THREAD))
        return true;
    change(lead, CALLER, WATCHED);
    return false;
}

static void wait_for_lead(struct rl_lead *lead)
{
    uint32_t uses = atomic_load_explicit(&lead->uses, memory_order_relaxed);
    uint32_t holder;

    while ((holder = atomic_load(&lead->holder)) != THREAD) {
        int64_t end_ns = holder == WATCHED ? RL_WAIT_FOREVER : rl_monotonic_after_ms(REST_MS);
        uint32_t uses_now;

        if (rl_futex_wait(&lead->holder, holder, RL_ANY_BIT, end_ns))
            continue;
        uses_now = atomic_load_explicit(&lead->uses, memory_order_relaxed);
        if (uses_now == uses && look(lead))
            return;
        uses = uses_now;
    }
}

static void rest(struct redlock_service *service)
{
    struct rl_lead *lead = &service->lead;

    wait_for_lead(lead);
    lead->told = false;
    lead->wanted = false;
    rl_service_read_inbox(service);
}

void rl_lead_run(struct redlock_service *service)
{
    while (!service->lead.ending) {
        turn(service, 0);
        if (leave(service))
            rest(service);
    }
}
