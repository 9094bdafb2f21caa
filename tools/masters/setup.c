/* How one master is run: the words behind its command line and its environment. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "portable.h"

static size_t count_words(const char *const *words)
{
    size_t n = 0;

    while (words && words[n])
        n++;
    return n;
}

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

static char **copy_words(const char *const *words)
{
    size_t n = count_words(words);
    char **copy = calloc(n + 1, sizeof *copy);

    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = strdup(words[i]);
        if (!copy[i]) {
            free_words(copy);
            return NULL;
        }
    }
    return copy;
}

/* An assignment without a name would be lost in silence. */
static bool are_assignments(const char *const *environment)
{
    for (size_t i = 0; environment && environment[i]; i++) {
        const char *equals = strchr(environment[i], '=');

        if (!equals || equals == environment[i])
            return fail("\"%s\" is not of the form NAME=value", environment[i]);
    }
    return true;
}

bool setup_replace(struct setup *setup, const struct masters_setup *request)
{
    struct setup copy = {.persistence = request->persistence};

    if (!are_assignments(request->environment))
        return false;
    copy.extra_args = copy_words(request->extra_args);
    copy.environment = copy_words(request->environment);
    if (!copy.extra_args || !copy.environment) {
        setup_fini(&copy);
        return fail("out of memory");
    }
    setup_fini(setup);
    *setup = copy;
    return true;
}

void setup_fini(struct setup *setup)
{
    free_words(setup->extra_args);
    free_words(setup->environment);
    memset(setup, 0, sizeof *setup);
}

static bool is_overridden(const char *inherited, char **own)
{
    size_t name_length = strcspn(inherited, "=");

    for (size_t i = 0; own[i]; i++)
        if (strncmp(own[i], inherited, name_length) == 0 && own[i][name_length] == '=')
            return true;
    return false;
}

char **setup_environment(const struct setup *setup)
{
    size_t room = count_words((const char *const *)environ) + count_words((const char *const *)setup->environment);
    char **merged = calloc(room + 1, sizeof *merged);
    size_t n = 0;

    if (!merged) {
        fail("out of memory");
        return NULL;
    }
    for (size_t i = 0; environ && environ[i]; i++)
        if (!is_overridden(environ[i], setup->environment))
            merged[n++] = environ[i];
    for (size_t i = 0; setup->environment[i]; i++)
        merged[n++] = setup->environment[i];
    return merged;
}

/* --- Free TCP ports ----------------------------------------------------------------------------------------------- */

/* Free TCP ports. The kernel gives outgoing connections ports from its ephemeral range, also the connections of a
 * client that keeps trying to reach a killed master: such a client could occupy the very port that the master needs
 * to come back, or even connect to itself. So ports are taken from below that range. A port is only known to be free
 * when the server has bound it; until then it is a guess, and the caller tries again. */

#define LOWEST_PORT 10000

static unsigned ephemeral_start(void)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    unsigned low = 0;

    if (!file)
        return 32768;
    if (fscanf(file, "%u", &low) != 1)
        low = 32768;
    fclose(file);
    return low;
}

/* Binds 127.0.0.1:port, 0 for any; the port that was bound, or 0. */
static uint16_t probe(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint16_t bound = 0;

    if (fd < 0)
        return 0;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&address, size) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0)
        bound = ntohs(address.sin_port);
    close(fd);
    return bound;
}

uint16_t port_pick(void)
{
    unsigned range_end = ephemeral_start();

    for (int i = 0; i < 100 && range_end > LOWEST_PORT + 1000; i++) {
        uint32_t random = 0;
        uint16_t port;

        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
            break;
        port = probe((uint16_t)(LOWEST_PORT + random % (range_end - LOWEST_PORT)));
        if (port)
            return port;
    }
    return probe(0);
}

/* --- The private directory ---------------------------------------------------------------------------------------- */

/* The private directory, and the helper process that removes it when nobody else can. The helper holds the read end
 * of a pipe whose write end lives in this process (and in its forked children). End of file means that all of them
 * are gone, by whatever signal; a byte means that there is nothing left to do. */

/* "/31.sock" and its like must still fit behind the directory's name. */
#define ROOM_FOR_SOCKET 16

static char *try_create(const char *parent)
{
    char *path = NULL;

    if (asprintf(&path, "%s/redlock-XXXXXX", parent) < 0)
        return NULL;
    if (strlen(path) + ROOM_FOR_SOCKET <= SOCKET_PATH_MAX && mkdtemp(path))
        return path;
    free(path);
    return NULL;
}

char *directory_create(void)
{
    const char *parent = getenv("TMPDIR");
    char *path = NULL;

    if (parent && parent[0] == '/')
        path = try_create(parent);
    if (!path)
        path = try_create("/tmp");
    if (!path)
        fail("no directory could be made under $TMPDIR or /tmp: %s", strerror(errno));
    return path;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
    remove(path);
    return 0;
}

