/* Master URLs: redis[s]://[[user]:password@]host[:port][/db] and unix://[[user]:password@]/path[?db=N]. In place of
 * user:password there may be a user alone. redis:// can be left out, and unix:// in front of a path without a
 * password. simulated://NUMBER is for tests. */
#ifndef RL_CODEC_URL_H
#define RL_CODEC_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An owned, parsed master. All zero is empty; strings are NULL when absent. */
struct rl_master {
    char *host;        /* name or numeric address without brackets; NULL for a unix socket */
    uint16_t port;     /* default 6379 */
    bool tls;          /* rediss:// */
    bool simulated;    /* simulated://: in the memory of this process, where a test has created it */
    char *path;        /* unix socket; NULL for TCP */
    char *user;
    char *password;    /* of rl_secret_create() */
    uint32_t db;
    char *name;        /* for people: "host:port", "[::1]:port" or the path; no credentials */
};

/* 0, REDLOCK_E_URL or REDLOCK_E_NOMEM. On error *ret_why is a static sentence that never holds a part of the URL's
 * credentials, and *ret_master is left alone. */
int rl_master_parse(const char *url, struct rl_master *ret_master, const char **ret_why);
void rl_master_fini(struct rl_master *master); /* wipes the password */

/* The same server and database slot, as far as the URL tells: host (case folded) and port, or path. The database is
 * not compared: two databases of one server are one failure, not two masters. */
bool rl_master_same(const struct rl_master *a, const struct rl_master *b);

/* Writes the URL with the password masked into buffer, always terminated, for error texts. */
void rl_url_mask(const char *url, char *buffer, size_t size);

#endif
