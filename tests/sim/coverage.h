/* What has happened in all worlds so far: proof that the simulator exercises what it claims to. */
#ifndef SIM_COVERAGE_H
#define SIM_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/engine.h"
#include "kinds/join.h"
#include "faults.h"
#include "network.h"

struct plan_options;

#define COUNTER_MAP(X) \
    X(MIXED, "worlds in which max_ttl is changed, and clients have different ones") \
    X(DECLARATIONS, "declarations of max_ttl that were completed") \
    X(RETOLD, "masters asked anew, since a declaration is known") \
    X(CHANGES, "worlds in which the list of masters changes") \
    X(CHANGES_DONE, "... to the last list") \
    X(RUNS, "... runs of an operator's command") \
    X(RUNS_STOPPED, "... that have given way to another one") \
    X(RUNS_ASLEEP, "... whose machine slept") \
    X(RUNS_CUT, "... that were cut off from masters") \
    X(VIEWS_TOLD, "... views that masters have taken from it") \
    X(VIEWS_STOOD, "... views that have stood") \
    X(VIEWS_BACK, "... views that went back") \
    X(VIEWS_ADOPTED, "... views that clients have adopted") \
    X(RENAMED, "... masters that clients know by another name since") \
    X(ADOPTED_ACROSS, "... exported locks that came from another list") \
    X(HELD_ON, "... locks that were held meanwhile") \
    X(WORLDS, "worlds") \
    X(EVENTS, "events") \
    X(TURNS, "turns of clients") \
    X(COMMANDS, "commands carried out by masters") \
    X(SCRIPTS, "scripts run in Lua") \
    X(ACQUISITIONS, "locks acquired") \
    X(FINAL_GRANTS, "locks acquired after the healing") \
    X(LOSSES, "locks lost") \
    X(LATE_GRANTS, "late grants") \
    X(ROLLBACKS, "attempts rolled back") \
    X(ROLLBACKS_RESENT, "rollback commands sent again") \
    X(ROLLBACKS_EXPIRED, "pending rollbacks that ended with the ttl") \
    X(GHOST_COMMANDS, "commands carried out after their connection was closed") \
    X(SURELY_UNSENT, "commands lost before the kernel took them") \
    X(MAYBE_SENT, "commands lost on the way, or their replies") \
    X(SCRIPT_RELOADS, "EVALSHA repeated as EVAL") \
    X(LONG_RELEASES, "releases repeated with all keys of the queue") \
    X(STALLS, "connections closed for silence") \
    X(CONNECT_TIMEOUTS, "connection attempts that took too long") \
    X(REFUSALS, "connection attempts refused") \
    X(CANCELS, "operations canceled") \
    X(RELEASED_VALUES, "values released by another handle than took them") \
    X(DESTROYS, "handles destroyed") \
    X(DESTROYS_HELD, "handles destroyed while held or pending") \
    X(SHUTDOWNS, "clients shut down") \
    X(SHUTDOWNS_OK, "... to the end: what they had is released") \
    X(SHUTDOWNS_DEADLINE, "... until their time was up") \
    X(SHUTDOWNS_CANCELED, "... and destroyed before that") \
    X(QUITS, "clients destroyed, in order") \
    X(STRAYS, "keys set through connections given up") \
    X(RESURRECTED, "keys that a restart brought back") \
    X(SHORTENED, "extensions with a shorter ttl") \
    X(CLASSIC, "worlds without markers and epoch checks") \
    X(EPOCH_CHECKS, "epoch checks answered by masters") \
    X(RENEWALS, "renewals begun") \
    X(RENEWALS_FAILED, "renewals without a quorum") \
    X(REPAIRS, "keys given back to masters") \
    X(EPOCH_MISMATCHES, "answers from another memory than the one that was admitted") \
    X(FENCED, "fenced locks acquired") \
    X(RAISES, "tokens that needed a second round trip") \
    X(ADOPTED, "locks transferred from one handle to another") \
    X(REENTERED, "locks entered again by their owners") \
    X(NOT_REENTERED, "... and not, since they were lost or about to expire") \
    X(FROM_QUEUE, "locks acquired by waiting in the queue") \
    X(IN_ORDER, "... behind somebody who was in the queue before, and had been served") \
    X(LEFT, "... behind somebody who had been, and left") \
    X(OVERTAKEN_ANEW, "... before somebody who had to begin anew") \
    X(OVERTAKEN_AWAY, "... before somebody who was out of touch") \
    X(AT_ONCE, "... without delay, where nothing goes wrong") \
    X(FREED, "keys of holders that are gone, ended while somebody waits") \
    X(LEASES, "... for a lease first, then for the ttl") \
    X(WAITS, "acquisitions that entered the queue") \
    X(HAND_OFFS, "grants by a notification") \
    X(COHORT_HAND_OFFS, "locks that went to a waiter of the same client as they were") \
    X(SETS, "sets of locks acquired") \
    X(SETS_SHARED, "... with a part that is shared or upgradeable") \
    X(SETS_OF_PERMITS, "... with several permits of a semaphore") \
    X(SETS_WAITING, "... times that one waited for a part") \
    X(SETS_AT_GATE, "... for the gate of a semaphore") \
    X(SETS_BEHIND_GATE, "... for a permit, behind the gate") \
    X(SETS_AGAIN, "... times that one began anew, since what it had was lost or old") \
    X(SETS_LOST, "sets lost with one of their parts") \
    X(PERMITS, "permits acquired") \
    X(MOVES, "waiters that moved to another slot") \
    X(CAMPAIGNS, "campaigns of candidates") \
    X(ELECTED, "... that were elected") \
    X(LEADERS_LOST, "leaders that lost their lock") \
    X(RESIGNED, "leaders and candidates that resigned") \
    X(TERMS_SEEN, "terms that observers were shown") \
    X(OBSERVATIONS, "looks of observers") \
    X(OBSERVERS_TOLD, "... that were told of a term, or may have missed one") \
    X(LEADERS_KNOWN, "... that knew a new leader a few messages after the election") \
    X(LOOK_FREE, "looks at keys: free") \
    X(LOOK_EXCLUSIVE, "... one has it") \
    X(LOOK_SHARED, "... shared") \
    X(LOOK_UPGRADING, "... and one of those waits to have it alone") \
    X(LOOK_UNSETTLED, "... no value has a quorum") \
    X(LOOK_UNKNOWN, "... too few have answered") \
    X(LATCH_ARRIVED, "arrivals at a latch that are recorded") \
    X(LATCH_OPEN, "... and waits that ended, since it was open") \
    X(LATCH_LATE, "... when a later generation had begun") \
    X(LATCH_REFUSED, "... refused: another generation, or number of parties") \
    X(LATCH_NOTIFICATIONS, "... notifications received") \
    X(LATCH_LOST, "losses of memory while there was a latch") \
    X(YIELDS, "grants yielded to a lower ticket") \
    X(HANDED, "keys handed off by masters to the queue") \
    X(BATCHES, "commands for several locks") \
    X(NOTIFICATIONS, "notifications received") \
    X(NOTIFICATIONS_IGNORED, "... about values given up, or from a memory that is not trusted") \
    X(LISTENERS_LOST, "connections that listen, lost") \
    X(SHARED, "shared locks acquired") \
    X(BESIDE, "... beside somebody who shares the key") \
    X(LOWERED, "exclusive locks that became shared") \
    X(UPGRADES, "upgrades begun") \
    X(UPGRADED, "upgradeable locks that became exclusive") \
    X(TOLD_ALONE, "extensions that tell masters of the mode") \
    X(SURVIVED, "memories lost that held a vote of a held lock")

