/* Servers of another system, the one that the argument names: they find each other, one of them leads, and they go
 * through what is done to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "masters.h"
#include "suite.h"

#define PATIENCE_MS (SUITE_PATIENCE_S * 1000)

static enum masters_system system_under_test;
static struct masters *masters;

static void start_relayed(bool relayed)
{
    struct masters_options options = {.system = system_under_test, .relayed = relayed};

    masters = masters_create(&options);
    ck_assert_msg(masters, "%s", masters_error());
    ck_assert_msg(masters_cleanup_on_exit(masters), "%s", masters_error());
}

static void start(void)
{
    start_relayed(false);
}

static void stop(void)
{
    masters_destroy(masters);
    masters = NULL;
}

#define DO(call) ck_assert_msg(call, "%s", masters_error())

/* The leader once there is one that is not `other`. */
static size_t wait_for_leader(size_t other)
{
    size_t leader = MASTERS_MAX;

    for (int waited = 0; waited < PATIENCE_MS; waited += 20) {
        leader = masters_leader(masters);
        if (leader != MASTERS_MAX && leader != other)
            return leader;
        usleep(20000);
    }
    ck_abort_msg("nobody but %zu leads after %d s: %s", other, SUITE_PATIENCE_S, masters_error());
    return leader;
}

static bool is_alone(void)
{
    return masters_count(masters) == 1;
}

START_TEST(the_members_serve_under_one_leader)
{
    char version[64] = "";
    size_t leader = wait_for_leader(MASTERS_MAX);

    DO(masters_server_version(masters, leader, version, sizeof(version)));
    ck_assert_msg(strpbrk(version, "0123456789"), "the version is \"%s\"", version);
    DO(masters_wait_until_serving(masters, PATIENCE_MS));
    for (size_t i = 0; masters_entries(masters)[i]; i++)
        ck_assert_msg(strstr(masters_entries(masters)[i], "127.0.0.1:"), "%s", masters_entries(masters)[i]);
}
END_TEST

static const struct {
    bool (*begin)(struct masters *masters, size_t member);
    bool (*end)(struct masters *masters, size_t member);
} faults[] = {
    {masters_kill, masters_restart},
    {masters_hang, masters_resume},
};
#define N_FAULTS 2

START_TEST(another_member_leads_when_the_leader_fails)
{
    size_t leader = wait_for_leader(MASTERS_MAX);

    DO(faults[_i].begin(masters, leader));
    if (is_alone())
        ck_assert_uint_eq(masters_leader(masters), MASTERS_MAX);
    else
        wait_for_leader(leader);
    DO(faults[_i].end(masters, leader));
    DO(masters_wait_until_serving(masters, PATIENCE_MS));
}
END_TEST

/* The others go on, and it comes back to them. */
START_TEST(another_member_leads_when_the_leader_is_cut_off)
{
    size_t leader;

    start_relayed(true);
    leader = wait_for_leader(MASTERS_MAX);
    DO(masters_part(masters, leader, true));
    wait_for_leader(leader);
    DO(masters_part(masters, leader, false));
    DO(masters_wait_until_serving(masters, PATIENCE_MS));
}
END_TEST

START_TEST(members_without_relays_cannot_be_cut_off)
{
    ck_assert(!masters_part(masters, 0, true));
    ck_assert_str_eq(masters_error(), "the members are not relayed");
}
END_TEST

START_TEST(a_member_that_has_lost_its_memory_serves_again)
{
    size_t leader = wait_for_leader(MASTERS_MAX);
    size_t follower = is_alone() ? leader : (leader + 1) % 3;

    DO(masters_kill(masters, follower));
    DO(masters_wipe(masters, follower));
    DO(masters_restart(masters, follower));
    DO(masters_wait_until_serving(masters, PATIENCE_MS));
}
END_TEST

static bool find_system(const char *name)
{
    for (system_under_test = 0; system_under_test < MASTERS_SYSTEMS; system_under_test++)
        if (strcmp(masters_system_name(system_under_test), name) == 0)
            return true;
    return false;
}

static bool has_members_to_part(void)
{
    return system_under_test != MASTERS_POSTGRES && system_under_test != MASTERS_MARIADB &&
           masters_can_part(system_under_test);
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("clusters");
    TCase *lives = suite_add_case(suite, "lives", start, stop);

    tcase_add_test(lives, the_members_serve_under_one_leader);
    tcase_add_loop_test(lives, another_member_leads_when_the_leader_fails, 0, N_FAULTS);
    tcase_add_test(lives, a_member_that_has_lost_its_memory_serves_again);
    tcase_add_test(lives, members_without_relays_cannot_be_cut_off);
    if (argc != 2 || !find_system(argv[1])) {
        fprintf(stderr, "usage: test_clusters SYSTEM\n");
        return EXIT_FAILURE;
    }
    if (!masters_is_installed(system_under_test)) {
        printf("1..0 # SKIP %s\n", masters_error());
        return EXIT_SUCCESS;
    }
    if (has_members_to_part())
        tcase_add_test(suite_add_case(suite, "parts", NULL, stop), another_member_leads_when_the_leader_is_cut_off);
    return suite_run(suite);
}
