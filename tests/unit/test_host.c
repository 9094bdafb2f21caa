/* The host: what it sends, and what it reports. */
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
    unsigned reads;
    bool arrived; /* a reply of every master is there to be read */
    bool full;    /* no master takes a claim: too much waits to be written */
    bool told_late; /* something of the lock whose operation completed last, after that */
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

/* --- What it reports -------------------------------------------------------------------------------------------- */

static void of_pause(struct rl_host_lock *lock, enum rl_end why, struct rl_span delay)
{
    world.told_late |= lock == rig.ended;
}

/* --- The world -------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    memset(&world, 0, sizeof world);
    host_rig_init(on_send);
    rig.sink.backoff = of_pause;
    rig.transport.read_now = on_read_now;
    host_rig_start(MASTERS, 2);
    host_rig_connect();
    for (size_t i = 0; i < LOCKS; i++)
        host_rig_add_lock(i, "key");
}

static void acquire_renewed(size_t i, uint32_t renew_ms)
{
    host_rig_acquire(i, &(struct rl_acquire){.ttl_ms = 10000, .deadline = rl_after(rig.now, rl_ms(1000)), .once = true,
                                       .kind = &rl_mutex_kind, .wait = RL_WAIT_SPIN, .renew_ms = renew_ms});
}

static void acquire(size_t i)
{
    acquire_renewed(i, 0);
}

static void reply_ok(unsigned node)
{
    const struct rl_reply ok = {.root = {.type = RL_REPLY_STATUS, .text = {"OK", 2}}};

    rl_host_events.reply(&rig.host, node, &world.masters[node].tag, &ok, rig.now);
}

static void reply_deleted(unsigned node)
{
    const struct rl_reply one = {.root = {.type = RL_REPLY_INTEGER, .integer = 1}};

    rl_host_events.reply(&rig.host, node, &world.masters[node].tag, &one, rig.now);
}

static void fire_shutdown_timer(uint32_t after_ms)
{
    struct rl_timer *timer = &rig.host.shutdown.timer;

    rig.now = rl_after(rig.now, rl_ms(after_ms));
    ck_assert(rl_timer_armed(timer) && !rl_before(rig.now, timer->at));
    timer->fire(timer, rig.now);
}

static void hold(size_t i)
{
    acquire(i);
    for (unsigned node = 0; node < MASTERS; node++)
        reply_ok(node);
    rig.locks[i].call = NULL;
    ck_assert_int_eq(rig.locks[i].core.state, RL_LOCK_HELD);
}

/* --- Tests ------------------------------------------------------------------------------------------------------ */

GROUP(tc, "host", setup, host_rig_end)

TEST(tc, an_acquisition_asks_every_master_and_ends_with_a_quorum)
{
    acquire(0);
    for (unsigned node = 0; node < MASTERS; node++) {
        ck_assert_uint_eq(world.masters[node].sent, 1);
        ck_assert_ptr_nonnull(strstr(world.masters[node].bytes, "app:key"));
        ck_assert_ptr_nonnull(strstr(world.masters[node].bytes, "token-1"));
    }
    reply_ok(0);
    ck_assert_uint_eq(rig.completed, 0);
    reply_ok(2);
    ck_assert_uint_eq(rig.completed, 1);
    ck_assert_int_eq(rig.status, RL_END_OK);
    ck_assert_uint_eq(rig.host.votes[2].granted, 1);
}

TEST(tc, commands_that_are_dropped_end_the_attempt)
{
    acquire(0);
    for (unsigned node = 0; node < 2; node++)
        rl_host_events.dropped(&rig.host, node, &world.masters[node].tag, true, rig.now);
    ck_assert_uint_eq(rig.completed, 1);
    ck_assert_int_eq(rig.status, RL_END_NO_QUORUM);
    ck_assert_uint_eq(rig.host.votes[0].failed, 1);
}

TEST(tc, what_has_arrived_is_read_once_before_a_deadline_decides)
{
    acquire(0);
    ck_assert(rl_timer_armed(&rig.locks[0].timer));
    rig.now = rl_after(rig.now, rl_ms(1000));
    rig.locks[0].timer.fire(&rig.locks[0].timer, rig.now);
    rig.host.rollback_timer.fire(&rig.host.rollback_timer, rig.now);
    ck_assert_uint_eq(world.reads, 1);
    ck_assert_uint_eq(rig.completed, 1);
    ck_assert_int_ne(rig.status, RL_END_OK);
}

