#include "suite.h"

#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A loaded machine or a sanitizer does not exceed it. */
#define TEST_TIMEOUT_S 900

static int run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int suite_run(Suite *suite)
{
    return run(suite);
}

static bool is_in_path(const char *name)
{
    const char *path = getenv("PATH");
    char *copy = strdup(path ? path : "/usr/bin:/bin");
    char *rest = copy;
    bool found = false;

    for (char *dir = copy ? strsep(&rest, ":") : NULL; dir && !found; dir = strsep(&rest, ":")) {
        char file[4096];

        snprintf(file, sizeof file, "%s/%s", dir, name);
        found = access(file, X_OK) == 0;
    }
    free(copy);
    return found;
}

static const char *server_name(void)
{
    const char *server = getenv("REDLOCK_SERVER");

    return server && server[0] ? server : "redis-server";
}

bool suite_has_server(void)
{
    const char *server = server_name();

    return strchr(server, '/') ? access(server, X_OK) == 0 : is_in_path(server);
}

struct version {
    char name[16]; /* "Redis", "Valkey" */
    int major, minor, patch;
};

/* `redis-server --version` says "Redis server v=6.0.16 sha=...", Valkey's "Valkey server v=8.1.1 ...". */
static struct version ask_version(void)
{
    struct version version = {.name = "?", .major = INT_MAX}, said;
    char command[4096];
    FILE *pipe;

    snprintf(command, sizeof command, "'%s' --version", server_name());
    pipe = suite_has_server() ? popen(command, "r") : NULL;
    if (!pipe)
        return version;
    if (fscanf(pipe, "%15s server v=%d.%d.%d", said.name, &said.major, &said.minor, &said.patch) == 4)
        version = said;
    pclose(pipe);
    return version;
}

static struct version server_version(void)
{
    static struct version version;

    if (!version.major)
        version = ask_version();
    return version;
}

static bool is_since(const struct version *version, int major, int minor)
{
    return version->major > major || (version->major == major && version->minor >= minor);
}

bool suite_server_is(int major, int minor)
{
    struct version version = server_version();

    return strcmp(version.name, "Redis") != 0 || is_since(&version, major, minor);
}

bool suite_clock_can_be_stopped(void)
{
    struct version version = server_version();

    return strcmp(version.name, "Valkey") != 0 || !is_since(&version, 9, 1);
}

int suite_skip(Suite *suite, const char *why)
{
    const char *tap = getenv("CK_TAP_LOG_FILE_NAME");

    srunner_free(srunner_create(suite));
    if (!tap || strcmp(tap, "-") != 0)
        return 77;
    printf("1..0 # SKIP %s\n", why);
    return EXIT_SUCCESS;
}

int suite_run_with_server(Suite *suite)
{
    return suite_has_server() ? run(suite) : suite_skip(suite, "there is no redis-server");
}

#define MOST_GROUPS 32

/* The groups that have tests, in the order of their first ones. */
static TCase *groups[MOST_GROUPS];
static size_t n_groups;

static TCase *tests_of(struct suite_group *group)
{
    if (!group->tests) {
        if (n_groups == MOST_GROUPS)
            abort();
        group->tests = groups[n_groups++] = tcase_create(group->name);
        tcase_set_timeout(group->tests, TEST_TIMEOUT_S);
        tcase_add_checked_fixture(group->tests, group->setup, group->teardown);
    }
    return group->tests;
}

void suite_add(struct suite_group *group, const TTest *test, int first, int end)
{
    tcase_add_loop_test(tests_of(group), test, first, end);
}

void suite_add_since(struct suite_group *group, const TTest *test, int major, int minor, const char *lacking)
{
    struct version version = server_version();

    if (suite_server_is(major, minor)) {
        suite_add(group, test, 0, 1);
        return;
    }
    printf("# SKIP %s: Redis %d.%d.%d lacks %s, of %d.%d\n", test->name, version.major, version.minor, version.patch,
           lacking, major, minor);
    fflush(stdout); /* the tests are forked: they must not have it in their buffers */
}

Suite *suite_collect(const char *name)
{
    Suite *suite = suite_create(name);

    for (size_t i = 0; i < n_groups; i++)
        suite_add_tcase(suite, groups[i]);
    return suite;
}

bool suite_resolves_localhost(void)
{
    struct addrinfo *list = NULL;
    bool found = getaddrinfo("localhost", NULL, NULL, &list) == 0;

    if (found)
        freeaddrinfo(list);
    return found;
}
