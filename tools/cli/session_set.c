/* Operations of sets in a session. */
#include <stdio.h>

#include "cli/session.h"

enum { EXTEND_AGAIN_MS = 20 };

/* Status, cause and times are those of the set; the rest is about the key that decided. */
static void on_result(struct redlock_set *set, const struct redlock_set_result *result, void *data)
{
    struct session *session = data;
    struct redlock_result whole = {0};

    if (result->part_result != NULL)
        whole = *result->part_result;
    whole.status = result->status;
    whole.cause = result->cause;
    whole.elapsed_us = result->elapsed_us;
    whole.remaining_ms = result->remaining_ms;
    whole.why = result->why;
    session_record(session, &whole);
    session->last.part = result->part;
    if (result->part_result == NULL)
        session->last.short_of_masters = false; /* nobody has counted them */
}

int session_set_extend(struct session *session, struct redlock_set *set, uint32_t ttl_ms)
{
    session_begin(session, NULL, set, REDLOCK_OP_EXTEND);
    return session_started(session, redlock_set_extend(set, ttl_ms, on_result, session));
}

int session_set_acquire_whole(struct session *session, struct redlock_set *set,
                              const struct redlock_acquire_options *options)
{
    struct outcome acquired;
    int status;

    session_begin(session, NULL, set, REDLOCK_OP_ACQUIRE);
    status = session_started(session, redlock_set_acquire(set, options, on_result, session));
    acquired = session->last;
    if (status != REDLOCK_OK || session->caught != 0 ||
        redlock_set_remaining_ms(set) >= session_least_ms(session, options))
        return status;
    while ((status = session_set_extend(session, set, options->ttl_ms)) == REDLOCK_NO_QUORUM && session->caught == 0)
        session_run_until(session, NULL, NULL, EXTEND_AGAIN_MS);
    acquired.status = status == REDLOCK_E_NOT_HELD ? REDLOCK_LOST : status;
    acquired.remaining_ms = redlock_set_remaining_ms(set);
    session->last = acquired;
    return acquired.status;
}

int session_set_release(struct session *session, struct redlock_set *set)
{
    session_begin(session, NULL, set, REDLOCK_OP_RELEASE);
    return session_started(session, redlock_set_release(set, on_result, session));
}
