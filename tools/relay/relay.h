/* A man in the middle between clients and one server, on the caller's loop: no privileges are needed to make a network
 * slow, lossy or gone. The faults are called as toxiproxy calls its toxics, and apply to one direction each:
 *
 *     latency     every byte arrives later, by latency_us +- jitter_us; the order stays
 *     bandwidth   so many thousand bytes a second
 *     slicer      what arrives at once leaves in pieces, with a pause after each
 *     timeout     a black hole: nothing gets through, what is sent is lost; closed after a while, or never
 *     reset_peer  connections are closed by a reset, at once or after a while
 *     down        nobody listens, and what was open is closed
 *
 * and one of ours, for a test that wants to choose the moment:
 *
 *     hold        what arrives is kept, and passed on in order when this is taken away
 *
 * Bytes are passed on as they are, those of TLS as well: its faults are those of the line.
 *
 * Clients may be told apart (relay_options.group_of): each group has its own faults, which is a network that is parted.
 * Nothing here prints or exits. */
#ifndef RELAY_H
#define RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct relay;
struct relay_peer;

#define RELAY_GROUPS 16

enum relay_direction {
    RELAY_UPSTREAM,   /* from the client to the server */
    RELAY_DOWNSTREAM, /* from the server to the client */
};

/* Those of one direction together; all zero is a clean line. */
struct relay_toxics {
    uint32_t latency_us;
    uint32_t jitter_us;      /* at most latency_us counts */
    uint32_t bandwidth_kb_s; /* 0: unlimited */
    uint32_t slice_bytes;    /* 0: as it comes */
    uint32_t slice_delay_us; /* after each slice */
    bool black_hole;         /* toxiproxy's timeout ... */
    uint32_t timeout_ms;     /* ... which closes after this time; 0: never */
    bool reset_peer;
    uint32_t reset_ms;       /* after this time; 0: at once */
    bool hold;
};

struct relay_options {
    const char *listen;   /* unix:///path, or redis://127.0.0.1:PORT; port 0 is a free one */
    const char *upstream; /* the server, likewise; rediss:// is the same as redis:// */
    /* To which group a client belongs that has connected. NULL: all to group 0. */
    unsigned (*group_of)(const struct relay_peer *client, void *user_data);
    void *user_data;
    uint64_t seed; /* of the jitter */
};

/* Whether it is this process, or a child that its main thread has started, that has connected from this machine. */
bool relay_peer_is(const struct relay_peer *peer, pid_t process);

/* NULL: ret_why is a sentence. The server need not run: it is connected to for each client. From now on the process
 * ignores SIGPIPE. */
struct relay *relay_create(struct event_base *base, const struct relay_options *options, char *ret_why, size_t size);
void relay_destroy(struct relay *relay);

/* Where it listens, as a URL without credentials. */
const char *relay_url(const struct relay *relay);

/* From now on, for open connections and for those to come. A direction that is clean again passes on what is waiting
 * in it, in order and at its time. */
void relay_set(struct relay *relay, unsigned group, enum relay_direction direction, const struct relay_toxics *toxics);

/* On: closes what is open and stops listening. Off: listens again, at the same address. False if it cannot. */
bool relay_down(struct relay *relay, bool on);

/* Closes the clients' ends. What is held, both ways, is lost; what has been passed on to the server is executed. The
 * faults stay as they are. */
void relay_cut(struct relay *relay);

/* Bytes held now in one direction, over all connections. */
size_t relay_held(const struct relay *relay, enum relay_direction direction);

/* Connections open now. */
size_t relay_connections(const struct relay *relay);

#endif
