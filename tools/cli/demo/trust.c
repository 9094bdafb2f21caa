/* Acts about masters that lose their memory, or do not come back: what they may not do, and what that costs nobody. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/members.h>

#include "cli/demo/demo.h"
#include "cli/quorum_status.h"
#include "cli/votes.h"

enum { MAX_TTL_MS = 3000, QUARANTINE_MS = MAX_TTL_MS + 1000, RENEW_MS = 300, EMPTY = 2, WAIT_MS = 20000 };

struct wanted {
    struct redlock_client *client;
    uint64_t repairs;
};

static uint64_t repairs(const struct redlock_client *client)
{
    struct redlock_stats stats = {0};

    redlock_client_stats(client, &stats, sizeof stats);
    return stats.repairs;
}

static bool repaired(const struct session *session, void *data)
{
    const struct wanted *wanted = data;

    return repairs(wanted->client) >= wanted->repairs;
}

/* The next look at this master is at a new memory. */
static bool restart_empty(struct demo *demo, size_t master)
{
    if (!demo_fault(demo, master, DEMO_KILLED))
        return false;
    if (!masters_wipe(demo->masters, master))
        return demo_stop(demo, "could not change a master", masters_error());
    return demo_fault(demo, master, DEMO_UP);
}

/* --- Act: one of them ---------------------------------------------------------------------------------------- */

static bool take_and_renew(struct demo *demo)
{
    struct redlock_acquire_options options;

    redlock_acquire_options_init(&options);
    options.ttl_ms = MAX_TTL_MS;
    options.renew_ms = RENEW_MS;
    return demo_hold(demo, "kept", &options);
}

static bool bob_has_looked(const struct session *session, void *data)
{
    struct redlock_node_info info;

    return redlock_client_node_info(data, EMPTY, &info, sizeof info) == 0 && info.link == REDLOCK_LINK_READY &&
           info.standing == REDLOCK_STANDING_QUARANTINED;
}

static void show_abstention(struct demo *demo)
{
    struct redlock_node_info info;
    bool abstains = session_run_until(&demo->session, bob_has_looked, demo->bob, DEMO_WATCHDOG_MS);
    char left[16];

    redlock_client_node_info(demo->bob, EMPTY, &info, sizeof info);
    demo_say(demo, "Master %d is killed, its files are deleted, and it starts again, empty.", EMPTY + 1);
    demo_check(demo, abstains && info.quarantine_ms > 0,
               "it abstains for %s: %s", term_time(info.quarantine_ms * 1000, left, sizeof left), info.fault_text);
}

static void vote_without_it(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "other");
    int status = lock ? session_acquire(&demo->session, lock, NULL) : REDLOCK_E_NOMEM;

    session_settle(&demo->session, DEMO_WATCHDOG_MS);
    demo_gap(demo);
    demo_say(demo, "Bob takes another lock meanwhile.");
    votes_print(&demo->term, &demo->session.last);
    demo_check(demo, status == REDLOCK_OK && demo->session.last.votes[EMPTY].vote == REDLOCK_VOTE_FAILED,
               "acquired by the others: it was not asked");
    if (status == REDLOCK_OK)
        session_release(&demo->session, lock);
    redlock_lock_destroy(lock);
}

bool demo_act_empty(struct demo *demo)
{
    struct wanted wanted = {.repairs = 1};

    if (!demo_redeploy(demo, "trust:", MAX_TTL_MS) || !take_and_renew(demo))
        return false;
    demo_say(demo, "A master that comes back without its keys could give a second client the");
    demo_say(demo, "majority. So it does not vote until all that it may have forgotten has ended:");
    demo_say(demo, "max_ttl + 1 s, here %d s. Alice holds a lock, and renews it.", QUARANTINE_MS / 1000);
    demo_gap(demo);
    if (!restart_empty(demo, EMPTY))
        return false;
    show_abstention(demo);
    vote_without_it(demo);
    demo_gap(demo);
    wanted.client = demo->alice;
    demo_check(demo, session_run_until(&demo->session, repaired, &wanted, DEMO_WATCHDOG_MS),
               "Alice's renewal has set her key there again: it may keep what is held");
    return demo->session.caught == 0;
}

/* --- Act: all of them ---------------------------------------------------------------------------------------- */

