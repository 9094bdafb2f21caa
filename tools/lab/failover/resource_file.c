/* Two files of this machine, in which each write is one number more at the end. The guard is that of
 * tools/fencing/file.sh: the token is compared and the write is made under one flock(). */
#include "resource.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct connection {
    int files[FO_STORE_RECORDS]; /* opened anew: processes that share what one of them has opened share its flock() */
};

static int create_without_name(void)
{
    const char *parent = getenv("TMPDIR");
    char path[200];
    int file;

    snprintf(path, sizeof path, "%s/redlock-store-XXXXXX", parent && parent[0] == '/' ? parent : "/tmp");
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
}

static bool prepare(struct fo_resource *resource, char *ret_why, size_t size)
{
    for (int i = 0; i < FO_STORE_RECORDS; i++) {
        resource->files[i] = create_without_name();
        if (resource->files[i] < 0) {
            snprintf(ret_why, size, "no file for --resource in $TMPDIR: %s", strerror(errno));
            return false;
        }
    }
    return true;
}

static void disconnect(void *data)
{
    struct connection *connection = data;

    for (int i = 0; i < FO_STORE_RECORDS; i++)
        if (connection->files[i] >= 0)
            close(connection->files[i]);
    free(connection);
}

static void *connect_to(const struct fo_resource *resource, char *ret_why, size_t size)
{
    struct connection *connection = calloc(1, sizeof *connection);
    bool ok = connection != NULL;

    for (int i = 0; connection && i < FO_STORE_RECORDS; i++) {
        char path[40];

        snprintf(path, sizeof path, "/proc/self/fd/%d", resource->files[i]);
        connection->files[i] = open(path, O_RDWR | O_CLOEXEC);
        ok = ok && connection->files[i] >= 0;
    }
    if (ok)
        return connection;
    snprintf(ret_why, size, "the file of --resource cannot be opened: %s", strerror(errno));
    if (connection)
        disconnect(connection);
    return NULL;
}

/* The guarded record only grows, so that its last number is its largest token. */
static enum fo_answer write_at_end(int file, bool guarded, uint64_t token, uint64_t turn)
{
    off_t end = lseek(file, 0, SEEK_END);
    uint64_t last = 0;

    if (end < 0 || (end > 0 && pread(file, &last, sizeof last, end - (off_t)sizeof last) != (ssize_t)sizeof last))
        return FO_STORE_BROKE;
    if (guarded && token < last)
        return FO_STORE_REFUSED;
    return write(file, &turn, sizeof turn) == (ssize_t)sizeof turn ? FO_STORE_TOOK : FO_STORE_BROKE;
}

static enum fo_answer write_to(void *data, enum fo_store_record record, bool guarded, uint64_t token, uint64_t turn)
{
    const struct connection *connection = data;
    int file = connection->files[record];
    enum fo_answer answer;

    while (flock(file, LOCK_EX) != 0)
        if (errno != EINTR)
            return FO_STORE_BROKE;
    answer = write_at_end(file, guarded, token, turn);
    flock(file, LOCK_UN);
    return answer;
}

static bool read_all(void *data, enum fo_store_record record, struct fo_stored *ret_stored)
{
    const struct connection *connection = data;
    int file = connection->files[record];
    off_t at = 0;
    uint64_t turn;
    ssize_t n;

    while ((n = pread(file, &turn, sizeof turn, at)) == (ssize_t)sizeof turn) {
        fo_stored_take(ret_stored, turn);
        at += n;
    }
    return n == 0;
}

const struct fo_resource_type fo_resource_file = {.system = MASTERS_SYSTEMS,
                                                  .prepare = prepare,
                                                  .connect = connect_to,
                                                  .disconnect = disconnect,
                                                  .write = write_to,
                                                  .read = read_all};
