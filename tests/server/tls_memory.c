/* A client over TLS while OpenSSL has no memory: what it says of the connection, and that it gets over it. */
#include <stdlib.h>
#include <string.h>

#include "openssl_memory.h"
#include "program_rig.h"
#include "watch.h"

/* --- The rig --------------------------------------------------------------------------------------------------- */

/* The master is declared new by the first client: the others only vote. */
static void open_rig(void)
{
    struct masters_options options = {.count = 1, .tls = MASTERS_TLS_MUTUAL};

    rig_start(&rig, &options);
    rig.options.backoff_min_ms = rig.options.backoff_max_ms = 1;
    rig_connect(&rig);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
}

/* --- No memory ------------------------------------------------------------------------------------------------- */

static bool has_tried(void *argument)
{
    return watch_node_stats(rig.client, 0).connects || watch_node_stats(rig.client, 0).disconnects;
}

static bool create_client(void)
{
    struct redlock_error error = {0};
    int status = redlock_client_create(rig.base, rig.urls, rig.n, &rig.options, &rig.client, &error);

    ck_assert_msg(status == 0 || status == REDLOCK_E_NOMEM || (status == REDLOCK_E_TLS && error.text[0]), "%s: %s",
                  redlock_status_name(status), error.text);
    return status == 0;
}

/* Whether an attempt to connect failed. */
static bool has_failed_in_words(void)
{
    const char *why;
    struct redlock_node_stats seen = watch_node_stats(rig.client, 0);

    if (!seen.disconnects)
        return false;
    why = seen.last_error;
    ck_assert_msg(why[0] && !strstr(why, "error 0"), "allocation %ld: \"%s\"", openssl_memory.failing, why);
    return true;
}

/* A client is made, tries to lock, and does so when there is memory again. Whether it was told that there was none. */
static bool run(void)
{
    const struct redlock_acquire_options request = rig_request(20000, 0);
    bool failed;

    openssl_memory.armed = true;
    if (!create_client()) {
        openssl_memory.armed = false;
        return true;
    }
    rig_wait(&rig, has_tried, NULL, "the first attempt to connect");
    rig_acquire(&rig, rig_new_lock(rig.client, "key"), &request);
    openssl_memory.armed = false;
    failed = has_failed_in_words();
    rig_wait_vote(&rig, rig.client, 0);
    rig_expect_release(&rig, rig_hold(&rig, "after", 20000), REDLOCK_OK);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    rig_wait_absent(&rig, "key");
    return failed;
}

GROUP(memory, "memory", open_rig, rig_end)

/* In the certificates' files, in the handshake, and in the traffic. After some of the failures OpenSSL has a CA that is
 * not complete, until it reads it again. */
TEST(memory, an_allocation_that_fails_is_told_and_got_over)
{
    unsigned failures = 0;

    while (openssl_memory_next(40, 61))
        failures += run();
    ck_assert_uint_gt(failures, 20);
    ck_assert(!run());
}

int main(void)
{
    if (!openssl_memory_hook())
        return EXIT_FAILURE;
    return suite_run_with_server(suite_collect("tls_memory"));
}
