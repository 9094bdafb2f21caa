/* What the host of a client is given, and what it reports to; the records of its claims. */
#ifndef SIM_CLIENT_HOST_H
#define SIM_CLIENT_HOST_H

#include "client.h"

/* What the host is given, and what it reports to. */
struct rl_environment client_environment(struct client *client);
extern const struct rl_host_sink client_sink;

/* The record of this claim, which is made if there is none yet. */
struct box *client_box(struct client *client, const struct rl_claim *claim);

/* ... and NULL if there is none. */
const struct box *client_known_box(struct client *client, const struct rl_claim *claim);

/* Of the claim that the handle has. */
struct box *handle_box(const struct handle *handle);

/* The number under which the host knows the master to which this connection leads. */
unsigned client_place(const struct client *client, uint16_t conn);

/* ... or this machine; NO_PLACE: it does not. */
unsigned client_find_place(const struct client *client, unsigned machine);

/* The records of the claims that a tag's command is about; how many. */
unsigned client_tag_boxes(struct client *client, const struct rl_tag *tag, uint32_t *ret_boxes);

/* Around each delivery of a reply, so that the oracles see what has been learned of the master's clock. */
struct rl_node_clock client_clock_before(const struct client *client, unsigned node);
void client_clock_after(struct client *client, unsigned node, const struct rl_node_clock *before,
                        struct rl_instant sent);

#endif
