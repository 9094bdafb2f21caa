#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#ifdef HAVE_SIMULATION
#include <redlock/simulation.h>
#endif

#include "agent/agent.h"
#include "cli/clock.h"

/* The library counts time by the clock that has advanced more, and a program that reads CLOCK_BOOTTIME alone might be
 * behind: by 500 ppm where NTP slews it. Twice of that is taken off. */
enum { SLEW_PART = 1000 };

void peer_doom(struct peer *peer, const char *why)
{
    if (peer->why)
        return;
    peer->why = why;
    event_active(peer->end, EV_TIMEOUT, 0);
}

void answer(struct peer *peer, json_t *words)
{
    bool hears = peer && !peer->ended && !peer->why;
    char *line = words && hears ? json_dumps(words, JSON_COMPACT) : NULL;

    if (line) {
        bufferevent_write(peer->stream, line, strlen(line));
        bufferevent_write(peer->stream, "\n", 1);
        if (evbuffer_get_length(bufferevent_get_output(peer->stream)) > AGENT_MOST_UNREAD)
            peer_doom(peer, "it does not read what it is told");
    } else if (hears) {
        peer_doom(peer, "out of memory");
    }
    free(line);
    json_decref(words);
}

json_t *answer_ok(int64_t id)
{
    return json_pack("{s:I, s:b}", "id", (json_int_t)id, "ok", 1);
}

void answer_refused(struct peer *peer, int64_t id, const char *status, const char *why)
{
    answer(peer, json_pack("{s:I, s:b, s:s, s:s}", "id", (json_int_t)id, "ok", 0, "status", status, "why", why));
}

bool answer_wrong(struct peer *peer, int64_t id, const char *why)
{
    answer_refused(peer, id, REQUEST_WRONG, why);
    return false;
}

static json_t *failure(int64_t id, int status, const char *why)
{
    return json_pack("{s:I, s:b, s:s, s:s, s:b}", "id", (json_int_t)id, "ok", 0, "status", redlock_status_name(status),
                     "why", why, "retry", (int)redlock_status_retryable(status));
}

void answer_status(struct peer *peer, int64_t id, int status)
{
    answer(peer, status == REDLOCK_OK ? answer_ok(id) : failure(id, status, redlock_strerror(status)));
}

/* A server's words may be no text. */
static json_t *text_of(const char *bytes)
{
    json_t *text = json_string(bytes);

    return text ? text : json_string("?");
}

json_t *nodes_of(const struct redlock_node_result *nodes, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *node = json_pack("{s:o, s:s, s:o}", "name", text_of(nodes[i].name), "vote",
                                 redlock_vote_name(nodes[i].vote), "detail", text_of(nodes[i].detail));

        if (nodes[i].latency_us >= 0)
            json_object_set_new(node, "latency_us", json_integer(nodes[i].latency_us));
        json_array_append_new(array, node);
    }
    return array;
}

void add_masters(json_t *words, const struct redlock_result *result)
{
    if (result->n_nodes == 0)
        return;
    json_object_set_new(words, "masters", nodes_of(result->nodes, result->n_nodes));
    json_object_set_new(words, "quorum", json_integer(result->quorum));
    json_object_set_new(words, "votes", json_integer(result->granted));
    json_object_set_new(words, "reachable", json_integer(result->reachable));
    json_object_set_new(words, "voting", json_integer(result->voting));
}

void answer_failed(struct peer *peer, int64_t id, const struct redlock_result *result, const char *key)
{
    json_t *words = failure(id, result->status, "");

    json_object_set_new(words, "why", text_of(result->why));
    if (result->cause != 0)
        json_object_set_new(words, "cause", json_string(redlock_status_name(result->cause)));
    if (key)
        json_object_set_new(words, "key", json_string(key));
    json_object_set_new(words, "elapsed_us", json_integer(result->elapsed_us));
    add_masters(words, result);
    answer(peer, words);
}

json_t *event_of(const struct thing *thing, const char *name)
{
    return json_pack("{s:s, s:I}", "event", name, thing->kind->name, (json_int_t)thing->number);
}

json_t *number_text(uint64_t number)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%" PRIu64, number);
    return json_string(digits);
}

struct redlock_simulation *simulation;

int64_t boot_ahead_us(void)
{
#ifdef HAVE_SIMULATION
    return simulation ? redlock_simulation_advanced_ns(simulation) / 1000 : 0;
#else
    return 0;
#endif
}

int64_t boot_now_us(void)
{
    return rl_clock_kernel_ns(CLOCK_BOOTTIME) / 1000 + boot_ahead_us();
}

int64_t boot_left_ms(int64_t until_us)
{
    int64_t left_us = until_us - boot_now_us();

    return left_us > 0 ? left_us / 1000 + 1 : 0;
}

/* `boot_ns` was read before `remaining_ns`, so the instant is not later than the library's. */
void add_validity(json_t *words, struct thing *thing, int64_t boot_ns, int64_t remaining_ns)
{
    int64_t left_us = (remaining_ns - remaining_ns / SLEW_PART) / 1000;
    int64_t deadline_us = boot_ns / 1000 + left_us;

    if (deadline_us + boot_ahead_us() > thing->told_us)
        thing->told_us = deadline_us + boot_ahead_us();
    json_object_set_new(words, "deadline_us", json_integer(deadline_us));
    json_object_set_new(words, "remaining_us", json_integer(left_us));
}
