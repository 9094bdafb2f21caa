#include "options/password.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "options/message.h"
#include "options/secrets.h"

/* In pages of its own, which core dumps leave out. */
struct cli_password_store {
    bool known;
    bool settled;      /* not from a regular file, which alone can be read again */
    struct stat stamp; /* of the file that the text was read from */
    char text[REDLOCK_MAX_PASSWORD_BYTES + 1];
};

/* --- The store ---------------------------------------------------------------------------------------------------- */

static bool create_store(struct cli_password *password)
{
    void *pages = mmap(NULL, sizeof *password->store, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED)
        return false;
    madvise(pages, sizeof *password->store, MADV_DONTDUMP);
    password->store = pages;
    return true;
}

void cli_password_fini(struct cli_password *password)
{
    if (!password->store)
        return;
    explicit_bzero(password->store, sizeof *password->store);
    munmap(password->store, sizeof *password->store);
    password->store = NULL;
}

void cli_password_keep(struct cli_password *password, const char *text, size_t length)
{
    struct cli_password_store *store = password->store;

    explicit_bzero(store->text, sizeof store->text);
    memcpy(store->text, text, length);
    store->known = true;
}

const char *cli_password_text(const struct cli_password *password)
{
    return password->store && password->store->known ? password->store->text : NULL;
}

bool cli_password_changes(const struct cli_password *password)
{
    return password->file || password->command;
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           same_time(a->st_mtim, b->st_mtim) && same_time(a->st_ctim, b->st_ctim);
}

static bool fail(const char *path, const char *what, char why[CLI_PASSWORD_WHY_SIZE])
{
    snprintf(why, CLI_PASSWORD_WHY_SIZE, "cannot read '%.100s': %s", path, what);
    return false;
}

/* The first line that is in the buffer; a longer text is no password. */
static bool take_line(struct cli_password *password, const char *bytes, size_t size, char why[CLI_PASSWORD_WHY_SIZE])
{
    size_t length = 0;

    if (size >= 3 && cli_behind_mark(bytes) != bytes) {
        bytes += 3;
        size -= 3;
    }
    while (length < size && bytes[length] != '\n' && bytes[length] != '\r' && bytes[length] != '\0')
        length++;
    if (length > REDLOCK_MAX_PASSWORD_BYTES)
        return fail(password->file, "its first line is too long for a password", why);
    if (length == 0)
        return fail(password->file, "its first line is empty", why);
    cli_password_keep(password, bytes, length);
    return true;
}

static bool read_all(struct cli_password *password, int fd, char why[CLI_PASSWORD_WHY_SIZE])
{
    char bytes[REDLOCK_MAX_PASSWORD_BYTES + 5]; /* with a byte order mark, and more than a password has */
    size_t size = 0;
    ssize_t n;
    bool ok;

    do {
        n = read(fd, bytes + size, sizeof bytes - size);
        size += n > 0 ? (size_t)n : 0;
    } while ((n > 0 && size < sizeof bytes) || (n < 0 && errno == EINTR));
    ok = n < 0 ? fail(password->file, strerror(errno), why) : take_line(password, bytes, size, why);
    explicit_bzero(bytes, sizeof bytes);
    return ok;
}

