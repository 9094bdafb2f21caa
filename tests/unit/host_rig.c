#include "host_rig.h"

#include <check.h>
#include <string.h>

static void of_end(struct rl_host_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
}

static void of_claim(struct rl_host_lock *lock, const struct rl_claim *claim)
{
}

static void of_lock(struct rl_host_lock *lock)
{
}

static void of_position(struct rl_host_lock *lock, const struct rl_position *position)
{
}

static void of_pause(struct rl_host_lock *lock, enum rl_end why, struct rl_span delay)
{
}

static void of_validity(struct rl_host *host, struct rl_host_lock *lock)
{
}

static void of_link(struct rl_host *host, unsigned node, enum rl_link link, const char *why)
{
}

static void of_vote(struct rl_host *host, unsigned node, const struct rl_vote_report *vote)
{
}

const struct rl_host_sink host_rig_sink = {
    .complete = of_end, .attempt = of_claim, .waiting = of_position, .backoff = of_pause, .extending = of_lock,
    .renewed = of_lock, .at_risk = of_lock,  .lost = of_lock,        .validity = of_validity,
    .link = of_link,    .vote = of_vote,
};

uint64_t host_rig_wall_us(void *ctx)
{
    return 1;
}

void host_rig_make_uuid(void *ctx, char ret_text[RL_UUID_SIZE])
{
    strcpy(ret_text, "uuid");
}

int host_rig_listen(void *ctx, const char *channel)
{
    return 0;
}

void host_rig_fail(void *ctx, unsigned node, const char *why)
{
    ck_abort_msg("master %u: %s", node, why);
}
