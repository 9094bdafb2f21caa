/* Passwords by a file or a command, in all commands with masters, and their rotation while `redlock run` holds a lock.
 * The masters' default user has no password, for the test; the commands are the user "locker". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "locks_rig.h"
#include "suite.h"

enum { N = 3 };

static char directory[64];
static char path[128];    /* of the password, for files and commands alike */
static char counter[128]; /* grows by a line for each run of a command */

static void write_file(const char *name, const char *text)
{
    char next[160];
    FILE *file;

    snprintf(next, sizeof next, "%s.next", name);
    file = fopen(next, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert(fputs(text, file) >= 0 && fclose(file) == 0 && rename(next, name) == 0);
}

static void set_password(const char *password)
{
    char word[64];

    snprintf(word, sizeof word, ">%s", password);
    for (size_t i = 0; i < N; i++)
        locks_command(i, (const char *const[]){"ACL", "SETUSER", "locker", "on", "resetpass", word, "~*", "+@all",
                                               suite_server_is(6, 2) ? "&*" : NULL, NULL});
}

static void hang_up(void)
{
    for (size_t i = 0; i < N; i++)
        locks_command(i, (const char *const[]){"CLIENT", "KILL", "USER", "locker", NULL});
}

static void open_masters(void)
{
    const struct masters_options options = {.count = N};

    strcpy(directory, "/tmp/redlock-passwords-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/password", directory);
    snprintf(counter, sizeof counter, "%s/counter", directory);
    locks_start_with(&options);
    locks_declare_new();
    set_password("s3same");
    write_file(path, "s3same\nnot this\n");
}

static void close_masters(void)
{
    unlink(path);
    unlink(counter);
    rmdir(directory);
    locks_close();
}

/* %s in the line is the file of the password. */
static void expect(const char *format, int code, const char *out, const char *err)
{
    char line[512];

    snprintf(line, sizeof line, format, path);
    tool_expect_run(&tool, line, code);
    ck_assert_msg(strstr(tool.out, out) != NULL, "'%s' prints:\n%s\n%s", line, tool.out, tool.err);
    ck_assert_msg(strstr(tool.err, err) != NULL, "'%s' says:\n%s", line, tool.err);
    ck_assert_ptr_null(strstr(tool.out, "s3same"));
    ck_assert_ptr_null(strstr(tool.err, "s3same"));
}

GROUP(words_tests, "words", open_masters, close_masters)

TEST(words_tests, a_file_serves_all_commands)
{
    expect("run job --user locker --password-file %s -- echo worked", 0, "worked", "");
    expect("lock job --user locker --password-file %s", 0, "", "");
    expect("status job --user locker --password-file %s", 0, "held by ", "");
    expect("break job --yes --user locker --password-file %s", 0, "", "deleted on ");
    expect("nodes --user locker --password-file %s", 0, "safe quorum: 3 of 3 masters vote", "");
}

TEST(words_tests, the_environment_names_user_and_file)
{
    setenv("REDLOCK_USER", "locker", 1);
    setenv("REDLOCK_PASSWORD_FILE", path, 1);
    expect("status job", 1, "on the 3 of 3 masters", "");
    write_file(path, "wrong\n");
    expect("status job", 3, "WRONGPASS", "");
    expect("lock job", 3, "", "AUTH: WRONGPASS");
    expect("nodes", 1, "Give the right user and password", "");
    unsetenv("REDLOCK_PASSWORD_FILE");
    setenv("REDLOCK_PASSWORD", "s3same", 1);
    expect("lock job", 0, "", "");
    unsetenv("REDLOCK_PASSWORD");
    unsetenv("REDLOCK_USER");
}

TEST(words_tests, blanks_line_ends_and_a_mark_mean_the_same_in_variables_as_in_files)
{
    char list[2048] = "\xef\xbb\xbf ";

    for (size_t i = 0; i < 3; i++)
        strcat(strcat(strcat(list, i > 0 ? ", " : ""), "unix:"), strstr(masters_url(masters, i), "://") + 3);
    setenv("REDLOCK_USER", "locker\n", 1);
    setenv("REDLOCK_PASSWORD", "\xef\xbb\xbfs3same\r\nanother line", 1);
    setenv("REDLOCK_NODES", strcat(list, "\r\n"), 1);
    expect("lock job", 0, "", "");
    tool_start(&tool, (const char *const[]){"lock", "other", "--nodes", list, NULL});
    tool_expect_end(&tool, 0);
    unsetenv("REDLOCK_PASSWORD");
    write_file(path, "\xef\xbb\xbfs3same\r\n");
    expect("unlock job x --password-file %s", 1, "", "was not held with this token");
    unsetenv("REDLOCK_USER");
}

static int64_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

TEST(words_tests, a_wrong_password_that_cannot_change_is_not_tried_for_the_whole_wait)
{
    int64_t begun = seconds();

    setenv("REDLOCK_USER", "locker", 1);
    setenv("REDLOCK_PASSWORD", "wrong", 1);
    expect("lock job --wait 1h", 3, "", "AUTH: WRONGPASS");
    expect("lock -k job -k other --wait forever", 3, "", "AUTH: WRONGPASS");
    expect("run job --wait 1h -- true", 122, "", "AUTH: WRONGPASS");
    expect("latch await job --parties 2 --generation 1", 3, "", "AUTH: WRONGPASS");
    unsetenv("REDLOCK_PASSWORD");
    unsetenv("REDLOCK_USER");
    ck_assert_int_lt(seconds() - begun, 60);
}

/* --- The command ------------------------------------------------------------------------------------------------- */

/* `redlock ... --password-command COMMAND`, whose words have blanks. */
static void run_by_command(const char *command, const char *const *words)
{
    const char *all[16] = {words[0], words[1], "--user", "locker", "--password-command", command};
    size_t n = 6;

    for (size_t i = 2; words[i]; i++)
        all[n++] = words[i];
    tool_start(&tool, all);
}

static void expect_command(const char *command, int code, const char *err)
{
    run_by_command(command, (const char *const[]){"lock", "job", NULL});
    tool_expect_end(&tool, code);
    ck_assert_msg(strstr(tool.err, err) != NULL, "%s", tool.err);
}

TEST(words_tests, what_becomes_of_the_command_is_told)
{
    expect_command("echo s3same; echo not this", 0, "");
    expect_command("printf s3same", 1, "");
    expect_command("exit 3", 3, "the password command has ended with exit status 3");
    expect_command("true", 3, "the password command has printed no password");
    expect_command("kill -9 $$", 3, "the password command was ended by signal 9");
    expect_command("head -c 9000 /dev/zero | tr '\\0' x", 3, "has printed a line that is too long");
    expect_command("sleep 60", 3, "the password command takes longer than 10s");
}

TEST(words_tests, what_cannot_be_meant_is_refused)
{
    expect("lock job --password-file %s --password-command x", 2, "", "not from both");
    expect("lock job --user locker", 2, "", "--user needs a password");
    expect("lock job --password-file %s.not", 2, "", "cannot read '");
    write_file(path, "\n");
    expect("lock job --password-file %s", 2, "", "its first line is empty");
}

/* --- Rotation ---------------------------------------------------------------------------------------------------- */

/* The command under the lock prints a word, and another one when there is the file "go". The lock is renewed in
 * between, as only a client with the right password can, since it would end before. */
static void finish_work(void)
{
    char go[160];

    sleep(8); /* the ttl has passed */
    snprintf(go, sizeof go, "%s/go", directory);
    write_file(go, "");
    tool_finish(&tool);
    unlink(go);
    tool_expect(&tool, 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "ended"));
}

