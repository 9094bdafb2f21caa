/* The command over TLS, on masters that want a certificate of the client. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "locks_rig.h"
#include "suite.h"

enum { N = 3 };

static void set_file(const char *variable, const char *name)
{
    char path[200];

    snprintf(path, sizeof path, "%s/%s", masters_dir(masters), name);
    setenv(variable, path, 1);
}

static void forget(void)
{
    unsetenv("REDLOCK_TLS_CA");
    unsetenv("REDLOCK_TLS_CERT");
    unsetenv("REDLOCK_TLS_KEY");
    unsetenv("REDLOCK_TLS_MIN_VERSION");
    unsetenv("REDLOCK_TLS_NO_RESUMPTION");
}

static void open_masters(void)
{
    const struct masters_options options = {.count = N, .tls = MASTERS_TLS_MUTUAL};

    forget();
    locks_start_with(&options);
    set_file("REDLOCK_TLS_CA", "ca.crt");
    set_file("REDLOCK_TLS_CERT", "client.crt");
    set_file("REDLOCK_TLS_KEY", "client.key");
    locks_declare_new();
}

static void expect_end(const char *line, int code, const char *out, const char *err)
{
    tool_expect(&tool, code);
    ck_assert_msg(strstr(tool.out, out) != NULL, "'%s' prints:\n%s\n%s", line, tool.out, tool.err);
    ck_assert_msg(strstr(tool.err, err) != NULL, "'%s' says:\n%s", line, tool.err);
}

static void expect(const char *line, int code, const char *out, const char *err)
{
    tool_run(&tool, line);
    expect_end(line, code, out, err);
}

static void expect_tour(const char *line)
{
    tool_run_tour(&tool, line);
    expect_end(line, 0, "checks held", "");
}

/* expect(), with the files as options: %s in the line is the masters' directory. */
static void expect_with(const char *format, int code, const char *out, const char *err)
{
    char line[1024];
    const char *dir = masters_dir(masters);

    forget();
    snprintf(line, sizeof line, format, dir, dir, dir);
    expect(line, code, out, err);
}

GROUP(tls, "tls", open_masters, locks_close)

TEST(tls, options_name_the_files)
{
    expect_with("lock job --tls-ca %s/ca.crt --tls-cert %s/client.crt --tls-key %s/client.key", 0, "", "");
    expect_with("status job --tls-ca %s/ca.crt --tls-cert %s/client.crt --tls-key %s/client.key", 0,
                "held by ", "");
    expect_with("break job --yes --tls-ca %s/ca.crt --tls-cert %s/client.crt --tls-key %s/client.key", 0, "",
                "deleted on ");
}

TEST(tls, the_environment_names_the_files)
{
    locks_unlock(locks_lock());
    tool_expect(&tool, 0);
    expect("run job --fence -- echo worked", 0, "worked", "");
    expect("status job", 1, "free: no key on the 3 of 3 masters", "");
    expect("nodes", 0, "safe quorum: 3 of 3 masters vote", "");
}

TEST(tls, a_port_with_tls_is_told_from_one_that_is_down)
{
    char list[1024] = "";

    for (size_t i = 0; i < N; i++)
        strcat(strcat(list, i > 0 ? "," : ""), strstr(masters_url(masters, i), "://") + strlen("://"));
    setenv("REDLOCK_NODES", list, 1);
    expect("nodes", 3, "it speaks TLS at this port, and its URL does not begin with", "");
    expect("nodes --json", 3, "Write rediss:// in front of it", "");
}

TEST(tls, the_printed_command_speaks_tls_with_the_same_files)
{
    char command[640];
    const char *dir = masters_dir(masters);

    ck_assert(masters_kill(masters, 0));
    snprintf(command, sizeof command, " --tls --cacert %s/ca.crt --cert %s/client.crt --key %s/client.key PING\n", dir,
             dir, dir);
    expect("nodes", 0, command, "");
}

TEST(tls, status_shows_the_queue_over_tls)
{
    for (size_t i = 0; i < N; i++) {
        locks_command(i, (const char *const[]){"ZADD", "redlock:queue:job", "17", "waiter", NULL});
        locks_command(i, (const char *const[]){"HSET", "redlock:waiters:job", "waiter", "99999999999999 0 - 0 0 c",
                                               NULL});
    }
    locks_store(0, "a");
    expect("status job", 1, "wait queue: 1\n", "");
}

TEST(tls, a_wrong_ca_is_told_in_words)
{
    set_file("REDLOCK_TLS_CA", "client.crt");
    expect("lock job", 3, "",
           "unknown CA: the server's certificate was issued by \"redlock test CA\", which is not trusted");
    expect("status job", 3, "unknown CA: the server's certificate was issued by \"redlock test CA\", which", "");
    expect("nodes", 3, "unknown CA: ", "");
    expect("nodes", 3, "--tls-server-name", "");
}

