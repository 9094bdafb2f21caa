/* A client whose list of masters changes, on a transport and clock of the test's own: what it asks, and how often. */
#include "host/host.h"

#include <stdio.h>
#include <string.h>

#include <redlock/status.h>

#include "host/commands.h"
#include "host/lock.h"
#include "host/operations.h"
#include "host/quorum_read.h"
#include "host/trust/join.h"
#include "host/trust/view.h"
#include "host_rig.h"
#include "kinds/mutex.h"
#include "suite.h"

#define MASTERS 3
#define MOST_COMMANDS 16
#define CONFIGURED "00000000-0000-4000-8000-000000000001"
#define CHANGED "00000000-0000-4000-8000-000000000002"
#define LEAD "172800000000"

struct sent {
    struct rl_tag tag;
    char bytes[4000]; /* its end: scripts are longer */
};

static struct {
    struct rl_host host;
    struct rl_host_sink sink;
    struct redlock_options options;
    struct rl_deployment_names names;
    struct rl_host_lock lock;
    struct rl_host_call attempt;
    struct rl_instant now;
    struct rl_list timers;
    unsigned changes; /* of the list, as the client has told */
    unsigned attempts;
    unsigned completed;
    enum rl_end status;
    struct {
        struct sent commands[MOST_COMMANDS];
        size_t n;
        char view[2000]; /* of its marker; "": the configured list */
        char inc[8];
        bool silent;
    } masters[MASTERS];
} world;

/* --- What the host is given, and what it reports ------------------------------------------------------------------ */

static bool on_send(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                    const struct rl_tag *tag)
{
    struct sent *sent = &world.masters[node].commands[world.masters[node].n++];
    size_t size = rl_bytes_length(command);
    size_t skipped = size < sizeof sent->bytes ? 0 : size - sizeof sent->bytes + 1;

    ck_assert_uint_le(world.masters[node].n, MOST_COMMANDS);
    sent->tag = *tag;
    snprintf(sent->bytes, sizeof sent->bytes, "%.*s", (int)(size - skipped),
             (const char *)rl_bytes_front(command) + skipped);
    return true;
}

static void on_nothing(void *ctx)
{
}

static void on_disarm(void *ctx, struct rl_timer *timer)
{
    rl_list_remove(&timer->link);
}

static void on_arm(void *ctx, struct rl_timer *timer, struct rl_instant at)
{
    rl_list_remove(&timer->link);
    timer->at = at;
    rl_list_append(&world.timers, &timer->link);
}

static struct rl_instant now(void *ctx)
{
    return world.now;
}

static uint64_t wall_us(void *ctx)
{
    return 1000;
}

static void make_uuid(void *ctx, char ret_text[RL_UUID_SIZE])
{
    strcpy(ret_text, "00000000-0000-4000-a000-000000000000");
}

static void make_token(void *ctx, struct rl_instant at, char ret_token[RL_TOKEN_SIZE])
{
    strcpy(ret_token, "token");
}

static void on_complete(struct rl_host_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    world.completed++;
    world.status = status;
}

static void on_attempt(struct rl_host_lock *lock, const struct rl_claim *claim)
{
    world.attempts++;
}

static void on_members(struct rl_host *host)
{
    world.changes++;
}

static void on_admission(struct rl_host *host, unsigned node, const struct rl_admission_status *status)
{
}

static void on_verified(struct rl_host *host, unsigned node)
{
}

/* --- Masters ------------------------------------------------------------------------------------------------------ */

static const char *list_of(unsigned n)
{
    static char texts[MASTERS + 1][400];
    char *text = texts[n];
    int size = sprintf(text, "2 ");

    for (unsigned i = 0; i < n; i++)
        size += sprintf(text + size, "%s%s=host-%u:6379/0", i ? "," : "", world.names.node_ids[i], i);
    return text;
}

/* A view of the first n masters. */
static void tell_of(unsigned n, unsigned node, unsigned turn, const char *list)
{
    const char *before = strcmp(list, CHANGED) == 0 ? CONFIGURED : "-";

    if (strstr(world.masters[node].view, list) ? false : strcmp(list, CONFIGURED) != 0)
        strcat(world.masters[node].inc, "+");
    snprintf(world.masters[node].view, sizeof world.masters[node].view,
             "%u 00000000000000aa 1 %s %s " CHANGED "," CONFIGURED " %s %s %s", turn, list, before,
             strcmp(list, CHANGED) == 0 ? LEAD : "0", list_of(n), *before == '-' ? "0 -" : list_of(MASTERS));
}

