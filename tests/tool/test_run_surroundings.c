/* What `redlock run` gives to its command and to others: environment, files, notes and messages. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "run_rig.h"
#include "suite.h"

/* --- Environment ------------------------------------------------------------------------------------------------- */

static const char *variable(const char *name)
{
    static char value[256];
    char line[192];
    const char *found;

    snprintf(line, sizeof line, "\n%s=", name);
    found = strstr(tool.out, line);
    ck_assert_msg(found != NULL, "%s is missing in:\n%s", name, tool.out);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(found + strlen(line), "\n"), found + strlen(line));
    return value;
}

GROUP(surroundings, "surroundings", locks_open, locks_close)

TEST(surroundings, the_environment_tells_about_the_lock)
{
    struct timespec now;

    setenv("REDLOCK_KEY", "a lie", 1);
    setenv("REDLOCK_FENCE", "1", 1);
    setenv("NOTIFY_SOCKET", "/nowhere", 1);
    rig_run(0, WORDS("--ttl", "20s", "--lock-file", rig_path("lock.json"), SH("echo; env")));
    clock_gettime(CLOCK_BOOTTIME, &now);
    ck_assert_str_eq(variable("REDLOCK_KEY"), "job");
    ck_assert_uint_eq(strcspn(variable("REDLOCK_TOKEN"), ":"), 36);
    ck_assert_str_eq(variable("REDLOCK_TTL_MS"), "20000");
    ck_assert_str_eq(variable("REDLOCK_LOCK_FILE"), rig_path("lock.json"));
    ck_assert_int_gt(atoll(variable("REDLOCK_VALID_UNTIL")) / 1000000000, now.tv_sec);
    ck_assert_int_le(atoll(variable("REDLOCK_VALID_UNTIL")) / 1000000000, now.tv_sec + 20);
    ck_assert_ptr_nonnull(strstr("3/5 4/5 5/5", variable("REDLOCK_NODES_OK")));
    ck_assert_ptr_null(strstr(tool.out, "REDLOCK_FENCE="));
    ck_assert_ptr_null(strstr(tool.out, "NOTIFY_SOCKET="));
}

TEST(surroundings, the_command_finds_the_lock_file_from_wherever_it_goes)
{
    char check[PATH_MAX + 64];
    char path[PATH_MAX];

    ck_assert_ptr_nonnull(realpath(tool_path(), path));
    tool_set_path(path);
    snprintf(check, sizeof check, "cd / && '%s' check --quiet && echo \"$REDLOCK_LOCK_FILE\"", path);
    ck_assert_int_eq(chdir(rig_path("")), 0);
    rig_run(0, WORDS("--lock-file", "lock.json", SH(check)));
    ck_assert_int_eq(strncmp(tool.out, rig_path("lock.json"), strlen(rig_path("lock.json"))), 0);
}

/* A lock that was handed off is valid for two seconds at first. */
TEST(surroundings, the_command_begins_with_most_of_the_ttl_before_it)
{
    const char *const next[] = {"run",          "--key", "job", "-v", "--wait", "25s", "--ttl", "30s",
                                "--kill-after", "14s",   SH("echo; env"), NULL};
    struct timespec now;
    struct tool waiting;
    struct tool run;

    rig_start(&run, WORDS(SH("echo ready; exec sleep 60")));
    tool_start(&waiting, next);
    rig_read_error(&waiting, "'job' is asked for");
    kill(run.pid, SIGTERM);
    tool_finish(&run);
    tool_expect_end(&waiting, 0);
    clock_gettime(CLOCK_BOOTTIME, &now);
    tool = waiting;
    ck_assert_int_gt(atoll(variable("REDLOCK_VALID_UNTIL")) / 1000000000, now.tv_sec + 20);
}

TEST(surroundings, the_fencing_token_grows)
{
    long long before = 0;

    for (int i = 0; i < 3; i++) {
        rig_run(0, WORDS("--fence", SH("echo $REDLOCK_FENCE")));
        ck_assert_int_gt(atoll(tool.out), before);
        before = atoll(tool.out);
    }
}

static void start_holder(struct tool *holder)
{
    rig_start(holder, WORDS("--permits", "1/3", SH("echo ready; exec sleep 60")));
}

