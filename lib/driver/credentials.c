#include "driver/credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "driver/shared.h"
#include "util/thread.h"
#include "util/bytes.h"

struct redlock_credentials_request {
    unsigned references;
    unsigned fork_generation;
    struct rl_shared *shared; /* NULL: the connection has ended it */
    bool answered;
    struct rl_credentials answer;
    char why[RL_CREDENTIALS_WHY_MAX]; /* why there is none; "" */
};

void rl_credentials_fini(struct rl_credentials *credentials)
{
    rl_secret_destroy(credentials->user);
    rl_secret_destroy(credentials->password);
    *credentials = (struct rl_credentials){.good_until = RL_NEVER};
}

void rl_credentials_ref(struct redlock_credentials_request *request)
{
    request->references++;
}

void rl_credentials_unref(struct redlock_credentials_request *request)
{
    if (--request->references > 0)
        return;
    rl_credentials_fini(&request->answer);
    free(request);
}

bool rl_credentials_forked(const struct redlock_credentials_request *request)
{
    return request->fork_generation != rl_fork_generation();
}

/* --- The connection ---------------------------------------------------------------------------------------------- */

struct redlock_credentials_request *rl_credentials_ask(struct rl_shared *shared, unsigned node,
                                                       enum rl_credentials_need need)
{
    const struct rl_credentials_source *source = &shared->config.credentials;
    struct redlock_credentials_request *request = calloc(1, sizeof *request);

    if (!request)
        return NULL;
    request->references = 1;
    request->fork_generation = rl_fork_generation();
    request->shared = shared;
    request->answer.good_until = RL_NEVER;
    source->ask(source->ctx, request, node, need);
    return request;
}

void rl_credentials_end(struct redlock_credentials_request *request)
{
    request->shared = NULL;
    rl_credentials_fini(&request->answer);
    rl_credentials_unref(request);
}

bool rl_credentials_answered(const struct redlock_credentials_request *request)
{
    return request->answered;
}

bool rl_credentials_take(struct redlock_credentials_request *request, struct rl_credentials *ret,
                         char why[RL_CREDENTIALS_WHY_MAX])
{
    bool given = !request->why[0];

    if (given) {
        *ret = request->answer;
        request->answer = (struct rl_credentials){.good_until = RL_NEVER};
    } else {
        snprintf(why, RL_CREDENTIALS_WHY_MAX, "%s", request->why);
    }
    rl_credentials_end(request);
    return given;
}

/* --- The answer -------------------------------------------------------------------------------------------------- */

static bool is_pending(const struct redlock_credentials_request *request)
{
    return request->shared && !request->answered;
}

/* The driver's next turn takes it. */
static void finish(struct redlock_credentials_request *request)
{
    request->answered = true;
    request->shared->answers_due = true;
    rl_shared_wake(request->shared);
}

int rl_credentials_answer(struct redlock_credentials_request *request, const char *user, const char *password,
                          struct rl_span good_for)
{
    struct rl_credentials *answer = &request->answer;

    if (!is_pending(request))
        return REDLOCK_E_NOT_ASKED;
    answer->user = user ? rl_secret_copy(user) : NULL;
    answer->password = password ? rl_secret_copy(password) : NULL;
    if ((user && !answer->user) || (password && !answer->password)) {
        rl_credentials_fini(answer);
        return REDLOCK_E_NOMEM;
    }
    if (good_for.ns > 0)
        answer->good_until = rl_after(rl_shared_now(request->shared), good_for);
    finish(request);
    return REDLOCK_OK;
}

int rl_credentials_fail(struct redlock_credentials_request *request, const char *why)
{
    if (!is_pending(request))
        return REDLOCK_E_NOT_ASKED;
    snprintf(request->why, sizeof request->why, "%s", why && *why ? why : "the program has none");
    finish(request);
    return REDLOCK_OK;
}
