#include "cli/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool replace_begin(struct replacement *replacement, const char *path, mode_t mode)
{
    int length = snprintf(replacement->beside, REPLACE_PATH_SIZE, "%s.%d.new", path, (int)getpid());
    int fd;

    replacement->path = path;
    replacement->out = NULL;
    if (length < 0 || length >= REPLACE_PATH_SIZE) {
        errno = ENAMETOOLONG;
        return false;
    }
    unlink(replacement->beside);
    fd = open(replacement->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0)
        replacement->out = fdopen(fd, "w");
    if (fd >= 0 && replacement->out == NULL)
        close(fd);
    return replacement->out != NULL;
}

bool replace_end(struct replacement *replacement)
{
    bool written = fflush(replacement->out) == 0 && !ferror(replacement->out);
    int error = errno;

    if (fclose(replacement->out) == 0 && written && rename(replacement->beside, replacement->path) == 0)
        return true;
    if (written)
        error = errno;
    unlink(replacement->beside);
    errno = error;
    return false;
}