TEST(surroundings, so_many_commands_run_as_there_are_permits)
{
    struct tool others[3];

    start_holder(&others[0]);
    start_holder(&others[1]);
    rig_run(0, WORDS("--permits", "1/3", "--lock-file", rig_path("lock.json"),
                     SH("echo $REDLOCK_SLOT; grep -c \"job#$REDLOCK_SLOT\" $REDLOCK_LOCK_FILE")));
    ck_assert(tool.out[0] >= '0' && tool.out[0] < '3');
    ck_assert_str_eq(tool.out + 1, "\n1\n");
    start_holder(&others[2]);
    rig_run(124, WORDS("--permits", "1/3", SH("echo no")));
    ck_assert_ptr_nonnull(strstr(tool.err, "all permits of 'job' are held by others"));
    for (size_t i = 0; i < 3; i++) {
        kill(others[i].pid, SIGTERM);
        tool_finish(&others[i]);
    }
    rig_run(0, WORDS(SH("echo slot[$REDLOCK_SLOT]")));
    ck_assert_str_eq(tool.out, "slot[]\n");
}

TEST(surroundings, a_command_may_have_several_permits)
{
    struct tool other;

    rig_run(0, WORDS("--permits", "3/3", "--fence", SH("echo $REDLOCK_SLOT | tr ' ' '\\n' | sort; "
                                                       "set -- $REDLOCK_TOKEN $REDLOCK_FENCE; echo $# $REDLOCK_KEY")));
    ck_assert_str_eq(tool.out, "0\n1\n2\n6 job\n");
    start_holder(&other);
    rig_run(124, WORDS("--permits", "3/3", SH("echo no")));
    ck_assert_ptr_nonnull(strstr(tool.err, "too many permits of 'job' are held by others: nothing was run"));
    rig_run(0, WORDS("--permits", "2/3", SH("echo $REDLOCK_SLOT | wc -w")));
    ck_assert_int_eq(atoi(tool.out), 2);
    kill(other.pid, SIGTERM);
    tool_finish(&other);
}

TEST(surroundings, the_command_has_the_streams_and_no_descriptor_of_ours)
{
    rig_run(0, WORDS(SH("echo out; echo err >&2; ls -l /proc/self/fd")));
    ck_assert_str_eq(tool.err, "err\n");
    ck_assert_ptr_nonnull(strstr(tool.out, "out\n"));
    ck_assert_ptr_null(strstr(tool.out, "socket:"));
    ck_assert_ptr_null(strstr(tool.out, "anon_inode:"));
}

TEST(surroundings, the_key_is_held_with_this_token_while_the_command_runs)
{
    struct tool run;
    size_t found = 0;

    rig_start(&run, WORDS(SH("echo $REDLOCK_TOKEN; echo ready; exec sleep 60")));
    for (size_t i = 0; i < 5; i++) {
        char *value = masters_get(masters, i, "job");

        found += value && strncmp(value, run.out, strlen(value)) == 0;
        free(value);
    }
    ck_assert_uint_ge(found, 3);
    kill(run.pid, SIGTERM);
    tool_finish(&run);
    rig_expect_free();
}

/* --- Files and notes --------------------------------------------------------------------------------------------- */

TEST(surroundings, the_lock_file_follows_the_renewals_and_is_removed)
{
    char first[64];
    const char *found;
    const char *path = rig_path("lock.json");
    struct tool run;
    struct stat seen;

    rig_start(&run, WORDS("--ttl", "5s", "-v", "--lock-file", path,
                          SH("cat $REDLOCK_LOCK_FILE; echo ready; exec sleep 60")));
    found = strstr(run.out, "\"valid_until_ns\":");
    ck_assert_ptr_nonnull(found);
    snprintf(first, sizeof first, "%.*s", (int)strcspn(found, ","), found);
    ck_assert_ptr_nonnull(strstr(run.out, "{\"schema\":1,\"state\":\"held\",\"key\":\"job\",\"token\":\""));
    rig_read_error(&run, "is renewed");
    while (strstr(rig_read(path), first))
        ck_assert_int_eq(kill(run.pid, 0), 0);
    ck_assert_ptr_nonnull(strstr(rig_read(path), "\"state\":\"held\""));
    ck_assert_int_eq(stat(path, &seen), 0);
    ck_assert_uint_eq(seen.st_mode & 0777, 0600);
    kill(run.pid, SIGTERM);
    tool_finish(&run);
    ck_assert_int_ne(access(path, F_OK), 0);
}

