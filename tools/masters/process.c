/* Server processes: start, stop, and the proof that they have. */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "parts.h"
#include "internal.h"
#include "portable.h"
#include "system.h"

#define END_TIMEOUT_MS 10000
#define RUN_TIMEOUT_MS 120000

/* Runs in the child. A change of user disarms the death signal, hence the order. The parent may have died before the
 * signal was armed; its pid then no longer matches. */
static void become_server(const struct masters *masters, const struct arguments *arguments, char **environment,
                          pid_t parent, int log_fd, int null_fd)
{
    const struct program_user *user = &masters->user;
    sigset_t none;

    if (user->other && (setgroups(0, NULL) < 0 || setgid(user->gid) < 0 || setuid(user->uid) < 0))
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(126);
    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null_fd, 0);
    dup2(log_fd, 1);
    dup2(log_fd, 2);
    portable_close_range(3, INT_MAX);
    execvpe(arguments->list[0], arguments->list, environment);
    _exit(127);
}

static int open_log(const struct master *master)
{
    char path[SOCKET_PATH_MAX + 32];

    snprintf(path, sizeof path, "%s/log", master->dir);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static pid_t spawn(const struct masters *masters, const struct master *master, const struct arguments *arguments,
                   char **environment)
{
    pid_t parent = getpid();
    int log_fd = open_log(master);
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    pid_t pid = log_fd < 0 || null_fd < 0 ? -1 : fork();

    if (pid == 0)
        become_server(masters, arguments, environment, parent, log_fd, null_fd);
    if (pid < 0)
        fail("cannot start a server: %s", strerror(errno));
    if (log_fd >= 0)
        close(log_fd);
    if (null_fd >= 0)
        close(null_fd);
    return pid;
}

/* The environment is put together before the fork: other threads may hold the allocator's lock at that moment. */
static pid_t start(const struct masters *masters, const struct master *master, const struct arguments *arguments)
{
    char **environment = setup_environment(&master->setup);
    pid_t pid = environment ? spawn(masters, master, arguments, environment) : -1;

    free(environment);
    return pid;
}

/* The files of a server in service are on the disk. A server that was killed first writes there what is not, file by
 * file, which would take its time after each kill. */
static bool write_to_disk(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool written = fd >= 0 && syncfs(fd) == 0;

    if (!written)
        fail("%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return written;
}

static bool install(const struct masters *masters, const struct master *master)
{
    struct arguments arguments = {.n = 0};
    char data[SOCKET_PATH_MAX + 32];
    bool installed;

    snprintf(data, sizeof data, "%s/data", master->dir);
    if (access(data, F_OK) == 0)
        return true;
    installed = masters->system->installer(masters, data, &arguments) && process_run(masters, master, &arguments) &&
                write_to_disk(data);
    arguments_fini(&arguments);
    return installed;
}

static bool put_together(const struct masters *masters, const struct master *master, struct arguments *arguments)
{
    const struct system *system = masters->system;

    return (!system->prepare || system->prepare(masters, master)) &&
           (!system->installer || install(masters, master)) &&
           (system->command ? system->command(masters, master, arguments)
                            : arguments_add(arguments, masters->server, NULL)) &&
           system->arguments(masters, master, arguments) &&
           arguments_add_list(arguments, (const char *const *)master->setup.extra_args);
}

bool process_start(const struct masters *masters, struct master *master)
{
    struct arguments arguments = {.n = 0};
    pid_t pid = put_together(masters, master, &arguments) ? start(masters, master, &arguments) : -1;

    arguments_fini(&arguments);
    master->pid = pid > 0 ? pid : 0;
    master->hung = false;
    return pid > 0 && parts_add_process(masters, master);
}

bool process_run(const struct masters *masters, const struct master *master, const struct arguments *arguments)
{
    struct timespec pause = {.tv_nsec = 2000000};
    pid_t pid = start(masters, master, arguments);
    pid_t ended = 0;
    int status = 0;

    if (pid <= 0)
        return false;
    for (int waited = 0; waited < RUN_TIMEOUT_MS && ended == 0; waited += 2) {
        ended = waitpid(pid, &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno == EINTR)) {
            nanosleep(&pause, NULL);
            ended = 0;
        }
    }
    if (ended == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           fail_with_log(master, "%s has failed", arguments->list[0]);
}

/* What /proc/PID/stat says behind the command's name: the state's letter and the parent. False if it cannot be read. */
static bool read_state(pid_t pid, char *ret_state, pid_t *ret_parent)
{
    char path[64], line[512];
    FILE *file;
    const char *end;
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    end = strrchr(line, ')');
    if (!end || sscanf(end, ") %c %d", ret_state, &parent) != 2)
        return false;
    *ret_parent = (pid_t)parent;
    return true;
}

/* 0 if there is no such process. */
static char process_state(pid_t pid)
{
    char state;
    pid_t parent;

    return read_state(pid, &state, &parent) ? state : '\0';
}

/* waitpid() knows nothing of a server that was started before a fork(); the state of its process is seen by all. */
static bool has_ended(pid_t pid)
{
    pid_t reaped;
    char state;

    do
        reaped = waitpid(pid, NULL, WNOHANG);
    while (reaped < 0 && errno == EINTR);
    if (reaped == pid)
        return true;
    state = reaped < 0 ? process_state(pid) : 'R';
    return !state || state == 'Z' || state == 'X';
}

bool process_wait_end(pid_t pid, int timeout_ms)
{
    struct timespec pause = {.tv_nsec = 500000};

    for (int i = 0; i < 2 * timeout_ms; i++) {
        if (has_ended(pid))
            return true;
        nanosleep(&pause, NULL);
    }
    return has_ended(pid);
}

bool process_has_ended(const struct master *master)
{
    return has_ended(master->pid);
}

/* Servers that have a process for each client must stop as a whole. */
static void signal_children(pid_t parent, int signal)
{
    DIR *processes = opendir("/proc");

    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        char state;
        pid_t its_parent;

        if (pid > 0 && read_state(pid, &state, &its_parent) && its_parent == parent)
            kill(pid, signal);
    }
    if (processes)
        closedir(processes);
}

/* With its children, as when a machine fails; stopped first, so that it has no new ones meanwhile. */
bool process_end(struct master *master)
{
    if (kill(master->pid, SIGSTOP) == 0)
        signal_children(master->pid, SIGKILL);
    if (kill(master->pid, SIGKILL) < 0 && errno != ESRCH)
        return fail("kill: %s", strerror(errno));
    if (!process_wait_end(master->pid, END_TIMEOUT_MS))
        return fail("server %d does not end", (int)master->pid);
    master->pid = 0;
    master->hung = false;
    return true;
}

static bool wait_stopped(pid_t pid)
{
    struct timespec pause = {.tv_nsec = 500000};

    for (int i = 0; i < 2 * END_TIMEOUT_MS; i++) {
        char state = process_state(pid);

        if (state == 'T' || state == 't')
            return true;
        if (!state || state == 'Z')
            return fail("server %d has ended", (int)pid);
        nanosleep(&pause, NULL);
    }
    return fail("server %d does not stop", (int)pid);
}

bool process_stop(const struct master *master)
{
    if (kill(master->pid, SIGSTOP) < 0)
        return fail("kill: %s", strerror(errno));
    if (!wait_stopped(master->pid))
        return false;
    signal_children(master->pid, SIGSTOP);
    return true;
}

bool process_resume(const struct master *master)
{
    signal_children(master->pid, SIGCONT);
    return kill(master->pid, SIGCONT) == 0 || fail("kill: %s", strerror(errno));
}

/* --- A command line that is put together -------------------------------------------------------------------------- */

/* Takes the word over. */
static bool push(struct arguments *arguments, char *word)
{
    if (word && arguments->n < ARGUMENTS_MAX) {
        arguments->list[arguments->n++] = word;
        return true;
    }
    free(word);
    return fail(word ? "too many server arguments" : "out of memory");
}

bool arguments_add(struct arguments *arguments, const char *word, ...)
{
    va_list words;
    bool added = true;

    va_start(words, word);
    for (; word && added; word = va_arg(words, const char *))
        added = push(arguments, strdup(word));
    va_end(words);
    return added;
}

bool arguments_add_list(struct arguments *arguments, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (!push(arguments, strdup(words[i])))
            return false;
    return true;
}

bool arguments_print(struct arguments *arguments, const char *format, ...)
{
    char *word = NULL;
    va_list values;
    int length;

    va_start(values, format);
    length = vasprintf(&word, format, values);
    va_end(values);
    return push(arguments, length < 0 ? NULL : word);
}

void arguments_fini(struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->n; i++)
        free(arguments->list[i]);
    memset(arguments, 0, sizeof *arguments);
}

