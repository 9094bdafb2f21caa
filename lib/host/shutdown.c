/* Many releases may keep a master busy for longer than one answer may take: as long as answers come, they are waited
 * for. Releases that no quorum has confirmed are waited for until the deadline: their masters may come back. */
#include "host/shutdown.h"

#include "host/host.h"

/* --- Time ------------------------------------------------------------------------------------------------------- */

static void note_silence(struct rl_host *host)
{
    struct rl_host_shutdown *shutdown = &host->shutdown;

    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++) {
        shutdown->silent[node] = shutdown->running && shutdown->answers[node] == host->answers[node];
        shutdown->answers[node] = host->answers[node];
    }
}

static void arm(struct rl_host *host, struct rl_instant now)
{
    struct rl_instant next = rl_after(now, host->engine.votes.config.node_timeout);

    rl_transport_arm(&host->transport, &host->shutdown.timer, rl_earlier(next, host->shutdown.deadline));
}

/* Answers that have arrived by then count: the process may have been stopped. */
static void expire(struct rl_host *host)
{
    rl_transport_read_now(&host->transport);
    host->shutdown.expired = true;
}

static void on_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_host *host = RL_CONTAINER_OF(timer, struct rl_host, shutdown.timer);

    note_silence(host);
    if (rl_before(now, host->shutdown.deadline))
        arm(host, now);
    else
        expire(host);
    rl_transport_wake(&host->transport);
}

void rl_host_start_shutdown(struct rl_host *host, struct rl_span timeout)
{
    host->closing = true;
    rl_timer_init(&host->shutdown.timer, on_timer);
    host->shutdown.deadline = rl_after(rl_host_read_clock(host), timeout);
    note_silence(host);
    host->shutdown.running = true;
    arm(host, host->now);
    rl_transport_wake(&host->transport);
}

void rl_host_stop_shutdown(struct rl_host *host)
{
    host->shutdown.running = false;
    rl_transport_disarm(&host->transport, &host->shutdown.timer);
}

/* --- Progress --------------------------------------------------------------------------------------------------- */

/* An answer since the timer has fired ends the silence: more may follow. */
static bool is_silent(const struct rl_host *host, unsigned node)
{
    return host->shutdown.silent[node] && host->shutdown.answers[node] == host->answers[node];
}

static bool answers(const struct rl_host *host, unsigned node)
{
    enum rl_link link = host->engine.votes.links[node];

    return link == RL_LINK_READY || (link == RL_LINK_LATE && !is_silent(host, node));
}

static bool is_awaited(const struct rl_host *host, const struct rl_claim *claim)
{
    for (unsigned node = 0; node < claim->n_nodes; node++) {
        if (claim->votes[node].rollback == RL_ROLLBACK_SENT && answers(host, node))
            return true;
    }
    return false;
}

static const struct rl_claim *claim_at(struct rl_list *at)
{
    return RL_CONTAINER_OF(at, struct rl_claim, link);
}

/* Is a rollback under way whose answer can be expected? With many pending rollbacks this is asked in every turn: as a
 * rule the oldest one says so. */
static bool answers_awaited(const struct rl_host *host)
{
    const struct rl_list *pending = &host->engine.votes.pending_rollbacks;

    for (struct rl_list *at = pending->next; at != pending; at = at->next) {
        if (is_awaited(host, claim_at(at)))
            return true;
    }
    return false;
}

/* A quorum of masters does not hold any of the values. */
static bool is_confirmed(const struct rl_host *host)
{
    const struct rl_list *pending = &host->engine.votes.pending_rollbacks;

    for (struct rl_list *at = pending->next; at != pending; at = at->next) {
        if (rl_claim_count_clean(claim_at(at), host->engine.votes.members) < host->engine.votes.config.quorum)
            return false;
    }
    return true;
}

static bool is_done(const struct rl_host *host)
{
    return !answers_awaited(host) && is_confirmed(host);
}

enum rl_shutdown_progress rl_host_shutdown_progress(const struct rl_host *host)
{
    if (!host->shutdown.expired)
        return is_done(host) ? RL_SHUTDOWN_CONFIRMED : RL_SHUTDOWN_WAITING;
    return is_confirmed(host) ? RL_SHUTDOWN_CONFIRMED : RL_SHUTDOWN_UNCONFIRMED;
}
