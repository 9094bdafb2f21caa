/* The masters change while a client works: views that an operator's run would tell, told to real servers. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <redlock/election.h>
#include <redlock/members.h>
#include <redlock/semaphore.h>
#include <redlock/set.h>

#include "ask.h"
#include "codec/script.h"
#include "latch_rig.h"
#include "queue_rig.h"
#include "watch.h"

#define MARKER "redlock:marker"
#define MAX_TTL "2000"
#define SERVERS 6
#define LEAD_US 172800000000LL /* of each new list */

static struct tally tally;
static char ids[SERVERS][40]; /* node ids */
static char ring[40];         /* the list that the client is configured with */
static unsigned run;          /* of the operator's command */

/* --- An operator -------------------------------------------------------------------------------------------------- */

static const char *list_id(unsigned members)
{
    static char texts[2][40];
    static int at;

    at = !at;
    if (members == 7)
        return ring;
    snprintf(texts[at], sizeof texts[at], "00000000-0000-4000-8000-0000000000%02x", members);
    return texts[at];
}

static int write_list(char *at, unsigned members, unsigned quorum)
{
    int size = sprintf(at, "%u", quorum);

    for (unsigned i = 0; i < SERVERS; i++) {
        if (members >> i & 1)
            size += sprintf(at + size, "%c%s=%s/0", members & ((1u << i) - 1) ? ',' : ' ', ids[i],
                            strstr(rig.urls[i], "//") + 2);
    }
    return size;
}

/* A view whose history has all lists of masters that these tests use. */
static const char *view_of(unsigned step, unsigned members, unsigned quorum, unsigned before, unsigned before_quorum)
{
    static const unsigned lists[] = {7, 3, 11, 15, 63, 56, 31, 6, 14, 13};
    static char text[8192];
    int size = sprintf(text, "1 %016x %u %s %s ", run, step, list_id(members), before ? list_id(before) : "-");

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        size += sprintf(text + size, "%s%s", i ? "," : "", list_id(lists[i]));
    size += sprintf(text + size, " %lld ", step * LEAD_US);
    size += write_list(text + size, members, quorum);
    text[size++] = ' ';
    if (before)
        size += write_list(text + size, before, before_quorum);
    else
        size += sprintf(text + size, "0 -");
    text[size] = '\0';
    return text;
}

static char *join(unsigned node, const char *mode, const char *view, const char *list, const char *inc)
{
    static unsigned fresh;
    char fresh_inc[40];
    const char *argv[] = {"EVAL", rl_script_text(RL_SCRIPT_JOIN)->text, "1", MARKER, mode, fresh_inc, list, MAX_TTL,
                          "none", ids[node], "1", "0", "0", view, inc, NULL};

    snprintf(fresh_inc, sizeof fresh_inc, "inc-%u-%u", run, ++fresh);
    return masters_command(rig.masters, node, argv);
}

static char *incarnation(unsigned node)
{
    char *reply = ask(rig.masters, node, "HGET " MARKER " inc");

    ck_assert_ptr_nonnull(reply);
    return reply;
}

static void tell(unsigned nodes, const char *view, unsigned members)
{
    for (unsigned i = 0; i < SERVERS; i++) {
        char *inc;
        char *reply;

        if (!(nodes >> i & 1))
            continue;
        inc = incarnation(i);
        reply = join(i, "tell", view, list_id(members), inc);
        ck_assert_msg(reply && strstr(reply, "KEPT"), "master %u: %s", i, reply ? reply : masters_error());
        free(reply);
        free(inc);
    }
}

/* A new master is greeted by the present view, and declared to be new. */
static void prepare(unsigned node)
{
    char *reply;

    snprintf(ids[node], sizeof ids[node], "00000000-0000-4000-9000-00000000000%u", node);
    reply = join(node, "declare", "", ring, "");
    ck_assert_msg(reply && strstr(reply, "DECLARED"), "master %u: %s", node, reply ? reply : masters_error());
    free(reply);
}

/* No lock of the view before is alive then. */
static void let_it_stand(void)
{
    rig_run_for(&rig, 3100);
}

