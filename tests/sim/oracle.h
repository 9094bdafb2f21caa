/* The oracles: what must hold in every world. Each lives in a file of its own; a violation ends the world.
 *
 * The assumptions are those of the promise (rules 1), as far as they matter here:
 *
 *   A1  all clients use the same masters, quorum and drift rule; nobody else touches the keys. (With --moved-names
 *       some are led to another master than the one that they mean, and everything holds all the same.)
 *   A2  a client's clock is slow and a master's clock fast by no more than the drift allowance in sum. Steps of
 *       masters' clocks (only with --clock-steps) excuse what cannot be known, and nothing else: oracle_steps.c.
 *   A3  a memory that is lost is lost with its marker, or the run_id is a new one; nobody brings an old memory back.
 *       Masters may lose their memory at any time, any number of them at once, and are there again at once. In classic
 *       worlds a master that may have lost data stays away for max_ttl after its crash instead (the operator's rule);
 *       --unsafe-restarts breaks that on purpose.
 *   G2  clients' wall clocks agree within half the quarantine.
 *
 * There is no bound on delays, pauses or crashes. */
#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "client.h"
#include "engine/engine.h"
#include "votes/clocks.h"

struct entry;
struct master;
struct message;
struct world;

/* oracle_exclusion.c: the handles of a key that have remaining() > 0 at any true instant may hold it together.
 *
 * After anything that may have changed a handle's validity, at true time `at`. */
void exclusion_observe(struct world *world, struct client *client, struct handle *handle, int64_t at);
void exclusion_recheck(struct world *world, const struct client *client);
void exclusion_count_shared(struct world *world, const struct handle *handle);
bool modes_agree(enum rl_mode a, enum rl_mode b);
void exclusion_forget(struct handle *handle, int64_t at);

/* oracle_validity.c: while remaining() > 0, a quorum of masters holds the value. */
void validity_check(struct world *world, const struct client *client, const struct handle *handle);
void validity_check_claim(struct world *world, uint32_t box);
void validity_check_all(struct world *world);

/* A memory that held the value, until true time `gone`, is lost. In its quarantine nobody else gets a vote for so long:
 * the vote counts. */
void validity_note_loss(struct world *world, uint32_t writer, unsigned master, int64_t gone);

/* oracle_lists.c: no votes are alive for two lists that do not meet.
 *
 * JOIN has run here, the memory has gone, or time has passed: by which list does the master vote now? */
void lists_note(struct world *world, struct master *master);

/* oracle_residue.c: nothing is left of an attempt that was given up. */
/* Nobody can roll back what this value's claims have left on this master. */
void residue_excuse(struct world *world, uint32_t writer, unsigned master);
bool residue_is_stray(const struct world *world, const struct box *box, unsigned master);
bool residue_holds(struct world *world, const struct box *box, unsigned master, int64_t at);
void residue_on_dispose(struct world *world, const struct box *box);
void residue_on_write(struct world *world, struct box *box, unsigned master, bool ghost);
void residue_mark(struct world *world);         /* when everything has healed */
void residue_check_prompt(struct world *world); /* some time later: what was pending then is done */
void residue_check_final(struct world *world);  /* when all is quiet */

/* oracle_foreign.c: nobody's key is removed, overwritten or extended on behalf of another. */
void foreign_on_touch(struct world *world, unsigned master, const struct entry *entry, uint32_t writer,
                      const char *command);

/* ... nor anybody's vote among those of others. */
void foreign_on_vote(struct world *world, unsigned master, const struct box *box, const char *command);

/* oracle_once.c: every operation completes exactly once, within its time, and its status is true. */
void once_start(struct world *world, struct client *client, struct handle *handle, enum rl_op op,
                const struct rl_acquire *request);
void once_end(struct world *world, struct client *client, struct handle *handle, enum rl_op op, enum rl_end status);
/* An attempt has been accepted, perhaps; or given up, with this status. */
void once_on_accept(struct world *world, const struct client *client, const struct handle *handle);
void once_on_hand_off(struct world *world, const struct client *client, const struct handle *handle,
                  const struct box *box);
void once_on_failed_attempt(struct world *world, const struct client *client, const struct handle *handle,
                            enum rl_end status);
void once_on_send(struct world *world, struct box *box, enum rl_step step);
void once_check_running(struct world *world, const struct client *client); /* at the end of a turn */
void once_abandon(struct handle *handle); /* the handle is destroyed, or its process is gone */
void once_on_check(struct world *world, struct client *client, struct handle *handle, uint32_t generation);
void once_check_final(struct world *world);

