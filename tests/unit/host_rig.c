#include "host_rig.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "host/lock.h"
#include "host/operations.h"

struct host_rig rig;

/* --- What it reports ---------------------------------------------------------------------------------------------- */

static void of_end(struct rl_host_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    rig.completed++;
    rig.status = status;
    rig.ended = lock;
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

static int of_name(struct rl_host *host, const char *name)
{
    return -1;
}

static void of_naming(struct rl_host *host, unsigned node, const char *name)
{
}

static void of_vote(struct rl_host *host, unsigned node, const struct rl_vote_report *vote)
{
}

static const struct rl_host_sink quiet_sink = {
    .complete = of_end, .attempt = of_claim, .waiting = of_position, .backoff = of_pause, .extending = of_lock,
    .renewed = of_lock, .at_risk = of_lock,  .lost = of_lock,        .validity = of_validity,
    .link = of_link,    .vote = of_vote,     .place_of = of_name,    .name_member = of_naming,
};

/* --- What the host is given --------------------------------------------------------------------------------------- */

static struct rl_instant now(void *ctx)
{
    return rig.now;
}

static uint64_t wall_us(void *ctx)
{
    return 1000;
}

static void make_uuid(void *ctx, char ret_text[RL_UUID_SIZE])
{
    strcpy(ret_text, "00000000-0000-4000-a000-000000000000");
}

static void make_token(void *ctx, struct rl_instant at, char ret_token[RL_TOKEN_SIZE])
{
    snprintf(ret_token, RL_TOKEN_SIZE, "token-%u", ++rig.tokens);
}

static int on_listen(void *ctx, const char *channel)
{
    return 0;
}

static void on_fail(void *ctx, unsigned node, const char *why)
{
    ck_abort_msg("master %u: %s", node, why);
}

static void on_nothing(void *ctx)
{
}

static void on_disarm(void *ctx, struct rl_timer *timer)
{
    rl_list_remove(&timer->link);
}

static void on_arm(void *ctx, struct rl_timer *timer, struct rl_instant at)
{
    rl_list_remove(&timer->link);
    timer->at = at;
    rl_list_append(&rig.timers, &timer->link);
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

void host_rig_init(bool (*send)(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                                const struct rl_tag *tag))
{
    memset(&rig, 0, sizeof rig);
    rig.sink = quiet_sink;
    rig.now = (struct rl_instant){RL_NS_PER_MS};
    rl_list_init(&rig.timers);
    rig.options = (struct redlock_options){.profile = REDLOCK_PROFILE_CLASSIC, .key_prefix = "app:",
                                           .max_ttl_ms = 60000, .max_claims = 100};
    rig.transport = (struct rl_transport){.send = send, .listen = on_listen, .fail = on_fail, .read_now = on_nothing,
                                          .wake = on_nothing, .arm = on_arm, .disarm = on_disarm};
}

void host_rig_start(size_t n_masters, size_t quorum)
{
    const struct rl_host_config config = {
        .options = &rig.options,
        .names = &rig.names,
        .sink = &rig.sink,
        .environment = {NULL, now, wall_us, make_uuid, make_token, NULL},
        .engine = {.n_nodes = n_masters, .quorum = quorum, .max_ttl_ms = 60000, .node_timeout = rl_ms(100)},
    };

    ck_assert_int_eq(rl_host_init(&rig.host, &config), 0);
    rig.host.transport = rig.transport;
}

void host_rig_connect(void)
{
    for (unsigned node = 0; node < rig.host.engine.votes.config.n_nodes; node++)
        rl_host_events.link(&rig.host, node, RL_LINK_READY, "", rig.now);
}

void host_rig_end(void)
{
    for (size_t i = 0; i < HOST_RIG_LOCKS; i++) {
        if (!rig.locks[i].host)
            continue;
        rl_host_remove_lock(&rig.locks[i]);
        rl_key_unref(rig.locks[i].key);
    }
    rl_host_fini(&rig.host);
}

void host_rig_add_lock(size_t i, const char *name)
{
    rl_host_add_lock(&rig.host, &rig.locks[i],
                     rl_key_create(rl_slice_of(rig.options.key_prefix), name, strlen(name)));
}

void host_rig_acquire(size_t i, const struct rl_acquire *request)
{
    rl_host_lend(&rig.locks[i], &rig.attempts[i]);
    rl_host_acquire(&rig.locks[i], request);
}
