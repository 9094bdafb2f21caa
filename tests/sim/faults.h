/* The faults of a world. Each kind is a process of its own: it strikes at random intervals, at a random target, for a
 * random time. A world has a random subset of the kinds (swarm testing), so that rare combinations get their turn. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "votes/kind.h"
#include "master.h"

struct world;

#define FAULT_MAP(X)                                                                                     \
    X(CUT, "connection lost")                                                                            \
    X(HALF_OPEN, "connection lost, the client is not told")                                              \
    X(PARTITION, "partition, both ways")                                                                 \
    X(PARTITION_UP, "partition, requests only")                                                          \
    X(PARTITION_DOWN, "partition, replies only")                                                         \
    X(ISOLATE, "a client cut off from all masters")                                                      \
    X(HANG, "master hung")                                                                               \
    X(PAUSE, "client paused")                                                                            \
    X(HICCUP, "client stopped in the middle of a turn")                                                  \
    X(SLOW, "slow replies or requests")                                                                  \
    X(STUCK, "client's kernel takes no bytes")                                                           \
    X(CRASH_KEEP, "master crash, data kept")                                                             \
    X(CRASH_SECOND, "master crash, last second lost")                                                    \
    X(CRASH_LOSE, "master crash, all data lost")                                                         \
    X(FLUSH_SCRIPTS, "master forgets its scripts")                                                       \
    X(ERROR_BEFORE, "master refuses commands")                                                           \
    X(ERROR_WRITES, "master refuses writes")                                                             \
    X(ERROR_MEMORY, "master out of memory")                                                              \
    X(ERROR_OBSCURE, "obscure errors, command applied or not")                                           \
    X(CLIENT_CRASH, "client process dies")                                                               \
    X(DRIFT, "clock rates at the limits of the allowance")                                               \
    X(SLEW, "clock rate changes within the allowance")                                                   \
    X(LATE_TIMERS, "timers fire late")                                                                   \
    X(NO_MEMORY, "host cannot make a claim")                                                             \
    X(FLUSH, "master's memory flushed")                                                                    \
    X(ROLE, "master becomes a replica for a time")                                                       \
    X(STEP_BACK, "master's clock set back")                                                              \
    X(STEP_FORWARD, "master's clock set forward")                                                        \
    X(MOVED_NAME, "a name leads to another master")                                                      \
    X(STANDSTILL, "a client's machine is paused, with its clocks")                                       \
    X(SLOW_CLOCK, "a master's clock nearly stands still")

enum fault {
#define FAULT_ENUM(name, text) FAULT_##name,
    FAULT_MAP(FAULT_ENUM)
#undef FAULT_ENUM
        FAULT_COUNT,
};

extern const char *const fault_names[FAULT_COUNT];
extern const char *const fault_texts[FAULT_COUNT];

/* One fault that lasts. */
struct ongoing {
    uint8_t fault; /* enum fault */
    uint8_t client;
    uint8_t master;
    uint8_t active;
    int64_t amount;
};

#define MAX_ONGOING 64

void faults_start(struct world *world);
/* A connection breaks most interestingly while something is on its way. */
void faults_on_send(struct world *world, uint16_t conn, enum rl_step step);
/* A master forgets its scripts most interestingly just before one is wanted. */
void faults_on_script(struct world *world, struct master *master);
/* A memory is lost most interestingly between a vote and the epoch check behind it. */
void faults_on_guard(struct world *world, struct master *master);
void faults_on_strike(struct world *world, enum fault fault);
void faults_on_recover(struct world *world, unsigned slot);
void faults_on_restart(struct world *world, unsigned master);
void faults_on_revive(struct world *world, unsigned client);

/* Ends everything: the phase of healing begins. Returns the true time at which the last of it will be over. */
int64_t faults_heal(struct world *world);

/* For stories too. A fault that lasts: returns its slot, for faults_on_recover(); MAX_ONGOING if there are too many.
 * A crash, with the delay of the restart that the rules for lost data ask for. */
unsigned faults_begin(struct world *world, enum fault fault, unsigned client, unsigned master, int64_t amount);
void faults_crash(struct world *world, unsigned master, enum master_loss loss, bool silent, int64_t restart_after);

#endif
