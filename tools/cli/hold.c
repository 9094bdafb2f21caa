#include "cli/hold.h"

#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/clock.h"

int hold_leave(struct file_out *file, struct redlock_lock *lock, uint32_t ttl_ms, unsigned nodes_ok, size_t nodes)
{
    size_t size;
    const char *key = redlock_lock_key(lock, &size);
    struct hold hold = {.state = "held", .fence = redlock_lock_fence(lock), .ttl_ms = ttl_ms};
    struct instant now = instant_now(); /* before the validity: a pause in between must not add to it */
    int status;

    hold.valid_until = instant_after(now, redlock_remaining_ns(lock));
    snprintf(hold.key, sizeof(hold.key), "%.*s", (int)size, key);
    snprintf(hold.token, sizeof(hold.token), "%s", redlock_lock_token(lock));
    snprintf(hold.nodes_ok, sizeof(hold.nodes_ok), "%u/%zu", nodes_ok, nodes);
    status = redlock_lock_export(lock, hold.handover, sizeof(hold.handover));
    if (status == 0 && !hold_write(file, &hold, HOLD_PATIENCE_MS))
        status = REDLOCK_E_SYSTEM;
    explicit_bzero(hold.handover, sizeof(hold.handover));
    return status;
}

/* False: the name stands for another file since, which has replaced this one while we waited. */
static bool is_still_named(const char *path, const struct stat *opened)
{
    struct stat named;

    return stat(path, &named) == 0 && opened->st_ino == named.st_ino && opened->st_dev == named.st_dev;
}

int hold_reserve(const char *command, const char *path)
{
    for (;;) {
        struct stat opened;
        int fd = hold_open(command, path);

        if (fd < 0)
            return -1;
        if (strcmp(path, "-") == 0 || (fstat(fd, &opened) == 0 && !S_ISREG(opened.st_mode)))
            return fd;
        if (flock(fd, LOCK_EX) == 0 && is_still_named(path, &opened))
            return fd;
        close(fd);
    }
}

void hold_remove(const char *path, int fd)
{
    struct file_target target;
    struct stat opened;

    if (fstat(fd, &opened) == 0 && file_target_find(path, STDIN_FILENO, &target) && target.kind == FILE_REGULAR &&
        target.exists && target.seen.st_dev == opened.st_dev && target.seen.st_ino == opened.st_ino)
        unlink(target.path);
}