static void open_three_of_six(void)
{
    struct masters_options options = {.count = SERVERS, .tcp = true};
    char *text_of_ring;

    memset(&tally, 0, sizeof tally);
    run++;
    rig_start(&rig, &options);
    rig.options.max_ttl_ms = 2000;
    watch_events(&rig.options, &tally);
    rig.n = 3;
    rig_connect(&rig);
    for (unsigned i = 0; i < 3; i++) {
        char *seat = ask(rig.masters, i, "HGET " MARKER " seat");

        snprintf(ids[i], sizeof ids[i], "%s", seat);
        free(seat);
    }
    text_of_ring = ask(rig.masters, 0, "HGET " MARKER " ring");
    snprintf(ring, sizeof ring, "%s", text_of_ring);
    free(text_of_ring);
}

static void close_them(void)
{
    rig_close(&rig);
}

static bool has_key(unsigned node, const char *key)
{
    char line[64];

    snprintf(line, sizeof line, "EXISTS %s", key);
    return ask_integer(rig.masters, node, line) == 1;
}

struct at_place {
    unsigned node;
    bool there;
};

static bool key_is_there(void *argument)
{
    const struct at_place *at = argument;

    return has_key(at->node, "held") == at->there;
}

GROUP(members, "members", open_three_of_six, close_them)

TEST(members, a_held_lock_goes_to_the_master_that_replaces_a_dead_one)
{
    struct watched watched = {0};
    struct redlock_acquire_options request = rig_request(1800, 0);
    struct redlock_lock *lock = watch_hold_as(&rig, "held", &request, &watched);
    struct at_place fourth = {3, true};

    rig_kill_master(&rig, 2);
    prepare(3);
    tell(3 | 8, view_of(1, 3, 2, 7, 2), 3);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_MEMBERS, 1);
    let_it_stand();
    tell(3 | 8, view_of(2, 11, 2, 3, 2), 11);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_MEMBERS, 2);
    rig_wait(&rig, key_is_there, &fourth, "the key on the new master");
    ck_assert_uint_eq(watched.lost, 0);
    rig_kill_masters(&rig, 1);
    rig_run_for(&rig, 2500);
    ck_assert_uint_eq(watched.lost, 0);
    ck_assert_int_eq(rig_release(&rig, lock).status, REDLOCK_OK);
    fourth.there = false;
    rig_wait(&rig, key_is_there, &fourth, "the end of the key on the new master");
}

TEST(members, a_lock_is_acquired_on_the_new_masters_when_all_have_been_replaced)
{
    struct redlock_lock *lock;

    for (unsigned i = 3; i < 6; i++)
        prepare(i);
    tell(63, view_of(1, 63, 5, 7, 2), 63);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_MEMBERS, 1);
    let_it_stand();
    tell(63, view_of(2, 56, 2, 63, 5), 56);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_MEMBERS, 2);
    lock = rig_hold(&rig, "held", 1800);
    for (unsigned i = 0; i < 6; i++) {
        ck_assert_int_eq(has_key(i, "held"), i >= 3);
        ck_assert_uint_eq(watch_info(rig.client, i).member, i >= 3);
        ck_assert_int_eq(watch_info(rig.client, i).fault, i < 3 ? REDLOCK_FAULT_NO_MEMBER : REDLOCK_FAULT_NONE);
    }
    ck_assert_int_eq(rig_release(&rig, lock).status, REDLOCK_OK);
}

TEST(members, a_held_lock_moves_with_all_its_masters)
{
    struct watched watched = {0};
    struct redlock_acquire_options request = rig_request(1800, 0);
    struct redlock_lock *lock = watch_hold_as(&rig, "held", &request, &watched);

    for (unsigned i = 3; i < 6; i++)
        prepare(i);
    tell(63, view_of(1, 63, 5, 7, 2), 63);
    let_it_stand();
    tell(63, view_of(2, 56, 2, 63, 5), 56);
    let_it_stand();
    ck_assert_uint_eq(watched.lost, 0);
    for (unsigned i = 0; i < 6; i++)
        ck_assert_int_eq(has_key(i, "held"), i >= 3);
    rig_kill_masters(&rig, 7);
    rig_run_for(&rig, 2500);
    ck_assert_uint_eq(watched.lost, 0);
    ck_assert_int_eq(rig_release(&rig, lock).status, REDLOCK_OK);
}

/* --- Whatever is held, and whoever waits, when a dead master is replaced ------------------------------------------ */

static void tell_all_clients(unsigned nodes, const char *view, unsigned list, unsigned clients)
{
    unsigned seen = tally.n[REDLOCK_EVENT_MEMBERS];

    tell(nodes, view, list);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_MEMBERS, seen + clients);
}

