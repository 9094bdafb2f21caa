/* A relay (tools/relay) in front of one of a test's masters, on the test's own loop: keeps requests or replies back,
 * and cuts connections at a chosen point. For the cases in which a command was executed and nobody knows. */
#ifndef TESTS_MASTER_RELAY_H
#define TESTS_MASTER_RELAY_H

#include "relay.h"

struct masters;

/* Listens on a unix socket beside that of master `node`. Fails the test on errors. relay_url() and relay_destroy() as
 * ever. */
struct relay *master_relay_create(struct event_base *base, struct masters *masters, size_t node);

/* While on, what arrives is kept; when switched off, it is passed on in order. */
void master_relay_hold_requests(struct relay *relay, bool on);
void master_relay_hold_replies(struct relay *relay, bool on);

/* relay_cut(); new connections are accepted, and are not held. */
void master_relay_cut(struct relay *relay);

#endif
