/* Planted bugs: what the simulator must be able to find.
 *
 * Most are expressions in lib, RL_MUTANT(NAME) ? wrong : right, which in the library are constant (util/mutant.h).
 * Those of the scripts are in mutants.c, those of the model's assumptions where the model makes them. One is on at a
 * time. */
#ifndef SIM_MUTANTS_H
#define SIM_MUTANTS_H

/* X(NAME, where, budget, text): it must be found within so many worlds from the first on. 0: it is too rare for that,
 * and has a story of its own (golden/, meson.build). */
#define MUTANT_MAP(X) \
    X(MAJORITY_OFF_BY_ONE, "engine", 100, "one vote less than a majority is enough") \
    X(EARLY_REFUSAL, "engine", 100, "an attempt is lost one refusal too early") \
    X(EVEN_VERDICT, "engine", 1000, "an attempt is lost at q refusals: too late for even N") \
    X(DRIFT_IGNORED, "engine", 1000, "no drift allowance") \
    X(VALIDITY_FROM_REPLY, "engine", 1000, "a vote counts from its reply") \
    X(VALIDITY_IS_A_FLAG, "engine", 100, "held until told otherwise") \
    X(DEADLINE_OF_THE_LAST, "engine", 1000, "the deadline is the largest bound, not the q-th") \
    X(ROLLBACK_ONLY_GRANTED, "engine", 100, "rollback only where a grant is known") \
    X(UNKNOWN_NOT_ROLLED_BACK, "engine", 1000, "no rollback where the outcome is unknown") \
    X(PENDING_ROLLBACK_FORGOTTEN, "engine", 1000, "a rollback whose connection is lost counts as done") \
    X(ROLLBACK_NEVER_RESENT, "engine", 10000, "a pending rollback is never sent again") \
    X(GIVE_UP_FROM_SEND, "engine", 100000, "a key's ttl is taken to run from its sending") \
    X(CANCEL_WITHOUT_ROLLBACK, "engine", 100, "a canceled attempt is not rolled back") \
    X(DESTROY_WITHOUT_ROLLBACK, "engine", 1000, "a destroyed handle's value is not released") \
    X(LOSS_WITHOUT_ROLLBACK, "engine", 10000, "a lost lock's value is not released") \
    X(RELEASE_KEEPS_VALIDITY, "engine", 1000, "remaining() does not become 0 at release") \
    X(LATE_EXTEND_COUNTS, "engine", 10000, "an extension brings a validity back that has ended") \
    X(SHORTENED_WHEN_ACKED, "engine", 1000, "a shorter ttl counts when it is confirmed, not when sent") \
    X(EARLIER_ROUND_COUNTS, "engine", 10000, "an earlier extension's answer counts for the latest") \
    X(UNRESOLVED_EXTENSION, "engine", 50000, "an extension on a dead connection is taken to be dead") \
    X(EXPORT_FORGETS, "engine", 0, "an extension on its way is forgotten when the lock changes hands") \
    X(ACCEPT_UNSEEN, "engine", 10000, "a quorum is accepted whatever validity is left") \
    X(ROUND_WITHOUT_END, "engine", 1000, "an attempt waits for every master") \
    X(WAITS_FOR_ALL_LINKS, "engine", 1000, "a first attempt waits for every connection") \
    X(JOINING_COUNTS_AS_FAILED, "engine", 1000, "a first connection on its way is taken to have failed") \
    X(JOINED_NOT_ASKED, "engine", 1000, "who joins during an attempt is not asked") \
    X(JOINED_AFTER_ROLLBACK, "engine", 1000, "who joins after an attempt was rolled back is asked") \
    X(SAME_TOKEN, "model", 1000, "the same value for every attempt") \
    X(LOST_MEANS_FAILED, "host", 1000, "a lost connection counts as: not applied") \
    X(NOSCRIPT_MEANS_MISSING, "host", 10000, "NOSCRIPT counts as: no such key") \
    X(OTHERS_WAIT_MEANS_DONE, "host", 100000, "a release that found a queue counts as done") \
    X(REPEAT_OLD_ROUND, "engine", 10000, "NOSCRIPT to an earlier extension is followed by EVAL, with a newer ttl") \
    X(ROLLBACK_OVERTAKES, "host", 10000, "what was gathered for a claim comes behind its rollback") \
    X(STALE_ACCEPT, "host", 50000, "the clock is not read again before a lock is accepted") \
    X(TIME_AFTER_SEND, "host", 10000, "the clock is read after the claim was written") \
    X(BLIND_RELEASE, "script", 1000, "release deletes whatever is there") \
    X(BLIND_EXTEND, "script", 1000, "extend takes whatever is there") \
    X(EXTEND_CREATES, "script", 1000, "extend sets a key that is missing") \
    X(RESTART_AT_ONCE, "model", 1000, "masters that lost their keys vote at once") \
    X(UNVERIFIED_COUNTS, "engine", 10000, "a vote counts before the epoch check behind it has proved the memory") \
    X(QUARANTINE_IGNORED, "engine", 10000, "masters with a new memory vote at once") \
    X(QUARANTINE_TOO_SHORT, "engine", 100000, "half the quarantine is waited for") \
    X(REPAIR_WITHOUT_CONDITION, "engine", 0, "quarantined masters get keys back whatever they held") \
    X(REPAIR_ANY_MEMORY, "engine", 0, "a repair does not name the memory that it is meant for") \
    X(RENEWAL_RACES_RELEASE, "engine", 1000, "the timer of renewals goes on during the release") \
    X(ALARM_WAITS, "engine", 1000, "a loss is told when the renewal under way has been answered") \
    X(WAKEUP_NOT_TOLD, "engine", 10000, "the host is not told that a wake-up comes earlier") \
    X(FENCE_UNRECORDED, "engine", 10000, "a token is handed out before a quorum has recorded it") \
    X(FENCE_PER_NODE, "script", 10000, "each master counts for itself, the largest count is the token") \
    X(FENCE_STALE_PROPOSAL, "engine", 0, "a waiter proposes the number for its token once and for all") \
    X(MAX_TTL_FALLS_AT_ONCE, "script", 100000, "a smaller max_ttl is all that quarantines are reckoned with, at once") \
    X(TWO_SERVERS_VOTE, "engine", 0, "a name that leads to two servers by turns has the votes of both") \
    X(LONGER_HOLD_KEPT, "engine", 0, "a hold that is longer than a new max_ttl is extended") \
    X(DECLARATION_MISSED, "engine", 100000, "clients ignore what markers say of declarations") \
    X(FULL_MASTER_UNJOINED, "script", 0, "a master that is full cannot note that it has been restarted") \
    X(UPTIME_TRUSTED, "script", 10000, "a marker that is still there is believed after a restart") \
    X(QUARANTINE_SHORTER, "script", 100000, "the quarantine is a fifth shorter than the longest ttl") \
    X(DURABLE_EVERYSEC, "host", 10000, "fsync every second counts as durable") \
    X(EPOCH_CHECK_BELIEVED, "host", 10000, "any incarnation counts as the one that was admitted") \
    X(GRANT_FROM_ARRIVAL, "engine", 10000, "a grant by a hand-off counts from the notification's arrival") \
    X(GRANT_FROM_LATER_REFRESH, "engine", 10000, "... from the latest refresh, whichever it names") \
    X(EXPIRED_GRANT_COUNTS, "engine", 0, "grants of different times are counted together") \
    X(GRANT_FORGOTTEN, "engine", 0, "a grant of an earlier refresh is forgotten where the latest has failed") \
    X(YIELD_REUSES_VALUE, "engine", 10000, "who has yielded claims again with the same value") \
    X(COHORT_FENCED, "engine", 10000, "a lock is handed off with its fencing token") \
    X(COHORT_TOO_LATE, "engine", 50000, "a lock is handed off whatever validity is left") \
    X(COHORT_ENTRY_KEPT, "engine", 10000, "a waiter that is handed a lock keeps its entry in the queue") \
    X(COHORT_OWN_TOKEN, "host", 10000, "a value that others may name is handed off") \
    X(JOINED_AS_ONE, "host", 10000, "of those who enter the queue together each takes the first one's answer") \
    X(EXTENDED_AS_ONE, "host", 10000, "of locks that are extended together each takes the first one's answer") \
    X(WAIT_WITHOUT_TIMER, "engine", 10000, "a waiter looks again only when it is notified") \
    X(NEVER_YIELDS, "engine", 10000, "who has a few masters' keys keeps them from a lower ticket") \
    X(QUEUED_NOT_ROLLED_BACK, "engine", 10000, "who gives up keeps its entry in the queue") \
    X(HEAD_NEVER_EXPIRES, "script", 10000, "an entry in the queue does not end with its lease") \
    X(HIGHEST_TICKET, "script", 10000, "the key is handed to the last in the queue") \
    X(TICKET_FROM_CLOCK, "script", 10000, "tickets are what the clients' clocks say") \
    X(ENTRY_KEPT, "script", 10000, "a release leaves the entry in the queue") \
    X(GRANT_FOR_LONGER, "script", 10000, "a dead waiter is handed the key for longer than its lease") \
    X(REFRESH_SHORTENS, "script", 200000, "a late ENQUEUE cuts a held key's life to the lease") \
    X(REENTER_LOST, "host", 1000, "a lost lock is entered as if it were held") \
    X(REENTER_EXPIRING, "host", 1000, "a lock is entered whatever validity is left") \
    X(INNER_RELEASE_SENT, "host", 1000, "the release of an inner entry releases the lock") \
    X(LOSS_ENDS_ENTRIES, "host", 1000, "the first release of a lost lock ends all of its entries") \
    X(SHUTDOWN_AT_QUORUM, "host", 10000, "a shutdown awaits a quorum only, whoever else answers") \
    X(SHUTDOWN_AWAITS_SILENT, "host", 10000, "a shutdown awaits a minority that is silent") \
    X(SHUTDOWN_WITHOUT_END, "host", 10000, "a shutdown that masters do not confirm never ends") \
    X(SHUTDOWN_DEADLINE_IS_OK, "host", 10000, "a shutdown whose time is up is said to be confirmed") \
    X(SHUTDOWN_UNREAD, "host", 0, "a shutdown's time is up, whatever has arrived meanwhile") \
    X(SHUTDOWN_SILENT_ONCE, "host", 0, "a shutdown does not await what was silent until an answer came") \
    X(MODE_LOWERED_LATE, "engine", 10000, "masters are told of a downgrade before the handle is") \
    X(UPGRADE_BEHIND, "engine", 10000, "an upgrade waits behind those who wait for its own lock to go") \
    X(FIRST_CLAIM_REPLACES, "host", 0, "the first claim of an upgrade says that it replaces the second one") \
    X(UPGRADE_BLIND, "script", 10000, "an upgrade gets the key beside those who share it") \
    X(REPLACED_LET_GO, "script", 10000, "the second claim of an upgrade ends the first one's vote") \
    X(DEAD_VOTE_EXTENDED, "script", 10000, "an extension gives a shared vote back that has ended") \
    X(REPAIRED_STRONGER, "script", 100000, "a repair in the mode of before makes a weaker vote exclusive again") \
    X(REPLACED_KEPT, "script", 10000, "a mode is lowered to that of a vote that is being released") \
    X(X_REPLACES_X, "script", 0, "an exclusive vote is given beside the exclusive one that it replaces") \
    X(ONE_END_FOR_ALL, "script", 10000, "the votes of a key end together, with the latest claim's ttl") \
    X(READERS_APART, "script", 1000, "those who share a key have another one, which SET NX does not see") \
    X(X_BESIDE_READERS, "script", 10000, "a waiter gets the key for itself while others share it") \
    X(R_PASSES_X, "script", 10000, "a reader passes a waiting writer") \
    X(RELEASE_TAKES_ALL, "script", 1000, "the release of one reader takes the votes of all") \
    X(SHARED_NUMBERS_FALL, "script", 10000, "a reader's fencing token is what its own clock says") \
    X(SHARED_ONLY_READS, "script", 100000, "a reader takes a counter for what it was before a restart") \
    X(WALLS_APART, "model", 10000, "clients' wall clocks are further apart than half the quarantine") \
    X(WILD_CLOCKS, "model", 1000, "clocks drift twice as much as is allowed for")