/* A pipe that has taken the file's place later must not be waited for: locks are held meanwhile. */
bool cli_password_read(struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE])
{
    struct cli_password_store *store = password->store;
    struct stat stamp;
    bool ok;
    int fd;

    if (store->settled || (store->known && stat(password->file, &stamp) == 0 && is_unchanged(&stamp, &store->stamp)))
        return true;
    fd = open(password->file, O_RDONLY | O_CLOEXEC | (store->known ? O_NONBLOCK : 0));
    if (fd < 0 || fstat(fd, &stamp) != 0)
        ok = fail(password->file, strerror(errno), why);
    else if (store->known && !S_ISREG(stamp.st_mode))
        ok = fail(password->file, "it is no regular file any more", why);
    else
        ok = read_all(password, fd, why);
    if (ok) {
        store->settled = !S_ISREG(stamp.st_mode);
        store->stamp = stamp;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

/* --- What is given ------------------------------------------------------------------------------------------------ */

bool cli_password_is_for(const char *url)
{
    const char *start = strstr(url, "://");
    const char *at;

    start = start ? start + 3 : url;
    at = memrchr(start, '@', strcspn(start, "/"));
    return !at || !memchr(start, ':', (size_t)(at - start));
}

/* A source that an option names comes before all of the environment's. */
static void take_variables(struct cli_password *password)
{
    if (!password->user)
        password->user = cli_variable("REDLOCK_USER");
    if (cli_password_changes(password))
        return;
    password->file = cli_variable("REDLOCK_PASSWORD_FILE");
    password->command = cli_variable("REDLOCK_PASSWORD_COMMAND");
}

static bool refuse(const char *command, const char *text)
{
    cli_error(command, "%s", text);
    return false;
}

/* The one of the environment does not change. As of a file, its first line counts. */
static bool take_text(const char *command, struct cli_password *password)
{
    const char *text = getenv("REDLOCK_PASSWORD");
    size_t length;

    if (!text || *text == '\0')
        return true;
    text = cli_behind_mark(text);
    length = strcspn(text, "\r\n");
    if (length > REDLOCK_MAX_PASSWORD_BYTES)
        return refuse(command, "REDLOCK_PASSWORD is too long for a password");
    if (length == 0)
        return refuse(command, "the first line of REDLOCK_PASSWORD is empty");
    cli_password_keep(password, text, length);
    return true;
}

bool cli_password_complete(const char *command, struct cli_password *password)
{
    bool named = password->user != NULL;
    char why[CLI_PASSWORD_WHY_SIZE];

    take_variables(password);
    if (password->file && password->command)
        return refuse(command, "a password comes from a file (--password-file, REDLOCK_PASSWORD_FILE) or from a "
                               "command (--password-command, REDLOCK_PASSWORD_COMMAND), not from both");
    if (password->user && strlen(password->user) > REDLOCK_MAX_USER_BYTES)
        return refuse(command, "the name of --user is too long");
    if (!create_store(password))
        return refuse(command, "out of memory");
    if (password->file)
        return cli_password_read(password, why) || refuse(command, why);
    if (!password->command && !take_text(command, password))
        return false;
    if (named && !password->command && !cli_password_text(password))
        return refuse(command, "--user needs a password: --password-file, --password-command or REDLOCK_PASSWORD");
    return true;
}

/* --- A command that prints a password: a process of its own, which nobody waits for without a limit --------------- */

#define NS_PER_MS INT64_C(1000000)

enum { MOST = REDLOCK_MAX_PASSWORD_BYTES + 1 };

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (1000 * NS_PER_MS) + now.tv_nsec;
}

static bool command_failed(char why[CLI_PASSWORD_WHY_SIZE], const char *what, const char *detail)
{
    snprintf(why, CLI_PASSWORD_WHY_SIZE, "the password command %s%s", what, detail);
    return false;
}

/* --- Its start ---------------------------------------------------------------------------------------------------- */

/* Signals as a shell expects them: this process may have blocked or ignored some. */
static int set_up(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *actions, int output)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    if (posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) != 0)
        return ENOMEM;
    return posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
}