void directory_remove(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Servers die with the parent; a process of theirs that was stopped would stay. All of them work in the directory. */
static void kill_inhabitants(const char *path)
{
    DIR *processes = opendir("/proc");
    size_t length = strlen(path);

    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        char link[64], place[PATH_MAX];
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        ssize_t n;

        if (pid <= 0)
            continue;
        snprintf(link, sizeof link, "/proc/%d/cwd", (int)pid);
        n = readlink(link, place, sizeof place - 1);
        if (n > (ssize_t)length && strncmp(place, path, length) == 0 && place[length] == '/')
            kill(pid, SIGKILL);
    }
    if (processes)
        closedir(processes);
}

/* Runs in the helper. It keeps nothing of the parent but the pipe, so that whoever waits for the end of the parent's
 * output is not kept waiting. The servers die with the parent, but not at the same instant: one that is still
 * writing could leave a file behind, hence the second look. */
static void guard_directory(int fd, const char *path)
{
    sigset_t all;
    char byte;
    ssize_t n;

    setsid();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    if (fd != 0)
        dup2(fd, 0);
    portable_close_range(1, INT_MAX);
    do
        n = read(0, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n == 0) {
        kill_inhabitants(path);
        for (int i = 0; i < 50 && access(path, F_OK) == 0; i++) {
            directory_remove(path);
            usleep(10000);
        }
    }
    _exit(0);
}

int directory_guard(const char *path, pid_t *ret_helper)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        fail("pipe: %s", strerror(errno));
        return -1;
    }
    pid = fork();
    if (pid == 0) {
        close(ends[1]);
        guard_directory(ends[0], path);
    }
    close(ends[0]);
    if (pid < 0) {
        fail("fork: %s", strerror(errno));
        close(ends[1]);
        return -1;
    }
    *ret_helper = pid;
    return ends[1];
}

void directory_unguard(int fd, pid_t helper)
{
    /* If the helper is gone already, SIGPIPE must not end this process for it. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction previous;
    ssize_t n;

    sigaction(SIGPIPE, &ignore, &previous);
    do
        n = write(fd, "", 1);
    while (n < 0 && errno == EINTR);
    sigaction(SIGPIPE, &previous, NULL);
    close(fd);
    while (waitpid(helper, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* --- Certificates for masters with TLS ---------------------------------------------------------------------------- */

/* Certificates for masters with TLS, by the openssl command: nothing of them is secret, and they live as long as the
 * masters. */

/* In the directory that is its argument: a CA, and of it certificates for servers and for clients. */
static const char script[] =
    "set -e; cd \"$1\"\n"
    "key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out \"$1.key\"; }\n"
    "key ca\n"
    "openssl req -x509 -new -key ca.key -days 3650 -subj '/CN=redlock test CA' -out ca.crt\n"
    "issue() {\n"
    "    key \"$1\"\n"
    "    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\\n' >\"$1.ext\"\n"
    "    openssl req -new -key \"$1.key\" -subj \"/CN=redlock $1\" |\n"
    "        openssl x509 -req -CA ca.crt -CAkey ca.key -set_serial \"$2\" -days 3650 \\\n"
    "        -extfile \"$1.ext\" -out \"$1.crt\"\n"
    "}\n"
    "issue server 1; issue client 2\n";

static void become_script(const char *dir, int log_fd)
{
    dup2(log_fd, 1);
    dup2(log_fd, 2);
    execlp("sh", "sh", "-c", script, "sh", dir, (char *)NULL);
    _exit(127);
}

/* The log goes with the directory. */
static void read_last_line(const char *path, char *ret_line, size_t size)
{
    FILE *file = fopen(path, "re");

    ret_line[0] = '\0';
    while (file && fgets(ret_line, (int)size, file))
        ret_line[strcspn(ret_line, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* A shell says 127 for a command that it does not find. */
static bool fail_to_make(int status, const char *log)
{
    char line[160];

    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail("there is no program \"openssl\" to make certificates, which is in Debian's package openssl");
    read_last_line(log, line, sizeof line);
    return fail("no certificates could be made by the openssl command: %s", line);
}

bool certificates_make(const char *dir)
{
    char log[SOCKET_PATH_MAX + 32];
    int status = 0;
    int log_fd;
    pid_t pid;

    snprintf(log, sizeof log, "%s/openssl.log", dir);
    log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pid = log_fd < 0 ? -1 : fork();
    if (pid == 0)
        become_script(dir, log_fd);
    if (log_fd >= 0)
        close(log_fd);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0)
        return fail("certificates: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return fail_to_make(status, log);
}

/* --- The text of the last failure --------------------------------------------------------------------------------- */

/* The text of the last failure, one for each thread. */

static _Thread_local char last_error[512];

bool fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return false;
}

/* The directory is gone when somebody reads the sentence, so it has the words of the log, and not its place. */
bool fail_with_log(const struct master *master, const char *format, ...)
{
    char what[256], path[SOCKET_PATH_MAX + 32], line[256], last[256] = "";
    va_list args;
    FILE *file;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(path, sizeof path, "%s/log", master->dir);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            memcpy(last, line, sizeof last);
    }
    if (file)
        fclose(file);
    return *last ? fail("%s; its log ends: %s", what, last) : fail("%s, and its log is empty", what);
}

const char *masters_error(void)
{
    return last_error;
}