/* The client was stopped: its renewal is due when the grants are read at last. */
TEST(tc, a_renewal_waits_until_the_answers_to_the_acquisition_are_told)
{
    struct rl_host_lock *lock = &rig.locks[0];

    acquire_renewed(0, 50);
    world.arrived = true;
    rig.now = rl_after(rig.now, rl_ms(100));
    lock->timer.fire(&lock->timer, rig.now);
    ck_assert_uint_eq(rig.completed, 1);
    ck_assert_int_eq(rig.status, RL_END_OK);
    ck_assert_uint_eq(rl_claim_count_answers(lock->core.claim, RL_GRANTED), MASTERS);
    lock->call = NULL; /* it is told */
    ck_assert(rl_timer_armed(&lock->timer) && !rl_before(rig.now, lock->timer.at));
    lock->timer.fire(&lock->timer, rig.now);
    ck_assert_uint_eq(rl_claim_count_answers(lock->core.claim, RL_PENDING), MASTERS);
}

TEST(tc, extensions_of_one_turn_are_one_command)
{
    unsigned sent;

    hold(0);
    hold(1);
    sent = world.masters[0].sent;
    for (size_t i = 0; i < LOCKS; i++) {
        rig.locks[i].call = &rig.attempts[i];
        rl_host_extend(&rig.locks[i], 0);
    }
    ck_assert_uint_eq(world.masters[0].sent, sent);
    rl_host_end_turn(&rig.host);
    ck_assert_uint_eq(world.masters[0].sent, sent + 1);
    ck_assert_ptr_nonnull(strstr(world.masters[0].bytes, "token-1"));
    ck_assert_ptr_nonnull(strstr(world.masters[0].bytes, "token-2"));
}

/* A batch that no master takes fails its attempt, which is to be told before the program does anything else. */
TEST(tc, nothing_is_told_of_an_operation_after_its_end)
{
    const struct rl_reply unknown_script = {.root = {.type = RL_REPLY_ERROR, .text = {"NOSCRIPT No such script", 23}}};

    hold(0);
    rig.locks[0].call = &rig.attempts[0];
    rl_host_extend(&rig.locks[0], 0);
    rl_host_end_turn(&rig.host);
    host_rig_acquire(1, &(struct rl_acquire){.ttl_ms = 10000, .deadline = rl_after(rig.now, rl_ms(1000)),
                                       .kind = &rl_mutex_kind, .wait = RL_WAIT_FIFO});
    world.full = true;
    rl_host_events.reply(&rig.host, 0, &world.masters[0].tag, &unknown_script, rig.now);
    ck_assert(rl_host_cancel(&rig.locks[1]));
    ck_assert(rig.ended == &rig.locks[1] && !world.told_late);
}

TEST(tc, a_shutdown_waits_for_every_answer_that_can_be_expected)
{
    hold(0);
    rl_host_start_shutdown(&rig.host, rl_ms(1000));
    ck_assert_int_eq(rl_host_shutdown_progress(&rig.host), RL_SHUTDOWN_CONFIRMED);
    rl_host_release(&rig.locks[0]);
    reply_deleted(0);
    reply_deleted(1);
    ck_assert_int_eq(rl_host_shutdown_progress(&rig.host), RL_SHUTDOWN_WAITING);
    rl_host_events.link(&rig.host, 2, RL_LINK_LATE, "", rig.now);
    ck_assert_int_eq(rl_host_shutdown_progress(&rig.host), RL_SHUTDOWN_WAITING);
    fire_shutdown_timer(100);
    fire_shutdown_timer(100);
    ck_assert_int_eq(rl_host_shutdown_progress(&rig.host), RL_SHUTDOWN_CONFIRMED);
    rl_host_stop_shutdown(&rig.host);
}

TEST(tc, a_shutdown_without_a_quorum_ends_unconfirmed_at_its_deadline)
{
    hold(0);
    rl_host_start_shutdown(&rig.host, rl_ms(150));
    rl_host_release(&rig.locks[0]);
    for (unsigned node = 1; node < MASTERS; node++)
        rl_host_events.link(&rig.host, node, RL_LINK_LATE, "", rig.now);
    reply_deleted(0);
    fire_shutdown_timer(100);
    ck_assert_int_eq(rl_host_shutdown_progress(&rig.host), RL_SHUTDOWN_WAITING);
    fire_shutdown_timer(50);
    ck_assert_int_eq(rl_host_shutdown_progress(&rig.host), RL_SHUTDOWN_UNCONFIRMED);
    rl_host_stop_shutdown(&rig.host);
}

TEST(tc, an_exported_lock_is_held_by_the_one_that_imports_it)
{
    const struct rl_acquire request = {.ttl_ms = 10000, .deadline = RL_NEVER, .kind = &rl_mutex_kind};
    struct rl_host_exported exported;
    struct rl_instant deadline;

    hold(0);
    deadline = rl_lock_deadline(&rig.host.engine, &rig.locks[0].core);
    rl_host_export(&rig.locks[0], &exported);
    rl_host_detach(&rig.locks[0]);
    ck_assert_int_eq(rig.locks[0].core.state, RL_LOCK_IDLE);
    ck_assert_int_eq(rl_host_import(&rig.locks[1], &request, &exported), 0);
    ck_assert_int_eq(rig.locks[1].core.state, RL_LOCK_HELD);
    ck_assert_str_eq(rl_host_token(rig.locks[1].core.claim), "token-1");
    ck_assert_int_eq(rl_lock_deadline(&rig.host.engine, &rig.locks[1].core).ns, deadline.ns);
    rl_host_detach(&rig.locks[1]);
    rig.now = rl_after(rig.now, rl_ms(10000));
    ck_assert_int_eq(rl_host_import(&rig.locks[0], &request, &exported), REDLOCK_E_NOT_HELD);
}

