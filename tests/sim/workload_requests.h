/* What the owners of handles ask for. */
#ifndef SIM_WORKLOAD_REQUESTS_H
#define SIM_WORKLOAD_REQUESTS_H

#include "client.h"

uint32_t agent_draw_ttl(const struct client *client);

/* May the handle's lock be shared? A slot of a semaphore is for one owner at a time, also if it is taken as a plain
 * lock. */
bool agent_may_share(const struct client *client, const struct handle *handle);

/* One of the modes that let others in. */
enum rl_mode agent_draw_shared_mode(struct world *world);

struct rl_acquire agent_draw_request(struct client *client, const struct handle *handle);

/* After the healing: the owner tries until it has the lock. */
struct rl_acquire agent_draw_last_request(struct client *client, const struct handle *handle);

#endif
