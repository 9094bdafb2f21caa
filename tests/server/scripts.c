/* The embedded scripts on the masters: their digests, and masters that do not have them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/nodes/advice.h"
#include "codec/script.h"
#include "program_rig.h"

/* Calls of a command on a master so far, by INFO commandstats; 0 if it has never been called. */
static long long calls_of(size_t node, const char *command)
{
    char *info = masters_command(rig.masters, node, (const char *const[]){"INFO", "commandstats", NULL});
    char name[64];
    const char *line;
    long long calls = 0;

    ck_assert_ptr_nonnull(info);
    snprintf(name, sizeof name, "cmdstat_%s:calls=", command);
    line = strstr(info, name);
    if (line)
        calls = atoll(line + strlen(name));
    free(info);
    return calls;
}

/* Before Redis 7.0 subcommands were not counted apart. */
static long long loads_of(size_t node)
{
    return calls_of(node, "script|load") + calls_of(node, "script");
}

/* Scripts sent in full, but for the handshake's JOIN, which always is. */
static long long evals_of(size_t node)
{
    return calls_of(node, "eval") - (rig.options.profile == REDLOCK_PROFILE_GUARDED);
}

static uint64_t reloads(void)
{
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    return stats.script_reloads;
}

static void expect_digest(enum rl_script script)
{
    const struct rl_script_text *text = rl_script_text(script);
    char *sha1 = masters_command(rig.masters, 0, (const char *const[]){"SCRIPT", "LOAD", text->text, NULL});

    ck_assert_msg(sha1 != NULL, "%s", masters_error());
    ck_assert_str_eq(sha1, text->sha1);
    ck_assert_uint_eq(strlen(text->text), text->size);
    free(sha1);
}

GROUP(three, "three masters", rig_three, rig_end)

TEST(three, the_embedded_digests_are_those_of_script_load)
{
    for (int i = RL_SCRIPT_NONE + 1; i < RL_SCRIPT_COUNT; i++)
        expect_digest((enum rl_script)i);
}

TEST(three, connecting_loads_each_script_once)
{
    rig_hold(&rig, "b24", 20000);
    for (size_t i = 0; i < 3; i++) {
        /* All but LOOK, LATCH, JOIN and ENQUEUE_PERMIT. */
        ck_assert_int_eq(loads_of(i), RL_SCRIPT_LOOK - RL_SCRIPT_NONE - 2);
        ck_assert_int_eq(evals_of(i), 0);
        ck_assert_int_eq(calls_of(i, "evalsha"), 0);
    }
}

TEST(three, a_loaded_script_is_used_by_its_digest)
{
    struct redlock_lock *lock = rig_hold(&rig, "b24", 20000);

    rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(reloads(), 0);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(evals_of(i), 0);
        ck_assert_int_eq(calls_of(i, "evalsha"), 2);
    }
}

TEST(three, a_flush_before_a_release_costs_one_reload)
{
    struct redlock_lock *lock = rig_hold(&rig, "flush", 20000);
    struct outcome outcome;

    rig_do(&rig, 1, "SCRIPT", "FLUSH", NULL);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 3);
    ck_assert_uint_eq(reloads(), 1);
    ck_assert_int_eq(evals_of(1), 1);
    ck_assert_uint_eq(masters_count_key(rig.masters, "flush"), 0);
    outcome = rig_expect_release(&rig, rig_hold(&rig, "flush", 20000), REDLOCK_OK);
    ck_assert_uint_eq(reloads(), 1);
}

TEST(three, a_flush_before_an_extension_costs_one_reload_per_master)
{
    struct redlock_lock *lock = rig_hold(&rig, "flush", 20000);

    rig_do_all(&rig, "SCRIPT", "FLUSH", NULL);
    rig_expect_extend(&rig, lock, 30000, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_eq(reloads(), 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_gt(rig_pttl(&rig, i, "flush"), 20000);
}

TEST(three, a_flush_before_a_fenced_acquisition_costs_one_reload_per_master)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *lock;

    request.fenced = 1;
    rig_do_all(&rig, "SCRIPT", "FLUSH", NULL);
    lock = rig_hold_as(&rig, "flush", &request);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_gt(redlock_lock_fence(lock), 0);
    ck_assert_uint_eq(reloads(), 3);
    rig_wait_count(&rig, "flush", 3);
}

TEST(three, a_rollback_does_not_depend_on_loaded_scripts)
{
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "rollback");

    rig_do_all(&rig, "SCRIPT", "FLUSH", NULL);
    rig_occupy(&rig, 0, "rollback");
    rig_occupy(&rig, 1, "rollback");
    rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
    rig_wait_count(&rig, "rollback", 2);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(reloads(), 0);
    ck_assert_int_eq(evals_of(2), 1);
    ck_assert_int_eq(calls_of(2, "evalsha"), 0);
}

TEST(three, an_error_inside_a_script_surfaces_and_is_not_repeated)
{
    struct redlock_lock *lock = rig_hold(&rig, "b24", 20000);
    struct outcome outcome;

    rig_do(&rig, 0, "DEL", "b24", NULL);
    rig_do(&rig, 0, "LPUSH", "b24", "a list", NULL);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_REFUSED, "foreign");
    ck_assert_uint_eq(reloads(), 0);
    ck_assert_int_eq(calls_of(0, "evalsha"), 1);
    ck_assert_int_eq(evals_of(0), 0);
    ck_assert_uint_eq(masters_count_key(rig.masters, "b24"), 1);
}

/* "redis.call('HGET'", or pcall. */
static const char *next_call(const char *text, char *ret_command, size_t size)
{
    const char *call = strstr(text, "call('");
    size_t length;

    if (!call)
        return NULL;
    call += strlen("call('");
    length = strcspn(call, "'");
    ck_assert_uint_lt(length, size);
    for (size_t i = 0; i < length; i++)
        ret_command[i] = (char)tolower((unsigned char)call[i]);
    ret_command[length] = '\0';
    return call + length;
}

TEST(three, no_script_needs_other_rights_than_the_manual_says)
{
    unsigned calls = 0;

    for (int script = RL_SCRIPT_NONE + 1; script < RL_SCRIPT_COUNT; script++) {
        const struct rl_script_text *text = rl_script_text((enum rl_script)script);
        char command[32];
        char right[40];

        for (const char *at = text->text; (at = next_call(at, command, sizeof command)); calls++) {
            snprintf(right, sizeof right, "+%s ", command);
            ck_assert_msg(strstr(ADVICE_RIGHTS, right), "%s calls %s", text->name, command);
        }
    }
    ck_assert_uint_gt(calls, 50);
}

SUITE_WITH_SERVER("scripts")