/* The fourth takes the place of the third. */
static void replace(unsigned clients)
{
    rig_kill_master(&rig, 2);
    prepare(3);
    tell_all_clients(3 | 8, view_of(1, 3, 2, 7, 2), 3, clients);
    let_it_stand();
    tell_all_clients(3 | 8, view_of(2, 11, 2, 3, 2), 11, clients);
}

/* 1: a lock of two readers, 2: one with a fencing token, 3: a permit; 0: a plain one. */
static struct redlock_lock *hold_kind(int kind, struct redlock_client *client, struct watched *watched)
{
    struct redlock_acquire_options request = rig_request(1800, 0);
    struct redlock_lock *lock;

    request.mode = kind == 1 ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
    request.fenced = kind == 2;
    if (kind == 3)
        ck_assert_int_eq(redlock_permit_create(client, "held", 4, 3, &lock), 0);
    else
        lock = rig_new_lock(client, "held");
    watch_start(lock, watched);
    rig_hold_lock(&rig, lock, &request);
    return lock;
}

static bool is_on_new_master(void *key)
{
    return has_key(3, key);
}

static void wait_for_key(const char *key)
{
    char name[16];

    snprintf(name, sizeof name, "%s", key);
    rig_wait(&rig, is_on_new_master, name, "the key on the new master");
}

TESTS(members, every_kind_of_lock_outlives_the_replacement_of_a_master, 0, 4)
{
    bool two = _i == 1 || _i == 3;
    struct redlock_client *clients[] = {rig.client, two ? rig_further_client(&rig) : NULL};
    struct watched watched[2] = {{0}, {0}};
    struct redlock_lock *locks[2];
    char key[16] = "held";

    for (int i = 0; i < 1 + two; i++)
        locks[i] = hold_kind(_i, clients[i], &watched[i]);
    replace(1 + two);
    for (int i = 0; i < 1 + two; i++) {
        if (_i == 3)
            sprintf(key, "held#%d", (int)redlock_lock_slot(locks[i]));
        wait_for_key(key);
    }
    rig_kill_masters(&rig, 1);
    rig_run_for(&rig, 2500);
    for (int i = 0; i < 1 + two; i++) {
        ck_assert_uint_eq(watched[i].lost, 0);
        ck_assert_int_eq(rig_release(&rig, locks[i]).status, REDLOCK_OK);
    }
}

static void on_set_end(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    *(int *)user_data = result->status;
}

static void on_set_alarm(struct redlock_set *set, size_t part, const struct redlock_alarm *alarm, void *user_data)
{
    *(unsigned *)user_data += alarm->kind == REDLOCK_ALARM_LOST;
}

static bool has_status(void *status)
{
    return *(int *)status != -1;
}

TEST(members, a_set_of_locks_outlives_the_replacement_of_a_master)
{
    struct redlock_acquire_options request = rig_request(1800, 0);
    struct redlock_set *set;
    unsigned lost = 0;
    int status = -1;

    ck_assert_int_eq(redlock_set_create(rig.client, &set), 0);
    ck_assert_int_eq(redlock_set_add(set, "a", 1), 0);
    ck_assert_int_eq(redlock_set_add(set, "b", 1), 0);
    ck_assert_int_eq(redlock_set_watch(set, on_set_alarm, &lost), 0);
    ck_assert_int_eq(redlock_set_acquire(set, &request, on_set_end, &status), 0);
    rig_wait(&rig, has_status, &status, "a set");
    ck_assert_int_eq(status, REDLOCK_OK);
    replace(1);
    wait_for_key("a");
    wait_for_key("b");
    rig_kill_masters(&rig, 1);
    rig_run_for(&rig, 2500);
    ck_assert_uint_eq(lost, 0);
    status = -1;
    ck_assert_int_eq(redlock_set_release(set, on_set_end, &status), 0);
    rig_wait(&rig, has_status, &status, "the release of a set");
    ck_assert_int_eq(status, REDLOCK_OK);
}