static void rotate(void)
{
    tool_read_until(&tool, "begun");
    set_password("second");
    hang_up();
    write_file(path, "second\n");
    finish_work();
    ck_assert_ptr_null(strstr(tool.err, "second"));
}

static const char *work(void)
{
    static char script[256];

    snprintf(script, sizeof script, "echo begun; until [ -e %s/go ]; do sleep 0.1; done; echo ended", directory);
    return script;
}

GROUP(rotation, "rotation", open_masters, close_masters)

TEST(rotation, a_lock_is_held_through_a_rotation_by_a_file)
{
    tool_start(&tool, (const char *const[]){"run", "job", "--ttl", "7s", "--user", "locker", "--password-file", path,
                                            "--", "sh", "-c", work(), NULL});
    rotate();
}

/* Nobody ever writes into it. */
TEST(rotation, a_pipe_in_the_files_place_holds_nothing_up)
{
    tool_start(&tool, (const char *const[]){"run", "job", "--ttl", "7s", "--user", "locker", "--password-file", path,
                                            "--", "sh", "-c", work(), NULL});
    tool_read_until(&tool, "begun");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    hang_up();
    finish_work();
}

static size_t count_runs(void)
{
    FILE *file = fopen(counter, "re");
    size_t n = 0;

    ck_assert_ptr_nonnull(file);
    for (int c; (c = getc(file)) != EOF;)
        n += c == '\n';
    fclose(file);
    return n;
}

TEST(rotation, a_lock_is_held_through_a_rotation_by_a_command)
{
    char command[320];
    size_t runs;

    snprintf(command, sizeof command, "echo run >>%s; cat %s", counter, path);
    run_by_command(command, (const char *const[]){"run", "job", "--ttl", "7s", "--", "sh", "-c", work(), NULL});
    rotate();
    runs = count_runs();
    ck_assert_msg(runs >= 2 && runs <= 6, "it ran %zu times", runs);
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("passwords"));
}
