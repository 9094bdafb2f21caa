#include "rig.h"
#include "rig_listening.h"

#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <redlock/status.h>

#include "codec/command.h"

struct rig rig;

static const char *const link_names[] = {
    [RL_LINK_JOINING] = "JOINING ", [RL_LINK_READY] = "READY ", [RL_LINK_LATE] = "LATE ", [RL_LINK_DOWN] = "DOWN "};

static void on_link(void *ctx, unsigned node, enum rl_link link, const char *why, struct rl_instant now)
{
    struct rig_link *seen = &rig.links[node];
    size_t length = strlen(seen->path);

    ck_assert_int_ne(seen->link, link);
    seen->link = link;
    seen->changes++;
    snprintf(seen->path + length, sizeof seen->path - length, "%s", link_names[link]);
    snprintf(seen->why, sizeof seen->why, "%s", why);
}

static struct rig_event *record(enum rig_kind kind, unsigned node, const struct rl_tag *tag)
{
    struct rig_event *event = &rig.events[rig.n_events];

    ck_assert_uint_lt(rig.n_events, RIG_EVENTS_MAX);
    rig.n_events++;
    *event = (struct rig_event){.kind = kind, .node = node, .number = tag->round};
    return event;
}

static void describe(const struct rl_reply_item *item, char *text, size_t size)
{
    if (item->type == RL_REPLY_NIL)
        snprintf(text, size, "nil");
    else if (item->type == RL_REPLY_INTEGER)
        snprintf(text, size, "%lld", (long long)item->integer);
    else
        snprintf(text, size, "%.*s", (int)item->text.size, (const char *)item->text.data);
}

static void on_reply(void *ctx, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply,
                     struct rl_instant now)
{
    struct rig_event *event = record(RIG_REPLY, node, tag);

    describe(&reply->root, event->text, sizeof event->text);
    if (rig.on_reply)
        rig.on_reply(event);
}

static void on_dropped(void *ctx, unsigned node, const struct rl_tag *tag, bool surely_unsent,
                       struct rl_instant now)
{
    struct rig_event *event = record(RIG_DROPPED, node, tag);

    ck_assert_int_ne(rig.links[node].link, RL_LINK_DOWN);
    event->unsent = surely_unsent;
    if (rig.on_dropped)
        rig.on_dropped(event);
}

static void on_turn(void *ctx)
{
    rig.turns++;
    if (rig.on_turn)
        rig.on_turn();
}

static int greet(void *ctx, unsigned node, unsigned round, struct rl_bytes *out)
{
    return rig.greet ? rig.greet(round, out) : 0;
}

static bool greeted(void *ctx, const struct rl_greeting_answer *answer, const char **ret_why)
{
    ck_assert_int_ne(rig.links[answer->node].link, RL_LINK_READY);
    rig.greeting_sent = answer->sent;
    rig.greeting_answered = answer->now;
    return !rig.greeted || rig.greeted(answer, ret_why);
}

static const struct rl_transport_sink sink = {
    .greet = greet, .greeted = greeted,
    .link = on_link, .reply = on_reply, .dropped = on_dropped,
    .listening = rig_on_listening, .subscribed = rig_on_subscribed, .message = rig_on_message,
    .turn = on_turn};

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
    rig.expired = true;
}

void rig_setup(void)
{
    const struct timeval patience = {SUITE_PATIENCE_S, 0};

    memset(&rig, 0, sizeof rig);
    rig.base = event_base_new();
    ck_assert_ptr_nonnull(rig.base);
    rig.watchdog = event_new(rig.base, -1, 0, on_watchdog, NULL);
    event_add(rig.watchdog, &patience);
    rl_clock_init(&rig.clock);
    rig.config = (struct rl_driver_config){
        .base = rig.base,
        .clock = &rig.clock,
        .node_timeout = rl_ms(10000),
        .connect_timeout = rl_ms(20000),
        .stall_timeout = rl_ms(20000),
        .backoff_min = rl_ms(2),
        .backoff_max = rl_ms(20),
        .max_buffer_bytes = 1 << 20,
        .client_name = "tester",
        .seed = 1,
    };
}

void rig_teardown(void)
{
    rl_driver_destroy(rig.driver, false);
    for (unsigned i = 0; i < rig.n_nodes; i++)
        fake_server_destroy(rig.servers[i]);
    rig_free_notifiers();
    event_free(rig.watchdog);
    event_base_free(rig.base);
}

