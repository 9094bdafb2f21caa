/* Toy masters: Redis as far as the library uses it, in this process and thread, stepped by hand.
 *
 * Nothing runs between two steps and nothing is allocated after toy_create(), so a test decides the order of all
 * events, and a test that makes allocations fail makes only the library's fail. For what the real server does there are
 * the suites with real servers. */
#ifndef TESTS_TOY_H
#define TESTS_TOY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOY_CONNS 16
#define TOY_WAITERS 32
#define TOY_CHANNELS 4 /* of one connection */
#define TOY_CHANNEL_BYTES 160
#define TOY_KEYS 64
#define TOY_KEY_BYTES 1032
#define TOY_IN_BYTES (64 * 1024)

struct toy_conn {
    int fd; /* -1: free */
    size_t size;
    unsigned char in[TOY_IN_BYTES];
    char channels[TOY_CHANNELS][TOY_CHANNEL_BYTES]; /* subscribed to; "": none */
};

struct toy_key {
    size_t size; /* 0: free */
    unsigned char key[TOY_KEY_BYTES];
    char value[64];
    int64_t expires_ns;
    bool shared; /* one of the votes of its key */
};

/* In the queue for a key. */
struct toy_waiter {
    size_t key_size; /* 0: free */
    unsigned char key[TOY_KEY_BYTES];
    char value[64];
    char round[24];
    char incarnation[64];
    char channel[TOY_CHANNEL_BYTES];
    int64_t ticket;
    int64_t lease_ends_ns;
    bool fenced;
};

struct toy {
    int listener;
    char dir[64];
    char url[128];
    bool mute;        /* executes, and says nothing */
    bool deaf;        /* does not even read */
    bool hangs_up;    /* closes what it accepts */
    bool forgetful;   /* knows no script by its digest */
    const char *says; /* instead of the reply to any command for a lock */
    const char *pong; /* instead of the reply to PING */
    unsigned sets;    /* commands executed */
    unsigned deletes; /* keys deleted by the release script */
    unsigned repairs; /* keys set again */
    unsigned raises;  /* fencing tokens recorded */
    unsigned joins;   /* looks of guarded clients */
    unsigned accepted;
    unsigned memories; /* so many it has had */
    char incarnation[24];
    int64_t quarantine_ends_ns;
    int64_t counter; /* of fencing tokens, one for all keys */
    char reply[512]; /* the latest that had to be written */
    struct toy_conn conns[TOY_CONNS];
    struct toy_key keys[TOY_KEYS];
    struct toy_waiter waiters[TOY_WAITERS];
    int64_t tickets;
    unsigned messages; /* published */
};

struct toy *toy_create(void);
void toy_destroy(struct toy *toy);

/* Accepts, reads, executes and replies as far as possible without waiting; false if there was nothing to do. */
bool toy_step(struct toy *toy);

/* Sends these bytes on every connection. */
void toy_say(struct toy *toy, const void *bytes, size_t size);

/* Ends every connection, or the keys, or both with the server's name in the file system kept. */
void toy_hang_up(struct toy *toy);
void toy_forget(struct toy *toy);

/* Ends its memory: keys, counter, and the incarnation that guarded clients look at. It does not vote for so long. */
void toy_lose(struct toy *toy, int64_t quarantine_ms);

/* How many are in the queue, for any key. */
size_t toy_waiting(struct toy *toy);

/* How many keys are set; the value of one, NULL if it is not set. */
size_t toy_count(struct toy *toy);
const char *toy_value(struct toy *toy, const char *key);
void toy_set(struct toy *toy, const char *key, const char *value);

#endif
