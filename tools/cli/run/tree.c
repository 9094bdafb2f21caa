#include "cli/run/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "portable.h"

struct process {
    pid_t pid;
    pid_t parent;
    pid_t group;
    unsigned long long start; /* with the pid it tells one process from all others */
    bool ended;               /* a zombie, with all its threads */
    bool hidden;              /* a child of this process of which no more can be read */
    bool descends;
    char name[sizeof ((struct run_process *)0)->name];
};

struct processes {
    struct process *items;
    size_t n;
    size_t room;
};

/* --- Reading /proc ------------------------------------------------------------------------------------------- */

/* The name in parentheses may contain anything, so the fields are counted from the last parenthesis. */
static bool parse_stat(const char *text, struct process *ret_process)
{
    const char *name = strchr(text, '(');
    const char *rest = strrchr(text, ')');
    char state;
    int parent;
    int group;
    int threads;

    if (!name || !rest ||
        sscanf(rest + 1, " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu", &state,
               &parent, &group, &threads, &ret_process->start) != 5)
        return false;
    snprintf(ret_process->name, sizeof ret_process->name, "%.*s", (int)(rest - name - 1), name + 1);
    ret_process->parent = parent;
    ret_process->group = group;
    /* A first thread that has ended looks like a zombie while others run. */
    ret_process->ended = (state == 'Z' || state == 'X') && threads <= 1;
    return true;
}

/* False if it has ended meanwhile. */
static bool read_process(pid_t pid, struct process *ret_process)
{
    char path[32];
    char text[512];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    *ret_process = (struct process){.pid = pid};
    return parse_stat(text, ret_process);
}

static bool add(struct processes *all, const struct process *process)
{
    if (all->n == all->room) {
        size_t room = all->room > 0 ? all->room * 2 : 256;
        struct process *items = realloc(all->items, room * sizeof *items);

        if (!items)
            return false;
        all->items = items;
        all->room = room;
    }
    all->items[all->n++] = *process;
    return true;
}

/* In the /proc of another PID namespace processes have other numbers, and an empty directory shows none. */
bool run_tree_is_visible(void)
{
    char number[24] = "";

    return readlink("/proc/self", number, sizeof number - 1) > 0 && strtol(number, NULL, 10) == (long)getpid();
}

static bool is_listed(const struct processes *all, pid_t pid)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].pid == pid)
            return true;
    return false;
}

static bool has_ended(pid_t child)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

/* Where /proc has hidepid= (proc(5)) it does not show processes that this one may not trace, as those are that cannot
 * be read or were another user's. The list of this process's own children has them; whose parent has ended comes to be
 * there, too. Children do not belong to threads here: only the first one has any. */
static bool add_hidden(struct processes *all)
{
    char path[48];
    FILE *list;
    int pid;
    bool ok = true;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    list = fopen(path, "re");
    while (ok && list && fscanf(list, "%d", &pid) == 1) {
        struct process process;

        if (is_listed(all, pid))
            continue;
        if (!read_process(pid, &process))
            process = (struct process){.pid = pid, .parent = getpid(), .group = getpgid(pid),
                                       .ended = has_ended(pid), .hidden = true, .name = "?"};
        ok = add(all, &process);
    }
    if (list)
        fclose(list);
    return ok;
}

static bool read_all(struct processes *ret_all)
{
    DIR *proc = opendir("/proc");
    bool ok = proc != NULL;

    *ret_all = (struct processes){0};
    for (struct dirent *entry; ok && (entry = readdir(proc));) {
        struct process process;

        if (isdigit((unsigned char)entry->d_name[0]) && read_process((pid_t)atoi(entry->d_name), &process))
            ok = add(ret_all, &process);
    }
    if (proc)
        closedir(proc);
    return ok && add_hidden(ret_all);
}

/* --- Strangers ----------------------------------------------------------------------------------------------- */

static bool is_strange(const struct run_strangers *strangers, pid_t pid)
{
    for (size_t i = 0; strangers && i < strangers->n; i++)
        if (strangers->pids[i] == pid)
            return true;
    return false;
}

