/* Where masters and passwords come from, and that nobody else can see them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_rig.h"
#include "suite.h"

GROUP(secrets, "secrets", locks_open, locks_close)

TEST(secrets, a_password_in_an_option_is_wiped_from_the_command_line)
{
    char list[2048] = "";
    const char *const guarded[] = {"--requirepass", "hunter2", NULL};
    struct tool run;
    char path[64];

    masters_destroy(masters);
    locks_start(3, guarded);
    for (size_t i = 0; i < 3; i++)
        sprintf(list + strlen(list), "%sunix://:hunter2@%s", i > 0 ? "," : "", masters_url(masters, i) + 7);
    setenv("REDLOCK_NODES", list, 1);
    locks_declare_new();
    unsetenv("REDLOCK_NODES");
    rig_start(&run, WORDS("--nodes", list, SH("echo ready; exec sleep 60")));
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)run.pid);
    ck_assert_uint_gt(strlen(rig_read(path)), 0);
    rig_read(path);
    ck_assert_ptr_null(memmem(rig_read(path), 4096, "hunter2", 7));
    ck_assert_ptr_nonnull(memmem(rig_read(path), 4096, "unix://:*******@", 16));
    kill(run.pid, SIGTERM);
    tool_finish(&run);
}

TEST(secrets, passwords_come_from_a_file_or_the_environment)
{
    const char *const guarded[] = {"--requirepass", "p,/@ss", NULL};
    FILE *file;

    masters_destroy(masters);
    locks_start(3, guarded);
    rig_run(122, WORDS("true"));
    setenv("REDLOCK_PASSWORD", "p,/@ss", 1);
    locks_declare_new();
    rig_run(0, WORDS("true"));
    unsetenv("REDLOCK_PASSWORD");
    file = fopen(rig_path("password"), "w");
    ck_assert_ptr_nonnull(file);
    fputs("p,/@ss\nnot this\n", file);
    fclose(file);
    rig_run(0, WORDS("--password-file", rig_path("password"), "true"));
}

TEST(secrets, masters_come_from_a_file)
{
    FILE *file = fopen(rig_path("nodes"), "w");

    ck_assert_ptr_nonnull(file);
    fprintf(file, "# five masters\n%s, %s # two\n\n", masters_url(masters, 0), masters_url(masters, 1));
    for (size_t i = 2; i < 5; i++)
        fprintf(file, "  %s\n", masters_url(masters, i));
    fclose(file);
    unsetenv("REDLOCK_NODES");
    rig_run(0, WORDS("--nodes-file", rig_path("nodes"), SH("echo $REDLOCK_NODES_OK")));
    ck_assert_ptr_nonnull(strstr(tool.out, "/5"));
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("run-secrets"));
}