/* oracle_alarm.c: who loses a lock is told, and warned before. The first: its validity has changed. */
void alarm_watch(struct world *world, const struct client *client, struct handle *handle);
void alarm_on_event(struct world *world, const struct client *client, struct handle *handle, uint32_t life);
void alarm_check_timer(const struct client *client, const struct handle *handle); /* at the end of a turn */
void alarm_on_risk(const struct client *client, struct handle *handle);
void alarm_on_lost(const struct client *client, const struct handle *handle);

/* oracle_sets.c: a set is held as a whole or not at all. It has just been reported held; at the end of a turn. */
void sets_on_held(struct world *world, const struct client *client);
void sets_check(struct world *world, struct client *client);

/* oracle_election.c: of the candidates for a key at most one leads, and terms grow.
 *
 * What a candidate is told; at the end of a turn; what a look shows an observer. */
struct client_look;
struct rl_look_picture;
void elections_on_event(struct world *world, const struct client *client, struct handle *handle,
                        enum election_event event);
void elections_check(struct world *world, const struct client *client);
void elections_on_look(struct world *world, struct client *client, const struct client_look *look,
                       const struct rl_look_picture *picture);

/* oracle_observer.c: who is told of a leader, or may have missed that, looks.
 *
 * At the end of a turn; it is told this term on a channel, UINT64_MAX: it may have missed some; it looks; that has
 * shown a term. A candidate has been elected. */
void observer_check(struct world *world, const struct client *client);
void observer_on_told(struct world *world, struct client *client, struct rl_slice channel, uint64_t term);
void observer_on_ready(struct world *world, struct client *client); /* one of its masters is */
void observer_on_look(struct world *world, struct client *client);
void observer_on_looked(struct world *world, struct client *client, uint64_t term);
void observer_on_elected(struct world *world, const struct client *leader, uint8_t key, uint64_t term);

/* oracle_reentry.c: an inner entry needs a lock that is held, and changes nothing.
 *
 * What must not change when an inner entry begins or ends. */
struct stillness {
    uint8_t state;
    const struct rl_claim *claim;
    uint64_t commands;
};
struct stillness reentry_before(const struct client *client, const struct handle *handle);
void reentry_on_enter(struct world *world, const struct client *client, struct handle *handle,
                      const struct stillness *before, struct rl_span min_validity, int status);
/* A release begins, and the host says whether it ends an inner entry, or is the last. */
void reentry_on_leave(struct world *world, const struct client *client, struct handle *handle,
                      const struct stillness *before, bool inner);
void reentry_on_hold(struct world *world, const struct client *client, struct handle *handle);

/* oracle_fence.c: tokens are unique and grow. */
void fence_on_accept(struct world *world, const struct client *client, const struct handle *handle);

/* oracle_steps.c: what is promised when clocks are set forward. */
void steps_on_step(struct world *world, unsigned master, int64_t by);
void steps_on_reading(struct world *world, struct client *client, unsigned place, enum rl_clock_finding finding,
                      struct rl_instant sent, int64_t uncertainty);
/* A client's machine is paused with its clocks; its client takes its own clock to have stood still; the rate of a
 * master's clock changes. */
void steps_on_standstill(struct world *world, struct client *client);
void steps_on_wakeup(struct world *world, struct client *client);
void steps_on_own(struct world *world, struct client *client, uint32_t places, const struct rl_clock_move *move);
void steps_on_rate(struct world *world, unsigned master, int64_t rate);
void steps_on_start(struct world *world, struct client *client);
void steps_on_new_member(struct world *world, struct client *client, unsigned machine);

/* A client has accepted a lock: did it know the clocks that its votes came from? */
void steps_on_accept(struct world *world, const struct client *client, struct box *box);

/* May these two hold at the same time, from then until then? */
bool steps_excuse(const struct world *world, const struct box *a, const struct box *b, int64_t from, int64_t until);

/* Has this client read every clock since it was set forward, and had it read it before? */
bool steps_all_seen(const struct world *world, const struct client *client);

/* oracle_wait_queue.c: who waits in the queue is served in order, and in time, and leaves nothing behind.
 *
 * A master has carried out an ENQUEUE; has given the key to somebody on whose behalf nothing was asked. The handle's
 * first ENQUEUE for this acquisition is sent; it has got the lock. */
void wait_queue_on_entry(struct world *world, struct box *box, unsigned master);
void wait_queue_on_hand_off(struct world *world, const struct box *next, unsigned master, int64_t expire_ms);
void wait_queue_on_enqueue(struct world *world, const struct client *client, struct handle *handle);
void wait_queue_on_accept(struct world *world, const struct client *client, struct handle *handle);
int64_t wait_queue_patience(const struct world *world);
void wait_queue_on_patience(struct world *world);
void wait_queue_check_final(struct world *world);

