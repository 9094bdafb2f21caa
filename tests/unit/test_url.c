#include "codec/url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <redlock/status.h>

#include "suite.h"

struct good {
    const char *url;
    const char *host; /* or NULL */
    unsigned port;
    const char *path; /* or NULL */
    const char *user;
    const char *password;
    uint32_t db;
    const char *name;
    const char *mask;
};

static const struct good goods[] = {
    {"redis://h", "h", 6379, NULL, NULL, NULL, 0, "h:6379", "redis://h"},
    {"redis://h/", "h", 6379, NULL, NULL, NULL, 0, "h:6379", "redis://h/"},
    {"REDIS://Host_1.x-y:1", "Host_1.x-y", 1, NULL, NULL, NULL, 0, "Host_1.x-y:1", "REDIS://Host_1.x-y:1"},
    {"redis://127.0.0.1:65535/15", "127.0.0.1", 65535, NULL, NULL, NULL, 15, "127.0.0.1:65535",
     "redis://127.0.0.1:65535/15"},
    {"redis://[::1]:7000/2147483647", "::1", 7000, NULL, NULL, NULL, 2147483647, "[::1]:7000",
     "redis://[::1]:7000/2147483647"},
    {"redis://[fe80::1%25eth0]", "fe80::1%eth0", 6379, NULL, NULL, NULL, 0, "[fe80::1%eth0]:6379",
     "redis://[fe80::1%25eth0]"},
    {"redis://:pw@h:1", "h", 1, NULL, NULL, "pw", 0, "h:1", "redis://***@h:1"},
    {"redis://u:pw@h/3", "h", 6379, NULL, "u", "pw", 3, "h:6379", "redis://***@h/3"},
    {"redis://u%3a@h", "h", 6379, NULL, "u:", NULL, 0, "h:6379", "redis://***@h"},
    {"redis://u:@h", "h", 6379, NULL, "u", "", 0, "h:6379", "redis://***@h"},
    {"redis://:@h", "h", 6379, NULL, NULL, NULL, 0, "h:6379", "redis://***@h"},
    {"redis://%75%3a:%40%2f%3A%25%c3%A9@h", "h", 6379, NULL, "u:", "@/:%\xc3\xa9", 0, "h:6379", "redis://***@h"},
    {"redis://u:a:b@h", "h", 6379, NULL, "u", "a:b", 0, "h:6379", "redis://***@h"},
    {"rediss://u:pw@h:7000/2", "h", 7000, NULL, "u", "pw", 2, "h:7000", "rediss://***@h:7000/2"},
    {"REDISS://h", "h", 6379, NULL, NULL, NULL, 0, "h:6379", "REDISS://h"},
    {"unix:///run/redis.sock", NULL, 0, "/run/redis.sock", NULL, NULL, 0, "/run/redis.sock", "unix:///run/redis.sock"},
    {"unix:///a%20b%3f?db=4", NULL, 0, "/a b?", NULL, NULL, 4, "/a b?", "unix:///a%20b%3f?db=4"},
    {"unix://u:pw@/s", NULL, 0, "/s", "u", "pw", 0, "/s", "unix://***@/s"},
    {"h", "h", 6379, NULL, NULL, NULL, 0, "h:6379", "h"},
    {"[::1]:7000/3", "::1", 7000, NULL, NULL, NULL, 3, "[::1]:7000", "[::1]:7000/3"},
    {"u:pw@h:7000", "h", 7000, NULL, "u", "pw", 0, "h:7000", "***@h:7000"},
    {"/run/redis.sock?db=2", NULL, 0, "/run/redis.sock", NULL, NULL, 2, "/run/redis.sock", "/run/redis.sock?db=2"},
    {"simulated://7", "7", 0, NULL, NULL, NULL, 0, "simulated-7", "simulated://7"},
    {"unix:///a@b", NULL, 0, "/a@b", NULL, NULL, 0, "/a@b", "unix://***@b"},
};

static void check_text(const char *text, const char *expected)
{
    if (expected)
        ck_assert_str_eq(text, expected);
    else
        ck_assert_ptr_null(text);
}

GROUP(tc, "url", NULL, NULL)

