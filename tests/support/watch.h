/* What the alarms and the event hook have told, kept beyond the callbacks. */
#ifndef TESTS_WATCH_H
#define TESTS_WATCH_H

#include <redlock/redlock.h>

#include "rig.h"

/* user_data of watch_record(). */
struct watched {
    unsigned at_risk; /* how often the callback has run, for each kind */
    unsigned lost;
    int64_t at_risk_ms;        /* remaining_ms of the latest warning */
    enum redlock_loss loss;    /* what the latest loss has told ... */
    enum redlock_state state;  /* ... and seen inside its callback */
    int64_t remaining_ns;
    uint64_t fence;
    char at_risk_why[600], lost_why[600];
    int64_t lost_at_ns;        /* CLOCK_BOOTTIME, read first thing inside */
};

void watch_record(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data);
void watch_start(struct redlock_lock *lock, struct watched *watched);
/* As rig_hold_as(). The lock is watched before it is held, so that no alarm is missed. */
struct redlock_lock *watch_hold_as(struct rig *rig, const char *key, const struct redlock_acquire_options *request,
                                   struct watched *watched);
void watch_wait_lost(struct rig *rig, struct watched *watched);
void watch_wait_at_risk(struct rig *rig, struct watched *watched, unsigned times);

#define WATCH_EVENTS (REDLOCK_EVENT_MEMBERS + 1)

/* user_data of watch_event(): how often each event was seen. */
struct tally {
    unsigned n[WATCH_EVENTS];
    unsigned any_validity; /* what is left of any lock may be another */
    char lost_text[600];
    unsigned own_clock;    /* the client's own clock stood still */
    int64_t clock_us[REDLOCK_MAX_MASTERS]; /* latest step of each master's clock */
};

void watch_event(const struct redlock_event *event, void *user_data);
void watch_events(struct redlock_options *options, struct tally *tally);
void watch_wait_event(struct rig *rig, struct tally *tally, enum redlock_event_type type, unsigned times);

/* Until some more renewals by rig->client have succeeded. */
void watch_wait_renewed(struct rig *rig);

struct redlock_stats watch_stats(const struct redlock_client *client);
struct redlock_node_stats watch_node_stats(const struct redlock_client *client, size_t node);
struct redlock_node_info watch_info(const struct redlock_client *client, size_t node);

int64_t watch_now_ns(void); /* CLOCK_BOOTTIME */
/* The end of the validity that the lock has now, by that clock. */
int64_t watch_deadline_ns(const struct redlock_lock *lock);

#endif
