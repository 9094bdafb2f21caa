/* REPAIR on a real server, and scripts that count on servers that refuse writes. */
#include <stdlib.h>

#include "counter_rig.h"
#include "kinds/mutex.h"
#include "suite.h"

/* --- REPAIR ------------------------------------------------------------------------------------------------------- */

GROUP(repair, "repair", counter_start, counter_stop)

TEST(repair, a_repair_sets_a_missing_key_again)
{
    ask_expect(counter_master, 0, "HSET marker inc now", "(integer) 1");
    expect_granted(counter_repair(&rl_mutex_kind, "now"), 0);
    ask_expect(counter_master, 0, "GET lock", "mine");
    expect_ttl("lock", 30000);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS count"), 0);
}

TEST(repair, a_repair_of_a_key_that_is_there_is_an_extension)
{
    ask_expect(counter_master, 0, "HSET marker inc now", "(integer) 1");
    ask_expect(counter_master, 0, "SET lock mine PX 1000000", "OK");
    expect_granted(counter_repair(&rl_mutex_kind, "now"), 0);
    expect_ttl("lock", 30000);
}

TEST(repair, a_repair_restores_the_counter_and_never_lowers_it)
{
    ask_expect(counter_master, 0, "HSET marker inc now", "(integer) 1");
    expect_granted(counter_repair(&rl_fenced_kind, "now"), 0);
    expect_counter(BIG);
    expect_ttl("count", 86400000);
    ask_expect(counter_master, 0, "SET count 1700000000123499", "OK");
    expect_granted(counter_repair(&rl_fenced_kind, "now"), 0);
    expect_counter(UINT64_C(1700000000123499));
    expect_ttl("count", 86400000);
}

TEST(repair, a_repair_leaves_anothers_key)
{
    ask_expect(counter_master, 0, "HSET marker inc now", "(integer) 1");
    ask_expect(counter_master, 0, "SET lock other PX 1000000", "OK");
    expect_answer(counter_repair(&rl_fenced_kind, "now"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    ask_expect(counter_master, 0, "GET lock", "other");
    ck_assert_int_gt(ask_integer(counter_master, 0, "PTTL lock"), 900000);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS count"), 0);
    ask_expect(counter_master, 0, "DEL lock", "(integer) 1");
    ask_expect(counter_master, 0, "LPUSH lock a", "(integer) 1");
    expect_answer(counter_repair(&rl_fenced_kind, "now"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
}

static const char *const other_memories[] = {"HSET marker inc then", "HSET marker run x", "SET marker now", "PING"};

TESTS(repair, a_repair_does_nothing_in_another_memory, 0, 4)
{
    free(ask(counter_master, 0, other_memories[_i]));
    expect_answer(counter_repair(&rl_fenced_kind, "now"), RL_FAILED, RL_DETAIL_MEMORY_LOST, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock count"), 0);
    ask_expect(counter_master, 0, "SET lock mine PX 1000000", "OK");
    expect_answer(counter_repair(&rl_mutex_kind, "now"), RL_FAILED, RL_DETAIL_MEMORY_LOST, 0);
    ck_assert_int_gt(ask_integer(counter_master, 0, "PTTL lock"), 900000);
}

/* With rights for its own keys alone: the place of the marker must not be filled with a name that is forbidden. */
TEST(repair, a_repair_without_a_marker_looks_at_none)
{
    struct rl_subject about = counter_subject("mine", BIG);

    about.marker = (struct rl_slice){NULL, 0};
    about.incarnation = (struct rl_slice){NULL, 0};
    ask_expect(counter_master, 0, "HSET marker inc then", "(integer) 1");
    ask_expect(counter_master, 0, "ACL SETUSER default resetkeys ~lock ~count", "OK");
    expect_granted(counter_take(&rl_fenced_kind, RL_STEP_REPAIR, &about), 0);
    ask_expect(counter_master, 0, "GET lock", "mine");
    expect_counter(BIG);
}

/* --- Servers that refuse writes ----------------------------------------------------------------------------------- */

static const enum rl_step writers[] = {RL_STEP_CLAIM, RL_STEP_RAISE, RL_STEP_REPAIR};

static struct rl_answer write_of(enum rl_step which)
{
    return which == RL_STEP_REPAIR ? counter_repair(&rl_fenced_kind, "now") : counter_step(which, "mine", BIG);
}

GROUP(refusing, "refused writes", counter_start, counter_stop)

TESTS(refusing, a_server_out_of_memory_has_done_nothing, 0, 3)
{
    ask_expect(counter_master, 0, "HSET marker inc now", "(integer) 1");
    if (writers[_i] == RL_STEP_RAISE)
        ask_expect(counter_master, 0, "SET lock mine PX 1000000", "OK");
    ask_expect(counter_master, 0, "CONFIG SET maxmemory 1", "OK");
    expect_answer(write_of(writers[_i]), RL_FAILED, RL_DETAIL_OOM, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS count"), 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock"), writers[_i] == RL_STEP_RAISE);
}

TESTS(refusing, a_replica_has_done_nothing, 0, 3)
{
    ask_expect(counter_master, 0, "HSET marker inc now", "(integer) 1");
    if (writers[_i] == RL_STEP_RAISE)
        ask_expect(counter_master, 0, "SET lock mine PX 1000000", "OK");
    ask_expect(counter_master, 0, "REPLICAOF 127.0.0.1 1", "OK");
    expect_answer(write_of(writers[_i]), RL_FAILED, RL_DETAIL_READONLY, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS count"), 0);
}

SUITE_WITH_SERVER("repair")
