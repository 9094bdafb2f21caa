/* Options of a client and of one acquisition.
 *
 * Both structures are plain data: call the init function, change what you need, pass a pointer. They are copied and
 * checked once, by the call that takes them; every rule has its own status code. The size member lets a program
 * built against an older header run with a newer library. Times are in the unit that the member's name ends with. */
#ifndef REDLOCK_OPTIONS_H
#define REDLOCK_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Hard limits, independent of any option. */
#define REDLOCK_MAX_MASTERS 31         /* masters of one client */
#define REDLOCK_MAX_KEY_BYTES 1024     /* length of a key, prefix included */
#define REDLOCK_MAX_TOKEN_BYTES 63     /* length of a token; our own have 36 */
#define REDLOCK_MAX_TTL_MS 86400000    /* largest allowed max_ttl_ms: one day */
#define REDLOCK_MAX_TIMEOUT_MS 86400000 /* largest timeout of any operation: one day */
#define REDLOCK_MAX_PREFIX_BYTES 64    /* length of a key prefix */

/* What a master's vote needs before it counts. */
enum redlock_profile {
    /* Each connection begins with a look at the master's role, memory and clock, and each vote is followed by a proof
     * that it was cast by the memory that was looked at. A master that has lost its memory does not vote for max_ttl_ms
     * + 1 s; one whose clock is set forward is found out. The default. */
    REDLOCK_PROFILE_GUARDED,

    /* SET and scripts, nothing else: fewer commands, weaker assumptions. The operator must keep a restarted master
     * away from clients for max_ttl_ms, and its clock steady; see redlock(7). */
    REDLOCK_PROFILE_CLASSIC,
};

/* What a guarded client does with a master's marker. */
enum redlock_join {
    REDLOCK_JOIN_VOTE,    /* the default: writes it where it is missing, which begins a quarantine */
    REDLOCK_JOIN_LOOK,    /* writes nothing: for tools; a master without a marker does not vote */
    REDLOCK_JOIN_DECLARE, /* the operator's word that this deployment is new and no lock can have been forgotten: writes
                             it anew on the first connection to each master, without a quarantine. Never in a service */
    REDLOCK_JOIN_ANNOUNCE, /* the steps by which `redlock nodes --max-ttl` changes max_ttl_ms: each is taken at all */
    REDLOCK_JOIN_CONFIRM,  /* masters, by a client of its own, before the next begins. Use that command */
    REDLOCK_JOIN_ALLOW,
};

/* timeout_ms of an acquisition that waits until it wins or is canceled. */
#define REDLOCK_FOREVER (-1)

/* How an acquisition with a timeout waits for a lock that somebody else holds. redlock(7) tells the details.
 *
 * In line: the client takes a place in a queue on every master. A release gives the lock to the first in line by the
 * same command, and the master notifies its client over a second connection: nobody polls. Waiters of one client that
 * got in line by one command pass the lock on inside the client. A lock that is won in line is granted for 2 s, or for
 * its ttl if that is less; the library extends it to the ttl when half of that is over, also with REDLOCK_NO_RENEWAL.
 * Masters must let the user PUBLISH and SUBSCRIBE on PREFIX "redlock:grant:*" (without these rights a waiter finds out
 * its turn by asking, up to half a second late), and use sorted sets and hashes (without: REDLOCK_WAIT_SPIN). At most
 * 100000 wait for a key on one master. Clients that take the key with SET NX PX may share it, and overtake. */
enum redlock_wait {
    REDLOCK_WAIT_QUEUE, /* the default: one plain attempt, and in line when it is refused. In line at once where the
                           client has seen others want the key in the last half second. With max_attempts: SPIN */
    REDLOCK_WAIT_FIFO,  /* in line from the first, so that a free lock, too, is taken in turn; no max_attempts */
    REDLOCK_WAIT_SPIN,  /* tries again after random pauses: no order, no queue, no second connection */
};

struct redlock_event;
typedef void (*redlock_event_fn)(const struct redlock_event *event, void *user_data);

