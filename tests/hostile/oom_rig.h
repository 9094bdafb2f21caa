/* Runs of a client in which allocations, descriptors or threads fail, one after the other. */
#ifndef TESTS_OOM_RIG_H
#define TESTS_OOM_RIG_H

#include "shortage.h"
#include "world.h"

/* Three masters and options that make everything quick. */
void oom_open(enum redlock_profile profile);
void oom_open_classic(void);

/* The same with libevent's allocations among those that fail, at the first call in a process. */
void oom_open_with_libevent(enum redlock_profile profile);

/* Whether this status says that something of the system was lacking. */
bool oom_is_shortage(int status);

/* Waits for the callback of an operation that was accepted. One that was not must have said why: a shortage, or a lock
 * that is not held. */
void oom_await(int status, const struct outcome *outcome);

/* A short request; NULL where a lock could not be made. */
void oom_request(struct redlock_acquire_options *ret_request);
struct redlock_lock *oom_lock(const char *key);
void oom_release(struct redlock_lock *lock);

/* What is done with world.client, and what the masters are made to hold before. */
struct oom_scenario {
    void (*prepare)(void);
    void (*use)(void);
};

/* For every i a run in which the i-th allocation fails, and so do those behind it, `burst` in all. Then there is
 * memory again: the client must come back, lock, and leave nothing on the masters but what was prepared. */
void oom_fail_each(const struct oom_scenario *scenario, unsigned burst);

/* A whole program of one scenario in the classic profile, in which one allocation fails, and ten. */
#define OOM_SUITE(name, scenario) \
    GROUP(classic, name, oom_open_classic, world_close) \
    TEST(classic, any_one_allocation_may_fail) \
    { \
        oom_fail_each(&(scenario), 1); \
    } \
    TEST(classic, any_ten_allocations_may_fail) \
    { \
        oom_fail_each(&(scenario), 10); \
    } \
    SUITE(name)

/* Destroyed in the middle, without any memory from the i-th allocation on, for every i of the first hundred. */
void oom_destroy_each(const struct redlock_acquire_options *request);

/* world.client, or NULL if even that was too much. */
void oom_create_client(unsigned first, unsigned burst);

#endif
