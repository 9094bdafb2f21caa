/* TLS between a client and real masters: what works, and each failure in words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program_rig.h"
#include "watch.h"

static void start(size_t n, enum masters_tls tls)
{
    struct masters_options options = {.count = n, .tls = tls};

    rig_start(&rig, &options);
}

/* Runs a script in the masters' directory, where ca, server and client (.crt, .key) are. */
static void shell(const char *script)
{
    char command[2048];

    snprintf(command, sizeof command, "cd %s && { %s\n} >>openssl.log 2>&1", masters_dir(rig.masters), script);
    ck_assert_msg(system(command) == 0, "%s", command);
}

#define GOOD "491231235959Z"
#define EXPIRED "200102000000Z"

/* NAME.crt and NAME.key, of the CA; `alt` are its names, and it is valid from the year 2020 to `end`. For an end in the
 * past it takes openssl-ca(1). */
static void issue(const char *name, const char *ca, const char *alt, const char *end)
{
    char script[1200];

    snprintf(script, sizeof script,
             "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out %s.key\n"
             "printf 'subjectAltName=%s\\n' >%s.ext\n"
             "openssl req -new -key %s.key -subj '/CN=redlock %s' -out %s.csr\n"
             "printf '[ca]\ndefault_ca=d\n[d]\ndatabase=issued\nnew_certs_dir=.\npolicy=p\nrand_serial=yes\n"
             "[p]\ncommonName=supplied\n' >ca.cnf\n"
             ": >issued\n"
             "openssl ca -batch -notext -config ca.cnf -md sha256 -in %s.csr -cert %s.crt -keyfile %s.key "
             "-startdate 200101000000Z -enddate %s -extfile %s.ext -out %s.crt",
             name, alt, name, name, name, name, name, ca, ca, end, name, name);
    shell(script);
}

static void issue_other_ca(void)
{
    shell("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out other.key\n"
          "openssl req -x509 -new -key other.key -days 30 -subj '/CN=another CA' -out other.crt");
}

/* From now on the masters show this certificate. */
static void show(const char *name)
{
    char certificate[200], key[200];

    snprintf(certificate, sizeof certificate, "%s/%s.crt", masters_dir(rig.masters), name);
    snprintf(key, sizeof key, "%s/%s.key", masters_dir(rig.masters), name);
    rig_do_all(&rig, "CONFIG", "SET", "tls-cert-file", certificate, "tls-key-file", key, NULL);
}

static void expect_locking_works(void)
{
    struct outcome outcome;

    rig_connect(&rig);
    outcome = rig_expect_release(&rig, rig_hold(&rig, "secured", 20000), REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, rig.n);
}

static bool first_has_failed(void *argument)
{
    const char *words = argument;
    const struct redlock_node_stats stats = watch_node_stats(rig.client, 0);

    return stats.disconnects > 0 && (!words || strstr(stats.last_error, words));
}

static void create(void)
{
    struct redlock_error error = {0};

    ck_assert_msg(redlock_client_create(rig.base, rig.urls, rig.n, &rig.options, &rig.client, &error) == 0, "%s",
                  error.text);
}

/* It cannot connect, and says why. */
static void expect_failure(const char *words)
{
    create();
    rig_wait(&rig, first_has_failed, NULL, "the connection to fail");
    ck_assert_ptr_nonnull(strstr(watch_node_stats(rig.client, 0).last_error, words));
}

static void expect_refused(const char *words)
{
    struct redlock_error error = {0};
    int status = redlock_client_create(rig.base, rig.urls, rig.n, &rig.options, &rig.client, &error);

    ck_assert_int_eq(status, REDLOCK_E_TLS);
    ck_assert_msg(strstr(error.text, words) != NULL, "%s", error.text);
}

/* --- What works ------------------------------------------------------------------------------------------------ */

/* A certificate and its key only fit together. */
#define NEW_CERTIFICATES "settings that are changed together"

GROUP(works, "works", NULL, rig_end)

TEST(works, locks_are_taken_over_tls)
{
    start(3, MASTERS_TLS);
    rig.options.tls_cert_file = rig.options.tls_key_file = NULL;
    expect_locking_works();
}

