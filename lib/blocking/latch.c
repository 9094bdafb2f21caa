/* Latches, for threads that wait for a callback. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <redlock/latch.h>

#include "blocking/job.h"
#include "blocking/service.h"

/* Kept by its owner and by the calls in progress. */
struct redlock_service_latch {
    atomic_uint references;
    struct redlock_service *service;
    struct redlock_latch *latch; /* of the loop's owner, and gone with the client; NULL: destroyed */
};

static void ref(struct redlock_service_latch *latch)
{
    atomic_fetch_add_explicit(&latch->references, 1, memory_order_relaxed);
}

static void unref(struct redlock_service_latch *latch)
{
    struct redlock_service *service = latch->service;
    unsigned was = atomic_fetch_sub_explicit(&latch->references, 1, memory_order_acq_rel);

    assert(was > 0);
    if (was != 1)
        return;
    free(latch);
    rl_service_unref(service);
}

static int check(const struct redlock_service_latch *latch)
{
    return latch ? rl_service_check(latch->service) : REDLOCK_E_ARGUMENT;
}

/* The loop's owner. */
static bool exists(const struct redlock_service_latch *latch)
{
    return latch->service->client && latch->latch;
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

struct creation {
    struct redlock_service_latch *latch;
    const void *name;
    size_t name_size;
    uint32_t parties;
    uint64_t generation;
    const char *party;
    const struct redlock_latch_options *options;
};

static int create(void *argument)
{
    const struct creation *creation = argument;
    struct redlock_service_latch *latch = creation->latch;

    if (!latch->service->client)
        return REDLOCK_E_CLOSING;
    return redlock_latch_create(latch->service->client, creation->name, creation->name_size, creation->parties,
                                creation->generation, creation->party, creation->options, &latch->latch);
}

int redlock_service_latch_create(struct redlock_service *service, const void *name, size_t name_size,
                                 uint32_t parties, uint64_t generation, const char *party,
                                 const struct redlock_latch_options *options,
                                 struct redlock_service_latch **ret_latch)
{
    struct creation creation = {.name = name, .name_size = name_size, .parties = parties, .generation = generation,
                                .party = party, .options = options};
    int status = ret_latch ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    if (status < 0)
        return status;
    creation.latch = calloc(1, sizeof *creation.latch);
    if (!creation.latch)
        return REDLOCK_E_NOMEM;
    atomic_init(&creation.latch->references, 1);
    creation.latch->service = service;
    rl_service_ref(service);
    status = rl_service_call(service, create, &creation);
    if (status == 0)
        *ret_latch = creation.latch;
    else
        unref(creation.latch);
    return status;
}

static int destroy(void *argument)
{
    struct redlock_service_latch *latch = argument;

    if (exists(latch))
        redlock_latch_destroy(latch->latch);
    latch->latch = NULL;
    return 0;
}

/* In a forked child nobody else has a reference, since other threads do not exist. */
void redlock_service_latch_destroy(struct redlock_service_latch *latch)
{
    if (!latch)
        return;
    if (check(latch) < 0) {
        free(latch);
        return;
    }
    rl_service_call(latch->service, destroy, latch);
    unref(latch);
}

/* --- Calls ------------------------------------------------------------------------------------------------------ */

typedef int (*latch_fn)(struct redlock_latch *latch, int64_t timeout_ms, redlock_latch_fn cb, void *user_data);

struct latch_job {
    struct rl_job job;
    struct redlock_service_latch *latch;
    latch_fn fn;
    int64_t timeout_ms;
};

static void on_end(struct redlock_latch *core, const struct redlock_latch_result *result, void *user_data)
{
    rl_job_end(user_data, result->status, result);
}

static int begin(struct rl_job *job)
{
    const struct latch_job *own = RL_CONTAINER_OF(job, struct latch_job, job);
    int status = exists(own->latch) ? own->fn(own->latch->latch, own->timeout_ms, on_end, job) : REDLOCK_E_CLOSING;

    return status < 0 ? status : RL_JOB_PENDING;
}

static int wait_for(struct redlock_service_latch *latch, latch_fn fn, int64_t timeout_ms,
                    struct redlock_latch_result **ret_result)
{
    struct latch_job own = {{.begin = begin}, latch, fn, timeout_ms};
    int status = check(latch);

    if (ret_result)
        *ret_result = NULL;
    if (status < 0)
        return status;
    own.job.service = latch->service;
    own.job.form = ret_result ? &rl_latch_result_form : NULL;
    ref(latch);
    status = rl_job_await(&own.job);
    unref(latch);
    if (ret_result)
        *ret_result = own.job.result;
    return status;
}

int redlock_service_latch_arrive(struct redlock_service_latch *latch, int64_t timeout_ms,
                                 struct redlock_latch_result **ret_result)
{
    return wait_for(latch, redlock_latch_arrive, timeout_ms, ret_result);
}

int redlock_service_latch_await(struct redlock_service_latch *latch, int64_t timeout_ms,
                                struct redlock_latch_result **ret_result)
{
    return wait_for(latch, redlock_latch_await, timeout_ms, ret_result);
}

static int cancel(void *argument)
{
    const struct redlock_service_latch *latch = argument;

    return exists(latch) ? redlock_latch_cancel(latch->latch) : REDLOCK_E_CLOSING;
}

int redlock_service_latch_cancel(struct redlock_service_latch *latch)
{
    int status = check(latch);

    if (status < 0)
        return status;
    ref(latch);
    status = rl_service_call(latch->service, cancel, latch);
    unref(latch);
    return status;
}
