/* Inside the probe: what it asks a master about itself. The rights of its user, and its clock. */
#ifndef CLI_PROBE_SERVER_H
#define CLI_PROBE_SERVER_H

#include "cli/probe.h"
#include "cli/wire.h"

/* Tries each command in a form that changes nothing, and takes the answers.
 * False: the server takes no writes, and says why. */
bool probe_rights_take(struct wire *wire, const char *prefix, struct probe_rights *rights, char *ret_why, size_t size);

/* --- What a second look at a master tells, which the first one cannot. */

/* A master's clock, and between which times of ours it showed that. */
struct probe_time {
    int64_t shown_us; /* 0: it was not to be had */
    int64_t before_us;
    int64_t after_us;
};

/* Takes the reply to a TIME that was appended at `before_us`. */
void probe_time_take(const redisReply *reply, int64_t before_us, struct probe_time *ret_time);

/* Asks for the time again, a little later than the first. */
bool probe_clock_stands(struct wire *wire, const struct probe_time *first);

/* Adds the run id in the text of an INFO to those that have been met. */
void probe_run_id_take(const char *info, struct probe_rights *rights);

/* Notes whether a connection was refused for this reason. */
void probe_note_crowd(const char *error, struct probe_rights *rights);

/* Asks for it. */
void probe_run_id_ask(struct wire *wire, struct probe_rights *rights);

#endif