static int start(struct password_run *run, const char *command, int output)
{
    char *argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;

    if (posix_spawnattr_init(&attributes) != 0)
        return ENOMEM;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        posix_spawnattr_destroy(&attributes);
        return ENOMEM;
    }
    error = set_up(&attributes, &actions, output);
    if (error == 0)
        error = posix_spawn(&run->pid, "/bin/sh", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

bool password_command_start(struct password_run *run, const char *command, char why[CLI_PASSWORD_WHY_SIZE])
{
    int ends[2] = {-1, -1};
    int error;

    *run = (struct password_run){.output = -1, .deadline_ns = now_ns() + PASSWORD_COMMAND_LIMIT_MS * NS_PER_MS};
    run->bytes = malloc(MOST);
    if (!run->bytes)
        error = ENOMEM;
    else if (pipe2(ends, O_CLOEXEC) != 0)
        error = errno;
    else
        error = start(run, command, ends[1]);
    if (ends[1] >= 0)
        close(ends[1]);
    run->output = ends[0];
    if (error == 0) {
        fcntl(run->output, F_SETFL, O_NONBLOCK);
        return true;
    }
    run->pid = 0;
    password_command_kill(run);
    return command_failed(why, "cannot be started: ", strerror(error));
}

/* --- Its end ------------------------------------------------------------------------------------------------------ */

void password_command_kill(struct password_run *run)
{
    if (run->pid > 0) {
        kill(-run->pid, SIGKILL);
        waitpid(run->pid, NULL, 0);
    }
    if (run->output >= 0)
        close(run->output);
    if (run->bytes)
        explicit_bzero(run->bytes, MOST);
    free(run->bytes);
    *run = (struct password_run){.output = -1};
}

/* What comes behind the first line is read, and dropped, so that the command is not stopped by a full pipe. */
static void take_output(struct password_run *run)
{
    char rest[512];
    ssize_t n = 0;

    do {
        bool full = run->size == MOST;

        n = read(run->output, full ? rest : run->bytes + run->size, full ? sizeof rest : MOST - run->size);
        if (n > 0 && !full)
            run->size += (size_t)n;
    } while (n > 0);
    run->ended = n == 0 || (errno != EAGAIN && errno != EINTR);
    explicit_bzero(rest, sizeof rest);
}

static bool take_printed(struct password_run *run, struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE])
{
    size_t length = 0;

    while (length < run->size && run->bytes[length] != '\n' && run->bytes[length] != '\r' && run->bytes[length] != '\0')
        length++;
    if (length > REDLOCK_MAX_PASSWORD_BYTES)
        return command_failed(why, "has printed a line that is too long", "");
    if (length == 0)
        return command_failed(why, "has printed no password", "");
    cli_password_keep(password, run->bytes, length);
    return true;
}

/* Its exit status is not known (-1) where its end is nobody's to see. */
static bool judge(struct password_run *run, int status, struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE])
{
    char number[16];

    if (status != -1 && WIFSIGNALED(status)) {
        snprintf(number, sizeof number, "%d", WTERMSIG(status));
        return command_failed(why, "was ended by signal ", number);
    }
    if (status != -1 && WEXITSTATUS(status) != 0) {
        snprintf(number, sizeof number, "%d", WEXITSTATUS(status));
        return command_failed(why, "has ended with exit status ", number);
    }
    return take_printed(run, password, why);
}

enum password_step password_command_step(struct password_run *run, struct cli_password *password,
                                         char why[CLI_PASSWORD_WHY_SIZE])
{
    int status = -1;
    pid_t pid = 0;
    bool ok;

    if (!run->ended)
        take_output(run);
    if (run->ended)
        pid = waitpid(run->pid, &status, WNOHANG);
    if (pid == 0 && now_ns() < run->deadline_ns)
        return PASSWORD_RUNNING;
    if (pid == 0) {
        ok = command_failed(why, "takes longer than 10s", "");
    } else {
        run->pid = 0;
        ok = judge(run, status, password, why);
    }
    password_command_kill(run);
    return ok ? PASSWORD_DONE : PASSWORD_FAILED;
}

bool password_command_wait(struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE])
{
    struct password_run run;
    enum password_step step;

    if (!password_command_start(&run, password->command, why))
        return false;
    while ((step = password_command_step(&run, password, why)) == PASSWORD_RUNNING) {
        struct pollfd output = {run.output, POLLIN, 0};

        poll(&output, run.ended ? 0 : 1, PASSWORD_COMMAND_LOOK_MS);
    }
    return step == PASSWORD_DONE;
}
