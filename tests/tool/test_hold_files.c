/* Token files: lock, extend, check and unlock by them; and break. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_rig.h"
#include "suite.h"

static const char *path;

/* A command with the token file in place of "@". */
static void run(int exit_code, const char *line)
{
    char whole[512];
    const char *at = strchr(line, '@');

    snprintf(whole, sizeof whole, "%.*s%s%s", at ? (int)(at - line) : (int)strlen(line), line,
             at ? path : "", at ? at + 1 : "");
    tool_expect_run(&tool, whole, exit_code);
}

static void open_all(void)
{
    locks_open();
    path = rig_path("token.json");
}

GROUP(files, "files", open_all, locks_close)

TEST(files, lock_leaves_the_token_to_a_file_for_its_owner)
{
    struct stat seen;

    run(0, "lock job --token-file @");
    ck_assert_str_eq(tool.out, "");
    ck_assert_int_eq(stat(path, &seen), 0);
    ck_assert_uint_eq(seen.st_mode & 0777, 0600);
    run(0, "status job");
    run(0, "check @");
    ck_assert_int_gt(atoi(tool.out), 20000);
}

/* A lock that was handed off is valid for two seconds at first. */
TEST(files, a_lock_that_was_waited_for_has_its_whole_ttl)
{
    const char *const words[] = {"lock", "job", "--ttl", "30s", "--wait", "25s", "--token-file", path, NULL};
    struct tool holder;
    struct tool waiting;

    rig_start(&holder, WORDS(SH("echo ready; exec sleep 60")));
    tool_start(&waiting, words);
    kill(holder.pid, SIGTERM);
    tool_finish(&holder);
    tool_expect_end(&waiting, 0);
    run(0, "check @ --at-least 20s");
}

TEST(files, unlock_leaves_a_lock_that_is_to_be_kept_to_its_ttl)
{
    run(2, "lock job --hold-at-least 20s");
    ck_assert_ptr_nonnull(strstr(tool.err, "--hold-at-least needs --token-file"));
    run(0, "lock job --ttl 3s --hold-at-least 20s --token-file @");
    run(0, "unlock --token-file @ --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"kept_ms\":"));
    run(2, "unlock --token-file @");
    run(1, "lock job");
}

TEST(files, unlock_gives_it_up_and_removes_the_file)
{
    run(0, "lock job --token-file @");
    run(0, "unlock --token-file @");
    rig_expect_free();
    ck_assert_int_ne(access(path, F_OK), 0);
    run(2, "unlock --token-file @");
}

/* The null device's neighbour takes nothing, which nobody can know before the lock is held. */
TEST(files, a_token_that_cannot_be_written_leaves_nothing_locked)
{
    if (mknod(path, S_IFCHR | 0600, makedev(1, 7)) != 0)
        return;
    run(3, "lock job --token-file @");
    ck_assert_ptr_nonnull(strstr(tool.err, "is given back"));
    rig_expect_free();
}

TEST(files, a_limit_on_files_that_a_token_exceeds_leaves_nothing_locked)
{
    char script[1024];

    snprintf(script, sizeof script, "ulimit -f 0; exec '%s' lock other --token-file '%s'", tool_path(), path);
    rig_run(3, WORDS(SH(script)));
    ck_assert_ptr_nonnull(strstr(tool.err, "is given back"));
    run(0, "lock other");
}

TEST(files, extend_lengthens_the_lock_and_keeps_token_and_fence)
{
    char fence[64];
    const char *found;

    run(0, "lock job --ttl 20s --fenced --token-file @");
    found = strstr(rig_read(path), "\"fence\":");
    ck_assert_ptr_nonnull(found);
    snprintf(fence, sizeof fence, "%.*s", (int)strcspn(found, ","), found);
    run(0, "extend @ --ttl 40s");
    ck_assert_ptr_nonnull(strstr(rig_read(path), fence));
    run(0, "check @ --at-least 30s");
    run(1, "check @ --at-least 50s --quiet");
    ck_assert_str_eq(tool.out, "");
    run(0, "extend @ --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"ttl_ms\":40000"));
    run(2, "extend @ --ttl 10s");
    ck_assert_ptr_nonnull(strstr(tool.err, "a lock is not made shorter"));
    run(0, "unlock --token-file @");
    rig_expect_free();
}

