/* A lock of a peer is renewed until it is released, its peer goes, or the agent ends. What is told of its validity is
 * an instant of CLOCK_BOOTTIME, so that the program can compare it with its own reading. */
#include "agent/held.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <redlock/members.h>
#include <redlock/semaphore.h>

#include "cli/clock.h"
#include "cli/label.h"

struct held *held_of(const struct thing *thing)
{
    return (struct held *)((uintptr_t)thing - offsetof(struct held, thing));
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
    uintptr_t one = (uintptr_t)((const struct part *)a)->lock;
    uintptr_t other = (uintptr_t)((const struct part *)b)->lock;

    return (one > other) - (one < other);
}

static void forget_parts(struct held *held)
{
    for (size_t i = 0; held->parts && i < held->n; i++)
        tdelete(&held->parts[i], &held->thing.agent->by_lock, compare_parts);
    free(held->parts);
    held->parts = NULL;
}

/* The handles are known when all keys have been added. */
static bool know_parts(struct held *held)
{
    while (held->subject.kind->part(held->subject.handle, held->n))
        held->n++;
    held->parts = calloc(held->n, sizeof *held->parts);
    for (size_t i = 0; held->parts && i < held->n; i++) {
        held->parts[i] = (struct part){.lock = held->subject.kind->part(held->subject.handle, i), .held = held};
        if (!tsearch(&held->parts[i], &held->thing.agent->by_lock, compare_parts))
            return false;
    }
    return held->parts != NULL;
}

void held_end(struct thing *thing)
{
    struct held *held = held_of(thing);

    thing->ending = true;
    forget_parts(held);
    list_remove(&held->moved);
    if (held->subject.kind == &subject_set)
        redlock_set_destroy(held->subject.handle);
    else
        redlock_lock_destroy(held->subject.handle);
    thing_leave(thing);
    json_decref(held->keys);
    free(held);
}

void held_cancel(struct thing *thing)
{
    struct held *held = held_of(thing);

    held->subject.kind->cancel(held->subject.handle);
}

uint32_t held_depth(const struct held *held)
{
    return held->subject.kind == &subject_set ? 1 : redlock_lock_depth(held->subject.handle);
}

static int64_t outlives_ms(const struct thing *thing)
{
    const struct held *held = held_of(thing);
    int64_t ms = boot_left_ms(thing->hold_until_us);

    if (!held->granted || held->releasing)
        return -1;
    return held->linger_ms > ms ? held->linger_ms : ms;
}

/* --- What is told ------------------------------------------------------------------------------------------------- */

static void add_part(json_t *words, const struct redlock_lock *lock)
{
    json_object_set_new(words, "token", json_string(redlock_lock_token(lock)));
    if (redlock_lock_fence(lock) != 0)
        json_object_set_new(words, "fence", number_text(redlock_lock_fence(lock)));
    if (redlock_lock_mode(lock) != REDLOCK_EXCLUSIVE)
        json_object_set_new(words, "mode", json_string(redlock_mode_name(redlock_lock_mode(lock))));
    if (redlock_lock_limit(lock) != 0)
        json_object_set_new(words, "slot", json_integer(redlock_lock_slot(lock)));
}

json_t *held_key(const struct redlock_lock *lock)
{
    size_t size;
    const char *key = redlock_lock_key(lock, &size);

    return json_stringn(key, size);
}

static void add_times(json_t *words, struct held *held)
{
    int64_t boot_ns = rl_clock_kernel_ns(CLOCK_BOOTTIME);

    add_validity(words, &held->thing, boot_ns, held->subject.kind->remaining_ns(held->subject.handle));
}

/* How many masters keep it, of the part that has the fewest. */
static void add_votes(json_t *words, const struct held *held)
{
    struct redlock_view view = {0};
    uint32_t least = UINT32_MAX;

    redlock_client_view(held->thing.agent->client, &view, sizeof view);
    for (size_t i = 0; i < held->n; i++)
        least = held->parts[i].votes < least ? held->parts[i].votes : least;
    json_object_set_new(words, "votes", json_integer(least));
    json_object_set_new(words, "members", json_integer((json_int_t)view.list.n));
    json_object_set_new(words, "quorum", json_integer(view.list.quorum));
}

static void add_hold(json_t *words, struct held *held)
{
    json_t *parts = held->n > 1 ? json_array() : NULL;

    json_object_set_new(words, "lock", json_integer((json_int_t)held->thing.number));
    add_votes(words, held);
    if (held->ttl_ms != 0)
        json_object_set_new(words, "ttl_ms", json_integer(held->ttl_ms));
    add_times(words, held);
    if (!parts)
        add_part(words, held->parts[0].lock);
    for (size_t i = 0; parts && i < held->n; i++) {
        json_t *part = json_pack("{s:o}", "key", held_key(held->parts[i].lock));

        add_part(part, held->parts[i].lock);
        json_array_append_new(parts, part);
    }
    if (parts)
        json_object_set_new(words, "parts", parts);
}

