/* Private Redis masters for the demo, the benchmark and the tests, and clusters of other systems to compare with:
 * started in a directory of their own, on free ports or unix sockets, killed and removed on any exit.
 *
 * Every function that can fail returns false and leaves a sentence in masters_error(). No function exits or prints. */
#ifndef MASTERS_H
#define MASTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MASTERS_MAX 31

enum masters_persistence {
    MASTERS_VOLATILE, /* no AOF, no snapshots: a restart is a total loss */
    MASTERS_EVERYSEC, /* AOF with appendfsync everysec: keeps the keys when killed, not when the machine fails */
    MASTERS_ALWAYS,   /* AOF with appendfsync always: a restart keeps the keys */
};

/* Whether they are reached by TLS, with certificates of a CA that is made for them (masters_dir()/ca.crt). Then they
 * are on ports, and have unix sockets besides for masters_command(). */
enum masters_tls {
    MASTERS_PLAIN,
    MASTERS_TLS,        /* the server shows a certificate for localhost, 127.0.0.1 and ::1 (server.crt, server.key) */
    MASTERS_TLS_MUTUAL, /* ... and wants one of the client's (client.crt, client.key) */
};

/* How a server is run. Both lists end with NULL and may be NULL; they are copied. */
struct masters_setup {
    enum masters_persistence persistence; /* of Redis; the others keep what they have confirmed */
    const char *const *extra_args;  /* behind the other arguments, so that they win: "--maxmemory", "2mb", NULL */
    const char *const *environment; /* "NAME=value", added to this process's or in place of what that has */
};

/* What is run. All but the first are clusters, or single servers, of other systems: on ports, without TLS. */
enum masters_system {
    MASTERS_REDIS,     /* independent masters, as many as are wanted */
    MASTERS_SENTINEL,  /* Redis: a master and its replicas (0 to 2), watched as "redlock" by Sentinels (3 to 5) */
    MASTERS_ETCD,      /* three members */
    MASTERS_ZOOKEEPER, /* three servers */
    MASTERS_POSTGRES,  /* one */
    MASTERS_MARIADB,   /* one */
    MASTERS_AGENT,     /* Redis: five masters, and before them two of `redlock agent`, for programs of two machines */
    MASTERS_SYSTEMS,
};

struct masters_options {
    enum masters_system system;
    size_t count;                   /* of members; 0 will do for a system whose number is fixed */
    bool tcp;                       /* free ports on 127.0.0.1; otherwise unix sockets. A cluster needs ports. */
    enum masters_tls tls;
    bool relayed;                   /* a relay is before each port, for masters_part(); on ports */
    uint32_t delay_us;              /* of relayed ones: what is sent to them, and what they answer, is so much late */
    const char *server;             /* path of the server; NULL: from PATH, for Redis $REDLOCK_SERVER first */

    /* The setup of all of them ... */
    enum masters_persistence persistence;
    const char *const *extra_args;
    const char *const *environment;
    /* ... unless there is one for each, in order: then the three above do not count. */
    const struct masters_setup *setups;
};

struct masters;

/* Starts all of them and waits until each answers PING. The servers die with this process (PR_SET_PDEATHSIG, and
 * masters_destroy()). A signal that ends the process needs no handler here: the servers die, the directory stays;
 * call masters_cleanup_on_exit() to have a helper process remove it in that case too. */
struct masters *masters_create(const struct masters_options *options);
void masters_destroy(struct masters *masters); /* kills, waits, removes the directory; NULL is fine */

/* Has a helper process, in a session of its own, remove the directory when this process has ended in whatever way.
 * Calling it again changes nothing; false if the helper cannot be started. */
bool masters_cleanup_on_exit(struct masters *masters);

const char *masters_system_name(enum masters_system system);  /* "redis", "sentinel", "etcd" ... */
bool masters_is_installed(enum masters_system system);        /* if not, masters_error() names the package */

size_t masters_count(const struct masters *masters);
const char *masters_url(const struct masters *masters, size_t i); /* for redlock_client_create() */
const char *const *masters_urls(const struct masters *masters);   /* all, in order */
const char *const *masters_entries(const struct masters *masters); /* what clients are told: all, the Sentinels, or the
                                                                    * agents, of which their machine's comes first */
pid_t masters_pid(const struct masters *masters, size_t i);       /* 0 while it is down */
const char *masters_dir(const struct masters *masters);

bool masters_kill(struct masters *masters, size_t i);    /* SIGKILL, and wait for its end */
bool masters_restart(struct masters *masters, size_t i); /* after masters_kill(); waits until it answers */
/* After masters_kill(): its next start is empty. A member of etcd is then removed and added anew, as its manual has it,
 * which needs a majority. */