/* Each command is over as soon as a quorum has answered: that must not cost the next one. */
TEST(files, extend_gives_the_ttl_that_was_asked_for_however_soon_it_follows)
{
    for (int i = 0; i < 20; i++) {
        run(0, "lock job --ttl 20s --token-file @ --quiet");
        run(0, "extend @ --quiet");
        run(0, "extend @ --ttl 40s --quiet");
        run(0, "check @ --at-least 30s");
        run(0, "unlock --token-file @");
    }
    rig_expect_free();
}

TEST(files, extend_does_not_bring_back_a_lock_whose_time_is_over)
{
    run(0, "lock job --ttl 3s --token-file @");
    while (masters_count_key(masters, "job") > 0)
        continue;
    run(1, "extend @");
    run(1, "check @");
    ck_assert_str_eq(tool.out, "0\n");
    rig_expect_free();
}

TEST(files, extend_of_a_lock_that_was_taken_away_is_told_and_kept_in_the_file)
{
    run(0, "lock job --token-file @");
    run(0, "break job --yes");
    run(1, "extend @");
    ck_assert_ptr_nonnull(strstr(rig_read(path), "\"state\":\"lost\""));
    run(1, "check @");
    run(1, "extend @");
    ck_assert_ptr_nonnull(strstr(tool.err, "says that it was lost\n"));
}

TEST(files, extend_without_a_quorum_leaves_what_was_proven)
{
    run(0, "lock job --token-file @");
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    run(3, "extend @");
    run(0, "check @");
    ck_assert_int_gt(atoi(tool.out), 10000);
}

static const char *const damaged[] = {"", "no json", "{\"state\":\"held\"}", "{\"state\":\"held\",\"key\":7}"};

TEST(files, an_extension_that_is_refused_leaves_the_lock_to_its_file)
{
    run(0, "lock job --token-file @");
    run(2, "extend @ --ttl 2m");
    ck_assert_str_eq(tool.err, "redlock: extend: --ttl 2m is above --max-ttl, the limit for all users of the masters "
                               "(1m)\n");
    run(0, "status job");
    run(0, "check @");
    run(0, "extend @ --quiet");
}

/* Masters whose answers come behind the decision say no more of a lock that is lost. Mostly there are some, and to wait
 * for them would take longer than the test may. */
TEST(files, an_extension_of_a_lock_that_was_taken_away_waits_for_nobody)
{
    for (int i = 0; i < 5; i++) {
        run(0, "lock job --token-file @");
        run(0, "break job --yes");
        run(1, "extend @ --node-timeout 60s --quiet");
        ck_assert_ptr_nonnull(strstr(tool.err, "redlock: extend: 'job' not extended: the lock was lost"));
    }
}

/* Not before it is the command: until then it has the handlers of the test program. */
static bool catches(pid_t pid, int number)
{
    char name[64];
    char line[256];
    bool is_command = false;
    unsigned long long caught = 0;
    FILE *file;

    snprintf(name, sizeof name, "/proc/%d/status", (int)pid);
    file = fopen(name, "re");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        is_command = is_command || strcmp(line, "Name:\tredlock\n") == 0;
        if (strncmp(line, "SigCgt:", 7) == 0)
            caught = strtoull(line + 7, NULL, 16);
    }
    fclose(file);
    return is_command && (caught >> (number - 1) & 1) != 0;
}

TEST(files, an_extension_that_is_interrupted_leaves_the_lock_to_its_file)
{
    const char *const words[] = {"extend", path, "--node-timeout", "10s", NULL};
    struct tool extending;

    run(0, "lock job --token-file @");
    ck_assert(masters_hang(masters, 0));
    tool_start(&extending, words);
    while (!catches(extending.pid, SIGTERM))
        usleep(1000);
    kill(extending.pid, SIGTERM);
    tool_finish(&extending);
    ck_assert_int_eq(extending.signal, SIGTERM);
    run(0, "check @");
    run(0, "status job");
    run(0, "extend @ --quiet");
}

