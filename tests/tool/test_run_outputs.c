/* What `redlock run` writes while nobody reads, or while a disk stands still: neither the lock nor its end may wait for
 * that. */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run/outlet.h"
#include "run_rig.h"
#include "suite.h"

/* Standard error is a pipe, which the command fills by a descriptor of its own: that of the others stays a blocking
 * one. */
#define FILL_FILE(file) "yes x | dd of=" file " oflag=nonblock bs=1 count=2000000 3>&2 2>/dev/null; "
#define FILL FILL_FILE("/dev/fd/3")

/* Until the lock file has told of so many renewals. */
#define RENEWALS(n)                                                                                                \
    "i=0; while [ $i -lt " #n " ]; do now=$(cat $REDLOCK_LOCK_FILE); [ \"$now\" = \"$last\" ] || i=$((i + 1)); "     \
    "last=$now; sleep 0.02; done; "

static void close_all(void)
{
    locks_close();
    tool_orphans_end();
}

/* --- The thread that writes -------------------------------------------------------------------------------------- */

static struct event_base *base;
static int gate[2]; /* a byte for each text that may be written */
static char written[256];
static int told;

static int write_behind_gate(void *data, const char *text, size_t size)
{
    char byte;

    ck_assert_ptr_eq(data, gate);
    if (read(gate[0], &byte, 1) != 1)
        return EIO;
    strncat(written, text, size);
    return 0;
}

static void on_told(void *data)
{
    told++;
}

static void open_outlet(struct outlet **ret_outlet, enum outlet_kind kind)
{
    base = event_base_new();
    written[0] = '\0';
    told = 0;
    ck_assert_int_eq(pipe(gate), 0);
    *ret_outlet = outlet_open(base, kind, write_behind_gate, on_told, gate);
    ck_assert_ptr_nonnull(*ret_outlet);
}

static void let_pass(size_t n)
{
    for (; n > 0; n--)
        ck_assert_int_eq(write(gate[1], "x", 1), 1);
}

GROUP(thread, "thread", NULL, NULL)

TEST(thread, texts_are_written_in_their_order_and_the_loop_is_told)
{
    struct outlet *outlet;

    open_outlet(&outlet, OUTLET_ALL);
    for (int i = 0; i < 3; i++)
        ck_assert(outlet_put(outlet, strdup(i == 0 ? "a" : i == 1 ? "b" : "c"), 1));
    ck_assert(!outlet_is_idle(outlet));
    let_pass(3);
    while (told == 0)
        ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
    ck_assert(outlet_is_idle(outlet));
    ck_assert_str_eq(written, "abc");
    ck_assert(outlet_close(outlet));
    event_base_free(base);
}

TEST(thread, a_state_that_waits_is_replaced_by_a_later_one)
{
    struct outlet *outlet;

    open_outlet(&outlet, OUTLET_LATEST);
    for (int i = 0; i < 100; i++)
        ck_assert(outlet_put(outlet, strdup(i < 99 ? "old" : "new"), 3));
    let_pass(2); /* the thread may have begun with one of the old ones */
    ck_assert(outlet_drain(outlet, SUITE_PATIENCE_S * 1000));
    ck_assert_str_eq(written + strlen(written) - 3, "new");
    ck_assert_uint_le(strlen(written), 6);
    ck_assert(outlet_close(outlet));
    event_base_free(base);
}

TEST(thread, what_has_no_room_is_counted)
{
    struct outlet *outlet;
    char *large;
    unsigned n = 0;

    open_outlet(&outlet, OUTLET_ALL);
    do {
        large = calloc(1, 10000);
        n++;
    } while (outlet_put(outlet, large, 10000));
    ck_assert_uint_lt(n, 10);
    ck_assert(!outlet_put(outlet, strdup("small"), 60000));
    ck_assert_uint_eq(outlet_take_missed(outlet), 0);
    let_pass(n);
    ck_assert(outlet_drain(outlet, SUITE_PATIENCE_S * 1000));
    ck_assert_uint_eq(outlet_take_missed(outlet), 2);
    ck_assert_uint_eq(outlet_take_missed(outlet), 0);
    ck_assert(outlet_close(outlet));
    event_base_free(base);
}