/* The removed master knew of a larger token than those that stay: somebody's clock was fast. */
TEST(members, tokens_grow_though_the_counter_of_the_removed_master_was_the_highest)
{
    struct redlock_acquire_options request = rig_request(1800, 2000);
    struct redlock_lock *lock = rig_new_lock(rig.client, "job");
    uint64_t token;
    char fast[32];

    request.fenced = 1;
    snprintf(fast, sizeof fast, "%lld", (long long)time(NULL) * 1000000 + LEAD_US / 5);
    rig_do(&rig, 1, "SET", "redlock:fence:job", fast, NULL);
    rig_do(&rig, 2, "SET", "redlock:fence:job", fast, NULL);
    rig_hold_lock(&rig, lock, &request);
    token = redlock_lock_fence(lock);
    ck_assert_uint_gt(token, strtoull(fast, NULL, 10));
    rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_do(&rig, 0, "DEL", "redlock:fence:job", NULL); /* it was down when the token was made */
    replace(1);
    rig_kill_masters(&rig, 2);
    redlock_lock_destroy(lock);
    lock = rig_new_lock(rig_further_client(&rig), "job");
    rig_hold_lock(&rig, lock, &request);
    ck_assert_uint_gt(redlock_lock_fence(lock), token);
}

TEST(members, waiters_keep_their_order)
{
    struct redlock_acquire_options request = rig_request(1800, 60000);
    struct waiter waiters[3];

    queue_open();
    for (int i = 0; i < 3; i++)
        waiter_start(&rig, &waiters[i], rig.client, "held", &request);
    waiter_wait_held(&waiters[0]);
    waiter_wait_in_queue(&waiters[2], 3);
    replace(1);
    rig.n = 4;
    waiter_wait_in_queue(&waiters[1], 3);
    waiter_wait_in_queue(&waiters[2], 3);
    rig.n = 3;
    for (unsigned i = 0; i < 3; i++) {
        waiter_wait_held(&waiters[i]);
        ck_assert_uint_eq(waiters[i].turn, i + 1);
        waiter_leave(&waiters[i]);
    }
}

static bool new_master_knows(void *field)
{
    char text[64];

    latch_field(3, field, text);
    return *text;
}

static void wait_for_field(char *field)
{
    rig_wait(&rig, new_master_knows, field, field);
}

TEST(members, a_latch_opens_whose_parties_have_arrived_before_and_after)
{
    struct party a = latch_join(2, "a");
    struct party waiter = latch_join(2, NULL);
    struct party b;

    latch_begin_wait(&waiter, REDLOCK_FOREVER);
    latch_arrive(&a, 10000, REDLOCK_OK);
    replace(1);
    wait_for_field((char[]){"arrived"});
    rig_kill_masters(&rig, 1);
    b = latch_join_as(rig.client, 2, 1, "b");
    latch_arrive(&b, 10000, REDLOCK_OK);
    latch_expect_wait(&waiter, REDLOCK_OK);
    ck_assert_str_eq(waiter.names, "a b");
    ck_assert_uint_eq(waiter.wait.quorum, 2);
}

TEST(members, an_open_latch_is_open_on_the_new_master)
{
    struct party a = latch_join(1, "a");

    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_await(&a, 10000, REDLOCK_OK);
    replace(1);
    wait_for_field((char[]){"open"});
}

/* --- Masters that cannot be verified ------------------------------------------------------------------------------ */

static void log_in(unsigned node, const char *password, const char *right)
{
    static char urls[SERVERS][100];
    char word[16];

    snprintf(urls[node], sizeof urls[node], "redis://small:%s@%s", password, strstr(rig.urls[node], "//") + 2);
    rig.urls[node] = urls[node];
    snprintf(word, sizeof word, ">%s", password);
    rig_do(&rig, node, "ACL", "SETUSER", "small", "on", word, "~*", "&*", "+@all", right, NULL);
}

static bool lacks_rights(void *client)
{
    return watch_info(client, 2).fault == REDLOCK_FAULT_NO_RIGHTS;
}

GROUP(unverified, "unverified", open_three_of_six, close_them)

TEST(unverified, a_master_that_cannot_be_verified_has_no_vote_by_a_new_list)
{
    struct redlock_acquire_options request = rig_request(1800, 5000);
    struct redlock_client *client;
    struct outcome outcome;

    prepare(3);
    for (unsigned i = 0; i < 4; i++)
        log_in(i, "pw", i == 2 ? "-info" : "+info");
    rig.options.allow_unverified = 1;
    rig.options.may_follow = "*";
    client = rig_further_client(&rig);
    outcome = rig_expect_acquire(&rig, rig_new_lock(client, "held"), &request, REDLOCK_OK);
    ck_assert_uint_ge(outcome.granted, 2);
    tell_all_clients(15, view_of(1, 15, 3, 7, 2), 15, 2);
    rig_wait(&rig, lacks_rights, client, "a master without rights");
    outcome = rig_expect_acquire(&rig, rig_new_lock(client, "another"), &request, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 3);
    ck_assert_uint_eq(outcome.quorum, 3);
}

