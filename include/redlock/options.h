/* Options of a client, and of one acquisition.
 *
 * Both structures are plain data: a program calls the init function, changes what it needs, and passes a pointer. The
 * call that takes the structure copies and checks it; each rule has a status code of its own. The size member lets a
 * program that was built against an older header run with a newer library. A member's name ends with its unit. */
#ifndef REDLOCK_OPTIONS_H
#define REDLOCK_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits that no option changes. */
#define REDLOCK_MAX_MASTERS 31          /* masters of one client */
#define REDLOCK_MAX_KEY_BYTES 1024      /* length of a key, its prefix included */
#define REDLOCK_MAX_TOKEN_BYTES 127     /* length of a token; those of this library have 36, and more with a label */
#define REDLOCK_MAX_LABEL_BYTES 64
#define REDLOCK_MAX_TTL_MS 86400000     /* largest value of max_ttl_ms: one day */
#define REDLOCK_MAX_TIMEOUT_MS 86400000 /* largest timeout of any operation: one day */
#define REDLOCK_MAX_PREFIX_BYTES 64     /* length of a key prefix */
#define REDLOCK_MAX_KEY_CLASSES 32      /* prefixes that tell classes of keys apart */
#define REDLOCK_MAX_DEPTH 1000          /* how often a held lock can be entered, the acquisition included */

/* What a client asks of a master before it counts the master's votes. redlock(7), section TRUST, explains both. */
enum redlock_profile {
    /* The default. The client examines the master's role, memory and clock at the beginning of each connection, and
     * checks after each vote that the memory is still the same. A master that has lost its memory does not vote for
     * max_ttl_ms + 1 s, and a forward step of its clock is detected. */
    REDLOCK_PROFILE_GUARDED,

    /* The client sends SET and scripts only: fewer commands, weaker assumptions. The operator must keep a restarted
     * master away from clients for max_ttl_ms, and its clock steady. */
    REDLOCK_PROFILE_CLASSIC,
};

/* What a guarded client does with the marker by which a master's memory is recognized. */
enum redlock_join {
    REDLOCK_JOIN_VOTE, /* the default: the client writes a missing marker, which begins a quarantine */
    REDLOCK_JOIN_LOOK, /* for tools: the client writes nothing, and a master without a marker does not vote */

    /* The operator declares the deployment new, so that no master can have forgotten a lock. The client writes each
     * marker anew on its first connection, without a quarantine. This is never right in a service. */
    REDLOCK_JOIN_DECLARE,

    /* The three steps by which `redlock nodes --max-ttl` changes max_ttl_ms. Each is taken at every master, by a client
     * of its own, before the next begins. Use that command. */
    REDLOCK_JOIN_ANNOUNCE,
    REDLOCK_JOIN_CONFIRM,
    REDLOCK_JOIN_ALLOW,
};

enum redlock_tls_version {
    REDLOCK_TLS_1_2, /* the default */
    REDLOCK_TLS_1_3,
};

/* A timeout_ms that never passes: the acquisition ends when it wins or is canceled. */
#define REDLOCK_FOREVER (-1)

/* How an acquisition with a timeout waits for a lock that another client holds. redlock(7), section WAITING, describes
 * the wait queue that QUEUE and FIFO use. A lock that is won there is granted for 2 s, longer where min_validity_ms and
 * guard_ms need it, but never longer than its ttl; the library extends it to its ttl when half of that has passed, also
 * with REDLOCK_NO_RENEWAL. */
enum redlock_wait {
    /* The default. The client makes one plain attempt, and joins the wait queue if that is refused. It joins at once if
     * it has seen a waiter for the key within the last half second. With max_attempts this means SPIN. */
    REDLOCK_WAIT_QUEUE,

    REDLOCK_WAIT_FIFO, /* the client joins the wait queue at once, so that it overtakes nobody; not with max_attempts */
    REDLOCK_WAIT_SPIN, /* the client tries again after random pauses, in no order; a contended key is often idle */
};

/* The mode in which a handle holds its key. redlock_rwlock(3) describes locks that several handles share. */
enum redlock_mode {
    REDLOCK_EXCLUSIVE,   /* the default: no other handle has the key in any mode */
    REDLOCK_UPGRADEABLE, /* shared handles may hold the key too, no other upgradeable one; it can become exclusive */
    REDLOCK_SHARED,      /* any number of shared handles, and one that is upgradeable, may hold the key too */
};

