#include "cli/file_target.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MOST_LINKS = 40, NAME_DIGITS = 9 };

/* The length of the directory's part of a path, with its last slash; 0: the working directory. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static const char *directory_of(const char *path, char *buffer)
{
    size_t length = directory_length(path);

    if (length == 0)
        return ".";
    memcpy(buffer, path, length);
    buffer[length] = '\0';
    return buffer;
}

/* A link in /proc leads to an open file, whatever its text says. */
static bool is_in_proc(const char *path)
{
    char directory[PATH_MAX];
    struct statfs seen;

    return statfs(directory_of(path, directory), &seen) == 0 && seen.f_type == PROC_SUPER_MAGIC;
}

/* The number of a descriptor of this process, by its name in /proc; -1: it is none. */
static int own_descriptor(const char *path)
{
    const char *name = path + directory_length(path);
    char directory[PATH_MAX];
    char real[PATH_MAX];
    char own[32];

    snprintf(own, sizeof(own), "/proc/%d/fd", (int)getpid());
    if (*name == '\0' || strlen(name) > NAME_DIGITS || strspn(name, "0123456789") != strlen(name))
        return -1;
    if (realpath(directory_of(path, directory), real) == NULL || strcmp(real, own) != 0)
        return -1;
    return atoi(name);
}

/* Replaces the name of a link by what the link says. */
static bool follow(char *path)
{
    char text[PATH_MAX];
    ssize_t length = readlink(path, text, sizeof(text) - 1);
    size_t keep;

    if (length < 0)
        return false;
    text[length] = '\0';
    keep = text[0] == '/' ? 0 : directory_length(path);
    if (keep + (size_t)length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + keep, text, (size_t)length + 1);
    return true;
}

static bool found_descriptor(struct file_target *target, int fd)
{
    target->kind = FILE_DESCRIPTOR;
    target->fd = fd;
    target->exists = true;
    return fstat(fd, &target->seen) == 0;
}

static bool found_in_proc(struct file_target *target)
{
    int fd = own_descriptor(target->path);

    if (fd >= 0)
        return found_descriptor(target, fd);
    target->kind = FILE_STREAM;
    target->exists = true;
    return stat(target->path, &target->seen) == 0;
}

static bool found_file(struct file_target *target)
{
    mode_t mode = target->seen.st_mode;

    target->exists = true;
    target->kind = S_ISREG(mode) ? FILE_REGULAR : S_ISSOCK(mode) ? FILE_SOCKET : FILE_STREAM;
    if (S_ISDIR(mode))
        errno = EISDIR;
    return !S_ISDIR(mode);
}

/* A name that ends with a slash can only be a directory's. */
static bool found_nothing(struct file_target *target)
{
    size_t length = strlen(target->path);

    if (errno == ENOENT && length > 0 && target->path[length - 1] == '/')
        errno = EISDIR;
    target->kind = FILE_REGULAR;
    return errno == ENOENT && length > 0;
}

bool file_target_find(const char *name, int standard, struct file_target *ret_target)
{
    *ret_target = (struct file_target){.fd = -1};
    if (strcmp(name, "-") == 0)
        return found_descriptor(ret_target, standard);
    if ((size_t)snprintf(ret_target->path, PATH_MAX, "%s", name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int links = 0; links < MOST_LINKS; links++) {
        if (lstat(ret_target->path, &ret_target->seen) != 0)
            return found_nothing(ret_target);
        if (is_in_proc(ret_target->path))
            return found_in_proc(ret_target);
        if (!S_ISLNK(ret_target->seen.st_mode))
            return found_file(ret_target);
        if (!follow(ret_target->path))
            return false;
    }
    errno = ELOOP;
    return false;
}
