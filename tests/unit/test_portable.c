/* What the tools use in place of calls that some C libraries lack. This is built twice: as the tools are, and as it is
 * where the C library has none of them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "list.h"
#include "portable.h"
#include "suite.h"

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static int new_descriptor(int least)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, least);

    close(fd);
    ck_assert_int_ge(copy, least);
    return copy;
}

GROUP(tc, "calls", NULL, NULL)

TEST(tc, descriptors_in_the_range_are_closed_and_no_others)
{
    int below = new_descriptor(100), first = new_descriptor(101), inside = new_descriptor(150);
    int last = new_descriptor(200), above = new_descriptor(201);

    portable_close_range(101, 200);
    ck_assert(is_open(below) && is_open(above));
    ck_assert(!is_open(first) && !is_open(inside) && !is_open(last));
    close(below);
    close(above);
}

TEST(tc, many_descriptors_up_to_the_last_possible_are_closed)
{
    int fds[200];

    for (int i = 0; i < 200; i++)
        fds[i] = new_descriptor(300 + i);
    portable_close_range(300, INT_MAX);
    for (int i = 0; i < 200; i++)
        ck_assert_msg(!is_open(fds[i]), "descriptor %d is open", fds[i]);
    ck_assert(is_open(STDERR_FILENO));
}

TEST(tc, an_empty_range_closes_nothing)
{
    int fd = new_descriptor(100);

    portable_close_range(500, INT_MAX);
    ck_assert(is_open(fd));
    close(fd);
}

TEST(tc, a_process_is_signalled_through_its_descriptor)
{
    pid_t child = fork();
    int status;
    int fd;

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    fd = portable_pidfd_open(child);
    if (fd < 0 && errno == ENOSYS) {
        kill(child, SIGKILL);
        return;
    }
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(portable_pidfd_signal(fd, SIGUSR1), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    ck_assert_int_eq(portable_pidfd_signal(fd, SIGUSR1), -1);
    ck_assert_int_eq(errno, ESRCH);
    close(fd);
}

TEST(tc, signals_have_their_names)
{
    static const struct {
        int number;
        const char *name;
    } known[] = {{SIGHUP, "HUP"},   {SIGINT, "INT"},   {SIGQUIT, "QUIT"}, {SIGKILL, "KILL"}, {SIGUSR1, "USR1"},
                 {SIGUSR2, "USR2"}, {SIGTERM, "TERM"}, {SIGCHLD, "CHLD"}, {SIGCONT, "CONT"}, {SIGSTOP, "STOP"},
                 {SIGABRT, "ABRT"}, {SIGPWR, "PWR"},   {SIGSYS, "SYS"},   {SIGXFSZ, "XFSZ"}, {SIGWINCH, "WINCH"}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        ck_assert_str_eq(portable_signal_name(known[i].number), known[i].name);
    for (int i = 1; i < 32; i++)
        for (int j = i + 1; j < 32 && portable_signal_name(i); j++)
            ck_assert(!portable_signal_name(j) || strcmp(portable_signal_name(i), portable_signal_name(j)) != 0);
}

TEST(tc, numbers_without_a_name_have_none)
{
    ck_assert_ptr_null(portable_signal_name(0));
    ck_assert_ptr_null(portable_signal_name(-1));
    ck_assert_ptr_null(portable_signal_name(SIGRTMIN));
    ck_assert_ptr_null(portable_signal_name(INT_MAX));
}

TEST(tc, a_list_keeps_the_order_of_what_is_left_in_it)
{
    struct item {
        int number;
        struct list link;
    } items[4] = {{.number = 0}, {.number = 1}, {.number = 2}, {.number = 3}};
    struct list head;
    int sum = 0;

    list_init(&head);
    ck_assert(list_is_empty(&head));
    for (int i = 0; i < 4; i++)
        list_append(&head, &items[i].link);
    list_remove(&items[1].link);
    list_remove(&items[1].link);
    for (struct list *node = head.next; node != &head; node = node->next)
        sum = sum * 10 + LIST_OWNER(node, struct item, link)->number;
    ck_assert_int_eq(sum, 23);
    list_remove(&items[0].link);
    list_remove(&items[2].link);
    ck_assert_ptr_eq(head.next, &items[3].link);
    list_remove(&items[3].link);
    ck_assert(list_is_empty(&head));
}

SUITE("portable")
