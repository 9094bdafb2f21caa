/* The command takes a URL apart by itself for the connections that are its own. The library has taken it apart before:
 * both must have found the same. */
#include "cli/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/url.h"
#include "suite.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *const schemes[] = {"redis://", "rediss://", "Redis://", "REDISS://", "unix://", "UNIX://", ""};
static const char *const credentials[] = {
    "",      "u@",  "u%3a@",  ":pw@",    "u:pw@",    "u:@", ":@", "u:a:b@", "%75%3a:%40%2f%3A%25%c3%A9@",
    "a%40b@", "@", "u@v@", "u:p?@", "u:p#@", "u/v:pw@",
};
static const char *const places[] = {
    "h",    "Host_1.x-y:1", "127.0.0.1:65535",  "[::1]",     "[::1]:7000", "[fe80::1%25eth0]:7", "[fe80::1%25eth0]",
    "h:",   "h:0",          "h:65536",          "[::1",      "%68",        "",                   "h:1:2",
    "/s",   "/a%20b%3f",    "/a@b",             "/a:b@c:1",  "/[::1]:7000", "/run/redis:6379/s",
};
static const char *const ends[] = {"", "/", "/0", "/3", "/2147483647", "/a", "?db=4", "?db=0", "?db=", "#f", "/3?db=4"};

static bool same_text(const char *ours, const char *theirs)
{
    return ours && theirs ? strcmp(ours, theirs) == 0 : ours == theirs;
}

static bool same(const struct target *target, const struct rl_master *master)
{
    return target->tls == master->tls && same_text(target->host, master->host) &&
           (target->path || target->port == master->port) && same_text(target->path, master->path) &&
           same_text(target->user, master->user) && same_text(target->password, master->password) &&
           (target->db ? strtoul(target->db, NULL, 10) : 0) == master->db;
}

/* Whether the library accepts it; then the command sees the same in it. */
static bool compare(const char *url)
{
    struct rl_master master;
    struct target target;
    const char *why;

    if (rl_master_parse(url, &master, &why) != 0)
        return false;
    ck_assert_msg(target_parse(url, &target), "out of memory");
    ck_assert_msg(same(&target, &master), "%s is \"%s\" %d path \"%s\" user \"%s\" password \"%s\" database %s", url,
                  target.host, target.port, target.path, target.user, target.password, target.db);
    target_fini(&target);
    rl_master_fini(&master);
    return true;
}

GROUP(targets, "targets", NULL, NULL)

/* Every scheme with all credentials, places and ends, which make a URL or do not. */
TESTS(targets, the_command_sees_in_a_url_what_the_library_sees, 0, (int)LENGTH(schemes))
{
    size_t accepted = 0;
    char url[200];

    for (size_t i = 0; i < LENGTH(credentials); i++) {
        for (size_t j = 0; j < LENGTH(places); j++) {
            for (size_t k = 0; k < LENGTH(ends); k++) {
                snprintf(url, sizeof url, "%s%s%s%s", schemes[_i], credentials[i], places[j], ends[k]);
                accepted += compare(url);
            }
        }
    }
    ck_assert_uint_ge(accepted, 300);
}

SUITE("targets")
