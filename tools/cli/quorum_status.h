/* What the masters' standings add up to: whether enough of them vote, now or by waiting. */
#ifndef CLI_QUORUM_STATUS_H
#define CLI_QUORUM_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/redlock.h>

struct quorum_status {
    size_t n;
    size_t quorum;
    size_t answering;
    size_t voting;        /* ... and their votes count */
    size_t waiting;       /* ... in quarantine */
    size_t unmarked;      /* ... never met by a guarded client, or empty since */
    int64_t quorum_in_ms; /* until enough of them vote by themselves; 0: they do now; -1: waiting is not enough */
};

/* What the client knows of each of its masters; the strings are valid until the loop runs again. */
size_t quorum_status_read(const struct redlock_client *client, struct redlock_node_info ret_infos[REDLOCK_MAX_MASTERS]);

/* Is there a server that answers, as this master or as another one of the list? */
bool quorum_status_answers(const struct redlock_node_info *info);

/* Why it does not vote, or that it does, in a word or two. */
const char *quorum_status_word(const struct redlock_node_info *info);

struct quorum_status quorum_status_of(const struct redlock_node_info *infos, size_t n, size_t quorum);

#endif
