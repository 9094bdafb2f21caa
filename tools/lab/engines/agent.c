/* `redlock agent`, as its PROTOCOL.md has it: the locks of this process on one connection, through the client that the
 * command has for `--agent`. The agent renews them and tells their deadlines, and gives them back when the connection
 * ends. Orders are carried out on one event loop: there is no thread between an answer of the agent and its instant. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <redlock/redlock.h>

#include "cli/agent_client.h"
#include "cli/agent_words.h"
#include "line.h"
#include "portable/list.h"

#define ID_MAX 64
#define NS_PER_MS 1000000

enum state { ACQUIRING, HELD, RELEASING };

struct hold {
    struct list link;
    enum state state;
    int64_t since_ns;    /* of the order under way */
    int64_t deadline_ns; /* on CLOCK_BOOTTIME; 0: it is lost */
    json_int_t number;   /* by which the agent knows it */
    char id[ID_MAX + 1];
};

static struct event_base *base;
static struct agent_client *agent;
static struct list holds;
static char socket_path[200];
static char *prefix;
static bool fences = true;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* The instants of the protocol are on CLOCK_MONOTONIC, the agent's deadlines on a clock that goes on in sleep. */
static int64_t monotonic_of(int64_t boottime_ns)
{
    return boottime_ns - (clock_ns(CLOCK_BOOTTIME) - now_ns());
}

static _Noreturn void give_up(const char *why)
{
    char text[1024];

    line_encode(why, text, sizeof text);
    line_print("failed %s", text);
    _exit(1);
}

static struct hold *find(const char *id)
{
    for (struct list *node = holds.next; node != &holds; node = node->next)
        if (strcmp(LIST_OWNER(node, struct hold, link)->id, id) == 0)
            return LIST_OWNER(node, struct hold, link);
    return NULL;
}

static void forget(struct hold *hold)
{
    list_remove(&hold->link);
    free(hold);
}

/* --- What the agent says ------------------------------------------------------------------------------------------ */

static const char *reason_of(const struct redlock_result *result)
{
    int why = result->status == REDLOCK_DEADLINE ? result->cause : result->status;

    if (why == REDLOCK_HELD)
        return "held";
    if (why == REDLOCK_NO_QUORUM)
        return "unreachable";
    return result->status == REDLOCK_DEADLINE ? "deadline" : "error";
}

static void on_acquired(const json_t *answer, void *data)
{
    struct hold *hold = data;
    int64_t at_ns = now_ns();
    struct agent_result read;
    char text[600], fence[32] = "";

    if (agent_is_ok(answer)) {
        hold->state = HELD;
        hold->number = json_integer_value(json_object_get(answer, "lock"));
        hold->deadline_ns = agent_client_deadline_ns(agent, answer);
        if (fences)
            snprintf(fence, sizeof fence, " fence=%" PRId64, agent_number(answer, "fence"));
        line_print("acquired %s %" PRId64 " %" PRId64 " until=%" PRId64 "%s", hold->id, hold->since_ns, at_ns,
                   monotonic_of(hold->deadline_ns), fence);
        return;
    }
    agent_result_read(answer, agent_client_why(agent), &read);
    line_encode(read.result.why, text, sizeof text);
    line_print("refused %s %" PRId64 " %" PRId64 " %s %s", hold->id, hold->since_ns, at_ns, reason_of(&read.result),
               text);
    forget(hold);
}

static void on_released(const json_t *answer, void *data)
{
    struct hold *hold = data;
    int64_t at_ns = now_ns();
    struct agent_result read;
    const char *outcome = "ok";

    agent_result_read(answer, agent_client_why(agent), &read);
    if (!agent_is_ok(answer))
        outcome = read.result.status == REDLOCK_NO_QUORUM ? "unconfirmed" : "lost";
    line_print("released %s %" PRId64 " %" PRId64 " %s", hold->id, hold->since_ns, at_ns, outcome);
    forget(hold);
}

static struct hold *find_number(json_int_t number)
{
    for (struct list *node = holds.next; node != &holds; node = node->next)
        if (LIST_OWNER(node, struct hold, link)->state == HELD &&
            LIST_OWNER(node, struct hold, link)->number == number)
            return LIST_OWNER(node, struct hold, link);
    return NULL;
}

static void on_event(const char *name, const json_t *words, void *data)
{
    struct hold *hold = find_number(json_integer_value(json_object_get(words, "lock")));

    if (!hold || hold->deadline_ns == 0)
        return;
    if (strcmp(name, "lost") == 0) {
        hold->deadline_ns = 0;
        line_print("lost %s %" PRId64, hold->id, now_ns());
    } else if (strcmp(name, "extended") == 0) {
        hold->deadline_ns = agent_client_deadline_ns(agent, words);
        line_print("renewed %s %" PRId64 " until=%" PRId64, hold->id, now_ns(), monotonic_of(hold->deadline_ns));
    }
}

static void on_disconnected(void *data)
{
    give_up(agent_client_why(agent));
}

static void on_greeted(const json_t *answer, void *data)
{
    line_print("opened");
}

