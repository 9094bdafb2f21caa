/* The masters of a scenario, our own or those of others, and what can be done to them. Functions that can fail return
 * false and leave a sentence in fo_cluster.why. Masters are numbered from 0. */
#ifndef FAILOVER_CLUSTER_H
#define FAILOVER_CLUSTER_H

#include "options.h"
#include "relay/relays.h"

struct fo_cluster {
    const struct fo_options *options;
    struct masters *own;                  /* NULL with --nodes */
    struct masters_clock *clocks[MASTERS_MAX];
    struct cli_tls tls;                   /* how they are reached */
    char ca[128];                         /* the file of our own's CA, with --tls */
    const char *const *urls;              /* of the masters */
    const char *const *client_urls;       /* ... and what clients are to use */
    struct relays *relays;                /* NULL: clients use the masters directly */
    char *dir;                            /* of the relays' sockets, if it is ours */
    size_t n;                             /* members that faults can be done to ... */
    size_t n_first;                       /* ... of which the first ones are the list that clients begin with */
    const char *const *entries;           /* what an engine is told */
    const char *const *apart_entries;     /* the same on the smaller side of a partition, or on the other machine;
                                           * NULL: there is none */
    size_t n_entries;
    char why[240];
};

/* Why this cannot be done to these masters; NULL if it can. */
const char *fo_cluster_obstacle(const struct fo_options *options, const struct fo_scenario *scenario);

bool fo_cluster_open(struct fo_cluster *cluster, const struct fo_options *options, const struct fo_scenario *scenario);
void fo_cluster_close(struct fo_cluster *cluster);

/* The members that are on the smaller side of a partition; there may be none, then its clients are alone. */
size_t fo_cluster_smaller_side(const struct fo_cluster *cluster, uint32_t ret_members[MASTERS_MAX]);

/* The member that leads, MASTERS_MAX if none does. */
size_t fo_cluster_leader(const struct fo_cluster *cluster);

bool fo_cluster_kill(struct fo_cluster *cluster, size_t i);
bool fo_cluster_start(struct fo_cluster *cluster, size_t i); /* returns when our own ones answer */
bool fo_cluster_hang(struct fo_cluster *cluster, size_t i);
bool fo_cluster_resume(struct fo_cluster *cluster, size_t i);
bool fo_cluster_wipe(struct fo_cluster *cluster, size_t i);  /* between kill and start */
bool fo_cluster_part_replicas(struct fo_cluster *cluster, size_t i); /* from this master */
/* How far this Redis is in the stream of changes that replicas follow; -1 on failure. */
int64_t fo_cluster_offset(struct fo_cluster *cluster, size_t i);
/* Of the servers that an engine is put on: these members and the clients of the smaller side are kept apart from the
 * rest, or taken back. The library's masters are parted by fo_cluster_toxics() instead. */
bool fo_cluster_part(struct fo_cluster *cluster, const uint32_t *members, size_t n, bool apart);
/* On which side of a partition the client is: to be told before it connects, and for good. */
bool fo_cluster_take_side(struct fo_cluster *cluster, pid_t client, bool smaller);
bool fo_cluster_set_clock(struct fo_cluster *cluster, size_t i, int64_t by_ms);
bool fo_cluster_toxics(struct fo_cluster *cluster, size_t i, unsigned side, enum relay_direction direction,
                       const struct relay_toxics *toxics);

#endif