struct keeping {
    struct demo *demo;
    struct redlock_lock *intruder; /* Bob's */
    unsigned tries;
    unsigned won;
    unsigned lost;                 /* Alice's alarms */
    int64_t least_ms;
};

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *data)
{
    struct keeping *keeping = data;

    keeping->lost += alarm->kind == REDLOCK_ALARM_LOST;
}

static void look_at_lock(struct keeping *keeping)
{
    int64_t left_ms = redlock_remaining_ms(keeping->demo->held);

    if (left_ms < keeping->least_ms)
        keeping->least_ms = left_ms;
}

/* Restarts one, lets Bob try, and waits until Alice has given it its copy of her key again. */
static bool restart_one(struct keeping *keeping, size_t master)
{
    struct demo *demo = keeping->demo;
    struct wanted wanted = {demo->alice, repairs(demo->alice) + 1};

    if (!restart_empty(demo, master))
        return false;
    look_at_lock(keeping);
    keeping->tries++;
    if (session_acquire(&demo->session, keeping->intruder, NULL) == REDLOCK_OK)
        keeping->won++;
    if (!session_run_until(&demo->session, repaired, &wanted, DEMO_WATCHDOG_MS))
        return demo_stop(demo, "a master did not get the key again", session_node_name(demo->alice, master));
    look_at_lock(keeping);
    return true;
}

static bool restart_all(struct keeping *keeping)
{
    struct demo *demo = keeping->demo;

    for (size_t i = 0; i < demo->n; i++) {
        if (!restart_one(keeping, i))
            return false;
        demo_say(demo, "master %zu restarted empty; Alice's renewal has set her key there again", i + 1);
    }
    return true;
}

static void check_kept(const struct keeping *keeping)
{
    struct demo *demo = keeping->demo;

    demo_gap(demo);
    demo_check(demo, redlock_state(demo->held) == REDLOCK_STATE_HELD && keeping->lost == 0 && keeping->least_ms > 0,
               "Alice has kept her lock: never less than %" PRId64 " of %d ms were left", keeping->least_ms,
               MAX_TTL_MS);
    demo_wait_quiet(demo, demo->alice, demo->n);
    demo_check(demo, demo_count(demo, "kept", redlock_lock_token(demo->held), demo->n) == demo->n,
               "it is on all %zu masters, none of which remembers the first", demo->n);
    demo_check(demo, keeping->won == 0, "Bob tried to get it after each restart: refused %u times", keeping->tries);
}

/* All five abstain now; only time can give a new lock. */
static void check_return(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "later");
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    struct quorum_status sum = quorum_status_of(infos, quorum_status_read(demo->bob, infos), demo->quorum);
    struct redlock_acquire_options options;
    int status = REDLOCK_E_NOMEM;
    char took[16];

    redlock_acquire_options_init(&options);
    options.ttl_ms = MAX_TTL_MS;
    options.timeout_ms = WAIT_MS;
    demo_gap(demo);
    demo_say(demo, "A new lock has to wait: %zu of %zu masters abstain, Bob waits for a majority.", sum.waiting,
             demo->n);
    if (lock)
        status = session_acquire(&demo->session, lock, &options);
    demo_check(demo, status == REDLOCK_OK && sum.voting < demo->quorum, "acquired after %s",
               term_time(demo->session.last.elapsed_us, took, sizeof took));
    if (status == REDLOCK_OK)
        session_release(&demo->session, lock);
    redlock_lock_destroy(lock);
    demo_check(demo, redlock_remaining_ms(demo->held) > 0 && session_release(&demo->session, demo->held) == REDLOCK_OK,
               "Alice still has hers, and releases it");
}

bool demo_act_rolling(struct demo *demo)
{
    struct keeping keeping = {.demo = demo, .least_ms = MAX_TTL_MS};
    bool restarted;

    keeping.intruder = demo_lock(demo->bob, "kept");
    if (!keeping.intruder)
        return demo_stop(demo, "out of memory", "");
    redlock_lock_watch(demo->held, on_alarm, &keeping);
    demo_say(demo, "Now all of them, one after the other. What Alice knows of her own votes is");
    demo_say(demo, "enough to give each its key back while it abstains.");
    demo_gap(demo);
    restarted = restart_all(&keeping);
    redlock_lock_destroy(keeping.intruder);
    if (restarted) {
        check_kept(&keeping);
        check_return(demo);
    }
    redlock_lock_destroy(demo->held);
    demo->held = NULL;
    return restarted && demo->session.caught == 0;
}