TESTS(tc, well_formed_urls_are_taken_apart, 0, sizeof goods / sizeof goods[0])
{
    const struct good *good = &goods[_i];
    struct rl_master master = {0};
    const char *why = NULL;
    char mask[200];

    ck_assert_msg(rl_master_parse(good->url, &master, &why) == REDLOCK_OK, "%s: %s", good->url, why);
    ck_assert_int_eq(master.tls, strncasecmp(good->url, "rediss:", 7) == 0);
    check_text(master.host, good->host);
    ck_assert_uint_eq(master.port, good->port);
    check_text(master.path, good->path);
    check_text(master.user, good->user);
    check_text(master.password, good->password);
    ck_assert_uint_eq(master.db, good->db);
    ck_assert_str_eq(master.name, good->name);
    rl_url_mask(good->url, mask, sizeof mask);
    ck_assert_str_eq(mask, good->mask);
    rl_master_fini(&master);
}

struct bad {
    const char *url;
    const char *why; /* part of the sentence */
};

static const struct bad bads[] = {
    {"", "host is missing"},
    {"http://h", "must begin with"},
    {"redis:/h", "port"},
    {" h:1", "character"},
    {"rediss://", "host is missing"},
    {"redis://", "host is missing"},
    {"redis://:1", "host is missing"},
    {"redis:///0", "host is missing"},
    {"redis://h:", "port"},
    {"redis://h:0", "port"},
    {"redis://h:65536", "port"},
    {"redis://h:-1", "port"},
    {"redis://h:+1", "port"},
    {"redis://h: 1", "port"},
    {"redis://h:1x", "port"},
    {"redis://h:1:2", "port"},
    {"redis://h:99999999999999999999999", "port"},
    {"redis://h/x", "database"},
    {"redis://h/1/", "database"},
    {"redis://h/-1", "database"},
    {"redis://h/2147483648", "database"},
    {"redis://h?db=1", "no ?"},
    {"redis://h/1#x", "no #"},
    {"redis://u:p?w@h", "%3F"},
    {"redis://@h", "in front of the @"},
    {"redis://u:p@w@h", "%40"},
    {"redis://u:%zz@h", "hexadecimal"},
    {"redis://u:%4@h", "hexadecimal"},
    {"redis://u:%@h", "hexadecimal"},
    {"redis://u:%00@h", "%00"},
    {"redis://a%00:p@h", "%00"},
    {"redis://h h", "character"},
    {"redis://h%41", "character"},
    {"redis://h\n", "character"},
    {"redis://[::1", "not closed"},
    {"redis://[]", "IPv6"},
    {"redis://[127.0.0.1]", "IPv6"},
    {"redis://[h]", "IPv6"},
    {"redis://[::1]x", "bracket"},
    {"redis://[::1]1", "bracket"},
    {"redis://[fe80::1%eth0]", "zone"},
    {"redis://[fe80::1%25]", "zone"},
    {"redis://::1", "host is missing"},
    {"simulated://", "a master's number"},
    {"simulated://0", "a master's number"},
    {"simulated://1/0", "a master's number"},
    {"simulated://65536", "a master's number"},
    {"unix://", "begin with /"},
    {"unix://run/redis.sock", "has no host"},
    {"unix://?db=1/", "begin with /"},
    {"unix:///", "path is missing"},
    {"unix:///?db=1", "path is missing"},
    {"unix:///s#x", "%23"},
    {"unix:///s?", "?db="},
    {"unix:///s?db=", "database"},
    {"unix:///s?db=x", "database"},
    {"unix:///s?user=x", "?db="},
    {"unix:///s%00", "%00"},
    {"unix:///s%0", "hexadecimal"},
    {"unix:///0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
     "0123456789",
     "too long"},
};

TESTS(tc, malformed_urls_are_refused_with_a_sentence, 0, sizeof bads / sizeof bads[0])
{
    struct rl_master untouched = {.db = 77};
    const char *why = "";

    ck_assert_int_eq(rl_master_parse(bads[_i].url, &untouched, &why), REDLOCK_E_URL);
    ck_assert_msg(strstr(why, bads[_i].why), "%s: %s", bads[_i].url, why);
    ck_assert_uint_eq(untouched.db, 77);
    ck_assert_ptr_null(untouched.host);
}