/* --- Reentrancy ------------------------------------------------------------------------------------------------- */

/* At that time before the lock's validity ends, or after it. In this world there is no drift. */
static int enter_at(int64_t ns_left, int64_t min_validity_ms)
{
    rig.now.ns = rl_lock_deadline(&rig.host.engine, &rig.locks[0].core).ns - ns_left;
    rl_host_read_clock(&rig.host);
    return rl_host_reenter(&rig.locks[0], rl_ms(min_validity_ms));
}

TEST(tc, an_inner_entry_and_its_end_send_nothing)
{
    unsigned sent;

    ck_assert_uint_eq(rl_host_depth(&rig.locks[0]), 0);
    ck_assert_int_eq(rl_host_reenter(&rig.locks[0], rl_ms(0)), REDLOCK_E_NOT_HELD);
    hold(0);
    sent = world.masters[0].sent;
    ck_assert_int_eq(rl_host_reenter(&rig.locks[0], rl_ms(0)), 0);
    ck_assert_uint_eq(rl_host_depth(&rig.locks[0]), 2);
    ck_assert(rl_host_leave(&rig.locks[0]));
    ck_assert(!rl_host_leave(&rig.locks[0]));
    rl_host_end_turn(&rig.host);
    ck_assert_uint_eq(world.masters[0].sent, sent);
    ck_assert_int_eq(rig.locks[0].core.state, RL_LOCK_HELD);
}

TEST(tc, an_entry_needs_the_validity_that_it_asks_for)
{
    hold(0);
    ck_assert_int_eq(enter_at(10000 * RL_NS_PER_MS, 10000), 0);
    ck_assert_int_eq(enter_at(10000 * RL_NS_PER_MS - 1, 10000), REDLOCK_EXPIRING);
    ck_assert_int_eq(enter_at(1, 0), 0);
    ck_assert_int_eq(enter_at(0, 0), REDLOCK_LOST); /* before any timer has fired */
    rl_host_begin_operation(&rig.locks[0]);
    ck_assert_int_eq(rig.locks[0].core.state, RL_LOCK_LOST);
    ck_assert_int_eq(rl_host_reenter(&rig.locks[0], rl_ms(0)), REDLOCK_LOST);
    ck_assert_uint_eq(rl_host_depth(&rig.locks[0]), 3);
}

TEST(tc, a_release_ends_all_entries)
{
    hold(0);
    for (unsigned depth = 1; depth < REDLOCK_MAX_DEPTH; depth++)
        ck_assert_int_eq(rl_host_reenter(&rig.locks[0], rl_ms(0)), 0);
    ck_assert_int_eq(rl_host_reenter(&rig.locks[0], rl_ms(0)), REDLOCK_E_DEPTH);
    ck_assert_uint_eq(rl_host_depth(&rig.locks[0]), REDLOCK_MAX_DEPTH);
    rl_host_release(&rig.locks[0]);
    ck_assert_uint_eq(rl_host_depth(&rig.locks[0]), 0);
    ck_assert_int_eq(rl_host_reenter(&rig.locks[0], rl_ms(0)), REDLOCK_E_NOT_HELD);
    rl_host_end_turn(&rig.host);
    for (unsigned node = 0; node < MASTERS; node++)
        reply_deleted(node);
    ck_assert_int_eq(rig.locks[0].core.state, RL_LOCK_IDLE);
    hold(0);
    ck_assert_uint_eq(rl_host_depth(&rig.locks[0]), 1);
}

TEST(tc, a_server_without_a_role_is_not_called_a_replica)
{
    struct rl_trust_node *known = &rig.host.trust.nodes[0];

    *known = (struct rl_trust_node){.has_report = true};
    ck_assert_ptr_nonnull(strstr(rl_trust_fault_text(&rig.host, 0, RL_FAULT_NOT_MASTER), "tells no role"));
    strcpy(known->report.role, "slave");
    ck_assert_str_eq(rl_trust_fault_text(&rig.host, 0, RL_FAULT_NOT_MASTER), "it is a replica");
    ck_assert_ptr_nonnull(strstr(rl_trust_fault_text(&rig.host, 0, RL_FAULT_EVICTS), "may evict"));
}

SUITE("host")