/* Only where clocks are set: --clock-steps. Under A2 a master that has granted holds the key until the lock is
 * accepted, whoever asks, and a larger count there is as good a record as the token: recording it in no other way than
 * rule 8.2 says matters for G2, "even without A2". */
#define MUTANT_STEPS_MAP(X) \
    X(CLOCK_STEP_IGNORED, "engine", 10000, "steps of masters' clocks are not looked for") \
    X(STEP_WAIT_TOO_SHORT, "engine", 10000, "new votes of a master count again at once after its clock was set") \
    X(STEPS_OF_A_FEW, "engine", 10000, "a client takes one master that was set forward for a standstill of its own") \
    X(FENCE_ACKS_FROM_OUTSIDE, "engine", 50000, "masters that answered more than the token count as records of it") \
    X(FENCE_ANY_QUORUM, "engine", 50000, "tokens are written back to any quorum") \
    X(FENCE_UNCONDITIONAL, "script", 10000, "tokens are written back to whoever holds the key")

/* Only where clocks stand still: --standstills. */
#define MUTANT_STANDSTILLS_MAP(X) \
    X(OWN_CLOCK_TRUSTED, "engine", 1000, "a client takes a standstill of its own clock for steps of all others") \
    X(ROUND_OUTLIVES_STANDSTILL, "engine", 10000, "answers to what was sent before a standstill count in full") \
    X(SLOW_CLOCK_VOTES, "engine", 10000, "a master votes whose clock stands still")