/* What a client does when a master has a newer list of masters than its own. */
enum redlock_follow {
    REDLOCK_FOLLOW,     /* it goes by the new list */
    REDLOCK_FOLLOW_NOT, /* it goes on by its own, and those masters have no vote */
};

/* A class of keys, by which the statistics count (redlock/observe.h): the keys that begin with this prefix. */
struct redlock_key_class {
    const char *prefix; /* without key_prefix of the options; "" fits all keys */
    const char *name;   /* 1 to REDLOCK_MAX_LABEL_BYTES printable characters without a space; several prefixes may have
                           one name */
};

struct redlock_event;
struct redlock_credentials_request;
struct redlock_credentials_wanted;
typedef void (*redlock_event_fn)(const struct redlock_event *event, void *user_data);

/* See redlock/credentials.h. */
typedef void (*redlock_credentials_fn)(struct redlock_credentials_request *request,
                                       const struct redlock_credentials_wanted *wanted, void *user_data);

/* All clients of a deployment must have the same masters, quorum and max_ttl_ms, and a drift allowance that covers the
 * clocks in use. Otherwise two of them may hold one lock. */
struct redlock_options {
    size_t size; /* set by redlock_options_init() */

    /* How many masters must grant a lock. 0, the default, is the majority, floor(N/2) + 1. Any other value must lie
     * between that and N. */
    uint32_t quorum;

    /* The longest ttl of the deployment: a client refuses longer ones, and gets no vote if its own max_ttl_ms is larger
     * than the deployment's, which `redlock nodes --max-ttl` declares. From 1 to REDLOCK_MAX_TTL_MS; the default is
     * 60000. */
    uint32_t max_ttl_ms;

    /* The allowance for clocks that run at different speeds: drift = ceil(ttl * drift_ppm / 1000000) + drift_ms. The
     * defaults, 10000 and 2, give the 0.01 * ttl + 2 ms of the published Redlock algorithm. drift_ppm is at most
     * 500000, drift_ms at most 60000. */
    uint32_t drift_ppm;
    uint32_t drift_ms;

    /* Further time taken off every validity, for effects that need time to reach their target. At most 60000; the
     * default is 0. */
    uint32_t guard_ms;

    /* How long the client waits for the answer of one master: the longest time of one attempt, and the most that a
     * silent master adds to an extension or a release. From 1 to 60000; the default is 500. */
    uint32_t node_timeout_ms;

    /* The time for name resolution, connecting and TLS together; the commands of the handshake have node_timeout_ms
     * more. Of a name's addresses the next one is tried when one has not answered for 250 ms, and later after twice as
     * long. From 1 to 60000; the default is 1000. */
    uint32_t connect_timeout_ms;

    /* A connection on which answers are due and nothing has arrived for so long is closed and opened again. From
     * node_timeout_ms to 3600000; the default is 5000. */
    uint32_t stall_timeout_ms;

    /* The pause before a reconnect is random, between 0 and the smaller of backoff_max_ms and backoff_min_ms *
     * 2^failures. 1 <= backoff_min_ms <= backoff_max_ms <= 60000; the defaults are 50 and 1000. */
    uint32_t backoff_min_ms;
    uint32_t backoff_max_ms;

    enum redlock_profile profile;
    enum redlock_join join;

    /* These two relax the guarded profile; 0, the default, does not. With allow_unverified a master whose user lacks
     * the rights for the examination votes as in the classic profile, instead of being excluded; but not any more when
     * the client goes by a new list of masters. With allow_eviction a
     * master votes that may evict locks, since it has maxmemory and an evicting policy. */
    uint8_t allow_unverified;
    uint8_t allow_eviction;

    /* What is put in front of every key, of locks and of the library itself: at most REDLOCK_MAX_PREFIX_BYTES
     * characters, copied. NULL, the default, is "". redlock(7), section KEYS, lists the names. */
    const char *key_prefix;

    /* How many values may be set on masters at one time: one for each held lock, and one for each attempt until its
     * rollback is confirmed. At least 1; the default is 1048576. */
    uint32_t max_claims;

