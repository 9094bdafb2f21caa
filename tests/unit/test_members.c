/* A client whose list of masters changes: what it asks, and how often. */
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
    unsigned changes; /* of the list, as the client has told */
    unsigned attempts;
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
        size += sprintf(text + size, "%s%s=host-%u:6379/0", i ? "," : "", rig.names.node_ids[i], i);
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
    const char *run = rig.names.node_ids[node];
    const char *const texts[] = {known ? "KEPT" : "OUTDATED", world.masters[node].inc, run, run, "master",
                                 "redis 7.0.15", "noeviction"};
    static const int64_t integers[16] = {0, 60000, 0, 0, 1000, 0, 0, 0, 60000};
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

        rl_host_events.reply(&rig.host, node, &sent[i].tag, &reply, rig.now);
    }
    rl_host_end_turn(&rig.host);
}

/* All that has been sent until now is answered. */
static void trip(void)
{
    size_t n[MASTERS];

    rl_host_end_turn(&rig.host);
    for (unsigned node = 0; node < MASTERS; node++)
        n[node] = world.masters[node].silent ? 0 : world.masters[node].n;
    for (unsigned node = 0; node < MASTERS; node++)
        deliver(node, n[node]);
}

static unsigned trips_to_the_end(void)
{
    unsigned trips = 0;

    while (!rig.completed && trips++ < 10)
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
    ck_assert_int_eq(rl_host_events.greet(&rig.host, node, 1, &out), 1);
    rl_bytes_fini(&out);
    ck_assert(rl_host_events.greeted(&rig.host,
                                     &(struct rl_greeting_answer){node, 1, 0, &reply, rig.now, rig.now}, &why));
    rl_host_events.link(&rig.host, node, RL_LINK_READY, "", rig.now);
}

static void setup(void)
{
    memset(&world, 0, sizeof world);
    host_rig_init(on_send);
    strcpy(rig.names.list_id, CONFIGURED);
    for (unsigned i = 0; i < MASTERS; i++)
        sprintf(rig.names.node_ids[i], "00000000-0000-4000-9000-00000000000%u", i);
    rig.sink.attempt = on_attempt;
    rig.sink.members_changed = on_members;
    rig.sink.admission = on_admission;
    rig.sink.verified = on_verified;
    rig.options.profile = REDLOCK_PROFILE_GUARDED;
    rig.options.drift_ppm = 1000;
    host_rig_start(MASTERS, 2);
    for (unsigned node = 0; node < MASTERS; node++)
        admit(node);
    host_rig_add_lock(0, "key");
}

static void acquire(const struct rl_kind *kind)
{
    static struct rl_acquire request;

    request = (struct rl_acquire){.ttl_ms = 10000, .deadline = rl_after(rig.now, rl_ms(60000)), .once = true,
                                  .kind = kind, .wait = RL_WAIT_SPIN};
    host_rig_acquire(0, &request);
}

/* The next time it is asked, which is soon. */
static void look_again(unsigned node)
{
    rl_trust_ask_join(&rig.host, node, rig.now);
}

/* --- Tests -------------------------------------------------------------------------------------------------------- */

GROUP(tc, "members", setup, host_rig_end)

TEST(tc, a_view_with_the_same_list_begins_nothing_anew)
{
    for (unsigned node = 0; node < MASTERS; node++)
        tell(node, 1, CONFIGURED);
    look_again(0);
    acquire(&rl_mutex_kind);
    ck_assert_uint_eq(trips_to_the_end(), 1);
    ck_assert_int_eq(rig.status, RL_END_OK);
    ck_assert_uint_eq(world.attempts, 1);
    ck_assert_uint_eq(world.changes, 0);
    ck_assert(rl_slice_is(rl_trust_view(&rig.host), world.masters[0].view));
    look_again(1);
    trip();
    ck_assert_uint_eq(rig.host.trust.nodes[1].report.event, RL_JOIN_KEPT);
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
    ck_assert_int_eq(rig.status, RL_END_OK);
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
    ck_assert_int_eq(rig.status, RL_END_OK);
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
    ck_assert_uint_eq(rig.completed, 0);
    rl_host_events.link(&rig.host, 1, RL_LINK_LATE, "", rig.now);
    ck_assert_uint_eq(rig.completed, 0);
    rl_host_events.link(&rig.host, 2, RL_LINK_LATE, "", rig.now);
    ck_assert_uint_eq(rig.completed, 1);
    ck_assert_int_eq(rig.status, RL_END_NO_QUORUM);
}

/* One that was late before is not waited for at all. */
TEST(tc, a_master_that_is_late_when_the_list_changes_is_not_waited_for)
{
    for (unsigned node = 0; node < MASTERS; node++)
        tell(node, 1, CHANGED);
    for (unsigned node = 1; node < MASTERS; node++) {
        world.masters[node].silent = true;
        rl_host_events.link(&rig.host, node, RL_LINK_LATE, "", rig.now);
    }
    look_again(0);
    trip();
    acquire(&rl_mutex_kind);
    trip();
    ck_assert_uint_eq(rig.completed, 1);
    ck_assert_int_eq(rig.status, RL_END_NO_QUORUM);
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

static void on_fail(void *ctx, unsigned node, const char *why)
{
    ck_assert_ptr_nonnull(strstr(why, "does not follow"));
}

TEST(tc, a_client_that_does_not_follow_goes_by_its_own_list)
{
    rig.options.follow = REDLOCK_FOLLOW_NOT;
    rig.host.transport.fail = on_fail;
    tell(0, 1, CHANGED);
    look_again(0);
    trip();
    ck_assert_uint_eq(world.changes, 0);
    ck_assert_ptr_null(rig.host.trust.view);
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
    return rl_bytes_append(&rig.host.scratch, "PING\r\n", 6);
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
    ck_assert(rl_quorum_read_start(&rig.host, &reader, &reading.read));
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
    rl_trust_doubt(&rig.host, 0, rig.now);
    trip();
    ck_assert_uint_eq(world.changes, 1);
    ck_assert(rl_tally_awaits(&reading.read->tally, 0));
    trip();
    trip();
    ck_assert_uint_eq(reading.asked[0], 2);
    ck_assert(rl_tally_is_complete(&reading.read->tally));
    rl_quorum_read_end(reading.read);
}

/* --- Masters that an operator's run needs ------------------------------------------------------------------------- */

static void on_dismiss(void *ctx, unsigned node)
{
    rl_host_events.link(&rig.host, node, RL_LINK_DOWN, "", rig.now);
}

static bool on_no_memory(struct rl_host *host, unsigned node, const char *name, const char **ret_why_not)
{
    return false;
}

TEST(tc, a_newcomer_that_gets_no_connection_is_not_invited)
{
    const struct rl_member member = {"00000000-0000-4000-9000-000000000009", "host-9:6379/0"};
    unsigned place = MASTERS;

    rig.host.transport.dismiss = on_dismiss;
    rig.sink.new_member = on_no_memory;
    for (unsigned node = 0; node < 2; node++)
        tell_of(2, node, 1, CHANGED);
    look_again(0);
    trip();
    ck_assert(rl_trust_dismiss(&rig.host, 2, rl_after(rig.now, rl_ms(120000))));
    ck_assert_ptr_nonnull(rl_trust_invite(&rig.host, &member, false, rig.now, &place));
    ck_assert_uint_eq(place, MASTERS);
    ck_assert(!rig.host.trust.nodes[2].invited);
}

SUITE("members")
