/* `redlock top`, by its keys and its screen, on real masters. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "locks_rig.h"
#include "suite.h"
#include "terminal.h"

GROUP(top, "top", locks_open, locks_close)

#define LEAVES_SCREEN "\033[?1049l"

static void lock(const char *line)
{
    tool_expect_run(&tool, line, 0);
}

/* The screen as it is after these keys, once it has the text. */
static void see(struct terminal *terminal, const char *keys, const char *text)
{
    terminal_forget(terminal);
    terminal_type(terminal, keys);
    terminal_read(terminal, text);
}

static void quit(struct terminal *terminal)
{
    see(terminal, "q", LEAVES_SCREEN);
    terminal_read(terminal, "code 0");
    terminal_close(terminal);
}

static void open_top(struct terminal *terminal)
{
    terminal_open(terminal, "$REDLOCK top --every 200ms --sort name; echo code $?");
}

TEST(top, shows_masters_and_keys_until_it_is_told_to_end)
{
    struct terminal terminal;

    lock("lock first --ttl 60s --label web1 --token-file /dev/null");
    open_top(&terminal);
    terminal_read(&terminal, "5 of 5 masters vote, 2 more may fail");
    terminal_read(&terminal, "1 key, 0 awaited by 0");
    terminal_read(&terminal, "> first");
    lock("lock second --ttl 60s --label web2 --token-file /dev/null");
    terminal_read(&terminal, "2 keys, 0 awaited by 0");
    terminal_read(&terminal, "  second");
    quit(&terminal);
}

TEST(top, a_key_is_chosen_and_looked_at_and_the_way_leads_back)
{
    struct terminal terminal;

    lock("lock first --ttl 60s --token-file /dev/null");
    lock("lock second --ttl 60s --label web2 --token-file /dev/null");
    open_top(&terminal);
    terminal_read(&terminal, "2 keys");
    see(&terminal, "\033[B", "> second");
    see(&terminal, "k", "> first");
    see(&terminal, "\033[6~", "> second");
    see(&terminal, "\r", "'second'");
    terminal_read(&terminal, "held by ");
    terminal_read(&terminal, "web2");
    see(&terminal, "\033", "2 keys");
    quit(&terminal);
}

TEST(top, only_keys_with_a_text_are_shown_and_the_text_is_no_pattern)
{
    struct terminal terminal;

    lock("lock a*b --ttl 60s --token-file /dev/null");
    lock("lock a-b --ttl 60s --token-file /dev/null");
    open_top(&terminal);
    terminal_read(&terminal, "2 keys");
    see(&terminal, "/a*q", "filter: a*q_");
    see(&terminal, "\177b", "filter: a*b_");
    see(&terminal, "\r", "1 key,");
    terminal_read(&terminal, "> a*b");
    see(&terminal, "/\033", "2 keys");
    quit(&terminal);
}

TEST(top, a_master_that_has_died_is_told_and_so_is_its_return)
{
    struct terminal terminal;

    lock("lock first --ttl 60s --token-file /dev/null");
    open_top(&terminal);
    terminal_read(&terminal, "2 more may fail");
    masters_kill(masters, 1);
    terminal_read(&terminal, "4 of 5 masters vote, 1 more may fail");
    terminal_read(&terminal, "down");
    terminal_read(&terminal, "4/5");
    masters_restart(masters, 1);
    terminal_read(&terminal, "no marker");
    quit(&terminal);
}

TEST(top, keys_wait_while_a_key_is_looked_at)
{
    struct terminal terminal;

    lock("lock sem --permits 1/3 --ttl 60s --token-file /dev/null");
    open_top(&terminal);
    terminal_read(&terminal, "> sem");
    masters_hang(masters, 0); /* a look waits for it */
    for (int i = 0; i < 3; i++) {
        see(&terminal, "\r", "'sem'");
        terminal_read(&terminal, "...");
        see(&terminal, "\033", "> sem");
    }
    masters_resume(masters, 0);
    quit(&terminal);
}

TEST(top, a_letter_is_taken_back_whole)
{
    struct terminal terminal;

    open_top(&terminal);
    terminal_read(&terminal, "0 keys");
    see(&terminal, "/a\xd0\xba", "_  (Enter");
    see(&terminal, "\177", "filter: a_");
    see(&terminal, "\r", "filter: a ");
    quit(&terminal);
}

/* Nothing tells the command of it but the end of what it reads. */
TEST(top, ends_when_its_terminal_is_gone)
{
    struct terminal terminal;
    int lives[2];
    char byte;

    ck_assert_int_eq(pipe(lives), 0);
    terminal_open(&terminal, "trap '' HUP; $REDLOCK top --every 200ms");
    close(lives[1]);
    terminal_read(&terminal, "0 keys");
    close(terminal.fd);
    ck_assert_int_eq(read(lives[0], &byte, 1), 0);
    close(lives[0]);
    waitpid(terminal.shell, NULL, 0);
}

TEST(top, a_signal_gives_the_terminal_back)
{
    struct terminal terminal;

    open_top(&terminal);
    terminal_read(&terminal, "0 keys");
    see(&terminal, "\003", LEAVES_SCREEN);
    terminal_close(&terminal);
}

TEST(top, for_a_pipe_one_look_is_printed_behind_the_other)
{
    lock("lock first --ttl 60s --label web1 --token-file /dev/null");
    tool_start(&tool, (const char *const[]){"top", "--watch", "--every", "100ms", NULL});
    tool_read_until(&tool, "first");
    tool_read_until(&tool, "\n1 key\n\n");
    masters_kill(masters, 1);
    tool_read_until(&tool, "Connection refused"); /* a log has room for the reason */
    masters_restart(masters, 1);
    ck_assert_int_eq(kill(tool.pid, SIGTERM), 0);
    tool_finish(&tool);
    tool_expect_signal(&tool, SIGTERM);
    ck_assert_msg(!strchr(tool.out, '\033'), "%s", tool.out);
    tool_expect_run(&tool, "top", 2);
    ck_assert_msg(strstr(tool.err, "this is no terminal: --watch prints one look behind the other"), "%s", tool.err);
    tool_expect_run(&tool, "top --watch [a", 2);
    ck_assert_msg(strstr(tool.err, "'[' in PATTERN has no ']'"), "%s", tool.err);
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("top"));
}
