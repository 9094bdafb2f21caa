/* The agent of this machine (tools/agent/PROTOCOL.md), as the commands use it that are given `--agent`: one connection,
 * requests, and their answers. agent_lock.h holds locks by it. */
#ifndef CLI_AGENT_CLIENT_H
#define CLI_AGENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct agent_client;
struct event_base;
struct session;

/* Who hears what the agent says by itself, and of the connection; each may be NULL. */
struct agent_listener {
    /* Before anything is said on a new connection. False: it is not to be used. */
    bool (*connected)(int fd, void *data);
    void (*event)(const char *name, const json_t *words, void *data);
    void (*disconnected)(void *data); /* not by agent_client_disconnect() */
    void (*wake)(void *data);         /* the time of agent_client_wake() is over, or nearly */
    void *data;
};

/* The path is borrowed. Nothing is connected yet. NULL: out of memory. */
struct agent_client *agent_client_open(struct event_base *base, const char *path);
void agent_client_close(struct agent_client *client); /* NULL is fine */
void agent_client_listen(struct agent_client *client, const struct agent_listener *listener);

/* True if there is a connection already; false: there is none, agent_client_why() says why. */
bool agent_client_connect(struct agent_client *client);
bool agent_client_is_connected(const struct agent_client *client);
int agent_client_fd(const struct agent_client *client); /* -1: there is none */

/* The agent takes back what it has granted on this connection: not for a lock that somebody believes in. Pending
 * requests are dropped without an answer. */
void agent_client_disconnect(struct agent_client *client);

/* "the agent at PATH ...": why there is no connection. */
const char *agent_client_why(const struct agent_client *client);

/* The deadline in a grant or an event, on this process's CLOCK_BOOTTIME. */
int64_t agent_client_deadline_ns(const struct agent_client *client, const json_t *words);

/* The latest call counts. */
void agent_client_wake(struct agent_client *client, int64_t after_ns);

/* NULL: the connection has ended without one, or the agent has not said a word for some seconds. Borrowed. */
typedef void (*agent_answer_fn)(const json_t *answer, void *data);

/* Sends what json_pack() makes of the operation's members, on a connection that there is; `done` may be NULL. The
 * patient one waits for as long as the connection lasts: an agent that comes late would find the request, and the end
 * of its connection behind it, and carry out both. */
void agent_client_ask(struct agent_client *client, json_t *request, agent_answer_fn done, void *data);
void agent_client_ask_patiently(struct agent_client *client, json_t *request, agent_answer_fn done, void *data);

/* The same by a command that waits: connects, if need be, and returns the answer, to be freed; NULL: there is none, or
 * a signal came. Takes the request. */
json_t *agent_client_get(struct session *session, json_t *request);

#endif
