/* URLs of masters: what parses is consistent, and what is shown of a URL does not depend on the password.
 *
 * Input: one byte, the size of the buffer for the masked text; then the URL. */
#include <string.h>

#include <redlock/status.h>

#include "codec/url.h"
#include "fuzz.h"

static void check_parts(const struct rl_master *master)
{
    HOLDS((master->host != NULL) != (master->path != NULL));
    HOLDS(master->path || (master->port > 0 && strlen(master->host) > 0));
    HOLDS(master->name && strlen(master->name) > 0);
    HOLDS(rl_master_same(master, master));
}

static const char *behind_scheme(const char *url)
{
    const char *scheme = strstr(url, "://");

    return scheme ? scheme + 3 : url;
}

/* The same URL with another password. It has been parsed, so it has the form user:password@rest, behind a scheme or
 * none, with no @ and no / in the credentials. */
static char *with_other_password(const char *url)
{
    const char *begin = behind_scheme(url);
    const char *colon = strchr(begin, ':');
    const char *at = strchr(begin, '@');
    char *other = malloc(strlen(url) + 8);

    HOLDS(other && colon && at && colon < at);
    sprintf(other, "%.*s:other%s", (int)(colon - url), url, at);
    return other;
}

static void check_mask(const char *url, size_t size, bool parses, bool has_password)
{
    char *mask = malloc(size), *other, *other_mask = malloc(size);

    HOLDS(mask && other_mask);
    rl_url_mask(url, mask, size);
    HOLDS(memchr(mask, '\0', size) != NULL);
    if (!parses) {
        size_t start = (size_t)(behind_scheme(url) - url);

        HOLDS(!strchr(url + start, '@') || size < start + 4 || strncmp(mask + start, "***", 3) == 0);
    } else if (has_password) {
        other = with_other_password(url);
        rl_url_mask(other, other_mask, size);
        HOLDS(strcmp(mask, other_mask) == 0);
        free(other);
    }
    free(mask);
    free(other_mask);
}

void fuzz_url(const uint8_t *data, size_t size)
{
    struct rl_master master = {0};
    const char *why = NULL;
    char *url;
    int status;

    if (!size)
        return;
    url = malloc(size);
    HOLDS(url != NULL);
    memcpy(url, data + 1, size - 1);
    url[size - 1] = '\0';
    status = rl_master_parse(url, &master, &why);
    HOLDS(status == REDLOCK_OK || (status == REDLOCK_E_URL && why && strlen(why) > 0));
    if (status == REDLOCK_OK)
        check_parts(&master);
    check_mask(url, 1u + data[0], status == REDLOCK_OK, master.password != NULL);
    rl_master_fini(&master);
    free(url);
}
