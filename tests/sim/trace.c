#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "codec/classify.h"
#include "world.h"

/* --- Names -------------------------------------------------------------------------------------------------------- */

const char *name_of_client(unsigned client)
{
    static const char *const names[MAX_CLIENTS] = {"A", "B", "C", "D"};

    return names[client];
}

const char *name_of_master(unsigned master)
{
    static const char *const names[MAX_MASTERS] = {"m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9"};

    return names[master];
}

const char *name_of_handle(const struct client *client, const struct handle *handle)
{
    static const char *const names[MAX_CLIENTS][MAX_HANDLES] = {
        {"A", "A'", "A''"}, {"B", "B'", "B''"}, {"C", "C'", "C''"}, {"D", "D'", "D''"}};

    return names[client->index][handle->index];
}

const char *name_of_key(unsigned key)
{
    static const char *const names[MAX_KEYS] = {"k", "other"};

    return names[key];
}

const char *name_of_queue(unsigned key)
{
    static const char *const names[MAX_KEYS] = {"kq#", "otherq#"};

    return names[key];
}

const char *name_of_waiters(unsigned key)
{
    static const char *const names[MAX_KEYS] = {"kw#", "otherw#"};

    return names[key];
}

const char *name_of_end(enum rl_end end)
{
    static const char *const names[N_ENDS] = {"none",     "ok",       "held", "no quorum",       "too slow",
                                              "deadline", "canceled", "lost", "refused by host"};

    return names[end];
}

const char *name_of_op(enum rl_op op)
{
    static const char *const names[N_OPS] = {"nothing", "acquire", "extend", "release"};

    return names[op];
}

const char *name_of_step(enum rl_step step)
{
    static const char *const names[RL_STEP_COUNT] = {"claim",  "enqueue", "raise",   "extend",
                                                     "repair", "release", "rollback"};

    return names[step];
}

const char *name_of_join(enum rl_join_event event)
{
    static const char *const names[RL_JOIN_EVENT_COUNT] = {"marker kept", "new memory", "restarted", "resumed",
                                                           "declared", "no marker", "another ring's marker"};

    return names[event];
}

const char *name_of_outcome(enum rl_outcome outcome)
{
    static const char *const names[N_OUTCOMES] = {"not asked", "pending", "granted", "refused", "failed",
                                                  "unknown",   "queued"};

    return names[outcome];
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

void world_trace(struct world *world, const char *who, const char *format, ...)
{
    va_list arguments;

    fprintf(world->trace, "%10.3f  %-4s", (double)(world->acting ? client_true_now(world->acting) : world->now) / 1e6,
            who);
    va_start(arguments, format);
    vfprintf(world->trace, format, arguments);
    va_end(arguments);
    fputc('\n', world->trace);
}

void trace_send(struct client *client, const struct box *box, const struct rl_effect *effect)
{
    char masters[5 * MAX_MASTERS] = "";
    size_t size = 0;

    if (!client->world->trace)
        return;
    for (unsigned m = 0; m < client->world->plan.n_masters; m++) {
        if (effect->nodes >> m & 1u)
            size += (size_t)snprintf(masters + size, sizeof masters - size, " %s", name_of_master(m));
    }
    world_trace(client->world, name_of_client(client->index), "%s %s ->%s", name_of_step(effect->step), box->token,
                masters);
}

static void format_item(const struct rl_reply_item *item, char *text, size_t size)
{
    if (item->type == RL_REPLY_INTEGER)
        snprintf(text, size, "%lld", (long long)item->integer);
    else if (item->type == RL_REPLY_NIL)
        snprintf(text, size, "nil");
    else
        snprintf(text, size, "%.*s", (int)item->text.size, (const char *)item->text.data);
}

static void format_reply(const struct rl_reply *reply, char *text, size_t size)
{
    size_t used = 0;

    if (reply->root.type != RL_REPLY_ARRAY)
        format_item(&reply->root, text, size);
    for (size_t i = 0; i < reply->n_elements && used < size; i++) {
        if (i)
            text[used++] = ' ';
        format_item(&reply->elements[i], text + used, size - used);
        used += strlen(text + used);
    }
}

/* The keys of the queues say nothing that the key does not. */
static bool is_worth_telling(const struct message *message, size_t argument)
{
    bool queue = message->step == RL_STEP_ENQUEUE || message->step == RL_STEP_RELEASE ||
                 message->step == RL_STEP_ROLLBACK;

    return !queue || argument == 0 || argument >= message->n_keys;
}

void trace_command(struct world *world, const struct master *master, const struct message *message, bool ghost,
                   const struct rl_reply *reply)
{
    struct rl_slice argv[RL_COMMAND_MAX_ARGS];
    char command[160] = "";
    char answer[100] = "";
    size_t size = 0;

    if (!world->trace || message->claim == BOX_NONE)
        return;
    if (message->send_as != RL_SEND_PLAIN)
        size = (size_t)snprintf(command, sizeof command, "%s ", name_of_step((enum rl_step)message->step));
    message_unpack_command(message, argv);
    for (size_t i = 0; i < message->count; i++) {
        if (is_worth_telling(message, i))
            size += (size_t)snprintf(command + size, sizeof command - size, "%s%.*s", i ? " " : "",
                                     (int)argv[i].size, (const char *)argv[i].data);
    }
    format_reply(reply, answer, sizeof answer);
    world_trace(world, name_of_master(master->index), "%s = %s%s", command, answer, ghost ? "  (ghost)" : "");
}

void trace_answer(struct client *client, const struct box *box, const struct pending *pending, unsigned node,
                  struct rl_answer answer)
{
    TRACE(client->world, name_of_client(client->index), "%s: %s %s %s%s%s", name_of_master(node),
          name_of_step((enum rl_step)pending->step), box->token, name_of_outcome(answer.outcome),
          answer.detail == RL_DETAIL_NONE ? "" : ", ", rl_detail_text(answer.detail));
}

void trace_place(struct client *client, const struct handle *handle)
{
    struct rl_instant held_until;
    uint32_t rank;

    if (!client->world->trace)
        return;
    rl_lock_queue_position(&client->engine, &handle->lock, &rank, &held_until);
    world_trace(client->world, name_of_handle(client, handle), "waits behind %u others", rank);
}

void trace_completion(struct client *client, const struct handle *handle, const struct rl_effect *effect)
{
    struct rl_instant deadline = rl_lock_deadline(&client->engine, &handle->lock);
    double left_ms = (double)rl_until(client->now, deadline).ns / 1e6;

    if (left_ms > 0)
        TRACE(client->world, name_of_handle(client, handle), "%s: %s, valid for %.3f ms", name_of_op(effect->op),
              name_of_end(effect->status), left_ms);
    else
        TRACE(client->world, name_of_handle(client, handle), "%s: %s", name_of_op(effect->op),
              name_of_end(effect->status));
}
