/* Files that the user names, and that a command writes: what they are decides what is done to them. No device of the
 * system is touched here. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "run_rig.h"
#include "suite.h"

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    ck_assert_int_eq(chmod(path, mode), 0);
}

static mode_t mode_of(const char *path)
{
    struct stat seen;

    ck_assert_msg(lstat(path, &seen) == 0, "%s: %s", path, strerror(errno));
    return seen.st_mode;
}

/* How many names the masters' directory has, hidden ones too: what is left beside a file shows here. */
static size_t count_files(void)
{
    char command[512];
    size_t n = 0;
    FILE *list;

    snprintf(command, sizeof command, "ls -A '%s'", masters_dir(masters));
    list = popen(command, "re");
    ck_assert_ptr_nonnull(list);
    for (int c = getc(list); c != EOF; c = getc(list))
        n += c == '\n';
    pclose(list);
    return n;
}

/* --- What is written into ---------------------------------------------------------------------------------------- */

/* The null device, under a name of our own. False where nobody may make one, or where it would not work. */
static bool make_device(const char *path)
{
    int fd = mknod(path, S_IFCHR | 0666, makedev(1, 3)) == 0 ? open(path, O_WRONLY | O_CLOEXEC) : -1;

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

GROUP(files, "files", locks_open, locks_close)

TEST(files, a_device_stays_what_it_is)
{
    const char *path = rig_path("nul");
    char line[512];

    if (!make_device(path))
        return;
    rig_run(0, WORDS("--lock-file", path, "--metrics-file", path, "true"));
    ck_assert(S_ISCHR(mode_of(path)));
    snprintf(line, sizeof line, "lock job --token-file %s", path);
    tool_expect_run(&tool, line, 0);
    ck_assert(S_ISCHR(mode_of(path)));
}

TEST(files, a_pipe_with_a_reader_is_written_into_and_stays)
{
    const char *path = rig_path("pipe");
    char text[4096];
    ssize_t n;
    int fd;

    ck_assert_int_eq(mkfifo(path, 0600), 0);
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    rig_run(0, WORDS("--lock-file", path, SH("test -z \"$REDLOCK_LOCK_FILE\"")));
    n = read(fd, text, sizeof text - 1);
    ck_assert_int_gt(n, 0);
    text[n] = '\0';
    ck_assert_ptr_nonnull(strstr(text, "\"held\""));
    ck_assert(S_ISFIFO(mode_of(path)));
    close(fd);
}

static const char *const descriptors[] = {"-", "/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"};

TESTS(files, a_descriptor_is_written_into, 0, sizeof descriptors / sizeof descriptors[0])
{
    rig_run(0, WORDS("--lock-file", descriptors[_i], SH("echo done")));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"held\""));
    ck_assert_ptr_nonnull(strstr(tool.out, "done\n"));
    rig_run(0, WORDS("--metrics-file", descriptors[_i], "true"));
    ck_assert_ptr_nonnull(strstr(tool.out, "redlock_held{key=\"job\"} 1\n"));
}

/* --- What is replaced -------------------------------------------------------------------------------------------- */

TEST(files, a_link_stays_and_what_it_leads_to_is_written)
{
    const char *link = rig_path("link.prom");
    const char *file = rig_path("file.prom");

    ck_assert_int_eq(symlink("file.prom", link), 0);
    rig_run(0, WORDS("--metrics-file", link, "true"));
    ck_assert(S_ISLNK(mode_of(link)));
    ck_assert(S_ISREG(mode_of(file)));
    ck_assert_ptr_nonnull(strstr(rig_read(file), "redlock_held{key=\"job\"} 0\n"));
}

TEST(files, two_files_with_one_name_are_refused)
{
    const char *file = rig_path("both");
    const char *link = rig_path("link");

    ck_assert_int_eq(symlink("both", link), 0);
    rig_run(125, WORDS("--lock-file", file, "--metrics-file", link, "touch", rig_path("started")));
    ck_assert_ptr_nonnull(strstr(tool.err, "--lock-file and --metrics-file are the same file"));
    ck_assert_int_ne(access(file, F_OK), 0);
    ck_assert_int_ne(access(rig_path("started"), F_OK), 0);
}

TEST(files, a_file_keeps_its_rights_unless_it_has_a_token)
{
    const char *metrics = rig_path("redlock.prom");
    const char *token = rig_path("token.json");
    const size_t before = count_files();
    char line[512];

    write_file(metrics, "old", 0640);
    write_file(token, "old", 0644);
    rig_run(0, WORDS("--metrics-file", metrics, "true"));
    ck_assert_uint_eq(mode_of(metrics) & 0777, 0640);
    snprintf(line, sizeof line, "lock job --token-file %s", token);
    tool_expect_run(&tool, line, 0);
    ck_assert_uint_eq(mode_of(token) & 0777, 0600);
    ck_assert_uint_eq(count_files(), before + 2);
}

