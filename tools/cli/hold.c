#include "cli/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/run_clock.h"

int hold_leave(const char *command, const char *path, struct redlock_lock *lock, uint32_t ttl_ms, unsigned nodes_ok,
               size_t nodes)
{
    size_t size;
    const char *key = redlock_lock_key(lock, &size);
    struct hold hold = {.state = "held", .fence = redlock_lock_fence(lock), .ttl_ms = ttl_ms};
    struct run_instant now = run_instant_now(); /* before the validity: a pause in between must not add to it */
    int status;

    hold.valid_until = run_instant_after(now, redlock_remaining_ns(lock));
    snprintf(hold.key, sizeof(hold.key), "%.*s", (int)size, key);
    snprintf(hold.token, sizeof(hold.token), "%s", redlock_lock_token(lock));
    snprintf(hold.nodes_ok, sizeof(hold.nodes_ok), "%u/%zu", nodes_ok, nodes);
    status = redlock_lock_export(lock, hold.handover, sizeof(hold.handover));
    if (status == 0 && !hold_write(command, path, &hold))
        status = REDLOCK_E_SYSTEM;
    explicit_bzero(hold.handover, sizeof(hold.handover));
    return status;
}

int hold_reserve(const char *command, const char *path)
{
    for (;;) {
        struct stat opened;
        struct stat named;
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0 || flock(fd, LOCK_EX) != 0 || fstat(fd, &opened) != 0 || stat(path, &named) != 0) {
            cli_error(command, "cannot read '%s': %s", path, strerror(errno));
            if (fd >= 0)
                close(fd);
            return -1;
        }
        if (opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
            return fd;
        close(fd); /* replaced while we waited */
    }
}