TEST(surroundings, check_tells_the_command_whether_the_lock_is_held)
{
    char script[600];

    snprintf(script, sizeof script, "%s check --at-least 100ms && ! %s check --at-least 1h --quiet", tool_path(),
             tool_path());
    rig_run(0, WORDS("--lock-file", rig_path("lock.json"), SH(script)));
    ck_assert_int_gt(atoi(tool.out), 20000);
}

TEST(surroundings, a_lost_lock_is_lost_in_the_lock_file_too)
{
    const char *path = rig_path("lock.json");
    struct tool run;

    rig_start(&run, WORDS("--ttl", "3s", "--no-renew", "--on-lost", "ignore", "--lock-file", path,
                          SH("echo ready; exec sleep 60")));
    rig_read_error(&run, "is lost");
    while (!strstr(rig_read(path), "\"state\":\"lost\""))
        ck_assert_int_eq(kill(run.pid, 0), 0);
    kill(run.pid, SIGTERM);
    tool_finish(&run);
    tool_expect_signal(&run, SIGTERM);
}

/* A job that is run by the clock: when did it last do its work? */
TEST(surroundings, metrics_say_when_a_job_has_ended_well_and_keep_it)
{
    const char *path = rig_path("job.prom");
    char *line;

    rig_run(0, WORDS("--metrics-file", path, SH("! grep -q redlock_run_end_time \"$0\""), path));
    rig_run(0, WORDS("--metrics-file", rig_path("other.prom"), "grep", "^redlock_run_success_time_seconds{", path));
    line = strdup(tool.out);
    rig_run(3, WORDS("--metrics-file", path, SH("exit 3")));
    rig_run(0, WORDS("--metrics-file", rig_path("other.prom"), "grep", "^redlock_run_[se]", path));
    ck_assert_ptr_nonnull(strstr(tool.out, line));
    free(line);
    ck_assert_ptr_nonnull(strstr(tool.out, "redlock_run_start_time_seconds{"));
    ck_assert_ptr_nonnull(strstr(tool.out, "redlock_run_end_time_seconds{"));
    rig_run(0, WORDS("--metrics-file", rig_path("other.prom"), "grep", "^redlock_run_exit_code{.*} 3$", path));
    rig_run(0, WORDS(SH("echo redlock_run_success_time_seconds{ >\"$0\""), path));
    rig_run(0, WORDS("--metrics-file", path, "true"));
}

TEST(surroundings, metrics_are_written_for_prometheus)
{
    const char *path = rig_path("redlock.prom");
    const char *text;

    rig_run(0, WORDS("--metrics-file", path, "grep", "^redlock_held", path));
    ck_assert_str_eq(tool.out, "redlock_held{key=\"job\"} 1\n");
    text = rig_read(path);
    ck_assert_ptr_nonnull(strstr(text, "redlock_held{key=\"job\"} 0\n"));
    ck_assert_ptr_nonnull(strstr(text, "# TYPE redlock_acquire_seconds histogram\n"));
    ck_assert_ptr_nonnull(strstr(text, "redlock_acquire_seconds_count{key=\"job\",result=\"acquired\"} 1\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nredlock_run_acquire_seconds{key=\"job\"} 0."));
    ck_assert_ptr_nonnull(strstr(text, "redlock_acquire_results_total{key=\"job\",result=\"acquired\"} 1\n"));
    ck_assert_ptr_nonnull(strstr(text, "redlock_node_up{key=\"job\",node=\""));
    rig_run(0, WORDS("-k", "a \"b\" \\c", "-k", "d", "--metrics-file", path, "grep", "-c",
                     "{key=\"job\\\\na \\\\\"b\\\\\" \\\\\\\\c\\\\nd\"", path));
    ck_assert_int_gt(atoi(tool.out), 20);
}

/* Of classes that overlap the longer prefix counts; a prefix may have '=' itself. */
TEST(surroundings, metrics_count_by_class_of_key)
{
    const char *path = rig_path("redlock.prom");
    const char *text;

    rig_run(0, WORDS("-k", "a=b:7", "--metrics-file", path, "--metrics-class", "a=short", "--metrics-class",
                     "a=b:=long", "true"));
    text = rig_read(path);
    ck_assert_ptr_nonnull(strstr(text, "key_class=\"long\"} 1\n"));
    ck_assert_ptr_nonnull(strstr(text, "redlock_key_acquired_total{key=\"job\\na=b:7\",key_class=\"short\"} 0\n"));
    ck_assert_ptr_nonnull(strstr(text, "redlock_key_acquired_total{key=\"job\\na=b:7\",key_class=\"other\"} 1\n"));
    for (const char *const *wrong = (const char *const[]){"", "a", "a=", "a=two words", NULL}; *wrong; wrong++) {
        rig_run(125, WORDS("--metrics-class", *wrong, "true"));
        ck_assert_ptr_nonnull(strstr(tool.err, "--metrics-class takes PREFIX=NAME"));
    }
}

