/* The end of handles. What a callback destroys is freed when the outermost callback has returned. */
#ifndef RL_API_LIFETIME_H
#define RL_API_LIFETIME_H

struct redlock_client;
struct redlock_lock;
struct rl_list;

/* Takes the lock out of the host, and cancels what is pending. rl_client_free_deferred() must follow. */
void rl_lock_defer_free(struct redlock_lock *lock);

/* Makes the lock IDLE: releases what it holds and cancels what is pending, whose callbacks run at once. The client goes
 * on with the releases and rollbacks. */
void rl_lock_abandon(struct redlock_lock *lock);

/* Frees, in due time, a block of malloc() that begins with `link`, which is in no list: a set, an election or a latch
 * that has been destroyed. rl_client_free_deferred() must follow. */
void rl_client_defer_free(struct redlock_client *client, struct rl_list *link);

/* Frees what has been destroyed, the client too, if it has been; but not while a callback is running. */
void rl_client_free_deferred(struct redlock_client *client);

#endif