struct fake_server *rig_add(enum fake_kind kind)
{
    struct fake_server *server = fake_server_create(rig.base, kind, 16);

    if (!server)
        return NULL;
    rig.servers[rig.n_nodes] = server;
    rig_add_url(server->url);
    return server;
}

void rig_add_url(const char *url)
{
    ck_assert_uint_lt(rig.n_nodes, RIG_NODES_MAX);
    snprintf(rig.urls[rig.n_nodes++], sizeof rig.urls[0], "%s", url);
}

void rig_set_credentials(unsigned node, const char *credentials)
{
    const char *rest = strstr(rig.servers[node]->url, "://") + 3;

    snprintf(rig.urls[node], sizeof rig.urls[node], "%.*s%s@%s", (int)(rest - rig.servers[node]->url),
             rig.servers[node]->url, credentials, rest);
}

void rig_start(void)
{
    struct rl_master masters[RIG_NODES_MAX];
    const char *why = "";

    for (unsigned i = 0; i < rig.n_nodes; i++)
        ck_assert_msg(rl_master_parse(rig.urls[i], &masters[i], &why) == REDLOCK_OK, "%s: %s", rig.urls[i], why);
    ck_assert_int_eq(rl_driver_create(&rig.config, masters, rig.n_nodes, &sink, &rig.driver), REDLOCK_OK);
    rig.transport = rl_driver_transport(rig.driver);
}

void rig_start_ready(void)
{
    rig_start();
    for (unsigned i = 0; i < rig.n_nodes; i++) {
        rig_until_link(i, RL_LINK_READY);
        snprintf(rig.links[i].path, sizeof rig.links[i].path, "READY "); /* on a slow machine there was DOWN before */
    }
}

/* While the loop rests, the invariant of every connection's state holds. */
static void check_states(void)
{
    const struct rl_driver *driver = rig.driver;

    if (!driver || driver->closed)
        return;
    for (size_t i = 0; i < driver->n_nodes; i++) {
        const struct rl_driver_node *node = driver->nodes[i];

        ck_assert_msg(rl_conn_is_sound(&node->conn), "connection %zu in state %d", i, node->conn.state);
        ck_assert_msg(!node->listener || rl_conn_is_sound(node->listener), "listener %zu", i);
    }
}

void rig_turn(void)
{
    ck_assert_int_eq(event_base_loop(rig.base, EVLOOP_ONCE), 0);
    check_states();
    ck_assert_msg(!rig.expired, "the watchdog's time is over");
}

void rig_turn_for_ms(long ms)
{
    struct timeval end, now, span = {ms / 1000, ms % 1000 * 1000};

    gettimeofday(&now, NULL);
    evutil_timeradd(&now, &span, &end);
    while (evutil_timercmp(&now, &end, <)) {
        ck_assert_int_eq(event_base_loop(rig.base, EVLOOP_NONBLOCK), 0);
        check_states();
        usleep(1000);
        gettimeofday(&now, NULL);
    }
}

void rig_until_link(unsigned node, enum rl_link link)
{
    while (rig.links[node].link != link)
        rig_turn();
}

bool rig_append_word(struct rl_bytes *out, const char *text)
{
    const struct rl_slice word = {text, strlen(text)};

    return rl_words_encode(&word, 1, out);
}

static bool send_word(unsigned node, unsigned number, const char *text, enum rl_sending how, struct rl_instant sent)
{
    const struct rl_tag tag = {.owner = &rig, .sent = sent, .round = number};
    struct rl_bytes bytes = {0};
    bool accepted;

    ck_assert(rig_append_word(&bytes, text));
    accepted = rl_transport_send(&rig.transport, node, &bytes, how, &tag);
    rl_bytes_fini(&bytes);
    return accepted;
}

bool rig_send(unsigned node, unsigned number, const char *word)
{
    return send_word(node, number, word, RL_SENDING, rl_clock_now(&rig.clock));
}

bool rig_send_claim(unsigned node, unsigned number, const char *word)
{
    return send_word(node, number, word, RL_SENDING_CLAIM, rl_clock_now(&rig.clock));
}

bool rig_send_as_of(unsigned node, unsigned number, const char *word, struct rl_instant sent)
{
    return send_word(node, number, word, RL_SENDING, sent);
}

struct rl_conn_stats rig_stats(unsigned node)
{
    struct rl_conn_stats stats;

    rl_driver_node_stats(rig.driver, node, &stats);
    return stats;
}

const char *rig_last_error(unsigned node)
{
    return rig_stats(node).last_error;
}