static void tell(unsigned node, unsigned turn, const char *list)
{
    tell_of(MASTERS, node, turn, list);
}

static struct rl_reply_item text_item(const char *text)
{
    return (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {text, strlen(text)}};
}

static struct rl_reply join_answer(unsigned node, const char *question)
{
    bool known = !*world.masters[node].view || strstr(question, world.masters[node].view);
    const char *run = world.names.node_ids[node];
    const char *const texts[] = {known ? "KEPT" : "OUTDATED", world.masters[node].inc, run, run, "master",
                                 "redis 7.0.15", "noeviction"};
    static const int64_t integers[14] = {0, 60000, 0, 0, 1000, 0, 0, 0, 60000};
    struct rl_reply reply = {.root = {.type = RL_REPLY_ARRAY}};

    for (size_t i = 0; i < 7; i++)
        reply.elements[reply.n_elements++] = text_item(texts[i]);
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        reply.elements[reply.n_elements++] = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = integers[i]};
    reply.elements[reply.n_elements++] = text_item(world.masters[node].view);
    return reply;
}

static struct rl_reply answer(unsigned node, const struct sent *sent)
{
    struct rl_reply reply = {.root = {.type = RL_REPLY_STATUS, .text = {"OK", 2}}};

    switch (sent->tag.step) {
    case RL_TAG_RECHECK_JOIN:
        return join_answer(node, sent->bytes);
    case RL_TAG_EPOCH_MARKER:
        reply.root = text_item(world.masters[node].inc);
        break;
    case RL_TAG_EPOCH_CLOCK:
        reply = (struct rl_reply){.root = {.type = RL_REPLY_ARRAY}, .n_elements = 2,
                                  .elements = {text_item("0"), text_item("1000")}};
        break;
    case RL_STEP_ROLLBACK:
        reply.root = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = 1};
        break;
    default:
        break;
    }
    return reply;
}

static void deliver(unsigned node, size_t n)
{
    struct sent sent[MOST_COMMANDS];
    size_t *left = &world.masters[node].n;

    memcpy(sent, world.masters[node].commands, n * sizeof sent[0]);
    *left -= n;
    memmove(world.masters[node].commands, world.masters[node].commands + n, *left * sizeof sent[0]);
    for (size_t i = 0; i < n; i++) {
        struct rl_reply reply = answer(node, &sent[i]);

        rl_host_events.reply(&world.host, node, &sent[i].tag, &reply, world.now);
    }
}

/* All that has been sent until now is answered. */
static void trip(void)
{
    size_t n[MASTERS];

    rl_host_end_turn(&world.host);
    for (unsigned node = 0; node < MASTERS; node++)
        n[node] = world.masters[node].silent ? 0 : world.masters[node].n;
    for (unsigned node = 0; node < MASTERS; node++)
        deliver(node, n[node]);
}

static unsigned trips_to_the_end(void)
{
    unsigned trips = 0;

    while (!world.completed && trips++ < 10)
        trip();
    return trips;
}

static void admit(unsigned node)
{
    struct rl_bytes out = {0};
    struct rl_reply reply;
    const char *why = "";

    sprintf(world.masters[node].inc, "%u", node);
    reply = join_answer(node, "");
    ck_assert_int_eq(rl_host_events.greet(&world.host, node, 1, &out), 1);
    rl_bytes_fini(&out);
    ck_assert(rl_host_events.greeted(&world.host,
                                     &(struct rl_greeting_answer){node, 1, 0, &reply, world.now, world.now}, &why));
    rl_host_events.link(&world.host, node, RL_LINK_READY, "", world.now);
}