TEST(tls, a_missing_client_certificate_is_told_in_words)
{
    expect_with("lock job --tls-ca %s/ca.crt", 3, "", "the server requires a client certificate");
    expect_with("status job --tls-ca %s/ca.crt", 3, "the server requires a client certificate", "");
}

TEST(tls, a_wrong_name_is_refused_unless_nothing_is_verified)
{
    expect("status job --tls-server-name redis.example", 3, "::1, not for redis.example", "");
    expect("lock job --tls-server-name redis.example", 3, "", "::1, not for redis.example");
    expect("status job --tls-server-name redis.example --tls-insecure-skip-verify", 1, "free", "");
    expect("status job --tls-server-name localhost --tls-no-resumption", 1, "free", "");
}

TEST(tls, versions_and_ciphers_are_passed_on)
{
    for (size_t i = 0; i < N; i++)
        locks_command(i, (const char *const[]){"CONFIG", "SET", "tls-protocols", "TLSv1.2", NULL});
    setenv("REDLOCK_TLS_MIN_VERSION", "1.3", 1);
    expect("status job", 3, "protocol version", "");
    expect("lock job", 3, "", "protocol version");
    expect("status job --tls-min-version 1.2 --tls-ciphers ECDHE-ECDSA-AES256-GCM-SHA384", 1, "free", "");
    expect("lock job --tls-min-version 1.2 --tls-ciphers NO-SUCH-CIPHER", 2, "", "tls_ciphers NO-SUCH-CIPHER");
    expect("lock job --tls-min-version 1.2 --tls-ciphersuites NONE", 2, "", "tls_ciphersuites NONE");
}

TEST(tls, files_that_cannot_be_used_are_wrong_usage)
{
    expect("lock job --tls-key /nowhere/client.key", 2, "",
           "redlock: lock: tls_key_file /nowhere/client.key: No such file or directory");
    expect("run job --tls-ca /nowhere/ca.crt -- true", 125, "",
           "redlock: run: tls_ca_file /nowhere/ca.crt: No such file or directory");
    unsetenv("REDLOCK_TLS_KEY");
    expect("status job", 2, "", "tls_key_file is missing");
    setenv("REDLOCK_TLS_NO_RESUMPTION", "yes", 1);
    expect("status job", 2, "", "redlock: status: REDLOCK_TLS_NO_RESUMPTION: 'yes' is not 0 or 1");
    unsetenv("REDLOCK_TLS_NO_RESUMPTION");
    setenv("REDLOCK_TLS_MIN_VERSION", "1.1", 1);
    expect("status job", 2, "", "'1.1' is not one of 1.2, 1.3");
}

/* The environment may be for other masters, but an option is for these. */
TEST(tls, options_without_use_are_wrong_usage)
{
    const char *message = "--tls-ca is for masters with TLS, and no URL begins with rediss://";

    expect("status job --nodes 127.0.0.1:1", 3, "unknown", "");
    expect("status job --nodes 127.0.0.1:1 --tls-ca f", 2, "", message);
}

/* The laboratory's. */
static const char *lab;

TEST_IF(lab, tls, bench_measures_over_tls)
{
    char line[2048];

    tool_set_path(lab);
    expect("bench --tls-ca f", 2, "", "--tls-ca is for masters with TLS, and no URL begins with rediss://");
    snprintf(line, sizeof line, "bench --locks 20 --warmup 0 --json --nodes %s", getenv("REDLOCK_NODES"));
    expect(line, 0, "\"failed\":0,", "");
    snprintf(line, sizeof line, "bench --floor --nodes %s", getenv("REDLOCK_NODES"));
    expect(line, 2, "", "--floor works without TLS only");
}

TEST_IF(lab, tls, bench_starts_masters_with_tls)
{
    tool_set_path(lab);
    expect("bench --local 3 --tls --locks 20 --warmup 0 --json", 0, "\"failed\":0,", "");
    expect("bench --local 3 --tls --unix", 2, "", "--tls works with --local only");
    expect("bench --local 3 --tls --floor", 2, "", "--floor works without TLS only");
}

TEST(tls, the_tour_holds_its_checks_over_tls)
{
    expect_tour("demo --fast --tls");
    expect("demo --tls --tls-ca f", 2, "", "--tls-ca is for masters with TLS");
    expect("demo --tls --nodes rediss://127.0.0.1:1", 2, "", "--tls is for the servers of the demo's own");
}

TEST(tls, the_tour_uses_other_masters_over_tls)
{
    char line[2048];

    snprintf(line, sizeof line, "demo --fast --nodes %s", getenv("REDLOCK_NODES"));
    expect_tour(line);
}

int main(int argc, char **argv)
{
    lab = argc == 3 ? argv[2] : NULL;
    return tool_run_suite(argc - (lab ? 1 : 0), argv, suite_collect("tls"));
}
