/* Acts on healthy masters: the lock itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo/demo.h"
#include "cli/votes.h"

enum { FIRST_TTL_MS = 10000, LONGER_TTL_MS = 30000, SETTLE_MS = 2000, CONNECT_MS = 5000 };
enum { TOKEN_SIZE = 64, RUN_ID_SIZE = 48 };

/* --- Act: the masters ---------------------------------------------------------------------------------------- */

/* The rest of the line of INFO that starts with `name`. */
static void info_field(const char *info, const char *name, char *ret_value, size_t size)
{
    const char *line = strstr(info, name);

    line = line != NULL ? line + strlen(name) : "?";
    snprintf(ret_value, size, "%.*s", (int)strcspn(line, "\r\n"), line);
}

static bool config_is(struct demo *demo, size_t i, const char *name, const char *value)
{
    const char *const command[] = {"CONFIG", "GET", name, NULL};
    char *reply = masters_command(demo->masters, i, command);
    const char *found = reply != NULL ? strchr(reply, '\n') : NULL;
    bool is = found != NULL && strncmp(found + 1, value, strlen(value)) == 0;

    free(reply);
    return is;
}

static bool show_master(struct demo *demo, size_t i, char ret_run_id[RUN_ID_SIZE])
{
    const char *const command[] = {"INFO", "server", NULL};
    char *info = masters_command(demo->masters, i, command);
    char version[32];

    if (info == NULL)
        return demo_stop(demo, "a master does not answer", masters_error());
    info_field(info, "run_id:", ret_run_id, RUN_ID_SIZE);
    masters_version(info, version, sizeof(version));
    free(info);
    demo_say(demo, "master %zu   %-16s pid %-8ld %s", i + 1, session_node_name(demo->alice, i),
             (long)masters_pid(demo->masters, i), version);
    return true;
}

static bool all_different(char run_ids[][RUN_ID_SIZE], size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(run_ids[i], run_ids[j]) == 0)
                return false;
    return true;
}

static bool show_own_masters(struct demo *demo)
{
    char run_ids[DEMO_MASTERS][RUN_ID_SIZE];
    bool durable = true;

    demo_say(demo, "Five server processes that know nothing of each other: no replicas,");
    demo_say(demo, "no cluster. Each flushes every write to its disk, so a crash forgets nothing.");
    demo_gap(demo);
    for (size_t i = 0; i < demo->n; i++) {
        if (!show_master(demo, i, run_ids[i]))
            return false;
        durable = durable && config_is(demo, i, "appendonly", "yes") && config_is(demo, i, "appendfsync", "always");
    }
    demo_gap(demo);
    demo_check(demo, all_different(run_ids, demo->n), "five different servers (run_id) answer");
    demo_check(demo, durable, "all of them have appendonly yes, appendfsync always");
    return true;
}

bool demo_act_masters(struct demo *demo)
{
    bool all;

    if (demo->masters != NULL && !show_own_masters(demo))
        return false;
    if (demo->masters == NULL) {
        demo_say(demo, "Your own masters (--nodes). They are left running and unharmed: the acts that");
        demo_say(demo, "kill and freeze masters, or would leave fencing counters there, are left out.");
        demo_say(demo, "Keys of this run begin with redlock-demo:");
        demo_gap(demo);
        for (size_t i = 0; i < demo->n; i++)
            demo_say(demo, "master %zu   %s", i + 1, session_node_name(demo->alice, i));
        demo_gap(demo);
    }
    all = demo_wait_connected(demo, CONNECT_MS);
    if (!all && demo->session.caught != 0)
        return false;
    return demo_check(demo, all, "two clients, Alice and Bob, are connected to all %zu", demo->n);
}

/* --- Act: acquire -------------------------------------------------------------------------------------------- */

bool demo_act_acquire(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->alice, "report");
    struct redlock_acquire_options options;
    struct outcome *last = &demo->session.last;
    char took[16], left[16];
    int status;

    redlock_acquire_options_init(&options);
    options.ttl_ms = FIRST_TTL_MS;
    status = lock != NULL ? session_acquire(&demo->session, lock, &options) : REDLOCK_E_NOMEM;
    session_settle(&demo->session, SETTLE_MS);
    demo_say(demo, "Alice asks all masters at once: SET key token NX PX %d. The lock is hers", FIRST_TTL_MS);
    demo_say(demo, "with the vote that makes a majority; the rest may come later.");
    demo_gap(demo);
    votes_print(&demo->term, demo->alice, last);
    demo_gap(demo);
    if (!demo_check(demo, status == REDLOCK_OK && last->granted >= demo->quorum,
                    "acquired after %s, with %u of %zu votes in (%u needed)",
                    term_time(last->elapsed_us, took, sizeof(took)), last->granted, last->n_nodes, last->quorum))
        return demo_stop(demo, "acquire", redlock_strerror(status));
    demo_check(demo, demo_count(demo, "report", redlock_lock_token(lock), demo->n) == demo->n,
               "all %zu masters store her token", demo->n);
    demo_check(demo, last->remaining_ms > 0 && last->remaining_ms <= FIRST_TTL_MS - FIRST_TTL_MS / 100 - 2,
               "valid for %s: 10 s, less the time it took and 102 ms for clock drift",
               term_time(last->remaining_ms * 1000, left, sizeof(left)));
    demo->held = lock;
    return true;
}