/* --- Act: another one in its place -------------------------------------------------------------------------------- */

enum { CHANGE_TTL_MS = 1000, DEAD = 0, SPARE = DEMO_MASTERS };

struct change {
    struct demo *demo;
    enum redlock_change_stage told; /* the latest stage that was narrated */
    bool over;
    bool done;
};

static void on_change(struct redlock_client *client, const struct redlock_change_report *report, void *data)
{
    struct change *change = data;
    char time[16];

    change->over = report->status != REDLOCK_OK || report->stage >= REDLOCK_CHANGE_DONE;
    change->done = report->stage == REDLOCK_CHANGE_DONE;
    if (report->stage == REDLOCK_CHANGE_STANDING && change->told != report->stage)
        demo_say(change->demo, "a list of %zu masters, %u of which must agree, is told to %u: it stands for %s",
                 report->lists[0].n, (unsigned)report->lists[0].quorum, (unsigned)report->told,
                 term_time(report->wait_ms * 1000, time, sizeof time));
    change->told = report->stage;
}

static bool change_is_over(const struct session *session, void *data)
{
    return ((const struct change *)data)->over;
}

/* As `redlock nodes --replace` does. */
static bool replace_dead(struct demo *demo)
{
    const char *urls[DEMO_MASTERS];
    struct change change = {.demo = demo};
    struct redlock_change_options options;
    struct redlock_client *operator;
    int code;

    memcpy(urls, demo->common.masters.urls, sizeof urls);
    urls[DEAD] = masters_url(demo->masters, SPARE);
    redlock_change_options_init(&options);
    options.masters = urls;
    options.n_masters = DEMO_MASTERS;
    operator = session_client(&demo->session, "demo", &demo->common, &code);
    if (operator)
        session_join(&demo->session, operator);
    if (operator && redlock_change_members(operator, &options, on_change, &change, NULL) == 0)
        session_run_until(&demo->session, change_is_over, &change, DEMO_WATCHDOG_MS);
    redlock_client_destroy(operator);
    return change.done;
}

static void check_replaced(struct demo *demo, const struct keeping *keeping)
{
    const struct cli_common before = demo->common;
    struct probe probes[REDLOCK_MAX_MASTERS];

    demo_check(demo, redlock_state(demo->held) == REDLOCK_STATE_HELD && keeping->lost == 0,
               "Alice has kept her lock all the time, and was not told of anything");
    demo->common.masters.urls[DEAD] = masters_url(demo->masters, SPARE);
    demo_probe(demo, "kept", demo->n, probes);
    demo->common = before;
    demo_check(demo, strcmp(probes[DEAD].value, redlock_lock_token(demo->held)) == 0, "her key is on the sixth master");
    demo_check(demo, session_release(&demo->session, demo->held) == REDLOCK_OK, "she releases it there, too");
}

bool demo_act_replaced(struct demo *demo)
{
    struct keeping keeping = {.demo = demo};
    struct redlock_acquire_options options;
    bool goes_on;

    redlock_acquire_options_init(&options);
    options.ttl_ms = CHANGE_TTL_MS;
    if (!demo_redeploy(demo, "change:", CHANGE_TTL_MS) || !demo_hold(demo, "kept", &options))
        return false;
    redlock_lock_watch(demo->held, on_alarm, &keeping);
    demo_say(demo, "A machine is gone for good, and another one takes its place, while Alice holds a");
    demo_say(demo, "lock and nobody is restarted. Lists of masters follow each other; each stands");
    demo_say(demo, "until no lock by the one before can be alive: max_ttl + 1 s, and clock drift.");
    demo_gap(demo);
    if (!demo_fault(demo, DEAD, DEMO_KILLED))
        return false;
    goes_on = demo_check(demo, replace_dead(demo), "the sixth master has replaced the first, which is dead");
    demo_gap(demo);
    if (goes_on)
        check_replaced(demo, &keeping);
    redlock_lock_destroy(demo->held);
    demo->held = NULL;
    return demo_fault(demo, DEAD, DEMO_UP) && demo->session.caught == 0;
}