/* --- Orders. False: the line makes no sense. ---------------------------------------------------------------------- */

/* Of several agents the first is that of this machine. */
static void set_socket(const char *nodes)
{
    static const char unix_url[] = "unix://";
    const char *path = strncmp(nodes, unix_url, strlen(unix_url)) == 0 ? nodes + strlen(unix_url) : nodes;

    snprintf(socket_path, sizeof socket_path, "%.*s", (int)strcspn(path, ","), path);
}

/* Settings that are not known here are meant for others. */
static bool set(char *word)
{
    char *value = strchr(word, '=');

    if (!value)
        return false;
    *value++ = '\0';
    if (!line_decode(value))
        return false;
    if (strcmp(word, "nodes") == 0)
        set_socket(value);
    if (strcmp(word, "prefix") == 0)
        prefix = strdup(value);
    if (strcmp(word, "fence") == 0)
        fences = strcmp(value, "no") != 0;
    return true;
}

static bool open_agent(char **words, size_t n)
{
    static const struct agent_listener listener = {.event = on_event, .disconnected = on_disconnected};

    for (size_t i = 1; i < n; i++)
        if (!set(words[i]))
            return false;
    agent = agent_client_open(base, socket_path);
    if (!agent)
        give_up("out of memory");
    agent_client_listen(agent, &listener);
    if (!agent_client_connect(agent))
        give_up(agent_client_why(agent));
    agent_client_ask(agent, json_pack("{s:s}", "op", "ping"), on_greeted, NULL);
    return true;
}

static bool acquire(const char *id, char *key, const char *ttl, const char *timeout)
{
    struct hold *hold = find(id) || strlen(id) > ID_MAX ? NULL : calloc(1, sizeof *hold);
    int64_t ttl_ms, wait_ms;
    char *whole = NULL;

    if (!hold || !line_decode(key) || !line_number(ttl, &ttl_ms) || !line_number(timeout, &wait_ms) ||
        asprintf(&whole, "%s%s", prefix ? prefix : "", key) < 0) {
        free(hold);
        return false;
    }
    strcpy(hold->id, id);
    list_append(&holds, &hold->link);
    hold->since_ns = now_ns();
    agent_client_ask(agent, json_pack("{s:s, s:s, s:I, s:I, s:b}", "op", "acquire", "key", whole, "ttl",
                                      (json_int_t)ttl_ms, "wait", (json_int_t)wait_ms, "fenced", (int)fences),
                     on_acquired, hold);
    free(whole);
    return true;
}

static bool release(struct hold *hold)
{
    hold->state = RELEASING;
    hold->since_ns = now_ns();
    agent_client_ask(agent, json_pack("{s:s, s:I}", "op", "release", "lock", hold->number), on_released, hold);
    return true;
}

/* What the client has been told: PROTOCOL.md has no question for it. */
static bool tell_validity(const struct hold *hold)
{
    int64_t since_ns = now_ns(), left_ns = hold->deadline_ns - clock_ns(CLOCK_BOOTTIME);

    line_print("valid %s %" PRId64 " %" PRId64 " %" PRId64, hold->id, since_ns, now_ns(),
               left_ns > 0 ? left_ns / NS_PER_MS : 0);
    return true;
}

static bool obey(char **words, size_t n)
{
    struct hold *hold = n >= 2 ? find(words[1]) : NULL;

    if (n >= 2 && strcmp(words[0], "hello") == 0) {
        line_print("hello 1 agent %s can=lease,renewal,fence,alarm on=agent ttl=10000", redlock_version());
        return true;
    }
    if (n == 1 && strcmp(words[0], "bye") == 0) {
        line_print("bye");
        _exit(0);
    }
    if (!agent)
        return n > 1 && strcmp(words[0], "open") == 0 && open_agent(words, n);
    if (n >= 5 && strcmp(words[0], "acquire") == 0)
        return acquire(words[1], words[2], words[3], words[4]);
    if (!hold || hold->state != HELD)
        return false;
    if (strcmp(words[0], "valid") == 0)
        return tell_validity(hold);
    return strcmp(words[0], "release") == 0 && release(hold);
}

/* The end of the orders is the end of a holder. */
static void on_orders(evutil_socket_t fd, short what, void *data)
{
    struct evbuffer *input = data;
    char *line;

    if (evbuffer_read(input, fd, -1) <= 0)
        _exit(0);
    while ((line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF))) {
        char *words[LINE_WORDS_MAX], copy[80];
        char why[120];

        snprintf(copy, sizeof copy, "%s", line);
        if (!obey(words, line_split(line, words))) {
            snprintf(why, sizeof why, "this cannot be done now: %s", copy);
            give_up(why);
        }
        free(line);
    }
}

int main(void)
{
    struct evbuffer *input = evbuffer_new();
    struct event *orders;

    list_init(&holds);
    base = event_base_new();
    orders = base && input ? event_new(base, STDIN_FILENO, EV_READ | EV_PERSIST, on_orders, input) : NULL;
    if (!orders || event_add(orders, NULL) != 0)
        give_up("no event loop");
    event_base_dispatch(base);
    return 1;
}