/* Every client of a deployment must use the same masters, quorum, and max_ttl_ms, and drift settings that cover the
 * clocks in use: exclusion (redlock(7)) depends on it. */
struct redlock_options {
    size_t size; /* set by redlock_options_init() */

    /* Masters that must grant a lock. 0, the default, is the majority floor(N/2) + 1. Any other value must be more
     * than half of N (or two clients could win at once) and at most N. */
    uint32_t quorum;

    /* The largest ttl that any client of the deployment may use, 1 ms to one day; the default is 60000. Larger ttls
     * are refused. It belongs to the deployment: `redlock nodes --max-ttl` declares it, masters remember it, and a
     * client with a larger one gets no vote. Give all clients the same. */
    uint32_t max_ttl_ms;

    /* Clock-drift allowance: drift = ceil(ttl * drift_ppm / 1000000) + drift_ms. The defaults, 10000 ppm and 2 ms,
     * give the 0.01 * ttl + 2 ms of the Redlock description. drift_ppm is at most 500000, drift_ms at most 60000. */
    uint32_t drift_ppm;
    uint32_t drift_ms;

    /* Further time taken off every validity, for effects that need time to reach their target. Default 0, at most
     * 60000. */
    uint32_t guard_ms;

    /* How long one master may take to answer before nobody waits for it any more: the length of one acquire round,
     * and the most that a silent master can add to extend and release. Default 500, range 1 to 60000. */
    uint32_t node_timeout_ms;

    /* Name resolution, connect and handshake together must finish within this time. Default 1000, range 1 to
     * 60000. */
    uint32_t connect_timeout_ms;

    /* A connection that owes replies and has not sent a byte for this long is closed and opened again. Default
     * 5000; at least node_timeout_ms, at most 3600000. */
    uint32_t stall_timeout_ms;

    /* Reconnect delay: random between 0 and backoff_min_ms * 2^failures, never above backoff_max_ms. Defaults 50
     * and 1000; 1 <= min <= max <= 60000. */
    uint32_t backoff_min_ms;
    uint32_t backoff_max_ms;

    /* Trust in the masters, see above. The two flags, both 0 by default, relax the guarded profile:
     * allow_unverified   a master whose user lacks the rights for INFO, TIME, hashes or scripts votes as in the
     *                    classic profile, instead of being excluded
     * allow_eviction     a master with maxmemory and an evicting policy votes, although it may evict locks */
    enum redlock_profile profile;
    enum redlock_join join;
    uint8_t allow_unverified;
    uint8_t allow_eviction;

    /* Put in front of every key, and of the library's own: the marker (PREFIX "redlock:marker"), fencing counters
     * (PREFIX "redlock:fence:" KEY), queues (PREFIX "redlock:queue:" KEY and PREFIX "redlock:waiters:" KEY) and the
     * client's channel (PREFIX "redlock:grant:" and a random UUID). At most REDLOCK_MAX_PREFIX_BYTES characters.
     * Copied. NULL, the default, is "". */
    const char *key_prefix;

    /* Limits on memory. max_claims: values that may be set on some master at one time (one for a held lock, one for
     * each attempt until its rollback is confirmed); default 1048576, at least 1. max_buffer_bytes: unsent bytes for
     * one master above which it is treated as unreachable for new attempts; default 1 MiB, at least 64 KiB, at most
     * 1 GiB. */
    uint32_t max_claims;
    uint32_t max_buffer_bytes;

    /* Shown by CLIENT LIST on the masters; at most 64 printable characters without spaces. Copied. NULL, the
     * default, is "libredlock"; "" sends no CLIENT SETNAME. */
    const char *client_name;

    /* Tracing hook (redlock/observe.h), called synchronously from inside the library, be it in a callback of the loop
     * or in a call of yours. It must not call back into the library. NULL by default. */
    redlock_event_fn on_event;
    void *event_data;

    /* The types of events that it is called for, a REDLOCK_EVENT_BIT() each; 0, the default: all but
     * REDLOCK_EVENT_VALIDITY. An event that is not asked for costs nothing; all of them, a few microseconds for each
     * lock. Bits without a type mean nothing. */
    uint32_t event_types;