    /* The client makes no new attempt at a master for which more bytes than this wait to be sent. From 64 KiB to 1 GiB;
     * the default is 1 MiB. */
    uint32_t max_buffer_bytes;

    /* The name that CLIENT LIST shows on the masters: at most 64 printable characters without spaces, copied. NULL, the
     * default, is "libredlock"; with "" the client does not set a name. */
    const char *client_name;

    /* The event hook (redlock/observe.h), NULL by default. The library calls it from inside its own work, which may be
     * a callback of the loop or a call of the program. The hook must not call the library, except for the functions of
     * redlock/log.h, those that name an enumerator, redlock_lock_key() and redlock_latch_name(). */
    redlock_event_fn on_event;
    void *event_data;

    /* A REDLOCK_EVENT_BIT() for each type of event that the hook is called for. 0, the default, means all types but
     * REDLOCK_EVENT_VALIDITY. Events that are left out cost nothing. */
    uint32_t event_types;

    /* For REDLOCK_JOIN_DECLARE and the three steps: the number of this declaration, larger than that of any earlier one
     * (struct redlock_node_info). 0, the default, means 1. */
    uint32_t declaration;

    /* TLS, for masters with rediss:// URLs. The texts are copied; NULL, the default, or "" is none. Files are in PEM,
     * of at most 4 MiB. They are read by redlock_client_create(), and again when a connection is opened after they have
     * changed; while changed ones cannot be used, what was read before stays in use. A pipe is read by create only.
     *
     * tls_ca_file, tls_ca_dir   the certificates of the CAs to trust: a file, or a directory that `openssl rehash` has
     *                           prepared; with neither, those of the system
     * tls_cert_file, tls_key_file   the client's certificate, with the chain behind it, and its key, which must not be
     *                           encrypted; both or none
     * tls_server_name           the host name that every master's certificate must match, and that the client sends as
     *                           SNI; the default is the host of each URL. An IP address must be among a certificate's
     *                           IP addresses
     * tls_ciphers, tls_ciphersuites   for TLS 1.2 and for 1.3, as in openssl-ciphers(1); the defaults are OpenSSL's */
    const char *tls_ca_file;
    const char *tls_ca_dir;
    const char *tls_cert_file;
    const char *tls_key_file;
    const char *tls_server_name;
    const char *tls_ciphers;
    const char *tls_ciphersuites;

    /* The lowest version that is spoken. */
    enum redlock_tls_version tls_min_version;

    /* 1: the client does not verify certificates, so anybody on the network path can pose as a master. Default 0. */
    uint8_t tls_insecure_skip_verify;

    /* 1: every connection makes a whole handshake, instead of resuming the session before. Default 0. */
    uint8_t tls_no_resumption;

    /* The callback that supplies user and password (redlock/credentials.h), NULL by default. It is called for each
     * connection to a master whose URL has no password; a password in the URL comes first. */
    redlock_credentials_fn on_credentials;
    void *credentials_data;

    /* A label by which people who look at its locks, and observers of an election, recognize the client: up to
     * REDLOCK_MAX_LABEL_BYTES printable characters without a space, "host:pid" say. It becomes part of its tokens,
     * behind a colon, and so of the values that masters store. NULL or "", the default, is none. */
    const char *label;

    /* Whether the client goes by a new list of masters when it meets one (redlock(7), section OPERATING). The default
     * is REDLOCK_FOLLOW. A client of the classic profile meets none: stop it before the list is changed. */
    enum redlock_follow follow;

    /* Names to which the client may send its password though its own list does not have them, when they come with a new
     * list: host:port, where * stands for any characters, with commas between them; copied. Masters with TLS whose
     * certificates are verified need not be named. NULL, the default, names none. */
    const char *may_follow;

    /* Classes of keys for the statistics, such as "orders" for all keys that begin with "order:". A key counts for the
     * longest prefix that it begins with, and for "other" where none fits. At most REDLOCK_MAX_KEY_CLASSES, copied;
     * none by default. */
    const struct redlock_key_class *key_classes;
    size_t n_key_classes;
};