json_t *held_grant(int64_t id, struct held *held)
{
    json_t *words = answer_ok(id);

    add_hold(words, held);
    return words;
}

static json_t *describe(struct thing *thing)
{
    struct held *held = held_of(thing);
    json_t *words = json_object();

    if (!held->granted) {
        json_decref(words);
        return NULL;
    }
    add_hold(words, held);
    json_object_set(words, "keys", held->keys);
    return words;
}

static void on_alarm(size_t part, const struct redlock_alarm *alarm, void *data)
{
    struct held *held = data;
    bool lost = alarm->kind == REDLOCK_ALARM_LOST;
    json_t *words;

    if (!held->thing.peer || !held->granted)
        return;
    words = event_of(&held->thing, lost ? "lost" : "at-risk");
    add_times(words, held);
    if (lost)
        json_object_set_new(words, "loss", json_string(redlock_loss_text(alarm->loss)));
    if (held->n > 1)
        json_object_set_new(words, "key", held_key(held->parts[part].lock));
    json_object_set_new(words, "why", json_string(is_utf8(alarm->why, strlen(alarm->why)) ? alarm->why : ""));
    json_object_set_new(words, "masters", nodes_of(alarm->nodes, alarm->n_nodes));
    answer(held->thing.peer, words);
}

/* Where a test lets hours pass, a thousand renewals are told of at one time. */
static void tell_soon(struct agent *agent)
{
    static const struct timeval pause = {0, 100000};

    if (!agent->advance)
        event_active(agent->tell, EV_TIMEOUT, 0);
    else if (!event_pending(agent->tell, EV_TIMEOUT, NULL))
        event_add(agent->tell, &pause);
}

static void take_votes(struct part *part, const struct redlock_event *event)
{
    part->votes = 0;
    for (size_t i = 0; i < event->n_nodes; i++)
        part->votes += event->nodes[i].valid_for_ms > 0;
}

void held_on_event(const struct redlock_event *event, void *data)
{
    struct agent *agent = data;
    struct part wanted = {.lock = event->lock};
    struct part **found;
    struct held *held;

    if (!event->lock || (event->type != REDLOCK_EVENT_RENEWED && event->type != REDLOCK_EVENT_EXTENDED &&
                         event->type != REDLOCK_EVENT_ACQUIRED))
        return;
    found = tfind(&wanted, &agent->by_lock, compare_parts);
    held = found ? (*found)->held : NULL;
    if (held)
        take_votes(*found, event);
    if (event->type == REDLOCK_EVENT_ACQUIRED)
        return;
    if (held && held->granted && list_is_empty(&held->moved))
        list_append(&agent->moved, &held->moved);
    tell_soon(agent);
}

void held_tell_moved(struct agent *agent)
{
    while (!list_is_empty(&agent->moved)) {
        struct held *held = LIST_OWNER(agent->moved.next, struct held, moved);
        json_t *words;

        list_remove(&held->moved);
        if (!held->thing.peer || held->subject.kind->remaining_ns(held->subject.handle) <= 0)
            continue;
        words = event_of(&held->thing, "extended");
        add_times(words, held);
        add_votes(words, held);
        answer(held->thing.peer, words);
    }
}

void held_tell_all(struct agent *agent)
{
    for (struct list *at = agent->peers.next; at != &agent->peers; at = at->next) {
        struct peer *peer = LIST_OWNER(at, struct peer, link);

        for (struct list *node = peer->things.next; node != &peer->things; node = node->next) {
            struct thing *thing = LIST_OWNER(node, struct thing, link);

            if (thing->kind == &held_kind && held_of(thing)->granted && list_is_empty(&held_of(thing)->moved))
                list_append(&agent->moved, &held_of(thing)->moved);
        }
    }
    held_tell_moved(agent);
}

/* --- The kind of thing -------------------------------------------------------------------------------------------- */

void held_begin(struct held *held, struct peer *peer)
{
    thing_begin(&held->thing, &held_kind, peer);
    list_init(&held->moved);
    held->uid = peer->identity.uid;
}

int held_follow(struct held *held)
{
    held->alarms = (struct subject_sink){.alarm = on_alarm, .data = held};
    return know_parts(held) ? held->subject.kind->watch(held->subject.handle, &held->alarms) : REDLOCK_E_NOMEM;
}

const struct thing_kind held_kind = {"lock", held_end, outlives_ms, describe};
