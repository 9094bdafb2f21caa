/* The key prefix: in front of all that a client writes. */
#include <stdlib.h>
#include <string.h>

#include "program_rig.h"
#include "watch.h"

static void with_prefix(struct redlock_options *options)
{
    options->key_prefix = "app:";
}

static void open_three(void)
{
    rig_open_with(&rig, 3, 0, with_prefix);
}

static size_t keys_in_all(size_t node)
{
    char *reply = masters_command(rig.masters, node, (const char *const[]){"DBSIZE", NULL});
    size_t n = reply ? strtoul(reply + strlen("(integer) "), NULL, 10) : 0;

    free(reply);
    return n;
}

GROUP(three, "three masters", open_three, rig_end)

TEST(three, the_key_the_counter_and_the_marker_have_the_prefix)
{
    struct redlock_acquire_options request = rig_request(20000, 0);

    request.fenced = 1;
    rig_hold_as(&rig, "job", &request);
    rig_wait_count(&rig, "app:job", 3);
    ck_assert_uint_eq(masters_count_key(rig.masters, "app:redlock:fence:job"), 3);
    for (size_t i = 0; i < 3; i++) {
        char *type = masters_command(rig.masters, i, (const char *const[]){"TYPE", "app:redlock:marker", NULL});

        ck_assert_str_eq(type, rig.guarded ? "hash" : "none");
        free(type);
        ck_assert_uint_eq(keys_in_all(i), rig.guarded ? 3 : 2);
    }
}

TEST(three, a_handle_knows_its_key_without_the_prefix)
{
    struct redlock_lock *lock = rig_hold(&rig, "job", 20000);
    size_t size = 0;
    const void *key = redlock_lock_key(lock, &size);

    ck_assert_uint_eq(size, 3);
    ck_assert_mem_eq(key, "job", 3);
    ck_assert_uint_eq(rig_count_value(&rig, "app:job", redlock_lock_token(lock)), 3);
}

TEST(three, extension_and_release_find_the_key)
{
    struct redlock_lock *lock = rig_hold(&rig, "job", 20000);

    rig_expect_extend(&rig, lock, 50000, REDLOCK_OK);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_wait_absent(&rig, "app:job");
}

TEST(three, clients_of_one_prefix_exclude_each_other)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *lock = rig_new_lock(other, "job");

    rig_hold(&rig, "job", 20000);
    rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
}

TEST(three, the_prefix_counts_for_the_length_of_a_key)
{
    char key[REDLOCK_MAX_KEY_BYTES];
    struct redlock_lock *lock = NULL;

    memset(key, 'k', sizeof key);
    ck_assert_int_eq(redlock_lock_create(rig.client, key, sizeof key - 3, &lock), REDLOCK_E_KEY_TOO_LONG);
    ck_assert_int_eq(redlock_lock_create(rig.client, key, sizeof key - 4, &lock), 0);
    ck_assert_ptr_nonnull(lock);
}

/* The caller's text may be gone once the client is made. */
TEST(three, the_prefix_is_copied)
{
    char text[REDLOCK_MAX_PREFIX_BYTES + 1];
    struct redlock_client *client;
    struct redlock_lock *lock;

    memset(text, 'p', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    rig.options.key_prefix = text;
    rig.options.join = REDLOCK_JOIN_DECLARE;
    client = rig_further_client(&rig);
    memset(text, 'x', sizeof text - 1);
    lock = rig_new_lock(client, "job");
    rig_expect_acquire(&rig, lock, NULL, REDLOCK_OK);
    memset(text, 'p', sizeof text - 1);
    rig_wait_quiet(&rig, client);
    for (size_t i = 0; i < 3; i++) {
        char key[80];

        snprintf(key, sizeof key, "%sjob", text);
        ck_assert_int_gt(rig_pttl(&rig, i, key), 0);
    }
}

SUITE_WITH_SERVER("prefix")
