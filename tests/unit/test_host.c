/* The host on a transport, clock and randomness of the test's own: no socket, and nothing of the driver or the public
 * functions. */
#include "host/host.h"

#include <stdio.h>
#include <string.h>

#include <redlock/status.h>

#include "engine/hold.h"
#include "host/operations.h"
#include "host/lock.h"
#include "host/trust/admission.h"
#include "host_rig.h"
#include "kinds/mutex.h"
#include "suite.h"

#define MASTERS 3
#define LOCKS 2

static struct {
    struct rl_host host;
    struct rl_host_sink sink;
    struct redlock_options options;
    struct rl_deployment_names names;
    struct rl_host_lock locks[LOCKS];
    struct rl_host_call attempts[LOCKS];
    struct rl_instant now;
    struct rl_list timers;
    unsigned tokens;
    unsigned reads;
    bool arrived; /* a reply of every master is there to be read */
    bool full;    /* no master takes a claim: too much waits to be written */
    const struct rl_host_lock *ended; /* the lock of the latest operation that completed ... */
    bool told_late;                   /* ... of which something was told after that */
    unsigned completed;
    enum rl_end status; /* of the latest operation that completed */
    struct {
        unsigned sent;
        char bytes[16384]; /* rollbacks are sent with their scripts */
        struct rl_tag tag;
    } masters[MASTERS];
} world;

/* --- What the host is given ------------------------------------------------------------------------------------- */

static bool on_send(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                    const struct rl_tag *tag)
{
    size_t size = rl_bytes_length(command);

    if (world.full && how == RL_SENDING_CLAIM)
        return false;
    ck_assert_uint_lt(size, sizeof world.masters[node].bytes);
    memcpy(world.masters[node].bytes, rl_bytes_front(command), size);
    world.masters[node].bytes[size] = '\0';
    world.masters[node].tag = *tag;
    world.masters[node].sent++;
    return true;
}

static void reply_ok(unsigned node);

static void on_read_now(void *ctx)
{
    world.reads++;
    for (unsigned node = 0; world.arrived && node < MASTERS; node++)
        reply_ok(node);
    world.arrived = false;
}

static void on_wake(void *ctx)
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

static void make_token(void *ctx, struct rl_instant at, char ret_token[RL_TOKEN_SIZE])
{
    snprintf(ret_token, RL_TOKEN_SIZE, "token-%u", ++world.tokens);
}

/* --- What it reports -------------------------------------------------------------------------------------------- */

static void on_complete(struct rl_host_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    world.completed++;
    world.status = status;
    world.ended = lock;
}

static void of_pause(struct rl_host_lock *lock, enum rl_end why, struct rl_span delay)
{
    world.told_late |= lock == world.ended;
}

