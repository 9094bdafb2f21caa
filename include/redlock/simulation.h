/* Masters without servers, for the tests of programs that use this library: of libredlock-test (-lredlock-test).
 *
 * Such masters are in the memory of the process. They run the scripts that run on real masters, and a client of theirs
 * is an ordinary one, whose URLs are simulated://1 and so on: a test has the library as it ships, but for its sockets.
 * It gives these URLs to the program in place of real ones:
 *
 *     void begin_to_work(const char *const *urls, size_t n);
 *     struct redlock_simulation *masters;
 *
 *     if (redlock_simulation_create(3, &masters, NULL) < 0)
 *         errx(1, "no masters");
 *     begin_to_work(redlock_simulation_masters(masters), 3);
 *     redlock_simulation_steal(masters, "orders", 60000);
 *     redlock_simulation_advance(masters, 10000);
 *     ... the work that needs the lock "orders" has stopped ...
 *
 * Time goes on as the system's clocks do, and redlock_simulation_advance() lets more of it pass at one go, for all that
 * goes by the library's clock: ttls, renewals, waits, alarms. Everything happens in its order, as it would have in so
 * much time, and takes next to none. Timers of the program itself do not know of it.
 *
 * The functions may be called by any thread, and not from a callback of the library, unless they say so. */
#ifndef REDLOCK_SIMULATION_H
#define REDLOCK_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/redlock.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock_simulation;

/* n masters (1 to REDLOCK_MAX_MASTERS), which are new and vote at once. Each has room for a thousand keys. A process
 * has one simulation at a time. ret_error may be NULL.
 * 0; E_ARGUMENT; E_TOO_MANY_MASTERS; E_BUSY: there is one, or a client of an earlier one; E_SYSTEM: libredlock is of
 * another version. */
REDLOCK_API_USED int redlock_simulation_create(size_t n_masters, struct redlock_simulation **ret_simulation,
                                               struct redlock_error *ret_error);

/* After its clients and services, whose masters would be gone. NULL is fine. */
REDLOCK_API void redlock_simulation_destroy(struct redlock_simulation *simulation);

/* Their URLs, for redlock_client_create() and redlock_service_create(): as many as there are masters. */
REDLOCK_API const char *const *redlock_simulation_masters(const struct redlock_simulation *simulation);

/* Lets so many milliseconds pass, and returns when every client has done what there was to do by then. Clients have to
 * be served meanwhile: those of services are; for a client on an event loop that this thread runs, call
 * redlock_simulation_begin() instead. 0, E_ARGUMENT, E_BUSY. */
REDLOCK_API int redlock_simulation_advance(struct redlock_simulation *simulation, uint64_t ms);

/* The same, from any callback, too: it returns at once, and done(user_data) is called when all is done, by the event
 * loop of the client that was last to be; where there is no client, from inside of this call. 0, E_ARGUMENT, E_BUSY. */
typedef void (*redlock_simulation_fn)(void *user_data);
REDLOCK_API int redlock_simulation_begin(struct redlock_simulation *simulation, uint64_t ms, redlock_simulation_fn done,
                                         void *user_data);

/* How much time has passed by these two, in nanoseconds. From anywhere. */
REDLOCK_API int64_t redlock_simulation_advanced_ns(const struct redlock_simulation *simulation);

/* A majority of the masters has this key no more (its name with the prefix of its client; "KEY#3" is slot 3 of a
 * semaphore), as when somebody deletes it by mistake. Its holder finds out when it extends the lock the next time.
 * 0; E_NOT_HELD: none of them had it. */
REDLOCK_API int redlock_simulation_lose(struct redlock_simulation *simulation, const char *key);

/* A majority of the masters gives the key to another owner for so long, whoever has it. 0, E_ARGUMENT, E_KEY_EMPTY,
 * E_KEY_TOO_LONG, E_TTL. */
REDLOCK_API int redlock_simulation_steal(struct redlock_simulation *simulation, const char *key, uint32_t ttl_ms);

/* The first n masters cannot be reached, and the others can: 0 makes all of them well again. What they store stays.
 * 0, E_ARGUMENT. */
REDLOCK_API int redlock_simulation_fail_masters(struct redlock_simulation *simulation, size_t n);

/* Master i of redlock_simulation_masters() alone cannot be reached, or can be again. 0, E_ARGUMENT. */
REDLOCK_API int redlock_simulation_fail_master(struct redlock_simulation *simulation, size_t i, bool fails);

/* From now on tokens follow from this number: the same ones in each run. */
REDLOCK_API void redlock_simulation_seed(struct redlock_simulation *simulation, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
