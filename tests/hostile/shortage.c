#include "shortage.h"

#include <errno.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

struct shortage shortage;

static bool fails(void)
{
    if (!shortage.armed)
        return false;
    shortage.count++;
    return shortage.count >= shortage.first && shortage.count - shortage.first < shortage.burst;
}

static bool fails_with(int error)
{
    if (!fails())
        return false;
    errno = error;
    return true;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__real_fmemopen(void *bytes, size_t size, const char *mode);
FILE *__wrap_fmemopen(void *bytes, size_t size, const char *mode);
int __real_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags);
int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
redisReader *__real_redisReaderCreateWithFunctions(redisReplyObjectFunctions *functions);
redisReader *__wrap_redisReaderCreateWithFunctions(redisReplyObjectFunctions *functions);
int __real_redisReaderFeed(redisReader *reader, const char *bytes, size_t size);
int __wrap_redisReaderFeed(redisReader *reader, const char *bytes, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails_with(ENOMEM) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails_with(ENOMEM) ? NULL : __real_calloc(n, size);
}

char *__wrap_strdup(const char *text)
{
    return fails_with(ENOMEM) ? NULL : __real_strdup(text);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    return fails_with(EMFILE) ? NULL : __real_fopen(path, mode);
}

/* What fopen() is where files may be large. */
FILE *__wrap_fopen64(const char *path, const char *mode)
{
    return __wrap_fopen(path, mode);
}

FILE *__wrap_fmemopen(void *bytes, size_t size, const char *mode)
{
    return fails_with(ENOMEM) ? NULL : __real_fmemopen(bytes, size, mode);
}

int __wrap_eventfd(unsigned count, int flags)
{
    return fails_with(EMFILE) ? -1 : __real_eventfd(count, flags);
}

int __wrap_socket(int domain, int type, int protocol)
{
    return fails_with(EMFILE) ? -1 : __real_socket(domain, type, protocol);
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails_with(ENOMEM) ? MAP_FAILED : __real_mmap(address, size, protection, flags, fd, offset);
}

/* What mmap() is where files may be large. */
void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return __wrap_mmap(address, size, protection, flags, fd, offset);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return fails() ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

redisReader *__wrap_redisReaderCreateWithFunctions(redisReplyObjectFunctions *functions)
{
    return fails() ? NULL : __real_redisReaderCreateWithFunctions(functions);
}

int __wrap_redisReaderFeed(redisReader *reader, const char *bytes, size_t size)
{
    if (!fails())
        return __real_redisReaderFeed(reader, bytes, size);
    reader->err = REDIS_ERR_OOM;
    snprintf(reader->errstr, sizeof reader->errstr, "Out of memory");
    return REDIS_ERR;
}

static void *allocate(size_t size)
{
    return fails_with(ENOMEM) ? NULL : __real_malloc(size);
}

static void *reallocate(void *block, size_t size)
{
    return fails_with(ENOMEM) ? NULL : realloc(block, size);
}

/* Check, too, allocates at each assertion, and ends without memory. */
void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);

void __wrap__mark_point(const char *file, int line)
{
    bool armed = shortage.armed;

    shortage.armed = false;
    __real__mark_point(file, line);
    shortage.armed = armed;
}

void shortage_hook_libevent(void)
{
    event_set_mem_functions(allocate, reallocate, free);
}