/* The exit status of redlock in a time namespace whose clock is three seconds ahead, which is less than the ttl. */
static int run_elsewhere(const char *line, const char *told)
{
    char command[1024];
    int status;

    snprintf(command, sizeof command, "unshare -T --boottime 3 %s %s %s >/dev/null 2>%s", tool_path(), line, path,
             told);
    status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(files, a_file_of_another_time_namespace_is_no_proof)
{
    const char *told = rig_path("told");

    if (system("unshare -T --boottime 3 true 2>/dev/null") != 0)
        return; /* only root may, where the kernel can */
    run(0, "lock job --token-file @");
    ck_assert_int_eq(run_elsewhere("check", told), 1);
    ck_assert_ptr_nonnull(strstr(rig_read(told), "another time namespace"));
    ck_assert_int_eq(run_elsewhere("extend", told), 2);
    ck_assert_ptr_nonnull(strstr(rig_read(told), "another time namespace"));
    run(0, "check @");
    run(0, "unlock --token-file @");
    ck_assert_int_eq(run_elsewhere("lock job --token-file", told), 0);
    run(1, "check @");
    ck_assert_ptr_nonnull(strstr(tool.err, "another time namespace"));
}

/* The loader needs the rest of /proc to find the library. */
#define WITHOUT_PROC "unshare -rm sh -c 'mount -t tmpfs none /proc/sys && exec \"$@\"' sh "

/* Nothing tells there which clock the end of the lock would be of. */
TEST(files, a_file_cannot_be_written_without_proc_and_the_lock_is_given_back)
{
    const char *told = rig_path("told");
    char command[1024];

    if (system(WITHOUT_PROC "true 2>/dev/null") != 0)
        return; /* the system does not allow it */
    snprintf(command, sizeof command, WITHOUT_PROC "%s lock job --token-file %s 2>%s", tool_path(), path, told);
    ck_assert_int_eq(WEXITSTATUS(system(command)), 3);
    ck_assert_msg(strstr(rig_read(told), "/proc does not tell which clock the end of the lock would be of: "
                                         "No such file or directory") != NULL, "%s", rig_read(told));
    ck_assert_ptr_nonnull(strstr(rig_read(told), "is given back"));
    rig_expect_free();
}

TESTS(files, a_file_that_is_none_is_refused, 0, 4)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(damaged[_i], file);
    fclose(file);
    run(2, "check @");
    run(2, "extend @");
    run(2, "unlock --token-file @");
    ck_assert_int_eq(access(path, F_OK), 0);
}

GROUP(breaking, "break", open_all, locks_close)

TEST(breaking, break_frees_the_key_and_says_whether_somebody_had_it)
{
    run(2, "break job");
    ck_assert_ptr_nonnull(strstr(tool.err, "add --yes"));
    run(1, "break job --yes");
    ck_assert_ptr_nonnull(strstr(tool.err, "nobody has 'job'"));
    locks_lock();
    run(0, "break job --yes --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"holders\":1,"));
    rig_expect_free();
}

TEST(breaking, break_takes_every_value_away)
{
    locks_store(0, "a");
    locks_store(1, "b");
    locks_store(2, "b");
    run(0, "break job --yes");
    ck_assert_ptr_nonnull(strstr(tool.err, "deleted on 3 of 5 masters"));
    rig_expect_free();
}

TEST(breaking, break_without_a_quorum_exits_with_3)
{
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    run(3, "break job --yes");
}

/* --- What keys look like ------------------------------------------------------------------------------------------ */

TEST(files, a_lock_that_was_not_there_is_told_in_json_too)
{
    run(1, "unlock job no-such-token --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"status\":\"REDLOCK_E_NOT_HELD\""));
    run(1, "break job --yes --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"status\":\"REDLOCK_E_NOT_HELD\""));
}

/* "Erase the screen", in two ways that terminals know. */
static const char *const wild[] = {"k\x1b[2J", "k\xc2\x9b\x32J", "k\xff"};

TESTS(files, a_key_does_not_reach_the_terminal_raw, 0, sizeof wild / sizeof wild[0])
{
    static const char *const lines[] = {"lock %s", "unlock %s token", "break %s --yes", "status %s",
                                        "run --key %s --status true"};
    char line[128];

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        snprintf(line, sizeof line, lines[i], wild[_i]);
        tool_run(&tool, line);
        ck_assert_ptr_null(strstr(tool.out, wild[_i]));
        ck_assert_ptr_null(strstr(tool.err, wild[_i]));
    }
    tool_expect(&tool, 0);
    ck_assert_ptr_nonnull(strstr(tool.err, "'k\\x"));
}

TESTS(files, a_key_of_any_bytes_comes_back_from_its_file, 0, sizeof wild / sizeof wild[0])
{
    char line[128];

    snprintf(line, sizeof line, "lock %s --token-file @", wild[_i]);
    run(0, line);
    run(0, "extend @");
    run(0, "unlock --token-file @ --json");
    ck_assert_ptr_nonnull(strstr(tool.out, _i == 2 ? "\"key_hex\":\"6bff\"" : "\"key\":\"k\\u00"));
    snprintf(line, sizeof line, "status %s", wild[_i]);
    run(1, line);
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("hold-files"));
}
