/* The library's calls: of a lock whose state allows them. */
#ifndef SIM_CLIENT_CALLS_H
#define SIM_CLIENT_CALLS_H

#include "client.h"

/* An acquisition, extension or release whose completion has not been delivered. */
bool client_is_busy(const struct handle *handle);
bool client_has_busy(const struct client *client);

void client_acquire(struct client *client, struct handle *handle, const struct rl_acquire *request);
void client_extend(struct client *client, struct handle *handle, uint32_t ttl_ms);
void client_reenter(struct client *client, struct handle *handle, struct rl_span min_validity);
void client_lower(struct client *client, struct handle *handle, enum rl_mode mode);
void client_upgrade(struct client *client, struct handle *handle, struct rl_instant deadline, bool once);
bool client_cancel(struct client *client, struct handle *handle);

/* Of the innermost entry only, if the lock was entered several times. */
void client_release(struct client *client, struct handle *handle);

/* Destroys the handle, and creates it anew. */
void client_destroy(struct client *client, struct handle *handle);

/* The handle is idle at once, and nothing is reported. */
void client_abandon(struct client *client, struct handle *handle);

/* Forgets a held lock, and leaves its keys where they are. */
void client_detach(struct client *client, struct handle *handle);

/* Releases the value of a lock that some handle has detached. */
void client_release_value(struct client *client, struct handle *handle, struct box *origin);

/* Forgets a held lock in favour of the handle that will adopt it. */
bool client_export(struct client *client, struct handle *handle, struct parcel *ret_parcel);
void client_adopt(struct client *client, struct handle *handle, const struct parcel *parcel,
                  const struct rl_acquire *request);

#endif
