/* A client and its toy masters on one event base, stepped together in one thread. */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include <event2/event.h>
#include <redlock/redlock.h>

#include "outcome.h"
#include "suite.h"
#include "toy.h"

struct world {
    struct event_base *base;
    struct redlock_options options;
    size_t n;
    struct toy *toys[REDLOCK_MAX_MASTERS];
    const char *urls[REDLOCK_MAX_MASTERS];
    struct redlock_client *client;
};

extern struct world world;

/* Masters and a base; no client yet. */
void world_open(size_t n);
void world_three(void);
void world_close(void);

/* A client of the world's options; world_connect() makes world.client and waits until it is READY everywhere. */
struct redlock_client *world_client(void);
void world_connect(void);

/* One turn of the loop and one step of each master; sleeps for at most a millisecond if there was nothing to do. */
void world_step(void);
void world_steps(unsigned n);
void world_wait(bool (*condition)(void *argument), void *argument, const char *what);
void world_wait_outcome(const struct outcome *outcome);
void world_wait_link(struct redlock_client *client, size_t node, enum redlock_link link);
/* Until the client owes nothing to anybody and nobody owes it a reply. */
void world_wait_clean(struct redlock_client *client);

struct redlock_lock *world_lock(struct redlock_client *client, const char *key);
struct redlock_lock *world_hold(struct redlock_client *client, const char *key);

/* Keys set, over all masters. */
size_t world_count(void);

#endif