bool run_strangers_note(struct run_strangers *ret_strangers)
{
    struct processes all;
    bool ok = read_all(&all);

    *ret_strangers = (struct run_strangers){0};
    ret_strangers->pids = calloc(all.n + 1, sizeof *ret_strangers->pids);
    ok = ok && ret_strangers->pids;
    for (size_t i = 0; ok && i < all.n; i++)
        if (all.items[i].parent == getpid())
            ret_strangers->pids[ret_strangers->n++] = all.items[i].pid;
    free(all.items);
    return ok;
}

void run_strangers_free(struct run_strangers *strangers)
{
    free(strangers->pids);
    *strangers = (struct run_strangers){0};
}

/* --- Signals ------------------------------------------------------------------------------------------------- */

static void mark_children(struct processes *all, pid_t parent, const struct run_strangers *strangers, pid_t *found,
                          size_t *n)
{
    for (size_t i = 0; i < all->n; i++) {
        struct process *one = &all->items[i];

        if (one->parent != parent || one->descends || is_strange(strangers, one->pid))
            continue;
        one->descends = true;
        found[(*n)++] = one->pid;
    }
}

/* Generation after generation; a look takes as long as there are processes times descendants. */
static bool mark_descendants(struct processes *all, pid_t root, const struct run_strangers *strangers)
{
    pid_t *found = calloc(all->n + 1, sizeof *found);
    size_t n = 0;

    if (!found)
        return false;
    mark_children(all, root, strangers, found, &n);
    for (size_t i = 0; i < n; i++)
        mark_children(all, found[i], strangers, found, &n);
    free(found);
    return true;
}

static bool is_still(const struct process *process)
{
    struct process now;

    return read_process(process->pid, &now) && now.start == process->start;
}

/* The number of a process that has just ended may belong to another already: the descriptor pins it, and the start
 * time tells whether it is still the one that was seen. Without descriptors, as where the kernel is too old or a filter
 * of system calls refuses them (with EPERM, say), only the instant between that look and kill() is left open. A hidden
 * child keeps its number until this process waits for it. */
static void send_to(const struct process *process, int number)
{
    int fd = portable_pidfd_open(process->pid);

    if (fd < 0 && errno == ESRCH)
        return;
    if ((process->hidden || is_still(process)) && (fd < 0 || portable_pidfd_signal(fd, number) != 0))
        kill(process->pid, number);
    if (fd >= 0)
        close(fd);
}

static bool is_meant(const struct run_sweep *sweep, const struct process *process)
{
    return (sweep->but_group == 0 || process->group != sweep->but_group) &&
           (sweep->only_group == 0 || process->group == sweep->only_group);
}

ssize_t run_tree_signal(const struct run_sweep *sweep, int number)
{
    struct processes all;
    ssize_t alive = 0;
    bool ok = read_all(&all) && mark_descendants(&all, sweep->root, sweep->strangers);

    for (size_t i = 0; ok && i < all.n; i++) {
        const struct process *one = &all.items[i];

        if (!one->descends)
            continue;
        alive += !one->ended;
        if (!one->ended && number != 0 && is_meant(sweep, one))
            send_to(one, number);
        else if (one->ended && sweep->reap && one->parent == getpid())
            waitpid(one->pid, NULL, WNOHANG);
    }
    free(all.items);
    return ok ? alive : -1;
}

struct run_listing run_tree_list(pid_t root)
{
    struct run_listing listing = {.n = 0};
    struct processes all;
    bool ok = read_all(&all) && mark_descendants(&all, root, NULL);

    for (size_t i = 0; ok && i < all.n; i++) {
        const struct process *one = &all.items[i];

        if (!one->descends || one->ended)
            continue;
        if (listing.n < RUN_MOST_LISTED) {
            listing.items[listing.n].pid = one->pid;
            memcpy(listing.items[listing.n].name, one->name, sizeof one->name);
        }
        listing.n++;
    }
    free(all.items);
    return listing;
}
