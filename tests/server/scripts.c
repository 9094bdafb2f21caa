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

/* Scripts sent in full, but for the JOIN of the first handshake. */
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

/* The masters have the script of a release afterwards. */
static void release_one(void)
{
    rig_expect_release(&rig, rig_hold(&rig, "first", 20000), REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
}

GROUP(three, "three masters", rig_three, rig_end)

TEST(three, the_embedded_digests_are_those_of_script_load)
{
    for (int i = RL_SCRIPT_NONE + 1; i < RL_SCRIPT_COUNT; i++)
        expect_digest((enum rl_script)i);
}

TEST(three, a_new_client_sends_no_script_but_join)
{
    rig_hold(&rig, "b24", 20000);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(evals_of(i), 0);
        ck_assert_int_eq(calls_of(i, "evalsha"), 0);
    }
}

/* Without a guard nobody asks which scripts there are: a first release carries the text. */
TEST(three, a_script_that_a_master_has_is_not_sent)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_client *second;
    struct redlock_lock *lock;
    long long joins = rig.guarded;

    release_one();
    second = rig_new_client(&rig);
    lock = rig_new_lock(second, "b24");
    rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_wait_quiet(&rig, second);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(evals_of(i), 2 - joins);
        ck_assert_int_eq(calls_of(i, "evalsha"), 2 * joins);
    }
    redlock_client_destroy(second);
}

TEST(three, a_script_is_sent_once_to_a_master_however_many_locks_ask_for_it)
{
    enum { LOCKS = 40 };
    struct redlock_lock *locks[LOCKS];
    struct outcome outcomes[LOCKS] = {0};

    for (int i = 0; i < LOCKS; i++) {
        char key[16];

        snprintf(key, sizeof key, "b%d", i);
        locks[i] = rig_hold(&rig, key, 20000);
    }
    for (int i = 0; i < LOCKS; i++)
        ck_assert_int_eq(redlock_release(locks[i], outcome_record, &outcomes[i]), 0);
    for (int i = 0; i < LOCKS; i++) {
        rig_wait_outcome(&rig, &outcomes[i]);
        outcome_expect(&outcomes[i], REDLOCK_OK);
    }
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(evals_of(i), 1);
}

/* What was refused before the text was written is repeated behind it. */
TEST(three, a_script_that_has_gone_is_sent_once_for_all_that_were_refused)
{
    enum { LOCKS = 40 };
    struct redlock_lock *locks[LOCKS];

    release_one();
    for (int i = 0; i < LOCKS; i++) {
        char key[16];

        snprintf(key, sizeof key, "b%d", i);
        locks[i] = rig_hold(&rig, key, 20000);
    }
    rig_do_all(&rig, "SCRIPT", "FLUSH", NULL);
    for (int i = 0; i < LOCKS; i++)
        ck_assert_int_eq(redlock_release(locks[i], NULL, NULL), 0);
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(evals_of(i), 2);
    rig_wait_absent(&rig, "b39");
}

/* A release that was refused for want of its script would be overtaken by the claim behind it. */
TEST(three, a_key_may_be_claimed_behind_its_first_release)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *lock = rig_hold(&rig, "again", 20000);

    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    rig_expect_acquire(&rig, rig_new_lock(rig.client, "again"), &request, REDLOCK_OK);
}

TEST(three, a_flush_before_a_release_costs_one_reload)
{
    struct redlock_lock *lock;
    struct outcome outcome;
    uint64_t before;

    release_one();
    before = reloads();
    lock = rig_hold(&rig, "flush", 20000);
    rig_do(&rig, 1, "SCRIPT", "FLUSH", NULL);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 3);
    ck_assert_uint_eq(reloads(), before + 1);
    ck_assert_int_eq(evals_of(1), 2);
    ck_assert_uint_eq(masters_count_key(rig.masters, "flush"), 0);
    release_one();
    ck_assert_uint_eq(reloads(), before + 1);
}

TEST(three, a_flush_before_an_extension_costs_one_reload_per_master)
{
    struct redlock_lock *lock = rig_hold(&rig, "flush", 20000);
    uint64_t before;

    rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    before = reloads();
    rig_do_all(&rig, "SCRIPT", "FLUSH", NULL);
    rig_expect_extend(&rig, lock, 30000, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_eq(reloads(), before + 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_gt(rig_pttl(&rig, i, "flush"), 20000);
}

TEST(three, a_flush_before_a_fenced_acquisition_costs_one_reload_per_master)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *lock;
    uint64_t before;

    request.fenced = 1;
    rig_hold_as(&rig, "first", &request);
    rig_wait_quiet(&rig, rig.client);
    before = reloads();
    rig_do_all(&rig, "SCRIPT", "FLUSH", NULL);
    lock = rig_hold_as(&rig, "flush", &request);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_gt(redlock_lock_fence(lock), 0);
    ck_assert_uint_eq(reloads(), before + 3);
    rig_wait_count(&rig, "flush", 3);
}

/* rule 3.4. */
TEST(three, a_rollback_does_not_depend_on_scripts_that_a_master_has)
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
    rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_int_eq(evals_of(2), 1);
    ck_assert_int_eq(calls_of(2, "evalsha"), 1);
}

TEST(three, an_error_inside_a_script_surfaces_and_is_not_repeated)
{
    struct redlock_lock *lock;
    struct outcome outcome;

    release_one();
    lock = rig_hold(&rig, "b24", 20000);
    rig_do(&rig, 0, "DEL", "b24", NULL);
    rig_do(&rig, 0, "LPUSH", "b24", "a list", NULL);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_REFUSED, "foreign");
    ck_assert_int_eq(calls_of(0, "evalsha"), 1);
    ck_assert_int_eq(evals_of(0), 1);
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