TEST(works, a_client_certificate_is_shown)
{
    start(3, MASTERS_TLS_MUTUAL);
    expect_locking_works();
}

TEST(works, version_1_3_may_be_demanded)
{
    start(3, MASTERS_TLS);
    rig.options.tls_min_version = REDLOCK_TLS_1_3;
    rig.options.tls_ciphersuites = "TLS_AES_256_GCM_SHA384";
    expect_locking_works();
}

TEST(works, version_1_2_does)
{
    start(3, MASTERS_TLS_MUTUAL);
    rig_do_all(&rig, "CONFIG", "SET", "tls-protocols", "TLSv1.2", NULL);
    rig.options.tls_ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
    expect_locking_works();
}

TEST(works, a_directory_of_cas_does)
{
    char path[200];

    start(3, MASTERS_TLS);
    shell("mkdir cas && cp ca.crt cas && openssl rehash cas");
    snprintf(path, sizeof path, "%s/cas", masters_dir(rig.masters));
    rig.options.tls_ca_file = "";
    rig.options.tls_ca_dir = path;
    expect_locking_works();
}

TEST_SINCE(works, without_verification_any_certificate_does, 7, 0, NEW_CERTIFICATES)
{
    start(1, MASTERS_TLS);
    issue_other_ca();
    issue("stranger", "other", "DNS:elsewhere.example", EXPIRED);
    show("stranger");
    rig.options.tls_insecure_skip_verify = 1;
    expect_locking_works();
}

TEST_SINCE(works, a_server_name_stands_for_the_address, 7, 0, NEW_CERTIFICATES)
{
    start(1, MASTERS_TLS);
    issue("named", "ca", "DNS:redis.example", GOOD);
    show("named");
    rig.options.tls_server_name = "redis.example";
    expect_locking_works();
}

/* Sixty locks with long keys at once, acquired and released: records of many commands, both ways. */
TEST(works, many_records_keep_their_order)
{
    enum { LOCKS = 60 };
    static struct outcome outcomes[LOCKS];
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *locks[LOCKS];
    char key[1000];

    start(3, MASTERS_TLS);
    rig_connect(&rig);
    memset(key, 'k', sizeof key);
    for (size_t i = 0; i < LOCKS; i++) {
        snprintf(key + 990, 10, "%04zu", i);
        locks[i] = rig_new_lock(rig.client, key);
        ck_assert_int_eq(redlock_acquire(locks[i], &request, outcome_record, &outcomes[i]), 0);
    }
    for (size_t i = 0; i < LOCKS; i++) {
        rig_wait_outcome(&rig, &outcomes[i]);
        outcome_expect(&outcomes[i], REDLOCK_OK);
    }
    for (size_t i = 0; i < LOCKS; i++) {

        rig_expect_release(&rig, locks[i], REDLOCK_OK);
    }
    ck_assert_uint_eq(watch_node_stats(rig.client, 0).disconnects, 0);
}

/* The last words are handed to the kernel before the connection ends, and the server hears them. */
TEST(works, a_destroyed_client_leaves_no_key)
{
    start(3, MASTERS_TLS);
    rig_connect(&rig);
    rig_hold(&rig, "left", 60000);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    rig_wait_absent(&rig, "left");
}

/* A word of the child's in the session would break it. */
TEST(works, a_forked_child_leaves_the_session_alone)
{
    struct redlock_lock *lock;
    pid_t child;

    start(3, MASTERS_TLS);
    rig_connect(&rig);
    lock = rig_hold(&rig, "kept", 60000);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        redlock_client_destroy(rig.client);
        _exit(0);
    }
    rig_wait_child(&rig, child);
    rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 0; i < rig.n; i++)
        ck_assert_uint_eq(watch_node_stats(rig.client, i).disconnects, 0);
}

/* --- What fails, in words -------------------------------------------------------------------------------------- */

GROUP(fails, "fails", NULL, rig_end)

TEST_SINCE(fails, an_unknown_ca_is_named, 7, 0, NEW_CERTIFICATES)
{
    start(1, MASTERS_TLS);
    issue_other_ca();
    issue("stranger", "other", "IP:127.0.0.1", GOOD);
    show("stranger");
    expect_failure("unknown CA: the server's certificate was issued by \"another CA\", which is not trusted");
}

