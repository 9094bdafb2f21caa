#include "cli/file_out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "options/message.h"

enum { MOST_BESIDE = 100, PIECE = 4096 /* what a pipe that is ready takes without waiting */ };

const char *file_out_reason(int error)
{
    if (error == ENXIO)
        return "nobody reads from it";
    return error == EAGAIN || error == ETIMEDOUT ? "its reader is too slow" : strerror(error);
}

static bool refuse(const struct file_out *file)
{
    cli_error(file->command, "cannot write '%s': %s", file->path, file_out_reason(errno));
    return false;
}

/* --- A regular file: a new one beside it, which takes its name ---------------------------------------------------- */

/* A new file in the directory of the target; hidden, for those who read all files that they find there. */
static int create_beside(const struct file_out *file, char *ret_path)
{
    const char *path = file->target.path;
    const char *slash = strrchr(path, '/');
    int directory = slash ? (int)(slash - path) + 1 : 0;
    mode_t mode = file->rights == FILE_PUBLIC ? 0666 : 0600;
    int fd = -1;

    errno = EEXIST;
    for (int i = 0; fd < 0 && errno == EEXIST && i < MOST_BESIDE; i++) {
        if (snprintf(ret_path, PATH_MAX, "%.*s.redlock.%d.%d", directory, path, (int)getpid(), i) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(ret_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    }
    return fd;
}

/* The owner first: changing it takes rights away. Only root can, and nobody else needs to. */
static bool keep_rights(const struct file_out *file, int fd)
{
    const struct stat *old = &file->target.seen;

    if (!file->target.exists || file->rights == FILE_SECRET)
        return true;
    if (geteuid() == 0 && fchown(fd, old->st_uid, old->st_gid) != 0)
        return false;
    return fchmod(fd, old->st_mode & 0777) == 0;
}

static bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);

        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* What stands under the name may have become something else since. */
static bool is_still_replaceable(struct file_out *file)
{
    struct file_target *target = &file->target;

    target->exists = lstat(target->path, &target->seen) == 0;
    if (target->exists && !S_ISREG(target->seen.st_mode)) {
        errno = EEXIST;
        return false;
    }
    return target->exists || errno == ENOENT;
}

static bool replace(struct file_out *file, const char *text, size_t size)
{
    char beside[PATH_MAX];
    bool ok;
    int error;
    int fd;

    if (!is_still_replaceable(file) || (fd = create_beside(file, beside)) < 0)
        return false;
    ok = keep_rights(file, fd) && write_all(fd, text, size) && fstat(fd, &file->written) == 0;
    error = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        error = errno;
    }
    if (ok && rename(beside, file->target.path) == 0) {
        file->made = true;
        return true;
    }
    error = ok ? errno : error;
    unlink(beside);
    errno = error;
    return false;
}

/* Whether a file can be made there is best known by making one. */
static bool try_directory(const struct file_out *file)
{
    char beside[PATH_MAX];
    int fd = create_beside(file, beside);

    if (fd < 0)
        return false;
    close(fd);
    unlink(beside);
    return true;
}

/* --- Everything else: written into -------------------------------------------------------------------------------- */

static int connect_to(const char *path)
{
    static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    errno = EPROTOTYPE;
    for (size_t i = 0; i < sizeof types / sizeof types[0] && errno == EPROTOTYPE; i++) {
        int fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        int error;

        if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        error = errno;
        close(fd);
        errno = error;
    }
    return -1;
}

static int duplicate(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
        errno = EBADF;
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return -1;
    return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static int open_target(const struct file_target *target)
{
    switch (target->kind) {
    case FILE_DESCRIPTOR:
        return duplicate(target->fd);
    case FILE_SOCKET:
        return connect_to(target->path);
    case FILE_STREAM:
        return open(target->path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    case FILE_REGULAR:
    default:
        return -1;
    }
}

/* In pieces that a reader's buffer takes at once, so that a descriptor shared with others may stay as it is. */
static bool write_into(const struct file_out *file, const char *text, size_t size, int patience_ms)
{
    while (size > 0) {
        struct pollfd room = {.fd = file->fd, .events = POLLOUT};
        int ready = poll(&room, 1, patience_ms);
        ssize_t n;

        if (ready == 0)
            errno = ETIMEDOUT;
        if (ready == 0 || (ready < 0 && errno != EINTR))
            return false;
        n = ready > 0 ? write(file->fd, text, size < PIECE ? size : PIECE) : 0;
        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* --- The calls ---------------------------------------------------------------------------------------------------- */

bool file_out_open(struct file_out *file, const char *command, const char *path, enum file_rights rights)
{
    *file = (struct file_out){.command = command, .path = path, .rights = rights, .fd = -1};
    if (!file_target_find(path, STDOUT_FILENO, &file->target))
        return refuse(file);
    if (file->target.kind == FILE_REGULAR)
        return try_directory(file) || refuse(file);
    file->fd = open_target(&file->target);
    return file->fd >= 0 || refuse(file);
}

static void drop_text(struct file_out *file)
{
    if (file->text)
        fclose(file->text);
    if (file->buffer)
        explicit_bzero(file->buffer, file->size);
    free(file->buffer);
    file->text = NULL;
    file->buffer = NULL;
}

void file_out_close(struct file_out *file)
{
    drop_text(file);
    if (file->path && file->fd >= 0)
        close(file->fd);
    file->path = NULL;
}

int file_out_put(struct file_out *file, const char *text, size_t size, int patience_ms)
{
    bool ok = file->fd < 0 ? replace(file, text, size) : write_into(file, text, size, patience_ms);

    return ok ? 0 : errno;
}

FILE *file_out_begin(struct file_out *file)
{
    file->text = open_memstream(&file->buffer, &file->size);
    if (!file->text)
        cli_error(file->command, "out of memory");
    return file->text;
}

bool file_out_end(struct file_out *file, int patience_ms)
{
    bool ok = fclose(file->text) == 0;

    file->text = NULL;
    fflush(stdout); /* which may be the same place */
    if (ok)
        ok = (errno = file_out_put(file, file->buffer, file->size, patience_ms)) == 0;
    if (!ok)
        refuse(file);
    drop_text(file);
    return ok;
}

/* An inode's number alone may have been given to another file since. */
static bool is_written(const struct file_out *file, const struct stat *seen)
{
    const struct stat *ours = &file->written;

    return S_ISREG(seen->st_mode) && seen->st_dev == ours->st_dev && seen->st_ino == ours->st_ino &&
           seen->st_mtim.tv_sec == ours->st_mtim.tv_sec && seen->st_mtim.tv_nsec == ours->st_mtim.tv_nsec;
}

void file_out_remove(struct file_out *file)
{
    struct stat seen;

    if (file->made && lstat(file->target.path, &seen) == 0 && is_written(file, &seen))
        unlink(file->target.path);
    file->made = false;
}

const char *file_out_name(const struct file_out *file)
{
    return file->path && file->fd < 0 ? file->path : NULL;
}
