/* Acts about the loss of the majority, and about its return. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clock.h"
#include "cli/demo/demo.h"
#include "cli/votes.h"

enum { SURVIVORS = 2, THIRD = 2, DEADLINE_MS = 1000, DEADLINE_SLACK_MS = 250, RETURN_MS = 20000 };

/* --- Act: a third master dies in the middle of an attempt ---------------------------------------------------- */

static bool survivors_granted(const struct session *session, void *data)
{
    for (size_t i = 0; i < SURVIVORS; i++)
        if (session->last.votes[i].vote != REDLOCK_VOTE_GRANTED)
            return false;
    return true;
}

/* Freezes the third master, so that the attempt hangs in the balance at two grants; looks; and kills it. */
static bool attempt_in_the_balance(struct demo *demo, struct redlock_lock *lock)
{
    int status = lock != NULL ? 0 : REDLOCK_E_NOMEM;
    bool granted;

    if (!demo_fault(demo, THIRD, DEMO_HUNG))
        return false;
    if (status == 0)
        status = session_acquire_begin(&demo->session, lock, NULL);
    if (status != 0)
        return demo_stop(demo, "acquire", redlock_strerror(status));
    granted = session_run_until(&demo->session, survivors_granted, NULL, DEMO_WATCHDOG_MS);
    demo_say(demo, "Bob tries while the third is frozen: two grants, and one answer missing.");
    demo_check(demo, granted && demo_count(demo, "third", NULL, SURVIVORS) == SURVIVORS,
               "at this moment his key is set on both survivors");
    demo_say(demo, "Now the third is killed.");
    return demo_fault(demo, THIRD, DEMO_KILLED);
}

static void check_rollback(struct demo *demo)
{
    struct outcome *last = &demo->session.last;
    char took[16];

    demo_gap(demo);
    votes_print(&demo->term, demo->bob, last);
    demo_gap(demo);
    demo_check(demo, last->status == REDLOCK_NO_QUORUM, "refused after %s: %s",
               term_time(last->elapsed_us, took, sizeof(took)), redlock_strerror(last->status));
    demo_wait_quiet(demo, demo->bob, SURVIVORS);
    demo_check(demo, demo_count(demo, "third", NULL, SURVIVORS) == 0,
               "rolled back: nothing of it is left on the two survivors");
}

static void check_deadline(struct demo *demo, struct redlock_lock *lock)
{
    struct outcome *last = &demo->session.last;
    struct redlock_acquire_options options;
    int status = REDLOCK_OK;
    bool in_time = false;
    char took[16];

    redlock_acquire_options_init(&options);
    options.timeout_ms = DEADLINE_MS;
    demo_gap(demo);
    demo_say(demo, "He tries again, for %d ms.", DEADLINE_MS);
    for (int tries = 0; !in_time && tries < DEMO_TRIES; tries++) {
        status = session_acquire(&demo->session, lock, &options);
        in_time = status != REDLOCK_DEADLINE || last->elapsed_us <= (DEADLINE_MS + DEADLINE_SLACK_MS) * 1000;
    }
    demo_check(demo, status == REDLOCK_DEADLINE && in_time,
               "gave up after %s and %" PRIu32 " attempts (%s)", term_time(last->elapsed_us, took, sizeof(took)),
               last->attempts, redlock_strerror(last->cause));
    demo_wait_quiet(demo, demo->bob, SURVIVORS);
    demo_check(demo, demo_count(demo, "third", NULL, SURVIVORS) == 0, "and left nothing behind");
}

bool demo_act_no_quorum(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "third");

    demo_say(demo, "One master is dead and one is frozen. With a third, no majority is left.");
    demo_gap(demo);
    if (!attempt_in_the_balance(demo, lock))
        return false;
    session_end(&demo->session);
    if (demo->session.caught != 0)
        return false;
    check_rollback(demo);
    check_deadline(demo, lock);
    redlock_lock_destroy(lock);
    return demo->session.caught == 0;
}

/* --- Act: the masters return --------------------------------------------------------------------------------- */