TEST(files, root_leaves_a_file_to_its_owner)
{
    const char *path = rig_path("redlock.prom");
    struct stat seen;

    if (geteuid() != 0)
        return;
    write_file(path, "old", 0600);
    ck_assert_int_eq(chown(path, 4711, 4712), 0);
    rig_run(0, WORDS("--metrics-file", path, "true"));
    ck_assert_int_eq(stat(path, &seen), 0);
    ck_assert_uint_eq(seen.st_uid, 4711);
    ck_assert_uint_eq(seen.st_gid, 4712);
}

TEST(files, a_lock_file_that_somebody_else_has_put_there_is_not_removed)
{
    const char *path = rig_path("lock.json");

    rig_run(0, WORDS("--lock-file", path, SH("rm $REDLOCK_LOCK_FILE; echo mine >$REDLOCK_LOCK_FILE")));
    ck_assert_str_eq(rig_read(path), "mine\n");
}

/* --- What is refused --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name; /* below the masters' directory, or absolute */
    const char *why;
} refused[] = {
    {"directory", "Is a directory"},
    {"directory/", "Is a directory"},
    {"new/", "Is a directory"},
    {"circle", "Too many levels"},
    {"pipe", "nobody reads from it"},
    {"nowhere/lock.json", "No such file"},
    {"file/lock.json", "Not a directory"},
    {"/proc/lock.json", ""}, /* a directory that nobody can write to, root neither */
    {"/dev/stdin", "Bad file"},
};

static void make_obstacles(void)
{
    ck_assert_int_eq(mkdir(rig_path("directory"), 0700), 0);
    ck_assert_int_eq(symlink("circle", rig_path("circle")), 0);
    ck_assert_int_eq(mkfifo(rig_path("pipe"), 0600), 0);
    write_file(rig_path("file"), "", 0600);
}

TESTS(files, what_cannot_be_written_is_refused_before_anything_is_run, 0, sizeof refused / sizeof refused[0])
{
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const char *path;
    char line[512];

    make_obstacles();
    path = refused[_i].name[0] == '/' ? refused[_i].name : rig_path(refused[_i].name);
    tool_set_input(input);
    rig_run(125, WORDS("--lock-file", path, SH("echo ran")));
    ck_assert_str_eq(tool.out, "");
    ck_assert_ptr_nonnull(strstr(tool.err, refused[_i].why));
    rig_run(125, WORDS("--metrics-file", path, SH("echo ran")));
    ck_assert_str_eq(tool.out, "");
    snprintf(line, sizeof line, "lock job --token-file %s", path);
    tool_expect_run(&tool, line, 2);
    rig_expect_free();
    close(input);
}

TEST(files, a_full_device_is_an_error_before_the_command_runs)
{
    const char *path = rig_path("full");

    if (mknod(path, S_IFCHR | 0666, makedev(1, 7)) != 0)
        return;
    rig_run(125, WORDS("--lock-file", path, SH("echo ran")));
    ck_assert_str_eq(tool.out, "");
    ck_assert(S_ISCHR(mode_of(path)));
    rig_expect_free();
}

/* --- Standard input and output ----------------------------------------------------------------------------------- */

/* A pipe with this text, as standard input of the commands that follow. */
static int feed(const char *text)
{
    int ends[2];

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    ck_assert_int_eq(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    tool_set_input(ends[0]);
    return ends[0];
}

static void run_with(const char *input, int exit_code, const char *line)
{
    int fd = feed(input);

    tool_run(&tool, line);
    tool_set_input(-1);
    close(fd);
    tool_expect(&tool, exit_code);
}

TEST(files, a_token_comes_from_standard_input)
{
    char line[128];

    snprintf(line, sizeof line, "%s\n", locks_lock());
    run_with("\n", 2, "unlock job -");
    ck_assert_ptr_nonnull(strstr(tool.err, "no token on standard input"));
    run_with(line, 0, "unlock job -");
    rig_expect_free();
    tool_expect_run(&tool, "lock job --fenced", 0);
    snprintf(line, sizeof line, "%.120s", tool.out);
    run_with(line, 0, "unlock job -");
    rig_expect_free();
}

TEST(files, a_token_file_goes_through_pipes)
{
    char hold[TOOL_STREAM_SIZE];

    tool_expect_run(&tool, "lock job --token-file - --ttl 10s", 0);
    strcpy(hold, tool.out);
    run_with(hold, 0, "check -");
    run_with(hold, 0, "extend - --ttl 40s");
    strcpy(hold, tool.out);
    run_with(hold, 0, "check - --at-least 20s");
    run_with(hold, 0, "unlock --token-file -");
    rig_expect_free();
    tool_expect_run(&tool, "lock job --token-file - --json", 2);
    run_with(hold, 2, "extend - --json");
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("files"));
}