/* --- The world -------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    struct rl_host_config config = {
        .options = &world.options,
        .names = &world.names,
        .sink = &world.sink,
        .environment = {NULL, now, host_rig_wall_us, host_rig_make_uuid, make_token, NULL},
        .engine = {.n_nodes = MASTERS, .quorum = 2, .max_ttl_ms = 60000, .node_timeout = rl_ms(100)},
    };

    memset(&world, 0, sizeof world);
    world.sink = host_rig_sink;
    world.sink.complete = on_complete;
    world.sink.backoff = of_pause;
    world.now = (struct rl_instant){RL_NS_PER_MS};
    rl_list_init(&world.timers);
    world.options = (struct redlock_options){.profile = REDLOCK_PROFILE_CLASSIC, .key_prefix = "app:",
                                             .max_ttl_ms = 60000, .max_claims = 100};
    ck_assert_int_eq(rl_host_init(&world.host, &config), 0);
    world.host.transport = (struct rl_transport){
        .send = on_send, .listen = host_rig_listen, .fail = host_rig_fail, .read_now = on_read_now, .wake = on_wake,
        .arm = on_arm, .disarm = on_disarm};
    for (unsigned node = 0; node < MASTERS; node++)
        rl_host_events.link(&world.host, node, RL_LINK_READY, "", world.now);
    for (size_t i = 0; i < LOCKS; i++)
        rl_host_add_lock(&world.host, &world.locks[i], rl_key_create((struct rl_slice){"app:", 4}, "key", 3));
}

static void teardown(void)
{
    for (size_t i = 0; i < LOCKS; i++) {
        rl_host_remove_lock(&world.locks[i]);
        rl_key_unref(world.locks[i].key);
    }
    rl_host_fini(&world.host);
}

static void acquire_as(size_t i, const struct rl_acquire *request)
{
    struct rl_host_lock *lock = &world.locks[i];

    rl_host_lend(lock, &world.attempts[i]);
    rl_host_acquire(lock, request);
}

static void acquire_renewed(size_t i, uint32_t renew_ms)
{
    acquire_as(i, &(struct rl_acquire){.ttl_ms = 10000, .deadline = rl_after(world.now, rl_ms(1000)), .once = true,
                                       .kind = &rl_mutex_kind, .wait = RL_WAIT_SPIN, .renew_ms = renew_ms});
}

static void acquire(size_t i)
{
    acquire_renewed(i, 0);
}

static void reply_ok(unsigned node)
{
    const struct rl_reply ok = {.root = {.type = RL_REPLY_STATUS, .text = {"OK", 2}}};

    rl_host_events.reply(&world.host, node, &world.masters[node].tag, &ok, world.now);
}

static void reply_deleted(unsigned node)
{
    const struct rl_reply one = {.root = {.type = RL_REPLY_INTEGER, .integer = 1}};

    rl_host_events.reply(&world.host, node, &world.masters[node].tag, &one, world.now);
}

static void fire_shutdown_timer(uint32_t after_ms)
{
    struct rl_timer *timer = &world.host.shutdown.timer;

    world.now = rl_after(world.now, rl_ms(after_ms));
    ck_assert(rl_timer_armed(timer) && !rl_before(world.now, timer->at));
    timer->fire(timer, world.now);
}

static void hold(size_t i)
{
    acquire(i);
    for (unsigned node = 0; node < MASTERS; node++)
        reply_ok(node);
    world.locks[i].call = NULL;
    ck_assert_int_eq(world.locks[i].core.state, RL_LOCK_HELD);
}

/* --- Tests ------------------------------------------------------------------------------------------------------ */

GROUP(tc, "host", setup, teardown)

TEST(tc, an_acquisition_asks_every_master_and_ends_with_a_quorum)
{
    acquire(0);
    for (unsigned node = 0; node < MASTERS; node++) {
        ck_assert_uint_eq(world.masters[node].sent, 1);
        ck_assert_ptr_nonnull(strstr(world.masters[node].bytes, "app:key"));
        ck_assert_ptr_nonnull(strstr(world.masters[node].bytes, "token-1"));
    }
    reply_ok(0);
    ck_assert_uint_eq(world.completed, 0);
    reply_ok(2);
    ck_assert_uint_eq(world.completed, 1);
    ck_assert_int_eq(world.status, RL_END_OK);
    ck_assert_uint_eq(world.host.votes[2].granted, 1);
}

TEST(tc, commands_that_are_dropped_end_the_attempt)
{
    acquire(0);
    for (unsigned node = 0; node < 2; node++)
        rl_host_events.dropped(&world.host, node, &world.masters[node].tag, true, world.now);
    ck_assert_uint_eq(world.completed, 1);
    ck_assert_int_eq(world.status, RL_END_NO_QUORUM);
    ck_assert_uint_eq(world.host.votes[0].failed, 1);
}

TEST(tc, what_has_arrived_is_read_once_before_a_deadline_decides)
{
    acquire(0);
    ck_assert(rl_timer_armed(&world.locks[0].timer));
    world.now = rl_after(world.now, rl_ms(1000));
    world.locks[0].timer.fire(&world.locks[0].timer, world.now);
    world.host.rollback_timer.fire(&world.host.rollback_timer, world.now);
    ck_assert_uint_eq(world.reads, 1);
    ck_assert_uint_eq(world.completed, 1);
    ck_assert_int_ne(world.status, RL_END_OK);
}

/* The client was stopped: its renewal is due when the grants are read at last. */
TEST(tc, a_renewal_waits_until_the_answers_to_the_acquisition_are_told)
{
    struct rl_host_lock *lock = &world.locks[0];

    acquire_renewed(0, 50);
    world.arrived = true;
    world.now = rl_after(world.now, rl_ms(100));
    lock->timer.fire(&lock->timer, world.now);
    ck_assert_uint_eq(world.completed, 1);
    ck_assert_int_eq(world.status, RL_END_OK);
    ck_assert_uint_eq(rl_claim_count_answers(lock->core.claim, RL_GRANTED), MASTERS);
    lock->call = NULL; /* it is told */
    ck_assert(rl_timer_armed(&lock->timer) && !rl_before(world.now, lock->timer.at));
    lock->timer.fire(&lock->timer, world.now);
    ck_assert_uint_eq(rl_claim_count_answers(lock->core.claim, RL_PENDING), MASTERS);
}