/* What nobody notices as long as anything else goes wrong: --calm. */
#define MUTANT_CALM_MAP(X) \
    X(ROUND_OF_INTERVAL, "engine", 0, "a round of renewal ends when the next one is due") \
    X(NO_EARLY_REFRESH, "engine", 10000, "shared votes that are no quorum wait for the usual refresh") \
    X(FIRST_UNHEARD, "host", 10000, "nobody is told that it has become the first in the queue") \
    X(SHUTDOWN_RELEASE_IN_BRIEF, "host", 0, "a client that ends does not name the queue's keys")

/* What only sets of locks show: --sets, and for some --permits. */
#define MUTANT_SETS_MAP(X) \
    X(SET_DESCENDS, "engine", 1000, "a set waits for the largest key first, and keeps the smaller ones") \
    X(SET_KEEPS_LARGER, "engine", 1000, "a set keeps larger keys while it waits for a smaller one") \
    X(SET_LOSS_OVERLOOKED, "engine", 10000, "a set is held that has lost a key while it waited for another") \
    X(SET_REST_KEPT, "engine", 1000, "a set that has lost a key keeps the others")

#define MUTANT_SETS_PERMITS_MAP(X) \
    X(SET_GATE_IGNORED, "engine", 1000, "a set waits for a permit while it has others, without their gate") \
    X(SET_GATE_KEPT, "engine", 1000, "a set keeps the gate of its permits when it is held")