/* Keys as long as keys may be. */
TEST(surroundings, many_long_keys_make_a_short_label)
{
    static char keys[8][983];
    const char *words[2 * 8 + 4];
    const char *path = rig_path("redlock.prom");
    struct stat file;
    size_t n = 0;

    for (size_t i = 0; i < 8; i++) {
        memset(keys[i], 'k', sizeof keys[i] - 1);
        snprintf(keys[i], sizeof keys[i], "%zu", i);
        keys[i][1] = 'k';
        words[n++] = "--key";
        words[n++] = keys[i];
    }
    words[n++] = "--metrics-file";
    words[n++] = path;
    words[n++] = "true";
    words[n] = NULL;
    rig_run(0, words);
    ck_assert_ptr_nonnull(strstr(rig_read(path), "redlock_held{key=\"job\\nand 8 more\"} 0\n"));
    ck_assert_int_eq(stat(path, &file), 0);
    ck_assert_int_lt(file.st_size, 256 * 1024);
}

static int notify_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", rig_path("notify"));
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    return fd;
}

static void expect_note(int fd, const char *text)
{
    char note[512];
    ssize_t n;

    do {
        n = recv(fd, note, sizeof note - 1, 0);
        ck_assert_int_gt(n, 0);
        note[n] = '\0';
    } while (!strstr(note, text));
}

/* Of what has been sent so far. */
static void expect_no_note_but(int fd, const char *one, const char *other)
{
    char note[512];
    ssize_t n;

    while ((n = recv(fd, note, sizeof note - 1, MSG_DONTWAIT)) > 0) {
        note[n] = '\0';
        ck_assert_msg(strncmp(note, one, strlen(one)) == 0 || strncmp(note, other, strlen(other)) == 0,
                      "the service manager was told: %s", note);
    }
}

TEST(surroundings, a_service_manager_is_told)
{
    int fd = notify_socket();
    struct tool run;

    /* A socket holds ten notes, and those that find no room are lost: there are two in a second. */
    setenv("WATCHDOG_USEC", "1000000", 1);
    rig_start(&run, WORDS("--ttl", "5s", SH("echo ready; exec sleep 60")));
    expect_note(fd, "STATUS=held ");
    expect_note(fd, "READY=1\n");
    expect_note(fd, "WATCHDOG=1");
    kill(run.pid, SIGTERM);
    expect_note(fd, "STOPPING=1");
    tool_finish(&run);
    close(fd);
}

/* What the command says, and whether it is in its power to say it. */
TEST(surroundings, a_command_can_speak_to_the_service_manager_itself)
{
    int fd = notify_socket();
    struct tool run;

    setenv("WATCHDOG_USEC", "7000000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    rig_start(&run, WORDS("--notify", "command", SH("echo; env; echo ready; exec sleep 60")));
    tool = run;
    ck_assert_str_eq(variable("NOTIFY_SOCKET"), getenv("NOTIFY_SOCKET"));
    ck_assert_str_eq(variable("WATCHDOG_USEC"), "7000000");
    ck_assert_ptr_null(strstr(tool.out, "WATCHDOG_PID="));
    kill(run.pid, SIGTERM);
    tool_finish(&run);
    expect_note(fd, "STATUS=waiting for the lock");
    expect_no_note_but(fd, "STATUS=", "STOPPING=1");
    close(fd);
}

TEST(surroundings, messages_can_be_json)
{
    locks_lock();
    rig_run(124, WORDS("--json-log", "true"));
    ck_assert_ptr_nonnull(strstr(tool.err, ",\"event\":\"busy\",\"key\":\"job\",\"message\":\""));
    ck_assert_int_eq(tool.err[0], '{');
}

TEST(surroundings, status_tells_the_steps)
{
    rig_run(0, WORDS("--status", "true"));
    ck_assert_ptr_nonnull(strstr(tool.err, "redlock: 'job' is held: "));
    ck_assert_ptr_nonnull(strstr(tool.err, "redlock: 'job' is released"));
    rig_run(0, WORDS("true"));
    ck_assert_str_eq(tool.err, "");
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("run-surroundings"));
}