bool masters_wipe(struct masters *masters, size_t i);
bool masters_hang(struct masters *masters, size_t i);    /* SIGSTOP, and wait until it has stopped */
bool masters_resume(struct masters *masters, size_t i);  /* SIGCONT */

/* Of relayed members. A member that is apart, others that are, and clients that are told to be: these hear nothing of
 * the rest, and the rest nothing of them, until it is taken back; what was on its way arrives then, as TCP has it. */
bool masters_part(struct masters *masters, size_t i, bool apart);
bool masters_part_clients(struct masters *masters, bool apart); /* also while no member is apart */
/* For clients that are to be apart, instead of masters_entries(); of agents also for those of the other machine. */
const char *const *masters_apart_entries(const struct masters *masters);
/* Names such a client, before it connects and for good, and its children with it: where members tell clients the
 * addresses of others, as Sentinels do, the client's own addresses are not enough. Elsewhere this does nothing. */
bool masters_part_client(struct masters *masters, pid_t client);
/* Whether there are relays between its members, too: if not, clients alone can be parted from them, or be late. */
bool masters_can_part(enum masters_system system);

/* Which member leads now, as the members say; MASTERS_MAX if they name none. A single server leads. Of independent
 * masters none does. */
size_t masters_leader(const struct masters *masters);
/* Commands that agents have sent to the masters so far, as they say; -1: there are none, or one does not say. */
int64_t masters_sent(const struct masters *masters);
/* Until each member of a cluster has found the others and serves clients, as after masters_create(): all must run. */
bool masters_wait_until_serving(const struct masters *masters, int timeout_ms);
bool masters_server_version(const struct masters *masters, size_t i, char *ret_text, size_t size); /* "etcd 3.4.23" */

/* After masters_kill(): how its next starts are to be, say as a replica of another one, whose port is only known
 * by then. The old setup stays if this fails. */
bool masters_set_up(struct masters *masters, size_t i, const struct masters_setup *setup);

/* One command on a connection of its own, blocking, at most 5 s; argv of NUL-terminated words. The reply in the form
 * of redis-cli --no-raw without quotes ("OK", "(nil)", "(integer) 1", the string itself, array items one a line),
 * malloc'ed; NULL on failure, error replies included: their text is then in masters_error(). */
char *masters_command(struct masters *masters, size_t i, const char *const *argv);

/* What the reply to INFO server says: "redis 7.0.15", "valkey 8.1.1"; "unknown server" without a reply (NULL). */
void masters_version(const char *info, char *ret_text, size_t size);

/* Convenience for tests and the demo: value of a key (NULL if absent or failed; malloc'ed), and how many masters
 * have the key at all. Masters that are down or hung count as not having it. */
char *masters_get(struct masters *masters, size_t i, const char *key);
size_t masters_count_key(struct masters *masters, const char *key);

/* A wrong wall clock for servers, right at first; steps and drifts take effect before the call returns, also in a
 * server that is running. The server's monotonic clock stays right.
 *
 *     struct masters_clock *clock = masters_clock_create();
 *     struct masters_setup setup = {.environment = masters_clock_environment(clock)};
 *
 * Servers with the same clock share the same wrong time; it survives their restarts. A clock is to be used by one
 * thread at a time, in the process that has created it or in one forked by that. It needs a module that is preloaded
 * into the server, redlock-clockshim.so: $REDLOCK_CLOCK_SHIM, else the one that was built or installed with this
 * program. */
struct masters_clock;

struct masters_clock *masters_clock_create(void); /* NULL on failure */
void masters_clock_destroy(struct masters_clock *clock); /* after the servers; NULL is fine */
const char *const *masters_clock_environment(const struct masters_clock *clock); /* valid as long as the clock */
void masters_clock_step_ms(struct masters_clock *clock, int64_t by_ms);
/* From now on it runs fast (or slow, if negative) by so many millionths: 50000 is 5 %. 0 ends the drift and leaves the
 * clock as wrong as it is then. */
void masters_clock_drift_ppm(struct masters_clock *clock, int64_t ppm);
/* It shows this time (since 1970) until it is stopped at another one; steps and drifts have no effect meanwhile. 0: it
 * runs again, as wrong as it would be had it never been stopped. The call does not wait for servers that go on for a
 * while from a time that they have read. */
void masters_clock_stop_us(struct masters_clock *clock, int64_t time_us);
int64_t masters_clock_ahead_us(const struct masters_clock *clock); /* how far it is ahead of the real time now */

const char *masters_error(void); /* of the last failure in this thread */

#endif