/* --- The programs of packages: where they are, and the user that theirs run as ------------------------------------ */

static char *find_in_path(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];

    while (path && *path) {
        size_t length = strcspn(path, ":");

        if (snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name) < (int)sizeof file &&
            access(file, X_OK) == 0)
            return strdup(file);
        path += length + (path[length] == ':');
    }
    return NULL;
}

/* Of several versions the last one, as the names are sorted. */
static char *find_in_places(const char *name, const char *places)
{
    char pattern[PATH_MAX];
    char *found = NULL;
    glob_t files;

    snprintf(pattern, sizeof pattern, "%s/%s", places, name);
    if (glob(pattern, 0, NULL, &files) == 0) {
        found = strdup(files.gl_pathv[files.gl_pathc - 1]);
        globfree(&files);
    }
    return found;
}

char *program_find(const char *name, const char *places)
{
    char *found = strchr(name, '/') ? strdup(name) : find_in_path(name);

    if (!found && places)
        found = find_in_places(name, places);
    if (!found)
        fail("there is no program \"%s\"", name);
    return found;
}

bool program_directory(char *ret_path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", ret_path, size - 1);

    if (n <= 0)
        return false;
    ret_path[n] = '\0';
    *(strrchr(ret_path, '/') + 1) = '\0';
    return true;
}

bool program_user_find(const char *name, struct program_user *ret_user)
{
    const struct passwd *entry;

    memset(ret_user, 0, sizeof *ret_user);
    if (!name || geteuid() != 0)
        return true;
    entry = getpwnam(name);
    if (!entry)
        return fail("there is no user \"%s\", whom the server runs as", name);
    *ret_user = (struct program_user){.other = true, .uid = entry->pw_uid, .gid = entry->pw_gid};
    return true;
}
