/* A man in the middle between a client and one master, on the test's own loop: keeps requests or replies back, and
 * cuts connections at a chosen point. For the cases in which a command was executed and nobody knows. */
#ifndef TESTS_RELAY_H
#define TESTS_RELAY_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct masters;
struct relay;

/* Listens on a unix socket beside that of master `node`. Fails the test on errors. */
struct relay *relay_create(struct event_base *base, struct masters *masters, size_t node);
void relay_destroy(struct relay *relay);
const char *relay_url(const struct relay *relay);

/* While on, what arrives is kept; when switched off, it is passed on in order. */
void relay_hold_requests(struct relay *relay, bool on);
void relay_hold_replies(struct relay *relay, bool on);

/* Bytes kept now. */
size_t relay_held_requests(const struct relay *relay);
size_t relay_held_replies(const struct relay *relay);

/* Closes the client's connections. Requests and replies kept so far are lost; requests already passed on are
 * executed. New connections are accepted, and are not held. */
void relay_cut(struct relay *relay);

#endif
