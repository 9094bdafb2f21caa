/* Keys are bytes: any of them, all of them, and nothing but them. */
#include <stdlib.h>
#include <string.h>

#include "program_rig.h"

GROUP(three, "three masters", rig_three, rig_end)

TEST(three, keys_are_bytes_not_strings)
{
    static const unsigned char key[] = {'a', 0, '\r', '\n', 0xff, '$', '5', 0};
    static const char script[] = "return redis.call('GET', 'a\\0\\r\\n\\255$5\\0')";
    struct redlock_lock *lock, *prefix;
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct outcome outcome;

    ck_assert_int_eq(redlock_lock_create(rig.client, key, sizeof key, &lock), 0);
    ck_assert_int_eq(redlock_lock_create(rig.client, key, 1, &prefix), 0);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    outcome = rig_expect_acquire(&rig, prefix, &request, REDLOCK_OK);
    outcome = rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    for (size_t i = 0; i < 3; i++) {
        char *value = masters_command(rig.masters, i, (const char *const[]){"EVAL", script, "0", NULL});

        ck_assert_str_eq(value, redlock_lock_token(lock));
        free(value);
    }
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 3);
    ck_assert_uint_eq(masters_count_key(rig.masters, "a"), 3);
}

TEST(three, keys_are_case_sensitive)
{
    rig_hold(&rig, "Name", 20000);
    rig_hold(&rig, "name", 20000);
    rig_hold(&rig, "NAME", 20000);
}

TEST(three, the_longest_key_works)
{
    static char key[REDLOCK_MAX_KEY_BYTES + 1];

    memset(key, 'k', REDLOCK_MAX_KEY_BYTES);
    rig_expect_release(&rig, rig_hold(&rig, key, 20000), REDLOCK_OK);
}

SUITE_WITH_SERVER("keys")
