#include "cli/hold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <redlock/semaphore.h>

#include "cli/agent_words.h"
#include "cli/clock.h"
#include "cli/common.h"

static void describe_lock(struct hold_lock *ret_lock, const struct locks *locks, size_t i)
{
    struct locks_part part = locks_part(locks, i);

    ret_lock->permits = locks->spec->permits;
    ret_lock->slot = ret_lock->permits != 0 ? (uint32_t)part.slot : 0;
    ret_lock->fence = part.fence;
    snprintf(ret_lock->key, sizeof ret_lock->key, "%s", locks_key(locks, i));
    snprintf(ret_lock->token, sizeof ret_lock->token, "%s", part.token);
}

void hold_describe(struct hold *ret_hold, const struct locks *locks, uint32_t ttl_ms, unsigned nodes_ok)
{
    struct instant now = instant_now(); /* before the validity: a pause in between must not add to it */

    *ret_hold = (struct hold){.n = locks->n, .ttl_ms = ttl_ms};
    ret_hold->valid_until = instant_after(now, locks_remaining_ns(locks));
    for (size_t i = 0; i < locks->n; i++)
        describe_lock(&ret_hold->locks[i], locks, i);
    snprintf(ret_hold->nodes_ok, sizeof ret_hold->nodes_ok, "%u/%zu", nodes_ok, locks_masters(locks).n);
}

int hold_leave(struct file_out *file, struct locks *locks, struct hold *hold)
{
    struct instant now = instant_now();
    int status;

    snprintf(hold->state, sizeof hold->state, "held");
    hold->valid_until = instant_after(now, locks_remaining_ns(locks));
    hold->exported = calloc(1, LOCKS_EXPORT_SIZE);
    if (!hold->exported)
        return REDLOCK_E_NOMEM;
    status = locks_export(locks, hold->exported, LOCKS_EXPORT_SIZE);
    if (status == 0 && !hold_write(file, hold, HOLD_PATIENCE_MS))
        status = REDLOCK_E_SYSTEM;
    explicit_bzero(hold->exported, LOCKS_EXPORT_SIZE);
    free(hold->exported);
    hold->exported = NULL;
    return status;
}

static int release_by_agent(struct session *session, const struct hold_lock *lock)
{
    int64_t slot = lock->permits != 0 ? (int64_t)lock->slot : -1;
    json_t *answer = agent_client_get(session, agent_release_token(lock->key, lock->token, slot));
    struct agent_result read;

    agent_result_read(answer, agent_client_why(session->agent), &read);
    session->last = (struct outcome){.op = REDLOCK_OP_RELEASE};
    outcome_record(&session->last, &read.result);
    json_decref(answer);
    return session->last.status;
}

int hold_release(struct session *session, const struct hold_lock *lock)
{
    struct redlock_lock *handle;
    int status;

    if (session->agent)
        return release_by_agent(session, lock);
    status = cli_lock_create(session->client, lock->key, lock->permits, &handle);

    if (status != 0) {
        session->last = (struct outcome){.done = true, .status = status};
        return status;
    }
    if (lock->permits != 0)
        return session_release_permit(session, handle, lock->slot, lock->token);
    return session_release_token(session, handle, lock->token);
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