TEST(fails, the_systems_cas_are_the_default)
{
    start(1, MASTERS_TLS);
    rig.options.tls_ca_file = NULL;
    expect_failure("unknown CA");
}

TEST_SINCE(fails, an_expired_certificate_says_since_when, 7, 0, NEW_CERTIFICATES)
{
    start(1, MASTERS_TLS);
    issue("old", "ca", "IP:127.0.0.1", EXPIRED);
    show("old");
    expect_failure("the server's certificate has expired on 20");
}

TEST_SINCE(fails, a_wrong_name_is_told_with_the_right_ones, 7, 0, NEW_CERTIFICATES)
{
    start(1, MASTERS_TLS);
    issue("named", "ca", "DNS:redis.example,IP:10.0.0.5", GOOD);
    show("named");
    expect_failure("the server's certificate is for redis.example, 10.0.0.5, not for 127.0.0.1");
}

TEST(fails, a_wanted_server_name_is_checked)
{
    start(1, MASTERS_TLS);
    rig.options.tls_server_name = "redis.example";
    expect_failure("is for localhost, 127.0.0.1, ::1, not for redis.example");
}

TEST(fails, a_missing_client_certificate_is_told)
{
    start(1, MASTERS_TLS_MUTUAL);
    rig.options.tls_cert_file = rig.options.tls_key_file = NULL;
    expect_failure("the server requires a client certificate");
}

TEST(fails, a_missing_client_certificate_is_told_by_1_2)
{
    start(1, MASTERS_TLS_MUTUAL);
    rig_do_all(&rig, "CONFIG", "SET", "tls-protocols", "TLSv1.2", NULL);
    rig.options.tls_cert_file = rig.options.tls_key_file = NULL;
    expect_failure("the server requires a client certificate");
}

TEST(fails, an_old_version_is_told)
{
    start(1, MASTERS_TLS);
    rig_do_all(&rig, "CONFIG", "SET", "tls-protocols", "TLSv1.2", NULL);
    rig.options.tls_min_version = REDLOCK_TLS_1_3;
    expect_failure("protocol version");
}

static char url[200];

/* A plain master may wait for more of what it takes for a command. */
TEST(fails, a_plain_master_is_no_tls)
{
    struct masters_options options = {.count = 1, .tcp = true};

    rig_start(&rig, &options);
    rig.options.connect_timeout_ms = 300;
    snprintf(url, sizeof url, "rediss://127.0.0.1:%s", strrchr(masters_url(rig.masters, 0), ':') + 1);
    rig.urls[0] = url;
    expect_failure("no TLS at this port");
}

/* The other way round the server's answer to a command is an alert. */
TEST(fails, a_plain_client_at_a_tls_port_fails)
{
    start(1, MASTERS_TLS);
    snprintf(url, sizeof url, "redis://127.0.0.1:%s", strrchr(masters_url(rig.masters, 0), ':') + 1);
    rig.urls[0] = url;
    expect_failure("");
}

TEST(fails, files_that_cannot_be_used_are_refused_at_once)
{
    char path[200];

    start(1, MASTERS_TLS);
    rig.options.tls_ca_file = "/nowhere/ca.crt";
    expect_refused("tls_ca_file /nowhere/ca.crt: No such file or directory");
    rig.options.tls_ca_file = rig.files[2];
    expect_refused("holds no certificate");
    rig.options.tls_ca_file = "/dev/zero";
    expect_refused("tls_ca_file /dev/zero: it is no regular file");
    rig.options.tls_ca_file = "/tmp";
    expect_refused("tls_ca_file /tmp: it is a directory");
    rig.options.tls_ca_file = rig.files[0];
    rig.options.tls_ca_dir = rig.files[0];
    expect_refused("Not a directory");
    rig.options.tls_ca_dir = NULL;
    snprintf(path, sizeof path, "%s/server.key", masters_dir(rig.masters));
    rig.options.tls_key_file = path;
    expect_refused("tls_key_file");
    rig.options.tls_key_file = NULL;
    expect_refused("tls_key_file is missing");
    rig_trust(&rig);
    rig.options.tls_ciphers = "NO-SUCH-CIPHER";
    expect_refused("tls_ciphers");
    rig.options.tls_ciphers = NULL;
    shell("openssl pkey -in client.key -aes128 -passout pass:secret -out locked.key");
    snprintf(path, sizeof path, "%s/locked.key", masters_dir(rig.masters));
    rig.options.tls_key_file = path;
    expect_refused("tls_key_file");
}

