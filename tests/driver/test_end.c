/* Destroying the driver, in the process that made it and in a forked child. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

static void destroy(void)
{
    rl_driver_destroy(rig.driver, false);
    rig.driver = NULL;
}

/* What a child leaves allocated on purpose stays in rig.driver, where leak checkers find it. */
static void destroy_in_child(void)
{
    rl_driver_destroy(rig.driver, true);
}

GROUP(destroyed, "destroy", rig_setup, rig_teardown)

TEST(destroyed, destroying_nothing_is_fine)
{
    rl_driver_destroy(NULL, false);
    rl_driver_destroy(NULL, true);
}

TESTS(destroyed, destroying_at_any_stage_leaks_nothing_and_tells_nothing, 0, 8)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    server->rules.ping = "";
    rig_add_url("redis://127.0.0.1:1");
    rig_add_url("redis://localhost:1");
    rig_start();
    for (int i = 0; i < _i; i++)
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
    memset(rig.links, 0xff, sizeof rig.links);
    rig.n_events = RIG_EVENTS_MAX;
    destroy();
}

TEST(destroyed, the_last_commands_are_written_before_an_orderly_close)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    rig_start_ready();
    ck_assert(rig_send(0, 1, "RELEASE-1") && rig_send(0, 2, "RELEASE-2"));
    destroy();
    while (!server->gone)
        rig_turn();
    ck_assert_str_eq(server->log, "RELEASE-1;RELEASE-2;");
    ck_assert(!server->was_reset);
    ck_assert_uint_eq(rig.n_events, 0);
}

TEST(destroyed, replies_that_nobody_will_read_do_not_spoil_the_last_write)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    rig_start_ready();
    ck_assert(rig_send(0, 1, "GET"));
    while (!server->commands)
        rig_turn();
    fake_server_say(server, "+OK\r\n");
    ck_assert(rig_send(0, 2, "RELEASE"));
    destroy();
    while (!server->gone)
        rig_turn();
    ck_assert_str_eq(server->log, "GET;RELEASE;");
    ck_assert(!server->was_reset);
}

/* The kernel's buffers are full: half of what was queued must not arrive on its own. */
TEST(destroyed, a_connection_that_cannot_take_everything_is_reset)
{
    struct fake_server *server = rig_add(FAKE_TCP4);
    char *word = calloc(1, 16000001);

    ck_assert_ptr_nonnull(word);
    memset(word, 'w', 16000000);
    rig_start_ready();
    fake_server_set_deaf(server, true);
    ck_assert(rig_send(0, 1, word));
    free(word);
    destroy();
    fake_server_set_deaf(server, false);
    while (!server->gone)
        rig_turn();
    ck_assert(server->was_reset);
    ck_assert_uint_eq(server->commands, 0);
}

GROUP(forked, "fork", rig_setup, rig_teardown)

/* The child destroys its copy with a command still unsent, while the parent goes on with the same connection. */
TEST(forked, a_forked_child_destroys_its_copy_without_touching_the_parents_connection)
{
    struct fake_server *server = rig_add(FAKE_TCP4);
    int status = -1;
    pid_t child;

    rig_start_ready();
    server->rules.other = "+OK\r\n";
    ck_assert(rig_send(0, 1, "FROM-PARENT"));
    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        destroy_in_child();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(rig_send(0, 2, "AND-AGAIN"));
    while (rig.n_events < 2)
        rig_turn();
    ck_assert_str_eq(server->log, "FROM-PARENT;AND-AGAIN;");
    ck_assert_str_eq(rig.links[0].path, "READY ");
}

/* A child that goes on using the base gets its own kernel side by event_reinit(); events that are left over from the
 * destroyed driver must do nothing there. */
TEST(forked, a_forked_child_may_run_its_own_copy_of_the_base_afterwards)
{
    struct fake_server *server = rig_add(FAKE_TCP4);
    int status = -1;
    pid_t child;

    rig_start_ready();
    ck_assert(rig_send(0, 1, "FROM-PARENT"));
    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        event_reinit(rig.base);
        destroy_in_child();
        for (int i = 0; i < 10; i++)
            event_base_loop(rig.base, EVLOOP_NONBLOCK);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    while (server->commands < 1)
        rig_turn();
    ck_assert_str_eq(server->log, "FROM-PARENT;");
}

SUITE("end")