TEST(thread, a_thread_that_is_held_up_is_left_alone_and_its_error_is_kept)
{
    struct outlet *outlet;

    open_outlet(&outlet, OUTLET_ALL);
    ck_assert(outlet_put(outlet, strdup("a"), 1));
    ck_assert(!outlet_drain(outlet, 20));
    close(gate[1]);
    ck_assert(outlet_drain(outlet, SUITE_PATIENCE_S * 1000));
    ck_assert_int_eq(outlet_error(outlet), EIO);
    ck_assert_int_eq(pipe(gate), 0);
    ck_assert(outlet_put(outlet, strdup("b"), 1));
    ck_assert(!outlet_close(outlet));
    event_base_free(base);
}

/* --- The command ------------------------------------------------------------------------------------------------- */

GROUP(command, "command", locks_open, close_all)

TEST(command, the_lock_is_renewed_while_nobody_reads_standard_error)
{
    struct tool run;

    rig_start(&run, WORDS("--ttl", "1s", "-v", "--lock-file", rig_path("lock.json"),
                          SH("echo ready; " FILL RENEWALS(9) "echo finished")));
    tool_read_output_until(&run, "finished");
    tool_expect_end(&run, 0);
    ck_assert_ptr_nonnull(strstr(run.err, "redlock: 'job' is renewed"));
}

TEST(command, messages_that_had_no_room_are_counted_and_told)
{
    struct tool run;
    char key[501];

    memset(key, '\1', sizeof key - 1); /* six letters each in JSON */
    key[sizeof key - 1] = '\0';
    tool_start(&run, WORDS("run", "--key", key, "--ttl", "500ms", "-v", "--json", "--lock-file", rig_path("lock.json"),
                           SH(FILL RENEWALS(20) "echo finished")));
    tool_read_output_until(&run, "finished");
    tool_expect_end(&run, 0);
    ck_assert_ptr_nonnull(strstr(run.err, "\"event\":\"unsaid\""));
    ck_assert_ptr_nonnull(strstr(run.err, "\"messages\":"));
}

TEST(command, a_lost_lock_ends_the_command_while_nobody_reads_standard_error)
{
    struct tool run;
    struct tool next;

    rig_start(&run, WORDS("--ttl", "3s", "-v", SH("trap '' TERM; echo ready; " FILL "echo filled; " WAIT)));
    tool_read_output_until(&run, "filled");
    tool_expect_run(&next, "break job --yes", 0);
    tool_read_output(&run);
    tool_expect_end(&run, 123);
}

/* The reader may be for ever away; the lock is released before the last words are said. */
TEST(command, an_unread_standard_error_does_not_keep_it_from_ending)
{
    struct tool run;
    int status;

    rig_start(&run, WORDS("--status", SH("echo ready; " FILL "exit 7")));
    ck_assert_int_eq(waitpid(run.pid, &status, 0), run.pid);
    ck_assert_int_eq(WEXITSTATUS(status), 7);
    rig_expect_free();
}

TEST(command, the_descriptor_of_standard_error_stays_a_blocking_one)
{
    rig_run(0, WORDS("--status", SH("awk '/flags/ {print $2}' /proc/self/fdinfo/2")));
    ck_assert_int_eq(strtol(tool.out, NULL, 8) & 04000, 0); /* O_NONBLOCK */
}

/* A pipe that is full stands for a disk that does not take anything. */
TEST(command, a_file_that_cannot_be_written_for_a_while_holds_up_nothing)
{
    char script[512];
    struct tool run;

    snprintf(script, sizeof script,
             "echo ready; " FILL_FILE("%s") RENEWALS(9) "exit 6",
             rig_path("slow"));
    ck_assert_int_eq(mkfifo(rig_path("slow"), 0600), 0);
    ck_assert_int_ge(open(rig_path("slow"), O_RDWR | O_CLOEXEC), 0);
    rig_start(&run, WORDS("--ttl", "600ms", "--metrics-file", rig_path("slow"), "--lock-file", rig_path("lock.json"),
                          SH(script)));
    tool_expect_end(&run, 6);
    ck_assert_ptr_nonnull(strstr(run.err, "slow': its reader is too slow"));
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("run-outputs"));
}