static void setup(void)
{
    struct rl_host_config config = {
        .options = &world.options,
        .names = &world.names,
        .sink = &world.sink,
        .environment = {NULL, now, wall_us, make_uuid, make_token, NULL},
        .engine = {.n_nodes = MASTERS, .quorum = 2, .max_ttl_ms = 60000, .node_timeout = rl_ms(100)},
    };

    memset(&world, 0, sizeof world);
    strcpy(world.names.list_id, CONFIGURED);
    for (unsigned i = 0; i < MASTERS; i++)
        sprintf(world.names.node_ids[i], "00000000-0000-4000-9000-00000000000%u", i);
    world.sink = host_rig_sink;
    world.sink.complete = on_complete;
    world.sink.attempt = on_attempt;
    world.sink.members_changed = on_members;
    world.sink.admission = on_admission;
    world.sink.verified = on_verified;
    world.now = (struct rl_instant){RL_NS_PER_MS};
    rl_list_init(&world.timers);
    world.options = (struct redlock_options){.profile = REDLOCK_PROFILE_GUARDED, .key_prefix = "app:",
                                             .max_ttl_ms = 60000, .max_claims = 100, .drift_ppm = 1000};
    ck_assert_int_eq(rl_host_init(&world.host, &config), 0);
    world.host.transport = (struct rl_transport){
        .send = on_send, .listen = host_rig_listen, .fail = host_rig_fail, .read_now = on_nothing, .wake = on_nothing,
        .arm = on_arm, .disarm = on_disarm};
    for (unsigned node = 0; node < MASTERS; node++)
        admit(node);
    rl_host_add_lock(&world.host, &world.lock, rl_key_create((struct rl_slice){"app:", 4}, "key", 3));
}

static void teardown(void)
{
    rl_host_remove_lock(&world.lock);
    rl_key_unref(world.lock.key);
    rl_host_fini(&world.host);
}

static void acquire(const struct rl_kind *kind)
{
    static struct rl_acquire request;

    request = (struct rl_acquire){.ttl_ms = 10000, .deadline = rl_after(world.now, rl_ms(60000)), .once = true,
                                  .kind = kind, .wait = RL_WAIT_SPIN};
    rl_host_lend(&world.lock, &world.attempt);
    rl_host_acquire(&world.lock, &request);
}

/* The next time it is asked, which is soon. */
static void look_again(unsigned node)
{
    rl_trust_ask_join(&world.host, node, world.now);
}

/* --- Tests -------------------------------------------------------------------------------------------------------- */

GROUP(tc, "members", setup, teardown)

TEST(tc, a_view_with_the_same_list_begins_nothing_anew)
{
    for (unsigned node = 0; node < MASTERS; node++)
        tell(node, 1, CONFIGURED);
    look_again(0);
    acquire(&rl_mutex_kind);
    ck_assert_uint_eq(trips_to_the_end(), 1);
    ck_assert_int_eq(world.status, RL_END_OK);
    ck_assert_uint_eq(world.attempts, 1);
    ck_assert_uint_eq(world.changes, 0);
    ck_assert(rl_slice_is(rl_trust_view(&world.host), world.masters[0].view));
    look_again(1);
    trip();
    ck_assert_uint_eq(world.host.trust.nodes[1].report.event, RL_JOIN_KEPT);
}

/* The greeting by the list, which the second turn crosses, is asked once more. */
TEST(tc, a_greeting_that_a_new_turn_crosses_is_repeated)
{
    for (unsigned node = 0; node < MASTERS; node++)
        tell(node, 1, CHANGED);
    look_again(0);
    trip();
    ck_assert_uint_eq(world.changes, 1);
    for (unsigned node = 0; node < MASTERS; node++)
        tell(node, 2, CHANGED);
    acquire(&rl_mutex_kind);
    ck_assert_uint_le(trips_to_the_end(), 4);
    ck_assert_int_eq(world.status, RL_END_OK);
    ck_assert_uint_eq(world.changes, 1);
}

TEST(tc, an_acquisition_during_a_change_takes_one_round_trip_more_though_a_master_is_silent)
{
    for (unsigned node = 0; node < MASTERS; node++)
        tell(node, 1, CHANGED);
    look_again(0);
    trip();
    ck_assert_uint_eq(world.changes, 1);
    world.masters[2].silent = true;
    acquire(&rl_mutex_kind);
    ck_assert_uint_eq(trips_to_the_end(), 2);
    ck_assert_int_eq(world.status, RL_END_OK);
}

TEST(tc, a_master_that_is_late_with_its_greeting_is_waited_for_no_longer)
{
    for (unsigned node = 0; node < MASTERS; node++)
        tell(node, 1, CHANGED);
    look_again(0);
    trip();
    world.masters[1].silent = world.masters[2].silent = true;
    acquire(&rl_mutex_kind);
    trip();
    ck_assert_uint_eq(world.completed, 0);
    rl_host_events.link(&world.host, 1, RL_LINK_LATE, "", world.now);
    ck_assert_uint_eq(world.completed, 0);
    rl_host_events.link(&world.host, 2, RL_LINK_LATE, "", world.now);
    ck_assert_uint_eq(world.completed, 1);
    ck_assert_int_eq(world.status, RL_END_NO_QUORUM);
}

