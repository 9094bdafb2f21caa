/* The frame of a test program: what runs a Check suite and reports it as TAP. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#include <stdbool.h>

/* Runs the suite and gives the exit status for main(). Reports as the environment says (CK_TAP_LOG_FILE_NAME,
 * CK_VERBOSITY, CK_FORK, CK_RUN_CASE ...). */
int suite_run(Suite *suite);

/* The same for a suite that needs redis-server; without one it is skipped. */
int suite_run_with_server(Suite *suite);

/* Runs none of it: the report is a TAP plan of no tests, or status 77 if it is not TAP. Gives the exit status. */
int suite_skip(Suite *suite, const char *why);

/* A program of tests: its tests stand in groups, and each is added where it is written, in the order of the file.
 *
 *     GROUP(held, "a held lock", open_rig, close_rig)
 *
 *     TEST(held, it_ends_with_its_ttl)
 *     {
 *         ...
 *     }
 *
 *     SUITE("hold")
 *
 * setup and teardown of a group run around each of its tests, and may be NULL. TESTS() runs a test with `_i` from
 * `first` to the number before `end`. TEST_AGAIN() adds a test that stands above to one more group. SUITE() is main();
 * with SUITE_WITH_SERVER() the program is skipped without a server. */
#define GROUP(group, name, setup, teardown) \
    static struct suite_group group##_group = {name, setup, teardown, NULL}; \
    static struct suite_group *const group = &group##_group;
#define TESTS_IF(condition, group, test, first, end) \
    static const TTest *test; \
    __attribute__((constructor)) static void test##_is_added(void) \
    { \
        if (condition) \
            suite_add(group, test, first, (int)(end)); \
    } \
    START_TEST(test)
#define TESTS(group, test, first, end) TESTS_IF(true, group, test, first, end)
#define TEST_IF(condition, group, test) TESTS_IF(condition, group, test, 0, 1)
#define TEST(group, test) TESTS_IF(true, group, test, 0, 1)

#define TESTS_AGAIN(group, test, first, end) \
    __attribute__((constructor)) static void test##_is_added_to_##group(void) \
    { \
        suite_add(group, test, first, (int)(end)); \
    }
#define TEST_AGAIN(group, test) TESTS_AGAIN(group, test, 0, 1)

/* For a server that is Redis MAJOR.MINOR or later, or any Valkey. With another one the report says in a line that
 * begins with "# SKIP" that the test is left out, and what the server lacks. */
#define TEST_SINCE(group, test, major, minor, lacking) \
    static const TTest *test; \
    __attribute__((constructor)) static void test##_is_added(void) \
    { \
        suite_add_since(group, test, major, minor, lacking); \
    } \
    START_TEST(test)

#define SUITE(name) \
    int main(void) \
    { \
        return suite_run(suite_collect(name)); \
    }
#define SUITE_WITH_SERVER(name) \
    int main(void) \
    { \
        return suite_run_with_server(suite_collect(name)); \
    }

struct suite_group {
    const char *name;
    void (*setup)(void);
    void (*teardown)(void);
    TCase *tests; /* NULL: none has been added yet */
};

void suite_add(struct suite_group *group, const TTest *test, int first, int end);
void suite_add_since(struct suite_group *group, const TTest *test, int major, int minor, const char *lacking);

/* A suite of all groups of the program, for a main() that does more. */
Suite *suite_collect(const char *name);

/* Whether the server that is tested with is Redis MAJOR.MINOR or later, or any Valkey. */
bool suite_server_is(int major, int minor);

/* Whether the server reads the wall clock for each command. Valkey does so once in a millisecond since 9.1, and goes on
 * by a clock of its own in between. */
bool suite_clock_can_be_stopped(void);

/* The server to test with, from $REDLOCK_SERVER or PATH; false if there is none. */
bool suite_has_server(void);

/* Whether the system can resolve "localhost": a bare one may have no /etc/hosts. Tests of names that exist are left
 * out without it. */
bool suite_resolves_localhost(void);

/* For calls that may end as they like. */
static inline void suite_any(int status)
{
}

/* Seconds after which a wait for an event counts as failed. */
#define SUITE_PATIENCE_S 45

#endif