REDLOCK_API void redlock_options_init_size(struct redlock_options *options, size_t size);
#define redlock_options_init(options) redlock_options_init_size((options), sizeof(*(options)))

struct redlock_acquire_options {
    size_t size; /* set by redlock_acquire_options_init() */

    /* The lifetime of the key on each master: from 1 to max_ttl_ms, and longer than its own drift plus guard_ms. The
     * default is 10000. Where the call is given no options at all, a smaller max_ttl_ms is used instead. */
    uint32_t ttl_ms;

    /* How long to try. With 0, the default, there is one attempt. A positive value waits for so long, and
     * REDLOCK_FOREVER without end, in the way of `wait`. */
    int64_t timeout_ms;

    /* The largest number of attempts; 0, the default, sets no limit. With timeout_ms 0 it can only be 0 or 1. Any value
     * but 0 means REDLOCK_WAIT_SPIN. */
    uint32_t max_attempts;

    /* The pause before another attempt, with REDLOCK_WAIT_SPIN or when too few masters answered: retry_delay_ms plus a
     * random time up to retry_jitter_ms, and no shorter than the attempt took. A pause that would outlast the timeout
     * takes half of the remaining time. Each is at most 60000, and one must not be 0; the defaults are 20 and 60. */
    uint32_t retry_delay_ms;
    uint32_t retry_jitter_ms;

    /* The least validity that the lock must have when it is granted; otherwise the attempt ends as REDLOCK_TOO_SLOW.
     * Less than ttl - drift - guard; the default is 1. */
    uint32_t min_validity_ms;

    /* The interval at which a held lock is renewed until it is released. 0, the default, is a third of the validity
     * that the ttl gives, ttl - drift - guard; the most is two thirds. REDLOCK_NO_RENEWAL leaves extending to the
     * program. A renewal that fails is tried again while there is time. Renewals that are due at about the same time
     * go to a master in one command: one of them may come up to 2 % of its interval early, and never more than 100 ms.
     * When hundreds of locks are acquired at once, their first renewals are spread over the interval, so that not all
     * of them come together. */
    uint32_t renew_ms;

    /* No renewal begins after the lock has been held for so long. 0, the default, is no limit. */
    uint32_t max_hold_ms;

    /* The lock's watch (redlock_lock_watch) is told "at risk" when so much validity is left. 0, the default, is a third
     * of the validity that the ttl gives; the value must be less than that validity. A lock that a waiter was given
     * begins with a shorter ttl than its own; until it has that, it is told when a third is left at the earliest. */
    uint32_t at_risk_ms;

    /* 1: the hold has a fencing token (redlock_lock_fence), larger than those of all earlier fenced holds of the key,
     * or not smaller, if it is not exclusive. Masters whose counters differ cost a second round trip. Default 0. */
    uint8_t fenced;

    /* How to wait. With timeout_ms 0 it has no effect. The default is REDLOCK_WAIT_QUEUE. */
    enum redlock_wait wait;

    /* 1: no other hold has the token (redlock_lock_token) of this one. Set it if anybody who knows the token may call
     * redlock_release_token(). With 0, the default, a waiter of the same client may get the lock together with its
     * token, so a release by that token may end the later hold. */
    uint8_t own_token;

    /* The mode to acquire; it may differ from one acquisition of a handle to the next. Waiters of all modes stand in
     * one wait queue, in the order of arrival; shared ones that follow each other get the key together.
     * REDLOCK_WAIT_SPIN has no order, so handles that share the key may keep an exclusive one out for ever. A permit
     * of a semaphore is exclusive. The default is REDLOCK_EXCLUSIVE. */
    enum redlock_mode mode;

    /* A label for the tokens of this acquisition in place of the client's (label in redlock_options, whose limits it
     * has); copied. NULL, the default, is the client's, and "" none. A lock that is handed over within the client, and
     * one that is converted, keep the label that they have. */
    const char *label;
};

#define REDLOCK_NO_RENEWAL UINT32_MAX

REDLOCK_API void redlock_acquire_options_init_size(struct redlock_acquire_options *options, size_t size);
#define redlock_acquire_options_init(options) redlock_acquire_options_init_size((options), sizeof(*(options)))

#ifdef __cplusplus
}
#endif
#endif