/* What only semaphores show: --permits, and for some --calm. */
#define MUTANT_PERMITS_MAP(X) \
    X(MOVES_WITH_VOTE, "engine", 10000, "a waiter leaves a queue whose key some masters have given it") \
    X(MOVES_WITH_VALUE, "host", 10000, "a waiter that moves to another slot keeps its value") \
    X(SLOT_OF_EACH_MASTER, "script", 1000, "a master whose slot is taken grants another one") \
    X(DIRECTORY_KEPT, "script", 1000, "a waiter that leaves stays in the semaphore's directory")
#define MUTANT_CALM_PERMITS_MAP(X) \
    X(VOTE_BINDS, "engine", 0, "the votes of a minority keep a waiter from a slot that is free") \
    X(LOWER_UNHEARD, "host", 1000, "nobody is told that a lower ticket waits") \
    X(NEVER_MOVES, "host", 0, "a waiter does not look at other slots than its own") \
    X(HOLDER_LISTED, "script", 0, "who is handed a slot stays in the semaphore's directory") \
    X(NOBODY_TOLD, "script", 0, "a release tells none of those who wait for any slot") \
    X(TOLD_TOO_OFTEN, "script", 1000, "a master tells of every slot that a later waiter was given") \
    X(SHORT_RELEASE_BLIND, "script", 0, "the short release looks at the queue of its own slot only") \
    X(TOLD_OF_SLOT_UNHEARD, "host", 0, "a waiter that is told of a slot does nothing")

/* What only elections show: --elections, and for some --calm. */
#define MUTANT_ELECTIONS_MAP(X) \
    X(ELECTED_UNHELD, "engine", 1000, "a candidate that has not got its lock is said to be elected") \
    X(ELECTED_TOO_LATE, "engine", 50000, "... one whose lock has expired meanwhile") \
    X(LEADS_AFTER_LOSS, "engine", 10000, "a leader that has lost its lock stays one") \
    X(WITHDRAWN_HOLDS, "engine", 50000, "a candidate that withdraws keeps the lock that it has just got") \
    X(RESIGNED_LEADS, "engine", 1000, "a leader that resigns keeps its lock") \
    X(TERM_OF_32_BITS, "host", 10000, "an observer keeps 32 bits of a term") \
    X(LEADER_UNHEARD, "host", 1000, "an observer that is told of a leader does not look") \
    X(TOLD_IN_VAIN, "host", 1000, "... if it was told while it looked") \
    X(READY_UNHEARD, "host", 1000, "... nor does one that could not see who leads when a master is back") \
    X(ENTERED_UNHEARD, "host", 1000, "... nor does one that has entered the channel again")