static bool locks_again(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "again");
    struct redlock_acquire_options options;
    int64_t start;
    int status;
    char took[16];

    if (!demo_fault(demo, THIRD, DEMO_UP))
        return false;
    start = clock_now_us();
    redlock_acquire_options_init(&options);
    options.timeout_ms = RETURN_MS;
    status = lock != NULL ? session_acquire(&demo->session, lock, &options) : REDLOCK_E_NOMEM;
    demo_check(demo, status == REDLOCK_OK, "the third is restarted: Bob has a lock %s after it answers",
               term_time(clock_now_us() - start, took, sizeof(took)));
    if (status == REDLOCK_OK)
        status = session_release(&demo->session, lock);
    redlock_lock_destroy(lock);
    return demo->session.caught == 0;
}

static bool everybody_votes(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "all");
    bool connected;
    size_t granted;
    int status = REDLOCK_E_NOMEM;

    if (!demo_fault(demo, 3, DEMO_UP) || !demo_fault(demo, 4, DEMO_UP))
        return false;
    connected = demo_wait_connected(demo, DEMO_WATCHDOG_MS);
    if (lock != NULL)
        status = session_acquire(&demo->session, lock, NULL);
    session_settle(&demo->session, DEMO_WATCHDOG_MS);
    granted = status == REDLOCK_OK ? demo_count(demo, "all", redlock_lock_token(lock), demo->n) : 0;
    demo_check(demo, connected && granted == demo->n, "the others are back as well: all %zu vote again", demo->n);
    if (status == REDLOCK_OK)
        session_release(&demo->session, lock);
    redlock_lock_destroy(lock);
    return demo->session.caught == 0;
}

static bool nothing_pending(const struct session *session, void *data)
{
    const struct redlock_client *client = data;
    struct redlock_stats stats;

    return redlock_client_stats(client, &stats, sizeof(stats)) == 0 && stats.claims == 0 &&
           stats.pending_rollbacks == 0;
}

/* But for the marker, which says that the memory is the one that was known. */
static bool all_empty(struct demo *demo)
{
    const char *const command[] = {"DBSIZE", NULL};
    bool empty = true;

    for (size_t i = 0; i < demo->n; i++) {
        char *reply = masters_command(demo->masters, i, command);

        empty = empty && reply != NULL && strcmp(reply, "(integer) 1") == 0;
        free(reply);
    }
    return empty;
}

enum { EMPTY_MS = 15000, LOOK_AGAIN_MS = 100 };

/* What the wait queues of the acts before have left ends by itself, after two leases. */
static bool becomes_empty(struct demo *demo)
{
    bool empty = all_empty(demo);

    for (uint32_t waited = 0; !empty && waited < EMPTY_MS && demo->session.caught == 0; waited += LOOK_AGAIN_MS) {
        session_run_until(&demo->session, NULL, NULL, LOOK_AGAIN_MS);
        empty = all_empty(demo);
    }
    return empty;
}

static void clean_end(struct demo *demo)
{
    bool confirmed;

    demo_gap(demo);
    demo_say(demo, "Alice still holds the lock that she took before all this.");
    demo_check(demo, redlock_remaining_ms(demo->held) > 0 &&
                         demo_count(demo, "held", redlock_lock_token(demo->held), demo->n) == demo->n,
               "it is on all %zu masters: those that were killed kept it on disk", demo->n);
    demo_check(demo, session_release(&demo->session, demo->held) == REDLOCK_OK, "she releases it");
    redlock_lock_destroy(demo->held);
    demo->held = NULL;
    confirmed = session_run_until(&demo->session, nothing_pending, demo->alice, DEMO_WATCHDOG_MS) &&
           session_run_until(&demo->session, nothing_pending, demo->bob, DEMO_WATCHDOG_MS);
    demo_check(demo, confirmed, "every release has been confirmed, also by the masters that were away");
    demo_check(demo, becomes_empty(demo), "no key of any attempt is left anywhere (DBSIZE 1 on all %zu: the marker)",
               demo->n);
}

bool demo_act_recovery(struct demo *demo)
{
    demo_say(demo, "The killed masters are started again, and the frozen one thaws.");
    demo_gap(demo);
    if (!locks_again(demo) || !everybody_votes(demo))
        return false;
    clean_end(demo);
    return demo->session.caught == 0;
}