/* --- Act: refused -------------------------------------------------------------------------------------------- */

bool demo_act_refused(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "report");
    int status = lock != NULL ? session_acquire(&demo->session, lock, NULL) : REDLOCK_E_NOMEM;
    struct outcome *last = &demo->session.last;
    size_t refused;
    char took[16];

    demo_say(demo, "Bob wants the same key, and tries once.");
    demo_gap(demo);
    votes_print(&demo->term, demo->bob, last);
    demo_gap(demo);
    demo_check(demo, status == REDLOCK_HELD, "refused after %s: %s",
               term_time(last->elapsed_us, took, sizeof(took)), redlock_strerror(status));
    refused = votes_count(last, REDLOCK_VOTE_REFUSED);
    demo_check(demo, refused > demo->n - demo->quorum && refused <= demo->n,
               "%zu of %zu said no: the others cannot make a majority any more", refused, demo->n);
    demo_wait_quiet(demo, demo->bob, demo->n);
    demo_check(demo, demo_count(demo, "report", redlock_lock_token(demo->held), demo->n) == demo->n,
               "Bob changed nothing: every master still stores Alice's token");
    redlock_lock_destroy(lock);
    return true;
}

/* --- Act: extend, release, hand over ------------------------------------------------------------------------- */

static size_t count_living(struct demo *demo, const char *name, int64_t at_least_ms)
{
    const struct probe_masters masters = {demo->common.masters.urls, demo->n, SETTLE_MS, &demo->common.masters.tls,
                                          NULL};
    struct probe probes[REDLOCK_MAX_MASTERS];
    char key[DEMO_KEY_SIZE];
    size_t count = 0;

    demo_key(demo, name, key);
    probe_key(&masters, key, probes);
    for (size_t i = 0; i < demo->n; i++)
        count += probes[i].exists && probes[i].pttl_ms >= at_least_ms;
    return count;
}

static void extend(struct demo *demo)
{
    struct outcome *last = &demo->session.last;
    int status = session_extend(&demo->session, demo->held, LONGER_TTL_MS);
    char took[16], left[16];

    session_settle(&demo->session, SETTLE_MS);
    demo_say(demo, "Alice needs more time, and extends to %d s.", LONGER_TTL_MS / 1000);
    demo_check(demo, status == REDLOCK_OK && last->remaining_ms > FIRST_TTL_MS, "extended in %s, valid for %s now",
               term_time(last->elapsed_us, took, sizeof(took)),
               term_time(last->remaining_ms * 1000, left, sizeof(left)));
    demo_wait_quiet(demo, demo->alice, demo->n);
    demo_check(demo, count_living(demo, "report", FIRST_TTL_MS) == demo->n,
               "the key's time to live grew on all %zu masters", demo->n);
    demo_gap(demo);
}

static void give_up(struct demo *demo)
{
    int status = session_release(&demo->session, demo->held);
    char took[16];

    demo_say(demo, "She is done, and releases: each master deletes the key if the token is hers.");
    demo_check(demo, status == REDLOCK_OK, "released in %s",
               term_time(demo->session.last.elapsed_us, took, sizeof(took)));
    demo_check(demo, demo_count(demo, "report", NULL, demo->n) == 0, "the key is gone from all %zu masters", demo->n);
    demo_gap(demo);
}

bool demo_act_hand_off(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "report");
    char first_token[TOKEN_SIZE];
    char took[16];
    int status;

    snprintf(first_token, sizeof(first_token), "%s", redlock_lock_token(demo->held));
    extend(demo);
    give_up(demo);
    redlock_lock_destroy(demo->held);
    demo->held = NULL;
    status = lock != NULL ? session_acquire(&demo->session, lock, NULL) : REDLOCK_E_NOMEM;
    demo_say(demo, "Bob tries again.");
    demo_check(demo, status == REDLOCK_OK, "acquired in %s",
               term_time(demo->session.last.elapsed_us, took, sizeof(took)));
    demo_check(demo, status == REDLOCK_OK && strcmp(redlock_lock_token(lock), first_token) != 0,
               "with a token of his own");
    if (status == REDLOCK_OK)
        status = session_release(&demo->session, lock);
    demo_check(demo, status == REDLOCK_OK && demo_count(demo, "report", NULL, demo->n) == 0,
               "released, and nothing is left behind");
    redlock_lock_destroy(lock);
    return true;
}