enum counter {
#define COUNTER_ENUM(name, text) COUNTER_##name,
    COUNTER_MAP(COUNTER_ENUM)
#undef COUNTER_ENUM
        COUNTER_COUNT,
};

/* What the host reports (host/sink.h), as far as it has no table of its own. */
enum report {
    REPORT_COMPLETE,
    REPORT_ATTEMPT,
    REPORT_WAITING,
    REPORT_BACKOFF,
    REPORT_EXTENDING,
    REPORT_RENEWED,
    REPORT_AT_RISK,
    REPORT_LOST,
    REPORT_VALIDITY,
    REPORT_DISPOSED,
    REPORT_LISTENING,
    REPORT_VERIFIED,
    REPORT_MEMBERS,
    REPORT_COUNT,
};

#define N_OPS (RL_OP_CONVERT + 1)
#define N_ENDS (RL_END_REFUSED_BY_HOST + 1)
#define N_OUTCOMES (RL_QUEUED + 1)
#define N_DETAILS (RL_DETAIL_ERROR + 1)
#define N_LINKS (RL_LINK_DOWN + 1)
#define N_ADMISSIONS (RL_ADMISSION_EXCLUDED + 1)
#define N_LOSSES (RL_LOSS_HOLD_LIMIT + 1)

/* Only uint64_t members: tables of several processes are added up as arrays. */
struct coverage {
    uint64_t counters[COUNTER_COUNT];
    uint64_t faults[FAULT_COUNT];
    uint64_t transitions[RL_LOCK_STATE_COUNT][RL_LOCK_STATE_COUNT];
    uint64_t reports[REPORT_COUNT];
    uint64_t ends[N_OPS][N_ENDS];
    uint64_t answers[RL_STEP_COUNT][N_OUTCOMES];
    uint64_t details[N_DETAILS];
    uint64_t links[N_LINKS][N_LINKS];
    uint64_t joins[RL_JOIN_EVENT_COUNT];
    uint64_t admissions[N_ADMISSIONS];
    uint64_t rl_faults[RL_FAULT_COUNT];
    uint64_t losses[N_LOSSES];
    uint64_t steps_seen;
    uint64_t standstills_seen;
    uint64_t masters[MAX_MASTERS + 1]; /* worlds with so many */
};

void coverage_add(struct coverage *sum, const struct coverage *more);

/* Prints every row that can happen in these worlds; returns how many never did. */
unsigned coverage_print(const struct coverage *coverage, const struct plan_options *worlds, FILE *out);

#endif