static const char *const secrets[] = {
    "redis://user:s3cr3t@host:1/2", "redis://:s3cr3t@host",  "unix://user:s3cr3t@/path?db=1", "unix://:s3cr3t@/p",
    "rediss://user:s3cr3t@host",    "http://u:s3cr3t@host",  ":s3cr3t@host:1",                "u:s3cr3t@h",
};

static void check_mask(const char *url)
{
    char mask[100];

    rl_url_mask(url, mask, sizeof mask);
    ck_assert_msg(!strstr(mask, "s3cr3t"), "%s gives %s", url, mask);
}

TEST(tc, a_host_without_a_password_is_shown_whatever_is_wrong)
{
    static const char *const hosts[] = {" 127.0.0.1:6379", "redis://10.0.0.1:6379\n", "redis://h h", "http://h",
                                        "redis://[::1", "redis://h/x", "/run/a:b"};
    char mask[100];

    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        rl_url_mask(hosts[i], mask, sizeof mask);
        ck_assert_str_eq(mask, hosts[i]);
    }
}

/* Whatever single character somebody forgets, adds or mistypes outside the password. */
TESTS(tc, a_password_is_masked_whatever_is_wrong_with_the_rest, 0, sizeof secrets / sizeof secrets[0])
{
    static const char typos[] = ":/@?#%[] x1";
    const char *url = secrets[_i];
    const char *secret = strstr(url, "s3cr3t");
    int n = (int)strlen(url);

    check_mask(url);
    for (int i = 0; i <= n; i++) {
        const char *rest = url + i;
        char edited[100];
        bool inside = rest >= secret && rest < secret + 6;

        for (size_t t = 0; t < sizeof typos - 1; t++) {
            snprintf(edited, sizeof edited, "%.*s%c%s", i, url, typos[t], rest);
            check_mask(edited);
            snprintf(edited, sizeof edited, "%.*s%c%s", i, url, typos[t], i < n && !inside ? rest + 1 : rest);
            check_mask(edited);
        }
        snprintf(edited, sizeof edited, "%.*s%s", i, url, i < n && !inside ? rest + 1 : rest);
        check_mask(edited);
    }
}

TEST(tc, a_password_is_masked_where_none_belongs)
{
    check_mask("redis://:s3cr3t");
    check_mask("redis://user:s3cr3t");
    check_mask("redis://h?password=s3cr3t");
    check_mask("unix:///p?pw=s3cr3t");
}

TEST(tc, a_mask_is_cut_to_the_buffer_and_terminated)
{
    char mask[9] = "xxxxxxxx";

    rl_url_mask("redis://:secret@host", mask, sizeof mask);
    ck_assert_str_eq(mask, "redis://");
    rl_url_mask("redis://:secret@host", mask, 1);
    ck_assert_str_eq(mask, "");
    rl_url_mask("redis://:secret@host", NULL, 0);
}

static bool same(const char *url_a, const char *url_b)
{
    struct rl_master a;
    struct rl_master b;
    const char *why;
    bool result;

    ck_assert_int_eq(rl_master_parse(url_a, &a, &why), REDLOCK_OK);
    ck_assert_int_eq(rl_master_parse(url_b, &b, &why), REDLOCK_OK);
    result = rl_master_same(&a, &b) && rl_master_same(&b, &a);
    rl_master_fini(&a);
    rl_master_fini(&b);
    return result;
}

TEST(tc, two_urls_of_one_server_are_the_same_master)
{
    ck_assert(same("redis://Host", "redis://:pw@hOST:6379/3"));
    ck_assert(same("unix:///a", "unix://u:p@/%61?db=2"));
    ck_assert(!same("redis://host:1", "redis://host:2"));
    ck_assert(!same("redis://host", "redis://host2"));
    ck_assert(!same("redis://host2", "redis://host"));
    ck_assert(!same("unix:///a", "unix:///A"));
    ck_assert(!same("unix:///a", "redis://a"));
}

SUITE("url")