/* One that was late before is not waited for at all. */
TEST(tc, a_master_that_is_late_when_the_list_changes_is_not_waited_for)
{
    for (unsigned node = 0; node < MASTERS; node++)
        tell(node, 1, CHANGED);
    for (unsigned node = 1; node < MASTERS; node++) {
        world.masters[node].silent = true;
        rl_host_events.link(&world.host, node, RL_LINK_LATE, "", world.now);
    }
    look_again(0);
    trip();
    acquire(&rl_mutex_kind);
    trip();
    ck_assert_uint_eq(world.completed, 1);
    ck_assert_int_eq(world.status, RL_END_NO_QUORUM);
}

TEST(tc, proposals_for_fencing_counters_are_ahead_by_the_lead_of_the_list)
{
    acquire(&rl_fenced_kind);
    ck_assert_ptr_nonnull(strstr(world.masters[0].commands[0].bytes, "\r\n1000\r\n"));
    for (unsigned node = 0; node < MASTERS; node++)
        tell(node, 1, CHANGED);
    for (unsigned node = 0; node < MASTERS; node++)
        world.masters[node].n = 0;
    look_again(0);
    deliver(0, 1);
    ck_assert_uint_eq(world.changes, 1);
    for (unsigned node = 0; node < 2; node++)
        deliver(node, world.masters[node].n);
    ck_assert_uint_eq(world.attempts, 2);
    ck_assert_ptr_nonnull(strstr(world.masters[0].commands[0].bytes, "\r\n172800001000+" LEAD "\r\n"));
}

/* --- Reads that are under way when the list changes --------------------------------------------------------------- */

static struct {
    struct rl_quorum_read *read;
    unsigned asked[MASTERS];
    unsigned left;       /* masters that have failed since they are no members */
    unsigned forgetful;  /* so many answers come from another memory */
    unsigned changed;
} reading;

static bool write_question(void *ctx, unsigned node)
{
    reading.asked[node]++;
    return rl_bytes_append(&world.host.scratch, "PING\r\n", 6);
}

static enum rl_detail on_read(void *ctx, unsigned node, const struct rl_reply *reply, uint32_t latency_us)
{
    return reading.forgetful && reading.forgetful-- ? RL_DETAIL_MEMORY_LOST : RL_DETAIL_NONE;
}

static void on_read_failed(void *ctx, unsigned node, enum rl_detail why)
{
    reading.left += why == RL_DETAIL_EXCLUDED;
}

static void on_read_changed(void *ctx)
{
    reading.changed++;
}

static void start_read(void)
{
    const struct rl_quorum_reader reader = {NULL, RL_ASK_VOTERS, write_question, on_read, on_read_failed,
                                            on_read_changed};

    memset(&reading, 0, sizeof reading);
    ck_assert(rl_quorum_read_start(&world.host, &reader, &reading.read));
}

TEST(tc, a_read_goes_on_by_the_list_as_it_is_then)
{
    start_read();
    world.masters[2].silent = true;
    for (unsigned node = 0; node < 2; node++)
        tell_of(2, node, 1, CHANGED);
    look_again(0);
    deliver(0, 2);
    ck_assert_uint_eq(world.changes, 1);
    ck_assert_uint_eq(reading.left, 1);
    ck_assert_int_eq(rl_tally_verdict(&reading.read->tally), RL_VERDICT_PENDING);
    deliver(1, 1);
    ck_assert_int_eq(rl_tally_verdict(&reading.read->tally), RL_VERDICT_WON);
    ck_assert(rl_tally_is_complete(&reading.read->tally));
    rl_quorum_read_end(reading.read);
}

TEST(tc, a_master_that_has_another_list_is_asked_again_when_it_has_been_greeted)
{
    start_read();
    for (unsigned node = 0; node < MASTERS; node++)
        tell(node, 1, CHANGED);
    reading.forgetful = 1;
    deliver(0, 1);
    rl_trust_doubt(&world.host, 0, world.now);
    trip();
    ck_assert_uint_eq(world.changes, 1);
    ck_assert(rl_tally_awaits(&reading.read->tally, 0));
    trip();
    trip();
    ck_assert_uint_eq(reading.asked[0], 2);
    ck_assert(rl_tally_is_complete(&reading.read->tally));
    rl_quorum_read_end(reading.read);
}

SUITE("members")
