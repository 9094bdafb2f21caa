/* The socket: the agent's own file, or one that the service manager has opened. */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/listener.h>

#include "agent/agent.h"

enum { FIRST_PASSED_FD = 3, BACKLOG = 1024, OTHER_FDS = 256 };

static bool refuse(const char *path, const char *why)
{
    cli_error("agent", "--socket %s: %s", path, why);
    return false;
}

/* The variables are not for children. -1: no socket was passed. */
static int passed_socket(void)
{
    const char *pid = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    bool passed = pid && count && strtol(pid, NULL, 10) == (long)getpid() && strtol(count, NULL, 10) > 0;

    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return passed ? FIRST_PASSED_FD : -1;
}

/* What an agent has left that was killed is removed; a living one is not disturbed. */
static bool clear_path(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool answered = fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN);
    bool nobody = !answered && (errno == ECONNREFUSED || errno == ENOENT);
    struct stat seen;

    if (!answered && !nobody)
        refuse(address->sun_path, strerror(errno));
    if (answered)
        refuse(address->sun_path, "another agent listens there");
    if (fd >= 0)
        close(fd);
    if (nobody && lstat(address->sun_path, &seen) == 0 && !S_ISSOCK(seen.st_mode))
        return refuse(address->sun_path, "this is no socket, and stays as it is: name another path, or remove it");
    if (nobody && unlink(address->sun_path) != 0 && errno != ENOENT)
        return refuse(address->sun_path, strerror(errno));
    return nobody;
}

static bool set_rights(const struct agent_options *options)
{
    const struct group *group = options->group ? getgrnam(options->group) : NULL;

    if (options->group && !group) {
        cli_error("agent", "--socket-group %s: there is no such group", options->group);
        return false;
    }
    if (group && chown(options->socket, (uid_t)-1, group->gr_gid) != 0)
        return refuse(options->socket, strerror(errno));
    return chmod(options->socket, options->mode) == 0 || refuse(options->socket, strerror(errno));
}

static int open_socket(struct agent *agent)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = agent->options->socket;
    struct stat seen;
    mode_t mask;
    int fd;

    if (strlen(path) >= sizeof address.sun_path) {
        refuse(path, "the path of a socket has at most 107 characters");
        return -1;
    }
    strcpy(address.sun_path, path);
    if (!clear_path(&address))
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mask = umask(0177);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        refuse(path, strerror(errno));
        umask(mask);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    umask(mask);
    agent->bound = stat(path, &seen) == 0;
    agent->device = seen.st_dev;
    agent->inode = seen.st_ino;
    if (set_rights(agent->options))
        return fd;
    close(fd);
    return -1;
}

/* A connection is one descriptor, and masters, timers and files need some. */
static void raise_limit(const struct agent_options *options)
{
    rlim_t needed = options->most_peers + OTHER_FDS;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
        return;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < needed)
        cli_error("agent",
                  "--max-connections %u takes %llu descriptors, and the system allows %llu: raise its limit "
                  "(ulimit -Hn, or LimitNOFILE= in the unit), or take fewer connections",
                  (unsigned)options->most_peers, (unsigned long long)needed, (unsigned long long)limit.rlim_max);
}

static void on_again(evutil_socket_t fd, short what, void *data)
{
    struct agent *agent = data;

    evconnlistener_enable(agent->listener);
}

/* Whoever connects waits in the socket's backlog meanwhile. */
static void on_refusal(struct evconnlistener *listener, void *data)
{
    static const struct timeval after = {.tv_sec = 1};
    struct agent *agent = data;

    cli_error("agent", "no connection can be taken for a second: %s", strerror(errno));
    if (event_add(agent->again, &after) == 0)
        evconnlistener_disable(listener);
}

static void on_connection(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size,
                          void *data)
{
    peer_begin(data, fd);
}

bool listener_open(struct agent *agent)
{
    int fd = passed_socket();

    raise_limit(agent->options);
    if (fd < 0)
        fd = open_socket(agent);
    else
        evutil_make_socket_nonblocking(fd);
    if (fd < 0)
        return false;
    agent->listener = evconnlistener_new(agent->session->base, on_connection, agent,
                                         LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, BACKLOG, fd);
    if (!agent->listener)
        close(fd);
    agent->again = evtimer_new(agent->session->base, on_again, agent);
    if (!agent->listener || !agent->again)
        return refuse(agent->options->socket, "the system refuses a listener");
    evconnlistener_set_error_cb(agent->listener, on_refusal);
    return true;
}

/* Another agent may have its socket there by now. */
void listener_close(struct agent *agent)
{
    struct stat seen;

    if (agent->listener)
        evconnlistener_free(agent->listener);
    if (agent->again)
        event_free(agent->again);
    agent->listener = NULL;
    agent->again = NULL;
    if (agent->bound && stat(agent->options->socket, &seen) == 0 && seen.st_dev == agent->device &&
        seen.st_ino == agent->inode)
        unlink(agent->options->socket);
    agent->bound = false;
}
