/* A write that is safe even when its author has been stopped for longer than the lock is valid: the lock's fencing
 * token goes with it, and the target refuses a token smaller than the largest one it has seen. The target is a file
 * here; check and write are one step under flock(), as they would be one statement of a database:
 *
 *     UPDATE account SET balance = ?, fence = ? WHERE id = ? AND fence <= ?
 *
 *     fenced_write FILE BALANCE URL... */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <redlock/blocking.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct record {
    uint64_t fence;
    long balance;
};

/* --- The target: it knows nothing of locks, only that tokens do not go back */

static struct record read_record(int fd)
{
    struct record record = {0, 0};
    char line[64];
    ssize_t size = pread(fd, line, sizeof line - 1, 0);

    if (size > 0) {
        line[size] = '\0';
        sscanf(line, "%" SCNu64 " %ld", &record.fence, &record.balance);
    }
    return record;
}

/* One line of fixed length, written by one call. */
static int write_record(int fd, struct record record)
{
    char line[64];
    int size = snprintf(line, sizeof line, "%020" PRIu64 " %20ld\n", record.fence, record.balance);

    return pwrite(fd, line, (size_t)size, 0) == size && fsync(fd) == 0 ? 0 : -1;
}

static int store(const char *file, uint64_t fence, long balance)
{
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int result = -1;

    if (fd < 0 || flock(fd, LOCK_EX) < 0)
        perror(file);
    else if (fence < read_record(fd).fence)
        fprintf(stderr, "refused: token %" PRIu64 " is older than %" PRIu64 "\n", fence, read_record(fd).fence);
    else
        result = write_record(fd, (struct record){fence, balance});
    if (fd >= 0)
        close(fd);
    return result;
}

/* --- The author */

/* With $OLD_TOKEN set it writes with that: as an author would who was stopped while another one took over. */
static int write_fenced(struct redlock_mutex *mutex, const char *file, long balance)
{
    const char *old = getenv("OLD_TOKEN");
    uint64_t fence = old ? strtoull(old, NULL, 10) : redlock_mutex_fence(mutex);
    int result = store(file, fence, balance);

    if (result == 0)
        printf("token %" PRIu64 ": balance is %ld\n", fence, balance);
    return result;
}

int main(int argc, char **argv)
{
    struct redlock_service *service;
    struct redlock_mutex *mutex = NULL;
    struct redlock_acquire_options options;
    struct redlock_result *result = NULL;
    struct redlock_error error;
    int status;

    if (argc < 4)
        return fprintf(stderr, "usage: fenced_write FILE BALANCE URL...\n"), 2;
    if (redlock_service_create((const char *const *)argv + 3, (size_t)argc - 3, NULL, &service, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    redlock_acquire_options_init(&options);
    options.timeout_ms = 10000;
    options.fenced = 1;
    status = redlock_mutex_create(service, argv[1], strlen(argv[1]), &mutex);
    if (status == REDLOCK_OK)
        status = redlock_mutex_acquire(mutex, &options, &result);
    if (status != REDLOCK_OK)
        fprintf(stderr, "not locked: %s\n", result ? result->why : redlock_strerror(status));
    else if (write_fenced(mutex, argv[1], strtol(argv[2], NULL, 10)) < 0)
        status = -1;
    redlock_result_free(result);
    redlock_mutex_destroy(mutex);
    redlock_service_shutdown(service, 1000);
    redlock_service_destroy(service);
    return status != REDLOCK_OK;
}
