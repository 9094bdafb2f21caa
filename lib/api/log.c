/* Events as lines of a log, and the level of each. */
#include <redlock/log.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <redlock/latch.h>
#include <redlock/redlock.h>

/* A deadline gives no reason of its own: what counts is why the attempts before it failed. */
static int reason_of_end(const struct redlock_event *event)
{
    return event->status == REDLOCK_DEADLINE && event->cause != 0 ? event->cause : event->status;
}

static enum redlock_level warning_if(bool unusual)
{
    return unusual ? REDLOCK_LEVEL_WARNING : REDLOCK_LEVEL_INFO;
}

enum redlock_level redlock_event_level(const struct redlock_event *event)
{
    int reason = reason_of_end(event);

    switch (event->type) {
    case REDLOCK_EVENT_LOST:
        return REDLOCK_LEVEL_ERROR;
    case REDLOCK_EVENT_AT_RISK:
    case REDLOCK_EVENT_CLOCK:
    case REDLOCK_EVENT_MEMBERS:
        return REDLOCK_LEVEL_WARNING;
    case REDLOCK_EVENT_NODE:
        return warning_if(event->link == REDLOCK_LINK_DOWN || event->link == REDLOCK_LINK_LATE);
    case REDLOCK_EVENT_LISTENING:
        return warning_if(event->link == REDLOCK_LINK_DOWN || (event->text && *event->text));
    case REDLOCK_EVENT_STANDING:
        return warning_if(event->standing == REDLOCK_STANDING_EXCLUDED ||
                          event->standing == REDLOCK_STANDING_QUARANTINED);
    case REDLOCK_EVENT_ACQUIRED:
    case REDLOCK_EVENT_EXTENDED:
    case REDLOCK_EVENT_RELEASED:
    case REDLOCK_EVENT_FAILED:
    case REDLOCK_EVENT_CONVERTED:
        return warning_if(reason != REDLOCK_OK && reason != REDLOCK_HELD && reason != REDLOCK_CANCELED);
    case REDLOCK_EVENT_LATCH_ARRIVED:
    case REDLOCK_EVENT_LATCH_AWAITED:
        return warning_if(reason != REDLOCK_OK && reason != REDLOCK_DEADLINE && reason != REDLOCK_CANCELED);
    case REDLOCK_EVENT_ATTEMPT:
    case REDLOCK_EVENT_VOTE:
    case REDLOCK_EVENT_BACKOFF:
    case REDLOCK_EVENT_RENEWED:
    case REDLOCK_EVENT_WAITING:
    case REDLOCK_EVENT_EXTENDING:
    case REDLOCK_EVENT_PROVED:
    case REDLOCK_EVENT_VALIDITY:
        break;
    }
    return REDLOCK_LEVEL_DEBUG;
}

const char *redlock_level_name(enum redlock_level level)
{
    static const char *const names[] = {[REDLOCK_LEVEL_ERROR] = "error", [REDLOCK_LEVEL_WARNING] = "warning",
                                        [REDLOCK_LEVEL_INFO] = "info", [REDLOCK_LEVEL_DEBUG] = "debug"};

    return level >= REDLOCK_LEVEL_ERROR && level <= REDLOCK_LEVEL_DEBUG ? names[level] : "?";
}

/* --- The line --------------------------------------------------------------------------------------------------- */

struct line {
    char *at;
    char *end;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    size_t room = (size_t)(line->end - line->at);
    va_list args;
    int size;

    va_start(args, format);
    size = vsnprintf(line->at, room, format, args);
    va_end(args);
    if (size > 0)
        line->at += (size_t)size < room ? (size_t)size : room - 1;
}

/* The bytes come from the caller or from a master, so anything may be in them. */
static void add_bytes(struct line *line, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        if (byte >= ' ' && byte <= '~' && byte != '\\')
            add(line, "%c", byte);
        else
            add(line, "\\x%02x", byte);
    }
}

enum { MOST_KEY_BYTES = 40, MOST_TEXT_BYTES = 320 };

/* The lock's key, or the name of the latch. */
static void add_key(struct line *line, const struct redlock_event *event)
{
    size_t size = 0;
    const char *key = event->latch ? redlock_latch_name(event->latch, &size) : redlock_lock_key(event->lock, &size);

    if (!key)
        return;
    add(line, " ");
    add_bytes(line, key, size < MOST_KEY_BYTES ? size : MOST_KEY_BYTES);
    if (size > MOST_KEY_BYTES)
        add(line, "...");
}

static void add_node(struct line *line, const struct redlock_event *event)
{
    struct redlock_node_stats stats;

    if (event->node < 0)
        return;
    add(line, ", master ");
    if (event->client && redlock_client_node_stats(event->client, (size_t)event->node, &stats, sizeof stats) == 0)
        add_bytes(line, stats.name, strlen(stats.name));
    else
        add(line, "%d", event->node);
}

static void add_mode(struct line *line, const struct redlock_event *event)
{
    if (event->mode != REDLOCK_EXCLUSIVE || event->type == REDLOCK_EVENT_CONVERTED)
        add(line, ": %s", redlock_mode_name(event->mode));
}

static void add_what_the_type_names(struct line *line, const struct redlock_event *event)
{
    switch (event->type) {
    case REDLOCK_EVENT_ACQUIRED:
    case REDLOCK_EVENT_CONVERTED:
        add_mode(line, event);
        break;
    case REDLOCK_EVENT_NODE:
    case REDLOCK_EVENT_LISTENING:
        add(line, ": %s", redlock_link_name(event->link));
        break;
    case REDLOCK_EVENT_STANDING:
        add(line, ": %s, %s", redlock_standing_name(event->standing), redlock_fault_name(event->fault));
        break;
    case REDLOCK_EVENT_CLOCK:
        if (event->node < 0)
            add(line, ": this client's own stood still for up to %lld us", (long long)event->delay_us);
        else
            add(line, ": ahead by %lld us of where it was against this client's", (long long)event->delay_us);
        break;
    case REDLOCK_EVENT_VOTE:
        add(line, ": %s %s", redlock_op_name(event->op), redlock_vote_name(event->vote));
        break;
    case REDLOCK_EVENT_BACKOFF:
    case REDLOCK_EVENT_FAILED:
    case REDLOCK_EVENT_RELEASED:
    case REDLOCK_EVENT_LATCH_ARRIVED:
    case REDLOCK_EVENT_LATCH_AWAITED:
        add(line, ": %s", redlock_strerror(event->status));
        if (event->cause != 0)
            add(line, ", the last attempt: %s", redlock_strerror(event->cause));
        break;
    case REDLOCK_EVENT_LOST:
        add(line, ": %s", redlock_loss_text(event->loss));
        break;
    default:
        break;
    }
}

/* The reason in the result of a latch may be no more than the words for its status. */
static bool repeats_status(const struct redlock_event *event)
{
    return event->latch && strcmp(event->text, redlock_strerror(event->status)) == 0;
}

const char *redlock_event_line(const struct redlock_event *event, char *ret_line, size_t size)
{
    struct line line = {ret_line, ret_line + size};

    if (size == 0)
        return ret_line;
    add(&line, "%s", redlock_event_name(event->type));
    add_key(&line, event);
    add_node(&line, event);
    add_what_the_type_names(&line, event);
    if (event->text && *event->text && !repeats_status(event)) {
        add(&line, " (");
        add_bytes(&line, event->text, strnlen(event->text, MOST_TEXT_BYTES));
        add(&line, ")");
    }
    if (event->remaining_us > 0)
        add(&line, ", %lld ms left", (long long)(event->remaining_us / 1000));
    return ret_line;
}
