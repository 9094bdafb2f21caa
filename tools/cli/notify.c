#include "cli/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "options/message.h"

static int manager = -1; /* a socket that is connected to it */

/* False with errno. */
static bool connect_to(int fd, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);

    errno = length >= sizeof address.sun_path ? ENAMETOOLONG : EAFNOSUPPORT;
    if (length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return false;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    return connect(fd, (const struct sockaddr *)&address,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0;
}

void notify_open(const char *command)
{
    const char *path = getenv("NOTIFY_SOCKET");

    if (!path)
        return;
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (manager >= 0 && connect_to(manager, path))
        return;
    cli_error(command, "the service manager is told nothing: NOTIFY_SOCKET=%s: %s", path, strerror(errno));
    if (manager >= 0)
        close(manager);
    manager = -1;
}

void notify_send(const char *format, ...)
{
    char text[512];
    va_list arguments;
    int length;

    if (manager < 0)
        return;
    va_start(arguments, format);
    length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < sizeof text && send(manager, text, (size_t)length, MSG_NOSIGNAL) < 0 &&
        errno == ECONNREFUSED && connect_to(manager, getenv("NOTIFY_SOCKET"))) /* it was started anew */
        send(manager, text, (size_t)length, MSG_NOSIGNAL);
}

int64_t notify_watchdog_us(void)
{
    const char *limit = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");

    if (!limit || (pid && strtoll(pid, NULL, 10) != (long long)getpid()))
        return 0;
    return strtoll(limit, NULL, 10) / 2;
}