static bool is_let_go(void *argument)
{
    return strstr(watch_info(rig.client, 0).last_error, "has left the list");
}

static bool first_is_back(void *name)
{
    for (size_t i = 0; i < redlock_client_node_count(rig.client); i++) {
        if (strcmp(watch_info(rig.client, i).name, name) == 0 && watch_info(rig.client, i).member)
            return watch_info(rig.client, i).standing == REDLOCK_STANDING_VOTES;
    }
    return false;
}

TEST(unverified, a_configured_master_comes_back_by_its_own_password)
{
    char first[100];

    prepare(3);
    for (unsigned i = 0; i < 4; i++)
        log_in(i, (const char *[]){"one", "two", "three", "four"}[i], "+@all");
    redlock_client_destroy(rig.client);
    rig_connect(&rig);
    snprintf(first, sizeof first, "%s", watch_info(rig.client, 0).name);
    rig_hold(&rig, "held", 1800);
    tell_all_clients(6, view_of(1, 6, 2, 7, 2), 6, 1);
    rig_wait(&rig, is_let_go, NULL, "the end of a connection");
    tell_all_clients(14, view_of(2, 14, 2, 6, 2), 14, 1);
    ck_assert_str_ne(watch_info(rig.client, 0).name, first);
    tell_all_clients(13, view_of(3, 13, 2, 14, 2), 13, 1);
    rig_wait(&rig, first_is_back, first, "the first master");
}

/* --- Locks that move between processes ---------------------------------------------------------------------------- */

GROUP(moving, "moving", open_three_of_six, close_them)

static char text[REDLOCK_MAX_EXPORT_BYTES];

static void export_lock(struct redlock_lock *lock)
{
    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    redlock_lock_destroy(lock);
}

static struct redlock_lock *import_lock(struct redlock_client *client, struct watched *watched)
{
    struct redlock_lock *lock = rig_new_lock(client, "held");

    watch_start(lock, watched);
    ck_assert_int_eq(redlock_lock_adopt(lock, NULL, text), 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_int_gt(redlock_remaining_ns(lock), 0);
    return lock;
}

/* The first one goes by the new list, and may not have heard of all masters yet. */
TEST(moving, whoever_takes_a_lock_over_goes_by_the_list_of_whom_it_comes_from)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_acquire_options request = rig_request(1800, 0);
    struct watched watched = {0};
    struct redlock_lock *lock = rig_hold_as(&rig, "held", &request);

    replace(1);
    export_lock(lock);
    ck_assert_uint_eq(watch_stats(other).members_changed, 0);
    lock = import_lock(other, &watched);
    ck_assert_uint_eq(watch_stats(other).members_changed, 1);
    wait_for_key("held");
    rig_kill_masters(&rig, 1);
    rig_run_for(&rig, 2500);
    ck_assert_uint_eq(watched.lost, 0);
    rig_expect_release(&rig, lock, REDLOCK_OK);
}

TEST(moving, a_lock_of_an_older_list_can_be_taken_over)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_acquire_options request = rig_request(1800, 0);
    struct watched watched = {0};
    struct redlock_lock *lock;

    rig_kill_master(&rig, 2);
    lock = rig_hold_as(&rig, "held", &request);
    export_lock(lock);
    tell(3, view_of(1, 3, 2, 7, 2), 3);
    lock = rig_new_lock(other, "another");
    request = rig_request(1800, 5000);
    rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    ck_assert_uint_eq(watch_stats(other).members_changed, 1);
    lock = import_lock(other, &watched);
    rig_run_for(&rig, 2500);
    ck_assert_uint_eq(watched.lost, 0);
    rig_expect_release(&rig, lock, REDLOCK_OK);
}

