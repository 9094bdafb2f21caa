/* The driver: one connection to each master, and if wished a second one that listens, on the caller's event base.
 *
 * It knows commands as bytes and replies as replies, and which belongs to which; it knows nothing of locks. What is
 * done with it is struct rl_transport; the functions below create and end it. Bytes that are sent are collected, and
 * written with one system call per master at the end of the loop turn. Replies are matched to commands by their order
 * on the connection.
 *
 * Everything that happens is told to the sink, from inside loop callbacks or from `read_now`, never from any other
 * call. The sink may call any function of the driver; rl_driver_close() and _destroy() only from `turn`. */
#ifndef RL_DRIVER_DRIVER_H
#define RL_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/url.h"
#include "driver/config.h"
#include "driver/stats.h"
#include "host/transport.h"
#include "util/slice.h"

struct rl_driver;

/* Takes over the contents of masters[0..n_masters) on success. Starts connecting at the first loop turn.
 * 0, REDLOCK_E_NOMEM or REDLOCK_E_SYSTEM. */
int rl_driver_create(const struct rl_driver_config *config, struct rl_master *masters, size_t n_masters,
                     const struct rl_transport_sink *sink, struct rl_driver **ret_driver);

/* One more master, under the next number, or under that of one that has been dismissed. Takes over the contents of
 * *master, except for want of memory. why_not: there will be no connection to it, for this reason; NULL: there will.
 * 0, REDLOCK_E_NOMEM. */
int rl_driver_add(struct rl_driver *driver, unsigned node, struct rl_master *master, const char *why_not);

/* A master's next connection is made to this address, by this user and password; the present one stays. Takes over the
 * contents of *master, except for want of memory: then nothing changes. */
void rl_driver_rename(struct rl_driver *driver, unsigned node, struct rl_master *master);

const struct rl_master *rl_driver_master(const struct rl_driver *driver, unsigned node);

/* The first one that had this number: those that the driver was created with stay known. */
const struct rl_master *rl_driver_first_master(const struct rl_driver *driver, unsigned node);

/* Writes once, without blocking, what is still unsent, and closes; tells the sink nothing. A connection whose last
 * bytes could not be handed to the kernel is reset, so that no half of a claim-and-release pair is delivered later.
 * In a forked child (in_child) descriptors are closed and nothing is written.
 *
 * The event base is not touched any more. The node names stay valid until rl_driver_destroy(), the only other
 * function that may still be called. */
void rl_driver_close(struct rl_driver *driver, bool in_child);

/* Closes, unless that has been done, and frees. NULL is fine. */
void rl_driver_destroy(struct rl_driver *driver, bool in_child);

/* The listening connections are opened at the next loop turn, and kept open as the first ones are kept: same address,
 * user and password, a backoff of their own. They do nothing but listen (SUBSCRIBE, RESP2). */
struct rl_transport rl_driver_transport(struct rl_driver *driver);

const char *rl_driver_node_name(const struct rl_driver *driver, unsigned node);
void rl_driver_node_stats(const struct rl_driver *driver, unsigned node, struct rl_conn_stats *ret_stats);

/* The second connection to each master, which listens to channels: opened when the first waiter or observer wants it
 * (rule 7.7). These are functions of the transport; ctx is the driver. */

/* Opens them, for the client's own channel. */
int rl_listeners_open(void *ctx, const char *channel);

/* One more user of a channel, and one less. */
int rl_listeners_subscribe(void *ctx, struct rl_slice name);
void rl_listeners_unsubscribe(void *ctx, struct rl_slice name);

#endif