TEST(tc, extensions_of_one_turn_are_one_command)
{
    unsigned sent;

    hold(0);
    hold(1);
    sent = world.masters[0].sent;
    for (size_t i = 0; i < LOCKS; i++) {
        world.locks[i].call = &world.attempts[i];
        rl_host_extend(&world.locks[i], 0);
    }
    ck_assert_uint_eq(world.masters[0].sent, sent);
    rl_host_end_turn(&world.host);
    ck_assert_uint_eq(world.masters[0].sent, sent + 1);
    ck_assert_ptr_nonnull(strstr(world.masters[0].bytes, "token-1"));
    ck_assert_ptr_nonnull(strstr(world.masters[0].bytes, "token-2"));
}

/* A batch that no master takes fails its attempt, which is to be told before the program does anything else. */
TEST(tc, nothing_is_told_of_an_operation_after_its_end)
{
    const struct rl_reply unknown_script = {.root = {.type = RL_REPLY_ERROR, .text = {"NOSCRIPT No such script", 23}}};

    hold(0);
    world.locks[0].call = &world.attempts[0];
    rl_host_extend(&world.locks[0], 0);
    rl_host_end_turn(&world.host);
    acquire_as(1, &(struct rl_acquire){.ttl_ms = 10000, .deadline = rl_after(world.now, rl_ms(1000)),
                                       .kind = &rl_mutex_kind, .wait = RL_WAIT_FIFO});
    world.full = true;
    rl_host_events.reply(&world.host, 0, &world.masters[0].tag, &unknown_script, world.now);
    ck_assert(rl_host_cancel(&world.locks[1]));
    ck_assert(world.ended == &world.locks[1] && !world.told_late);
}

TEST(tc, a_shutdown_waits_for_every_answer_that_can_be_expected)
{
    hold(0);
    rl_host_start_shutdown(&world.host, rl_ms(1000));
    ck_assert_int_eq(rl_host_shutdown_progress(&world.host), RL_SHUTDOWN_CONFIRMED);
    rl_host_release(&world.locks[0]);
    reply_deleted(0);
    reply_deleted(1);
    ck_assert_int_eq(rl_host_shutdown_progress(&world.host), RL_SHUTDOWN_WAITING);
    rl_host_events.link(&world.host, 2, RL_LINK_LATE, "", world.now);
    ck_assert_int_eq(rl_host_shutdown_progress(&world.host), RL_SHUTDOWN_WAITING);
    fire_shutdown_timer(100);
    fire_shutdown_timer(100);
    ck_assert_int_eq(rl_host_shutdown_progress(&world.host), RL_SHUTDOWN_CONFIRMED);
    rl_host_stop_shutdown(&world.host);
}

TEST(tc, a_shutdown_without_a_quorum_ends_unconfirmed_at_its_deadline)
{
    hold(0);
    rl_host_start_shutdown(&world.host, rl_ms(150));
    rl_host_release(&world.locks[0]);
    for (unsigned node = 1; node < MASTERS; node++)
        rl_host_events.link(&world.host, node, RL_LINK_LATE, "", world.now);
    reply_deleted(0);
    fire_shutdown_timer(100);
    ck_assert_int_eq(rl_host_shutdown_progress(&world.host), RL_SHUTDOWN_WAITING);
    fire_shutdown_timer(50);
    ck_assert_int_eq(rl_host_shutdown_progress(&world.host), RL_SHUTDOWN_UNCONFIRMED);
    rl_host_stop_shutdown(&world.host);
}

TEST(tc, an_exported_lock_is_held_by_the_one_that_imports_it)
{
    const struct rl_acquire request = {.ttl_ms = 10000, .deadline = RL_NEVER, .kind = &rl_mutex_kind};
    struct rl_host_exported exported;
    struct rl_instant deadline;

    hold(0);
    deadline = rl_lock_deadline(&world.host.engine, &world.locks[0].core);
    rl_host_export(&world.locks[0], &exported);
    rl_host_detach(&world.locks[0]);
    ck_assert_int_eq(world.locks[0].core.state, RL_LOCK_IDLE);
    ck_assert_int_eq(rl_host_import(&world.locks[1], &request, &exported), 0);
    ck_assert_int_eq(world.locks[1].core.state, RL_LOCK_HELD);
    ck_assert_str_eq(rl_host_token(world.locks[1].core.claim), "token-1");
    ck_assert_int_eq(rl_lock_deadline(&world.host.engine, &world.locks[1].core).ns, deadline.ns);
    rl_host_detach(&world.locks[1]);
    world.now = rl_after(world.now, rl_ms(10000));
    ck_assert_int_eq(rl_host_import(&world.locks[0], &request, &exported), REDLOCK_E_NOT_HELD);
}