#define MUTANT_CALM_ELECTIONS_MAP(X) \
    X(LEADER_UNANNOUNCED, "host", 1000, "a leader tells nobody that it was elected")

/* What only looks at keys show: --looks. */
#define MUTANT_LOOKS_MAP(X) \
    X(LOOK_ANY_MEMORY, "host", 10000, "a look counts what a memory says that was not admitted") \
    X(LOOK_WITHOUT_QUORUM, "host", 1000, "a value that one master has counts as a holder's") \
    X(LOOK_COUNTER_OF_ONE, "host", 1000, "of counters that differ, a look tells one") \
    X(LOOK_LISTS_DEAD, "script", 10000, "a look lists votes that have ended") \
    X(LOOK_WITHOUT_END, "host", 1000, "a look waits for every master that was asked")

/* What only latches show: --latches. */
#define MUTANT_LATCHES_MAP(X) \
    X(LATCH_COUNTS, "script", 1000, "an arrival that is repeated counts again") \
    X(LATCH_WITHOUT_WRITE_BACK, "host", 10000, "a latch is reported open before a quorum has recorded it") \
    X(LATCH_ARRIVED_AT_ONE, "host", 1000, "an arrival is reported when one master has recorded it") \
    X(LATCH_WITHOUT_UNION, "host", 1000, "a latch opens only where one master has all the names") \
    X(LATCH_NOT_REPEATED, "host", 1000, "an arrival that was reported is not repeated") \
    X(LATCH_OPEN_GIVEN_UP, "host", 1000, "a refusal ends that a latch is told to be open") \
    X(LATCH_REPLACED_SHUT, "script", 1000, "a later generation replaces one that has not opened") \
    X(LATCH_WAS_FORGOTTEN, "script", 1000, "a later generation does not tell of the one before") \
    X(LATCH_LEFT_BEHIND, "script", 10000, "a master that has missed a generation refuses all later ones") \
    X(LATCH_OTHER_NUMBER, "script", 1000, "another number of parties is not refused")

/* Where clients have different max_ttl: --mixed. */
#define MUTANT_MIXED_MAP(X) \
    X(LARGER_MAX_TTL_ACCEPTED, "engine", 50000, "a client with a larger max_ttl than the marker's gets votes")

/* Where names lead to other masters: --moved-names. */
#define MUTANT_NAMES_MAP(X) \
    X(VOTES_UNDER_TWO_NAMES, "script", 1000, "a server votes under each name that leads to it")

/* What needs cohorts of several at once: --cohorts. */
#define MUTANT_COHORTS_MAP(X) \
    X(COHORT_OF_ANYBODY, "host", 50000, "a lock is handed off to whoever of its client waits")

enum mutant {
    MUTANT_NONE,
#define MUTANT_ENUM(name, where, budget, text) MUTANT_##name,
    MUTANT_MAP(MUTANT_ENUM)
    MUTANT_STEPS_MAP(MUTANT_ENUM)
    MUTANT_CALM_MAP(MUTANT_ENUM)
    MUTANT_SETS_MAP(MUTANT_ENUM)
    MUTANT_SETS_PERMITS_MAP(MUTANT_ENUM)
    MUTANT_PERMITS_MAP(MUTANT_ENUM)
    MUTANT_CALM_PERMITS_MAP(MUTANT_ENUM)
    MUTANT_ELECTIONS_MAP(MUTANT_ENUM)
    MUTANT_CALM_ELECTIONS_MAP(MUTANT_ENUM)
    MUTANT_LOOKS_MAP(MUTANT_ENUM)
    MUTANT_LATCHES_MAP(MUTANT_ENUM)
    MUTANT_MIXED_MAP(MUTANT_ENUM)
    MUTANT_COHORTS_MAP(MUTANT_ENUM)
    MUTANT_NAMES_MAP(MUTANT_ENUM)
    MUTANT_STANDSTILLS_MAP(MUTANT_ENUM)
#undef MUTANT_ENUM
        MUTANT_COUNT,
};

extern enum mutant mutant_active;

#define RL_MUTANT(name) (mutant_active == MUTANT_##name)

#endif