/* --- Rotation -------------------------------------------------------------------------------------------------- */

static void reconnect(void)
{
    rig_do_all(&rig, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes", NULL);
    rig_wait_link(&rig, rig.client, 0, REDLOCK_LINK_DOWN);
}

TEST_SINCE(works, a_new_ca_is_read_without_a_restart, 7, 0, NEW_CERTIFICATES)
{
    start(1, MASTERS_TLS);
    rig_connect(&rig);
    issue_other_ca();
    issue("next", "other", "IP:127.0.0.1", GOOD);
    show("next");
    reconnect();
    rig_wait(&rig, first_has_failed, (char[]){"unknown CA"}, "the new certificate to be refused");
    shell("cp other.crt ca.crt");
    rig_wait_link(&rig, rig.client, 0, REDLOCK_LINK_READY);
}

TEST_SINCE(works, what_was_read_before_stays_while_a_file_is_broken, 7, 0, NEW_CERTIFICATES)
{
    start(1, MASTERS_TLS_MUTUAL);
    rig_connect(&rig);
    shell("cp client.crt good.crt && echo nonsense >client.crt");
    reconnect();
    rig_wait_link(&rig, rig.client, 0, REDLOCK_LINK_READY);
    issue("old", "ca", "IP:127.0.0.1", EXPIRED);
    show("old");
    reconnect();
    rig_wait(&rig, first_has_failed, (char[]){"not read again: tls_cert_file"}, "the broken file to be told");
}

/* None of these may be waited for by the loop that renews locks: its end would never come. */
static void expect_unread(const char *script, char *words)
{
    struct redlock_lock *lock;

    start(1, MASTERS_TLS_MUTUAL);
    rig_connect(&rig);
    lock = rig_hold(&rig, "kept", 60000);
    shell(script);
    reconnect();
    rig_wait_link(&rig, rig.client, 0, REDLOCK_LINK_READY);
    rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    issue("old", "ca", "IP:127.0.0.1", EXPIRED);
    show("old");
    reconnect();
    rig_wait(&rig, first_has_failed, words, "the file to be told");
}

TEST_SINCE(works, a_pipe_in_a_files_place_holds_nothing_up, 7, 0, NEW_CERTIFICATES)
{
    expect_unread("rm client.key && mkfifo client.key", (char[]){"client.key: a pipe is read only once"});
}

TEST_SINCE(works, a_device_in_a_files_place_holds_nothing_up, 7, 0, NEW_CERTIFICATES)
{
    expect_unread("ln -sf /dev/zero client.crt", (char[]){"client.crt: it is no regular file"});
}

TEST_SINCE(works, a_file_without_measure_holds_nothing_up, 7, 0, NEW_CERTIFICATES)
{
    expect_unread("truncate -s 5M client.crt", (char[]){"client.crt: it has more than 4 MiB"});
}

TEST_SINCE(works, a_directory_in_a_files_place_is_told, 7, 0, NEW_CERTIFICATES)
{
    expect_unread("rm client.crt && mkdir client.crt", (char[]){"client.crt: it is a directory"});
}

/* As a shell's <(command) is. */
TEST(works, a_pipe_serves_a_client_that_begins)
{
    char path[200], text[4096];
    FILE *file;
    int ends[2];
    size_t n;

    start(1, MASTERS_TLS_MUTUAL);
    snprintf(path, sizeof path, "%s/client.key", masters_dir(rig.masters));
    file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    n = fread(text, 1, sizeof text, file);
    fclose(file);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], text, n), (ssize_t)n);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    rig.options.tls_key_file = path;
    expect_locking_works();
    reconnect();
    rig_wait_link(&rig, rig.client, 0, REDLOCK_LINK_READY);
    close(ends[0]);
}

SUITE_WITH_SERVER("tls")
