/* Commands for masters, as lib/api makes them. */
#include <string.h>

#include "foreign.h"
#include "world.h"

const struct rl_kind *client_kind(const struct box *box)
{
    if (box->foreign)
        return &foreign_kind;
    return box->fenced ? &rl_fenced_kind : &rl_mutex_kind;
}

#define COUNTER_TTL_MS 86400000u

static struct rl_slice slice_of(const char *text)
{
    return (struct rl_slice){text, strlen(text)};
}

static void add_counter(const struct box *box, struct rl_subject *subject)
{
    static const char *const counters[MAX_KEYS] = {"k#", "other#"};

    subject->counter = slice_of(counters[box->key]);
    subject->counter_ttl_ms = COUNTER_TTL_MS;
}

static void add_fence(struct box *box, struct rl_subject *subject)
{
    const struct rl_fence *fence = rl_claim_fence(box_claim(box));

    add_counter(box, subject);
    subject->proposal = fence->proposal;
    subject->fence = fence->token;
}

static void add_marker(const struct client *client, unsigned node, struct rl_subject *subject)
{
    if (!client->engine.votes.admissions[node].epoch_checked)
        return;
    subject->marker = (struct rl_slice){MARKER_KEY, 1};
    subject->incarnation = slice_of(client->trust[node].incarnation);
}

static bool concerns_queue(enum rl_step step)
{
    return step == RL_STEP_ENQUEUE || step == RL_STEP_RELEASE || step == RL_STEP_ROLLBACK;
}

/* Releases name no more than the queue unless a line is likely. Of what a client remembers of other rivals for its keys
 * the worlds have both. */
static bool line_is_likely(const struct box *box)
{
    return box->enqueued || box->id % 2;
}

static void add_queue(const struct client *client, struct box *box, enum rl_step step, unsigned node,
                      unsigned repeats, struct rl_subject *subject)
{
    const struct rl_lock *lock = box_claim(box)->lock;

    subject->queue = slice_of(name_of_queue(box->key));
    if (step != RL_STEP_ENQUEUE && !(repeats & REPEAT_IN_FULL) && !line_is_likely(box))
        return;
    add_counter(box, subject);
    add_marker(client, node, subject);
    subject->waiters = slice_of(name_of_waiters(box->key));
    if (step != RL_STEP_ENQUEUE)
        return;
    subject->channel = slice_of(client->channel);
    subject->round = box_claim(box)->round;
    subject->ticket = rl_lock_ticket(lock, &subject->proposed_ticket);
}

bool client_command_differs(enum rl_step step)
{
    return step == RL_STEP_REPAIR || concerns_queue(step);
}

struct message client_command(const struct client *client, struct box *box, enum rl_step step, unsigned node,
                              unsigned repeats)
{
    const struct rl_claim *claim = box_claim(box);
    const char *key = name_of_key(box->key);
    struct rl_subject subject = {
        .key = {key, strlen(key)}, .token = {box->token, box->token_size}, .ttl_ms = claim->ttl_ms};
    struct rl_command command;
    struct message message = {.claim = box->id, .step = (uint8_t)step};

    if (step == RL_STEP_REPAIR)
        add_marker(client, node, &subject);
    if (box->fenced)
        add_fence(box, &subject);
    if (concerns_queue(step))
        add_queue(client, box, step, node, repeats, &subject);
    client_kind(box)->command(step, &subject, &command);
    if ((repeats & REPEAT_AS_EVAL) && command.send_as == RL_SEND_EVALSHA)
        command.send_as = RL_SEND_EVAL;
    message_pack_command(&message, &command);
    if (box->max_ttl_ms < claim->ttl_ms)
        box->max_ttl_ms = claim->ttl_ms;
    return message;
}
