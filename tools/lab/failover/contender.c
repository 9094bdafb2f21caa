#include "contender.h"

#include <stdlib.h>

#include <event2/event.h>

#include "counter.h"
#include "plant.h"

#define STEP_MS 10
#define REST_MS 15
#define LEAST_TERM_STEPS 15
#define MOST_TERM_STEPS 45
#define AGAIN_MS 100 /* after a call that was refused */

struct fo_contender {
    struct fo_worker *worker;
    const struct fo_locker_type *type;
    struct fo_lock *lock;
    struct event *timer;
    uint64_t random;
    uint64_t fence;
    int64_t since_ns; /* it holds the lock */
    uint32_t steps_left;
    uint32_t count;   /* as read at the beginning of the step */
    bool holds;
    bool stopping;
};

static void want(struct fo_contender *contender);

static void wait_ms(struct fo_contender *contender, uint32_t ms)
{
    event_add(contender->timer, &(struct timeval){0, (suseconds_t)(ms * 1000)});
}

/* xorshift64 */
static uint32_t draw(struct fo_contender *contender, uint32_t from, uint32_t to)
{
    contender->random ^= contender->random << 13;
    contender->random ^= contender->random >> 7;
    contender->random ^= contender->random << 17;
    return from + (uint32_t)(contender->random >> 33) % (to - from + 1);
}

static void note(struct fo_contender *contender, enum fo_kind kind, int64_t until_ns)
{
    fo_journal_add(contender->worker->shared, contender->worker->client,
                   (struct fo_record){
                       .kind = (uint8_t)kind, .key = FO_LEADER_KEY, .at_ns = fo_now_ns(), .until_ns = until_ns});
}

static void set_in_step(struct fo_contender *contender, bool in_step)
{
    atomic_store(&contender->worker->shared->in_step[contender->worker->client], in_step);
}

static bool is_in_step(const struct fo_contender *contender)
{
    return atomic_load(&contender->worker->shared->in_step[contender->worker->client]);
}

static void step_down(struct fo_contender *contender)
{
    uint32_t self = contender->worker->client;

    contender->holds = false;
    set_in_step(contender, false);
    atomic_compare_exchange_strong(&contender->worker->shared->leader, &self, FO_NOBODY);
}

static void on_released(void *user_data)
{
    struct fo_contender *contender = user_data;

    if (!contender->stopping)
        wait_ms(contender, REST_MS);
}

static void give_up(struct fo_contender *contender)
{
    step_down(contender);
    note(contender, FO_RELEASED, 0);
    if (contender->type->release(contender->lock) != REDLOCK_OK)
        wait_ms(contender, AGAIN_MS);
}

static void begin_step(struct fo_contender *contender)
{
    contender->count = fo_counter_read(&contender->worker->shared->cells[FO_LEADER_KEY]);
    set_in_step(contender, true);
    contender->steps_left -= contender->steps_left > 0;
    wait_ms(contender, STEP_MS);
}

static void end_step(struct fo_contender *contender)
{
    set_in_step(contender, false);
    fo_note_write(contender->lock, contender->fence, contender->count);
    fo_note_stored(contender->lock, contender->fence, contender->since_ns);
}

/* The lock system's word counts, not ours: a lost lock is left alone until its alarm has been called. */
static void on_time(evutil_socket_t fd, short what, void *user_data)
{
    struct fo_contender *contender = user_data;

    if (!contender->holds) {
        want(contender);
        return;
    }
    if (is_in_step(contender))
        end_step(contender);
    if (contender->type->remaining_ns(contender->lock) == 0)
        wait_ms(contender, STEP_MS);
    else if (contender->steps_left == 0 && !atomic_load(&contender->worker->shared->hold_on))
        give_up(contender);
    else
        begin_step(contender);
}

/* A step that is under way is finished all the same, by the timer. */
static void on_lost(void *user_data)
{
    struct fo_contender *contender = user_data;

    if (!contender->holds)
        return;
    note(contender, FO_LOST, 0);
    if (is_in_step(contender))
        end_step(contender);
    step_down(contender);
    wait_ms(contender, REST_MS);
}

static void take_office(struct fo_contender *contender, const struct fo_grant *grant)
{
    struct fo_shared *shared = contender->worker->shared;

    fo_note_acquired(contender->lock, grant);
    contender->holds = true;
    contender->fence = contender->type->fence(contender->lock);
    contender->steps_left = draw(contender, LEAST_TERM_STEPS, MOST_TERM_STEPS);
    contender->since_ns = fo_now_ns();
    atomic_store(&shared->leader_since_ns, contender->since_ns);
    atomic_store(&shared->leader, contender->worker->client);
    fo_plant_at_leader(contender->worker);
    begin_step(contender);
}

static void on_acquired(const struct fo_grant *grant, void *user_data)
{
    struct fo_contender *contender = user_data;

    if (contender->stopping)
        return;
    if (grant->status == REDLOCK_OK) {
        take_office(contender, grant);
        return;
    }
    fo_plant_at_refused(contender->worker);
    want(contender);
}

/* Attempts that last a second at most, so that a refusal is noticed, and the place in the queue is renewed. */
static void want(struct fo_contender *contender)
{
    uint32_t timeout_ms = fo_planted(FO_PLANT_DOUBLE) ? 20 : 1000;
    struct fo_shared *shared = contender->worker->shared;
    bool stands_back = atomic_load(&shared->stand_back);

    if (contender->stopping)
        return;
    atomic_store(&shared->contends[contender->worker->client], !stands_back);
    if (stands_back)
        wait_ms(contender, REST_MS);
    else if (contender->type->acquire(contender->lock, timeout_ms) != REDLOCK_OK)
        wait_ms(contender, AGAIN_MS);
}

static void on_renewed(int64_t until_ns, void *user_data)
{
    struct fo_contender *contender = user_data;

    if (contender->holds)
        note(contender, FO_RENEWED, until_ns);
}

struct fo_contender *fo_contender_create(struct fo_worker *worker, struct event_base *base, struct fo_locker *locker)
{
    static const struct fo_lock_calls calls = {on_acquired, on_released, on_lost, on_renewed};
    struct fo_contender *contender = calloc(1, sizeof *contender);

    if (!contender)
        return NULL;
    contender->worker = worker;
    contender->type = locker->type;
    contender->random = (uint64_t)worker->options->seed * 1000003 + worker->client + 1;
    set_in_step(contender, false); /* one that was killed may have left it */
    contender->timer = evtimer_new(base, on_time, contender);
    contender->lock = locker->type->lock(locker, FO_LEADER_KEY, &calls, contender);
    if (contender->timer && contender->lock)
        return contender;
    fo_contender_destroy(contender);
    return NULL;
}

void fo_contender_destroy(struct fo_contender *contender)
{
    if (!contender)
        return;
    contender->stopping = true;
    contender->type->unlock(contender->lock);
    if (contender->timer)
        event_free(contender->timer);
    free(contender);
}

void fo_contender_start(struct fo_contender *contender)
{
    wait_ms(contender, draw(contender, 1, REST_MS));
}

void fo_contender_stop(struct fo_contender *contender)
{
    evtimer_del(contender->timer);
    if (contender->holds)
        give_up(contender);
    contender->stopping = true;
}
