/* The masters, and the connections to them. */
#include "holders_parts.h"

#include "codec/classify.h"
#include "engine/answer.h"
#include "engine/wait.h"
#include "kinds/names.h"
#include "kinds/mutex.h"
#include "kinds/shared.h"
#include "kinds/wait_queue.h"

static const char *name_of(unsigned client, unsigned claim)
{
    return script_names[holders_value(client, claim)];
}

/* --- Commands (host/commands.c) ----------------------------------------------------------------------------------- */

/* Commands that look at the queue name all its keys; the short form of a release is left out. */
static void add_queue(struct rl_subject *subject)
{
    subject->queue = rl_slice_of(RL_QUEUE_NAME "k");
    subject->waiters = rl_slice_of(RL_WAITERS_NAME "k");
    subject->counter = rl_slice_of(RL_COUNTER_NAME "k");
}

static bool looks_at_queue(const struct holders_message *message)
{
    switch ((enum rl_step)message->step) {
    case RL_STEP_ENQUEUE:
    case RL_STEP_RELEASE:
    case RL_STEP_ROLLBACK:
        return true;
    case RL_STEP_CLAIM:
        return message->shared;
    case RL_STEP_EXTEND:
        return message->shared && message->stronger;
    default:
        return false;
    }
}

static void make_command(const struct holders_setup *setup, unsigned client, const struct holders_message *message,
                         struct rl_command *ret_command)
{
    static const char *const channels[HOLDERS_CLIENTS] = {"0", "1"};
    const struct rl_kind *kind = message->shared ? rl_shared_form(&rl_mutex_kind) : &rl_mutex_kind;
    struct rl_subject subject = {
        .key = rl_slice_of(setup->other_key && message->shared ? "l" : "k"),
        .token = rl_slice_of(name_of(client, message->claim)),
        .ttl_ms = message->ttl * HOLDERS_TICK_MS,
        .mode = (enum rl_mode)message->mode,
    };

    if (message->replaces)
        subject.replaces = rl_slice_of(name_of(client, message->replaces - 1u));
    if (looks_at_queue(message))
        add_queue(&subject);
    if (message->step == RL_STEP_ENQUEUE) {
        subject.channel = rl_slice_of(channels[client]);
        subject.round = message->round;
        subject.ticket = message->ticket;
        subject.proposed_ticket = HOLDERS_PROPOSED_TICKET;
    }
    kind->command((enum rl_step)message->step, &subject, ret_command);
}

static void tell(struct holders *world, unsigned master, const struct script_told *told)
{
    struct holders_message message = {.claim = told->value % HOLDERS_CLAIMS,
                                      .notice = (uint8_t)told->notification.kind,
                                      .round = (uint8_t)told->notification.round};

    if (told->value / HOLDERS_CLAIMS != told->channel)
        world->wrong = "a client was told of another one's value";
    holders_push(&world->told[told->channel][master], message);
}

void holders_carry_out(struct holders *world, const struct holders_setup *setup, unsigned client, unsigned master)
{
    struct holders_message message = holders_shift(&world->up[client][master]);
    struct holders_message reply = {.step = message.step, .claim = message.claim, .round = message.round};
    struct script_outcome outcome;
    struct rl_command command;

    make_command(setup, client, &message, &command);
    outcome = script_states_run(setup->states, world->masters[master], holders_node_ms(world->now), &command);
    world->masters[master] = outcome.state;
    reply.reply = outcome.reply;
    holders_push(&world->down[client][master], reply);
    for (unsigned i = 0; i < outcome.n_told; i++)
        tell(world, master, &outcome.told[i]);
}

/* --- Replies (host/answers.c) ------------------------------------------------------------------------------------- */

void holders_deliver(struct holders *world, const struct holders_setup *setup, unsigned number, unsigned master)
{
    struct holders_message message = holders_shift(&world->down[number][master]);
    const struct rl_reply *reply = script_states_reply(setup->states, message.reply);
    struct holders_client *client = &world->clients[number];
    struct holders_claim *box = &client->claims[message.claim];
    struct rl_instant now = holders_instant(world->now);
    struct rl_claim *claim = holders_claim(box);
    struct rl_entry_report report;
    struct rl_event event = {.now = now, .claim = claim, .step = (enum rl_step)message.step, .round = message.round,
                             .node = master, .latency_us = RL_NO_LATENCY};

    if (box->state != HOLDERS_KNOWN) {
        world->wrong = "an answer for a claim that was disposed of";
        return;
    }
    if (event.step == RL_STEP_ENQUEUE && rl_queue_entry_report(reply, &report))
        rl_engine_queued(now, claim, event.round, master, &report);
    event.answer = rl_classify(claim->kind, event.step, reply);
    if (event.answer.outcome == RL_UNKNOWN)
        world->wrong = "a reply that does not fit its command, or an error";
    rl_engine_reply(&client->engine, &event);
    holders_pump(world, setup, number);
}

void holders_notify(struct holders *world, const struct holders_setup *setup, unsigned number, unsigned master)
{
    struct holders_message message = holders_shift(&world->told[number][master]);
    struct rl_notification notification = {.kind = (enum rl_notice_kind)message.notice, .round = message.round};
    struct holders_client *client = &world->clients[number];
    struct holders_claim *box = &client->claims[message.claim];

    if (box->state != HOLDERS_KNOWN)
        return;
    rl_engine_notified(&client->engine, holders_instant(world->now), holders_claim(box), master, &notification);
    holders_pump(world, setup, number);
}