/* The value's ticket in this master's queue at true time `at`, if nothing else happens; 0: it is not in the queue
 * there, or its lease has ended. */
uint64_t wait_queue_ticket(struct world *world, const struct box *box, unsigned master, int64_t at);

/* The masters that have this waiter in the queue under its ticket, or have given it the key. */
uint32_t wait_queue_complete_at(struct world *world, const struct handle *handle);

/* oracle_idle.c: in calm worlds a key that is wanted does not lie idle for longer than messages take. */
void idle_on_release(struct world *world, const struct handle *handle);
int64_t idle_patience(const struct world *world); /* long enough for the messages of a hand-off */
int64_t idle_trips(const struct world *world, unsigned n); /* n round trips, each as long as a rare one can be */
void idle_on_wait(struct world *world, const struct handle *handle); /* after each of its client's turns */
void idle_on_leave(struct world *world, const struct handle *handle);
void idle_on_accept(struct world *world, const struct client *client, const struct handle *handle);
void idle_on_freed(struct world *world); /* the key that somebody had left has ended */
void idle_on_heard(struct world *world, const struct client *client); /* it listens at a further master */
void idle_on_end(struct world *world); /* those who waited at a client that ends wait no more */

/* oracle_shutdown.c: a client ends in order once, in time, and leaves nothing behind that it could reach. */
void shutdown_on_start(struct world *world, struct client *client, struct rl_span timeout);
void shutdown_on_end(struct world *world, struct client *client, enum shutdown_end status);
void shutdown_on_overdue(struct world *world, const struct client *client, uint32_t life);
void shutdown_on_attempt(struct world *world, const struct client *client);
/* Something has happened to a lock. */
void shutdown_on_report(struct world *world, const struct client *client, const struct handle *handle);
void shutdown_check_running(struct world *world, struct client *client); /* at the end of a turn */

/* oracle_permits.c: never more permits than there are; in calm worlds nobody waits for long while a slot is free. */
void permits_check(struct world *world);

/* Is this value in the directory of those who wait for a permit? */
bool permits_listed(struct world *world, const struct box *box, unsigned master, int64_t at);
void permits_on_choice(struct world *world, struct client *client, const struct handle *handle, uint8_t key);
void permits_on_release(struct world *world, const struct handle *handle);
void permits_on_accept(struct world *world, const struct client *client, struct handle *handle);

/* A master publishes something. */
void permits_on_publish(struct world *world, unsigned master, struct rl_slice payload);

/* oracle_look.c: a look ends once and in time; what it says of each master was so when that answered, and is what the
 * answers amount to.
 *
 * It begins; a master carries it out; what its client makes of a reply; its time is up; its callback. */
struct client_look;
void look_on_start(struct world *world, const struct client *client, struct client_look *look);
void look_on_read(struct world *world, struct master *master, uint32_t number);
void look_on_answer(struct client *client, unsigned node);
void look_on_due(struct world *world, const struct client *client, unsigned place, uint32_t number);
void look_on_end(struct world *world, const struct client *client, const struct client_look *look,
                 const struct rl_look_picture *picture);

/* oracle_latch.c: names, generations and what is open, at masters and in what is reported; operations end in time.
 *
 * An operation begins, sends a command, gets a reply, ends; its time is up; before and after a master carries a command
 * out; a memory has been lost, or a clock has been set. */
struct client_latch;
void latch_on_start(struct client *client, struct client_latch *latch, enum rl_latch_op op, struct rl_instant deadline,
                    bool once);
void latch_on_send(struct client *client, const struct rl_tag *tag, struct message *message);
void latch_on_answer(struct client *client);
void latch_on_end(struct client *client, struct client_latch *latch, enum rl_latch_op op, int status);
void latch_on_due(struct world *world, const struct client *client, unsigned place, uint32_t operation);
void latch_before_command(struct world *world, struct master *master);
void latch_on_command(struct world *world, struct master *master, const struct message *message,
                      const struct rl_reply *reply);
void latch_on_loss(struct world *world);
void latch_check_repeated(struct world *world, const struct client *client);
void latch_on_limit(struct world *world);

/* Has somebody begun this generation, or a later one? */
bool latch_is_begun(const struct world *world, unsigned generation);

/* oracle_progress.c: after the healing everyone who waits gets the lock. */
void progress_on_limit(struct world *world);

/* oracle_memory.c: what is taken is given back, once. */
void memory_on_dispose(struct world *world, struct box *box);
void memory_check_final(struct world *world);

#endif