/* --- Reentrancy ------------------------------------------------------------------------------------------------- */

/* At that time before the lock's validity ends, or after it. In this world there is no drift. */
static int enter_at(int64_t ns_left, int64_t min_validity_ms)
{
    world.now.ns = rl_lock_deadline(&world.host.engine, &world.locks[0].core).ns - ns_left;
    rl_host_read_clock(&world.host);
    return rl_host_reenter(&world.locks[0], rl_ms(min_validity_ms));
}

TEST(tc, an_inner_entry_and_its_end_send_nothing)
{
    unsigned sent;

    ck_assert_uint_eq(rl_host_depth(&world.locks[0]), 0);
    ck_assert_int_eq(rl_host_reenter(&world.locks[0], rl_ms(0)), REDLOCK_E_NOT_HELD);
    hold(0);
    sent = world.masters[0].sent;
    ck_assert_int_eq(rl_host_reenter(&world.locks[0], rl_ms(0)), 0);
    ck_assert_uint_eq(rl_host_depth(&world.locks[0]), 2);
    ck_assert(rl_host_leave(&world.locks[0]));
    ck_assert(!rl_host_leave(&world.locks[0]));
    rl_host_end_turn(&world.host);
    ck_assert_uint_eq(world.masters[0].sent, sent);
    ck_assert_int_eq(world.locks[0].core.state, RL_LOCK_HELD);
}

TEST(tc, an_entry_needs_the_validity_that_it_asks_for)
{
    hold(0);
    ck_assert_int_eq(enter_at(10000 * RL_NS_PER_MS, 10000), 0);
    ck_assert_int_eq(enter_at(10000 * RL_NS_PER_MS - 1, 10000), REDLOCK_EXPIRING);
    ck_assert_int_eq(enter_at(1, 0), 0);
    ck_assert_int_eq(enter_at(0, 0), REDLOCK_LOST); /* before any timer has fired */
    rl_host_begin_operation(&world.locks[0]);
    ck_assert_int_eq(world.locks[0].core.state, RL_LOCK_LOST);
    ck_assert_int_eq(rl_host_reenter(&world.locks[0], rl_ms(0)), REDLOCK_LOST);
    ck_assert_uint_eq(rl_host_depth(&world.locks[0]), 3);
}

TEST(tc, a_release_ends_all_entries)
{
    hold(0);
    for (unsigned depth = 1; depth < REDLOCK_MAX_DEPTH; depth++)
        ck_assert_int_eq(rl_host_reenter(&world.locks[0], rl_ms(0)), 0);
    ck_assert_int_eq(rl_host_reenter(&world.locks[0], rl_ms(0)), REDLOCK_E_DEPTH);
    ck_assert_uint_eq(rl_host_depth(&world.locks[0]), REDLOCK_MAX_DEPTH);
    rl_host_release(&world.locks[0]);
    ck_assert_uint_eq(rl_host_depth(&world.locks[0]), 0);
    ck_assert_int_eq(rl_host_reenter(&world.locks[0], rl_ms(0)), REDLOCK_E_NOT_HELD);
    for (unsigned node = 0; node < MASTERS; node++)
        reply_deleted(node);
    ck_assert_int_eq(world.locks[0].core.state, RL_LOCK_IDLE);
    hold(0);
    ck_assert_uint_eq(rl_host_depth(&world.locks[0]), 1);
}

TEST(tc, a_server_without_a_role_is_not_called_a_replica)
{
    struct rl_trust_node *known = &world.host.trust.nodes[0];

    *known = (struct rl_trust_node){.has_report = true};
    ck_assert_ptr_nonnull(strstr(rl_trust_fault_text(&world.host, 0, RL_FAULT_NOT_MASTER), "tells no role"));
    strcpy(known->report.role, "slave");
    ck_assert_str_eq(rl_trust_fault_text(&world.host, 0, RL_FAULT_NOT_MASTER), "it is a replica");
    ck_assert_ptr_nonnull(strstr(rl_trust_fault_text(&world.host, 0, RL_FAULT_EVICTS), "may evict"));
}

SUITE("host")
