/* The private masters come and go: what survives which restart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask.h"
#include "suite.h"

static struct masters *masters;

static void start(size_t count, bool tcp, enum masters_persistence persistence)
{
    struct masters_options options = {.count = count, .tcp = tcp, .persistence = persistence};

    masters = ask_open(&options);
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

static const struct {
    enum masters_persistence mode;
    const char *appendonly;
    const char *appendfsync; /* NULL: does not matter */
    const char *value;       /* of a key after a restart */
} modes[] = {
    {MASTERS_VOLATILE, "no", NULL, "(nil)"},
    {MASTERS_EVERYSEC, "yes", "everysec", "v"},
    {MASTERS_ALWAYS, "yes", "always", "v"},
};
#define N_MODES 3

GROUP(lives, "lives", NULL, stop)

TESTS(lives, a_master_persists_as_asked, 0, N_MODES)
{
    char expected[64];

    start(1, false, modes[_i].mode);
    snprintf(expected, sizeof expected, "appendonly\n%s", modes[_i].appendonly);
    ask_expect(masters, 0, "CONFIG GET appendonly", expected);
    ask_expect(masters, 0, "CONFIG GET save", "save\n");
    if (modes[_i].appendfsync) {
        snprintf(expected, sizeof expected, "appendfsync\n%s", modes[_i].appendfsync);
        ask_expect(masters, 0, "CONFIG GET appendfsync", expected);
    }
}

TESTS(lives, a_killed_master_comes_back_with_what_its_mode_keeps, 0, N_MODES)
{
    start(1, false, modes[_i].mode);
    ask_expect(masters, 0, "SET k v", "OK");
    kill_one(0);
    ck_assert_int_eq(masters_pid(masters, 0), 0);
    restart(0);
    ask_expect(masters, 0, "GET k", modes[_i].value);
}

/* Over TCP and over unix sockets. */
TESTS(lives, a_wiped_master_comes_back_empty_on_its_address, 0, 2)
{
    char *url;

    start(2, _i, MASTERS_ALWAYS);
    url = strdup(masters_url(masters, 0));
    ask_expect(masters, 0, "SET k v", "OK");
    ask_expect(masters, 1, "SET k v", "OK");
    kill_one(0);
    ck_assert_msg(masters_wipe(masters, 0), "%s", masters_error());
    restart(0);
    ck_assert_str_eq(masters_url(masters, 0), url);
    ask_expect(masters, 0, "DBSIZE", "(integer) 0");
    ask_expect(masters, 1, "GET k", "v");
    free(url);
}

TEST(lives, what_a_wiped_master_stores_from_then_on_is_kept)
{
    start(1, false, MASTERS_ALWAYS);
    ask_expect(masters, 0, "SET old v", "OK");
    kill_one(0);
    ck_assert_msg(masters_wipe(masters, 0), "%s", masters_error());
    restart(0);
    ask_expect(masters, 0, "SET new v", "OK");
    kill_one(0);
    restart(0);
    ask_expect(masters, 0, "KEYS *", "new");
}

TEST(lives, a_running_master_is_neither_wiped_nor_set_up_nor_restarted)
{
    struct masters_setup setup = {.persistence = MASTERS_VOLATILE};

    start(1, false, MASTERS_ALWAYS);
    ask_expect(masters, 0, "SET k v", "OK");
    ck_assert(!masters_wipe(masters, 0));
    ck_assert(!masters_set_up(masters, 0, &setup));
    ck_assert(!masters_restart(masters, 0));
    ck_assert_str_eq(masters_error(), "master 0 is running");
    kill_one(0);
    restart(0);
    ask_expect(masters, 0, "GET k", "v");
}

static void expect_no_masters(const char *why)
{
    const struct masters_options options = {.count = 1, .tls = MASTERS_TLS, .server = "/bin/true"};

    ck_assert_ptr_null(masters_create(&options));
    ck_assert_msg(strstr(masters_error(), why) != NULL, "%s", masters_error());
}

/* In the PATH there is a shell and nothing else; then an openssl, too, that fails. */
TEST(lives, why_there_are_no_certificates_is_told)
{
    char dir[] = "/tmp/redlock-path-XXXXXX";
    char shell[64], openssl[64];
    char *path = strdup(getenv("PATH"));
    FILE *file;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(shell, sizeof shell, "%s/sh", dir);
    snprintf(openssl, sizeof openssl, "%s/openssl", dir);
    ck_assert_int_eq(symlink("/bin/sh", shell), 0);
    setenv("PATH", dir, 1);
    expect_no_masters("there is no program \"openssl\"");
    file = fopen(openssl, "w");
    ck_assert_ptr_nonnull(file);
    fputs("#!/bin/sh\necho first >&2; echo what is wrong >&2; exit 3\n", file);
    ck_assert_int_eq(fchmod(fileno(file), 0700), 0);
    ck_assert_int_eq(fclose(file), 0);
    expect_no_masters("by the openssl command: what is wrong");
    setenv("PATH", path, 1);
    free(path);
    ck_assert_int_eq(unlink(openssl) | unlink(shell) | rmdir(dir), 0);
}

TEST(lives, a_hung_master_answers_again_when_it_is_resumed)
{
    start(1, false, MASTERS_VOLATILE);
    ask_expect(masters, 0, "SET k v", "OK");
    ck_assert_msg(masters_hang(masters, 0), "%s", masters_error());
    ck_assert_ptr_null(masters_get(masters, 0, "k"));
    ck_assert_str_eq(masters_error(), "master 0 is hung");
    ck_assert_uint_eq(masters_count_key(masters, "k"), 0);
    ck_assert_msg(masters_resume(masters, 0), "%s", masters_error());
    ask_expect(masters, 0, "GET k", "v");
}

TEST(lives, a_hung_master_can_be_killed_and_comes_back_running)
{
    start(1, false, MASTERS_ALWAYS);
    ask_expect(masters, 0, "SET k v", "OK");
    ck_assert_msg(masters_hang(masters, 0), "%s", masters_error());
    kill_one(0);
    restart(0);
    ask_expect(masters, 0, "GET k", "v");
    ck_assert_uint_eq(masters_count_key(masters, "k"), 1);
}

TEST(lives, an_error_reply_is_a_failure_with_its_text)
{
    start(1, false, MASTERS_VOLATILE);
    ask_expect(masters, 0, "LPUSH k v", "(integer) 1");
    ask_refused(masters, 0, "GET k", "WRONGTYPE");
    kill_one(0);
    ask_refused(masters, 0, "PING", "master 0 is down");
}

SUITE_WITH_SERVER("masters")