/* The history of each of two lists may name the other one: epochs tell which is later. */
TEST(moving, a_list_that_has_come_again_is_later_than_one_that_remembers_it)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_acquire_options request = rig_request(1800, 0);
    struct watched watched = {0};
    struct redlock_lock *lock = rig_hold_as(&rig, "held", &request), *another = rig_new_lock(other, "another");

    tell_all_clients(7, view_of(1, 3, 2, 7, 2), 3, 1);
    request = rig_request(1800, 5000);
    rig_expect_acquire(&rig, another, &request, REDLOCK_OK);
    rig_expect_release(&rig, another, REDLOCK_OK);
    ck_assert_uint_eq(watch_stats(other).members_changed, 1);
    tell_all_clients(7, view_of(2, 7, 2, 3, 2), 7, 1);
    export_lock(lock);
    lock = import_lock(other, &watched);
    ck_assert_uint_eq(watch_stats(other).members_changed, 2);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_wait_no_claims(&rig, other); /* a master that has just come into the list may still be joining */
    ck_assert_int_eq(ask_integer(rig.masters, 2, "EXISTS held"), 0);
}

/* --- Elections ---------------------------------------------------------------------------------------------------- */

static struct {
    unsigned elected, lost;
    uint64_t term;
} leader;
static uint64_t seen_term;

static void on_election(struct redlock_election *election, const struct redlock_election_event *event, void *user_data)
{
    leader.elected += event->kind == REDLOCK_ELECTION_ELECTED;
    leader.lost += event->kind == REDLOCK_ELECTION_LOST;
    if (event->kind == REDLOCK_ELECTION_ELECTED)
        leader.term = event->term;
}

static void on_leader(struct redlock_election *election, const struct redlock_leader *told, void *user_data)
{
    seen_term = told->present ? told->term : 0;
}

static bool is_seen(void *argument)
{
    return leader.term && seen_term == leader.term;
}

TEST(members, a_leader_leads_on_and_observers_see_the_next_one)
{
    struct redlock_election_options options;
    struct redlock_election *elections[2];

    memset(&leader, 0, sizeof leader);
    redlock_election_options_init(&options);
    options.ttl_ms = 1800;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(redlock_election_create(i ? rig_further_client(&rig) : rig.client, "leader", 6, &elections[i]),
                         0);
    ck_assert_int_eq(redlock_election_campaign(elections[0], &options, on_election, NULL), 0);
    ck_assert_int_eq(redlock_election_observe(elections[1], 200, on_leader, NULL), 0);
    rig_wait(&rig, is_seen, NULL, "a leader that is seen");
    replace(2);
    rig_kill_masters(&rig, 1);
    rig_run_for(&rig, 2500);
    ck_assert_uint_eq(leader.lost, 0);
    ck_assert(is_seen(NULL));
    ck_assert_int_eq(redlock_election_resign(elections[0]), 0);
    leader.term = 0;
    ck_assert_int_eq(redlock_election_campaign(elections[1], &options, on_election, NULL), 0);
    rig_wait(&rig, is_seen, NULL, "the next leader that is seen");
}

/* --- An operator that the library carries out --------------------------------------------------------------------- */

GROUP(operated, "operated", open_three_of_six, close_them)

static struct redlock_change_report told;

/* It destroys the client where the change ends. */
static void on_change(struct redlock_client *client, const struct redlock_change_report *report, void *user_data)
{
    told = *report;
    if (report->stage < REDLOCK_CHANGE_DONE || !rig.client)
        return;
    rig.client = NULL;
    redlock_client_destroy(client);
}

static bool is_told(void *stage)
{
    return told.stage == *(enum redlock_change_stage *)stage;
}

/* Such a list has no master of the present one, and a list of both is too long. */
TEST(operated, a_change_that_has_stopped_is_told_no_more)
{
    char urls[REDLOCK_MAX_MASTERS][40];
    const char *masters[REDLOCK_MAX_MASTERS];
    struct redlock_change_options options;
    enum redlock_change_stage stopped = REDLOCK_CHANGE_STOPPED;

    redlock_change_options_init(&options);
    options.masters = masters;
    options.n_masters = REDLOCK_MAX_MASTERS;
    for (unsigned i = 0; i < REDLOCK_MAX_MASTERS; i++) {
        snprintf(urls[i], sizeof urls[i], "%.*s://127.0.0.1:%u", (int)strcspn(rig.urls[0], ":"), rig.urls[0], i + 1);
        masters[i] = urls[i];
    }
    ck_assert_int_eq(redlock_change_members(rig.client, &options, on_change, NULL, NULL), 0);
    rig_wait(&rig, is_told, &stopped, "the end of a change");
    ck_assert(!rig.client);
    ck_assert_int_eq(told.status, REDLOCK_OK);
}

SUITE_WITH_SERVER("members")
