/* Texts that are not imported: each would give a lock that its holder must not believe in. */
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "program_rig.h"

static char text[REDLOCK_MAX_EXPORT_BYTES];

static void hold_and_export(const char *key, uint32_t ttl_ms)
{
    struct redlock_lock *lock = rig_hold(&rig, key, ttl_ms);

    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    redlock_lock_destroy(lock);
}

static void expect_refused(struct redlock_client *client, const char *key, const char *wrong, int expected)
{
    struct redlock_lock *lock = rig_new_lock(client, key);
    int status = redlock_lock_adopt(lock, NULL, wrong);

    ck_assert_msg(status == expected, "%s instead of %s for %s", redlock_status_name(status),
                  redlock_status_name(expected), wrong);
    ck_assert_int_ne(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    redlock_lock_destroy(lock);
}

GROUP(refused, "refused", rig_three, rig_end)

TEST(refused, a_text_of_another_key_is_refused)
{
    hold_and_export("mine", 20000);
    expect_refused(rig.client, "min", text, REDLOCK_E_EXPORT);
    expect_refused(rig.client, "mined", text, REDLOCK_E_EXPORT);
    expect_refused(rig.client, "Mine", text, REDLOCK_E_EXPORT);
}

TEST(refused, a_text_of_other_masters_or_another_quorum_is_refused)
{
    struct redlock_client *two, *strict;

    hold_and_export("mine", 20000);
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 2, &rig.options, &two, NULL), 0);
    rig.options.quorum = 3;
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, &rig.options, &strict, NULL), 0);
    expect_refused(two, "mine", text, REDLOCK_E_EXPORT);
    expect_refused(strict, "mine", text, REDLOCK_E_EXPORT);
    redlock_client_destroy(two);
    redlock_client_destroy(strict);
}

/* A client of the same deployment whose options have no room for the lock: the text itself is good. */
static void expect_no_room(const char *key)
{
    struct redlock_client *small;

    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, &rig.options, &small, NULL), 0);
    expect_refused(small, key, text, REDLOCK_E_TTL);
    redlock_client_destroy(small);
}

TEST(refused, a_ttl_that_does_not_fit_the_clients_options_is_refused_as_a_ttl)
{
    hold_and_export("mine", 20000);
    rig.options.max_ttl_ms = 19999;
    expect_no_room("mine");
    rig.options.max_ttl_ms = 60000;
    rig.options.guard_ms = 20000;
    expect_no_room("mine");
}

TEST(refused, a_damaged_text_is_refused)
{
    char wrong[sizeof text + 2];

    hold_and_export("mine", 60000);
    for (size_t i = 0; text[i]; i++) {
        strcpy(wrong, text);
        wrong[i] = text[i] == '1' ? '2' : '1';
        expect_refused(rig.client, "mine", wrong, REDLOCK_E_EXPORT);
        wrong[i] = '\0';
        expect_refused(rig.client, "mine", wrong, REDLOCK_E_EXPORT);
    }
    snprintf(wrong, sizeof wrong, "%s ", text);
    expect_refused(rig.client, "mine", wrong, REDLOCK_E_EXPORT);
    snprintf(wrong, sizeof wrong, "%s:", text);
    expect_refused(rig.client, "mine", wrong, REDLOCK_E_EXPORT);
    memset(wrong, 'x', sizeof wrong - 1);
    wrong[sizeof wrong - 1] = '\0';
    expect_refused(rig.client, "mine", wrong, REDLOCK_E_EXPORT);
}

TEST(refused, an_expired_text_is_refused_and_leaves_nothing)
{
    ck_assert_int_eq(redlock_lock_export(rig_hold_lease(&rig, "old", 200), text, sizeof text), 0);
    rig_wait_absent(&rig, "old");
    expect_refused(rig.client, "old", text, REDLOCK_E_NOT_HELD);
    rig_wait_no_claims(&rig, rig.client);
}

/* Another time namespace is like another boot: its clock says something else. Where the system has none, or does not
 * let us, there is nothing to test. */
static int adopt_in_another_time(void)
{
    struct redlock_client *client;
    struct redlock_lock *lock;

    if (redlock_client_create(event_base_new(), rig.urls, rig.n, &rig.options, &client, NULL) != 0 ||
        redlock_lock_create(client, "mine", 4, &lock) != 0)
        return 1;
    return redlock_lock_adopt(lock, NULL, text) == REDLOCK_E_EXPORT ? 0 : 2;
}

TEST(refused, a_text_of_another_clock_is_refused)
{
#ifdef CLONE_NEWTIME
    pid_t pid;

    hold_and_export("mine", 20000);
    if (unshare(CLONE_NEWTIME) != 0)
        return;
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(adopt_in_another_time());
    rig_wait_child(&rig, pid);
#endif
}

SUITE_WITH_SERVER("import_refused")