    /* REDLOCK_JOIN_DECLARE and the steps behind it: the number of the declaration, which must be larger than that of
     * any before (struct redlock_node_info). 0, the default, is 1. */
    uint32_t declaration;
};

REDLOCK_API void redlock_options_init_size(struct redlock_options *options, size_t size);
#define redlock_options_init(options) redlock_options_init_size((options), sizeof(*(options)))

struct redlock_acquire_options {
    size_t size; /* set by redlock_acquire_options_init() */

    /* Lifetime of the key on each master (SET ... PX ttl). Default 10000 (where no options are given: or max_ttl_ms, if
     * that is less), from 1 to max_ttl_ms, and more than its own drift allowance and the guard time. */
    uint32_t ttl_ms;

    /* How long to try. 0, the default: one attempt. A positive value: waits as `wait` says until it has passed.
     * REDLOCK_FOREVER: until it wins or the caller cancels. Any other negative value is refused. */
    int64_t timeout_ms;

    /* Most attempts to make; 0, the default, is no limit but the timeout. With timeout_ms 0 only 0 and 1 are
     * accepted. Any other value than 0 means REDLOCK_WAIT_SPIN. */
    uint32_t max_attempts;

    /* Pause before the next attempt (REDLOCK_WAIT_SPIN, and otherwise where too few masters answer): retry_delay_ms
     * plus a random part of at most retry_jitter_ms, and never less than the round that just failed took, but cut to
     * half of the time that is left before the deadline. Defaults 20 and 60; each at most 60000, and not both 0. */
    uint32_t retry_delay_ms;
    uint32_t retry_jitter_ms;

    /* Least validity that the lock must have left when it is granted; less is REDLOCK_TOO_SLOW. Default 1; must be
     * below ttl - drift - guard. */
    uint32_t min_validity_ms;

    /* Renewal of the held lock, until it is released: every renew_ms, tried again inside the deadline when too few
     * masters answer. 0, the default, is a third of the validity that the ttl gives; REDLOCK_NO_RENEWAL leaves
     * extending to the caller; otherwise at most two thirds of the validity that an extension gives, and at least 1
     * ms. Masters that have lost the key get it back where that is safe. No renewal begins once the lock has been
     * held for max_hold_ms; 0, the default, is no limit.
     *
     * The renewals of a client's locks go out together, many of them in one command for each master, and for that up
     * to a fiftieth of renew_ms, and 100 ms, early. Of hundreds of locks that are acquired at once most are renewed
     * once at any time before that, so that they do not all come at once ever after. */
    uint32_t renew_ms;
    uint32_t max_hold_ms;

    /* Validity left at which the lock's watch (redlock_lock_watch) is told "at risk". 0, the default, is a third of
     * the validity that the ttl gives; otherwise less than the validity that an acquisition gives. */
    uint32_t at_risk_ms;

    /* 1: with a fencing token (redlock_lock_fence): one script instead of SET, and a second round trip when the
     * masters' counters differ. Default 0. Tokens increase over the fenced acquisitions of a key. */
    uint8_t fenced;

    /* How to wait while the timeout lasts, see above. With timeout_ms 0 there is nothing to wait for, and it has no
     * meaning. Default REDLOCK_WAIT_QUEUE. */
    enum redlock_wait wait;

    /* 1: the token of this hold (redlock_lock_token) is that of no other hold, before or after. Set it if the token is
     * told to anybody who may call redlock_release_token() with it. 0, the default: waiters of this client pass the
     * lock on inside the client, with its token, so what releases this hold by its token may release a later one. */
    uint8_t own_token;
};

#define REDLOCK_NO_RENEWAL UINT32_MAX

REDLOCK_API void redlock_acquire_options_init_size(struct redlock_acquire_options *options, size_t size);
#define redlock_acquire_options_init(options) redlock_acquire_options_init_size((options), sizeof(*(options)))

#ifdef __cplusplus
}
#endif
#endif
