/* Each private master is run as it was asked to be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "suite.h"

static struct masters *masters;
static const char *talking_server; /* show_environment.sh */

static void start_server(const char *server, size_t count, bool tcp, const struct masters_setup *setup)
{
    struct masters_setup setups[MASTERS_MAX];
    struct masters_options options = {.count = count, .tcp = tcp, .server = server, .setups = setups};

    for (size_t i = 0; i < count; i++)
        setups[i] = *setup;
    masters = ask_open(&options);
}

static void start(size_t count, bool tcp, const struct masters_setup *setup)
{
    start_server(NULL, count, tcp, setup);
}

static void stop(void)
{
    masters_destroy(masters);
    masters = NULL;
}

static void kill_one(size_t i)
{
    ck_assert_msg(masters_kill(masters, i), "%s", masters_error());
}

static void restart(size_t i)
{
    ck_assert_msg(masters_restart(masters, i), "%s", masters_error());
}

GROUP(masters_run, "setups", NULL, stop)

TEST(masters_run, extra_arguments_win_over_the_usual_ones)
{
    const char *const args[] = {"--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lru", NULL};

    start(1, false, &(struct masters_setup){.extra_args = args});
    ask_expect(masters, 0, "CONFIG GET maxmemory", "maxmemory\n3145728");
    ask_expect(masters, 0, "CONFIG GET maxmemory-policy", "maxmemory-policy\nallkeys-lru");
}

/* How often the master's log has this line; talking_server writes its environment there. */
static size_t count_logged(size_t i, const char *wanted)
{
    char path[256];
    char *line = NULL;
    size_t size = 0, n = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/%zu/log", masters_dir(masters), i);
    file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        n += strcmp(line, wanted) == 0;
    }
    free(line);
    fclose(file);
    return n;
}

TEST(masters_run, the_setup_of_all_is_given_once)
{
    const char *const args[] = {"--databases", "5", NULL};
    const char *const environment[] = {"MASTERS_TEST=all", NULL};
    struct masters_options options = {.count = 2, .server = talking_server, .persistence = MASTERS_ALWAYS};

    options.extra_args = args;
    options.environment = environment;
    masters = ask_open(&options);
    for (size_t i = 0; i < 2; i++) {
        ask_expect(masters, i, "CONFIG GET databases", "databases\n5");
        ask_expect(masters, i, "CONFIG GET appendonly", "appendonly\nyes");
        ck_assert_uint_eq(count_logged(i, "MASTERS_TEST=all"), 1);
    }
}

TEST(masters_run, each_master_may_have_an_environment_of_its_own)
{
    const char *const first[] = {"MASTERS_TEST=first", "MASTERS_TEST_EMPTY=", NULL};
    struct masters_setup setups[] = {{.environment = first}, {.environment = NULL}};
    struct masters_options options = {.count = 2, .server = talking_server, .setups = setups};

    setenv("MASTERS_TEST", "inherited", 1);
    setenv("MASTERS_TEST_MORE", "inherited", 1);
    masters = ask_open(&options);
    ck_assert_uint_eq(count_logged(0, "MASTERS_TEST=first"), 1);
    ck_assert_uint_eq(count_logged(0, "MASTERS_TEST_EMPTY="), 1);
    ck_assert_uint_eq(count_logged(0, "MASTERS_TEST=inherited"), 0);
    ck_assert_uint_eq(count_logged(0, "MASTERS_TEST_MORE=inherited"), 1);
    ck_assert_uint_eq(count_logged(1, "MASTERS_TEST=inherited"), 1);
    ck_assert_uint_eq(count_logged(1, "MASTERS_TEST_EMPTY="), 0);
}

TESTS(masters_run, an_environment_of_no_assignments_is_refused, 0, 3)
{
    static const char *const nonsense[] = {"MASTERS_TEST", "=value", ""};
    const char *const environment[] = {"MASTERS_TEST=1", nonsense[_i], NULL};
    struct masters_options options = {.count = 1, .environment = environment};

    ck_assert_ptr_null(masters_create(&options));
    ck_assert_ptr_nonnull(strstr(masters_error(), "NAME=value"));
}

TEST(masters_run, a_setup_given_while_a_master_is_down_is_that_of_its_next_start)
{
    const char *const args[] = {"--maxmemory", "3mb", NULL};
    const char *const environment[] = {"MASTERS_TEST=next", NULL};
    struct masters_setup next = {MASTERS_VOLATILE, args, environment};

    start_server(talking_server, 2, false, &(struct masters_setup){.persistence = MASTERS_ALWAYS});
    kill_one(0);
    ck_assert_msg(masters_set_up(masters, 0, &next), "%s", masters_error());
    restart(0);
    ask_expect(masters, 0, "CONFIG GET maxmemory", "maxmemory\n3145728");
    ask_expect(masters, 0, "CONFIG GET appendonly", "appendonly\nno");
    ck_assert_uint_eq(count_logged(0, "MASTERS_TEST=next"), 1);
    ask_expect(masters, 1, "CONFIG GET maxmemory", "maxmemory\n0");
    ask_expect(masters, 1, "CONFIG GET appendonly", "appendonly\nyes");
}

TEST(masters_run, a_refused_setup_leaves_the_old_one)
{
    const char *const args[] = {"--maxmemory", "3mb", NULL};
    const char *const nonsense[] = {"nonsense", NULL};
    struct masters_setup bad = {.environment = nonsense};

    start(1, false, &(struct masters_setup){.extra_args = args});
    kill_one(0);
    ck_assert(!masters_set_up(masters, 0, &bad));
    restart(0);
    ask_expect(masters, 0, "CONFIG GET maxmemory", "maxmemory\n3145728");
}

TEST(masters_run, a_master_may_be_started_as_the_replica_of_another)
{
    const char *args[] = {"--replica-serve-stale-data", "no", "--replicaof", "127.0.0.1", "port", NULL};
    struct masters_setup replica = {.extra_args = args};

    start(2, true, &(struct masters_setup){.persistence = MASTERS_VOLATILE});
    args[4] = strrchr(masters_url(masters, 0), ':') + 1;
    kill_one(1);
    ck_assert_msg(masters_set_up(masters, 1, &replica), "%s", masters_error());
    restart(1);
    ask_contains(masters, 1, "ROLE", "slave");
    ask_refused(masters, 1, "SET k v", "READONLY");
}

TEST(masters_run, a_master_may_be_started_as_a_node_of_a_cluster)
{
    const char *const args[] = {"--cluster-enabled", "yes", NULL};

    start(1, true, &(struct masters_setup){.extra_args = args});
    ask_contains(masters, 0, "INFO cluster", "cluster_enabled:1");
    ask_refused(masters, 0, "SET k v", "CLUSTERDOWN");
}

TEST(masters_run, arguments_that_the_server_refuses_fail_the_start)
{
    const char *const args[] = {"--maxmemory", "a-lot", NULL};
    struct masters_options options = {.count = 2, .extra_args = args};

    ck_assert_ptr_null(masters_create(&options));
    ck_assert_ptr_nonnull(strstr(masters_error(), "the server ended during its start; its log ends: "));
}

/* test_setups show_environment.sh */
int main(int argc, char **argv)
{
    if (argc < 2)
        return EXIT_FAILURE;
    talking_server = argv[1];
    return suite_run_with_server(suite_collect("setups"));
}
