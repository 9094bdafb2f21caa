#include "api/transfer_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/members.h"
#include "host/trust/view.h"
#include "votes/view.h"

/* --- The order of masters ----------------------------------------------------------------------------------------- */

/* Without the database. */
static int compare_hosts(const char *a, const char *b)
{
    char texts[2][RL_NAME_MAX + 1];
    int order;

    snprintf(texts[0], sizeof texts[0], "%.*s", (int)(strrchr(a, '/') - a), a);
    snprintf(texts[1], sizeof texts[1], "%.*s", (int)(strrchr(b, '/') - b), b);
    order = strcasecmp(texts[0], texts[1]);
    return order ? order : strcmp(texts[0], texts[1]);
}

/* By name: clients may list them in different orders. */
static void order_by_name(const struct redlock_client *client, const struct rl_member_list *list,
                          struct rl_host_order *ret_order)
{
    *ret_order = (struct rl_host_order){.n = list->n, .quorum = list->quorum};
    for (size_t i = 0; i < list->n; i++) {
        size_t rank = 0;

        for (size_t j = 0; j < list->n; j++)
            rank += compare_hosts(list->members[j].name, list->members[i].name) < 0;
        ret_order->places[rank] = rl_trust_place_of(&client->host, list->members[i].node_id);
    }
}

bool rl_transfer_find_order(struct redlock_client *client, struct rl_host_order *ret_order)
{
    const struct rl_member_list *configured;

    if (rl_trust_view(&client->host).size) {
        rl_host_order_masters(&client->host, &client->host.trust.view->list, ret_order);
        return true;
    }
    configured = rl_client_configured(client);
    if (configured)
        order_by_name(client, configured, ret_order);
    return configured != NULL;
}

/* --- Words -------------------------------------------------------------------------------------------------------- */

static int64_t read_boot_ns(const struct redlock_client *client)
{
    return client->host.environment.boot_ns(client->host.environment.ctx);
}

bool rl_transfer_read_number(const char *text, uint64_t limit, uint64_t *ret_number)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *ret_number = strtoull(text, &end, 10);
    return *end == '\0' && *ret_number <= limit;
}

bool rl_transfer_read_u32(const char *text, uint32_t limit, uint32_t *ret_number)
{
    uint64_t number;

    if (!rl_transfer_read_number(text, limit, &number))
        return false;
    *ret_number = (uint32_t)number;
    return true;
}

/* The boot clock is read before the client's clock, so the time that passes in between makes the bounds earlier. */
void rl_transfer_put_instants(FILE *out, struct redlock_client *client, const struct rl_instant *at, size_t n)
{
    int64_t boot_now = read_boot_ns(client);
    struct rl_instant now = rl_host_read_clock(&client->host);

    for (size_t i = 0; i < n; i++) {
        if (i)
            fputc(',', out);
        if (rl_before(now, at[i]))
            fprintf(out, "%" PRId64, boot_now + rl_until(now, at[i]).ns);
        else
            fputc('-', out);
    }
}

void rl_transfer_put_hex(FILE *out, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%02x", bytes[i]);
}

void rl_transfer_put_list(FILE *out, struct redlock_client *client, const struct rl_host_origin *origin)
{
    struct rl_slice view = rl_trust_view(&client->host);

    fputs(client->host.trust.names.list_id, out);
    if (!view.size)
        return;
    fprintf(out, "/%" PRIu32 "/%" PRIu32 "/", origin->ungreeted, origin->newcomers);
    rl_transfer_put_instants(out, client, &origin->standing, 1);
    fputc('/', out);
    rl_transfer_put_hex(out, view.data, view.size);
}

/* --- From which list a text comes --------------------------------------------------------------------------------- */

/* The client's clock is read before the boot clock, so the time that passes in between makes the bounds earlier. A
 * bound further away than the longest ttl was not exported by this library. */
bool rl_transfer_read_instants(struct redlock_client *client, char *text, uint32_t longest_ttl_ms,
                               struct rl_instant *ret_at, size_t n)
{
    struct rl_instant now = rl_host_read_clock(&client->host);
    int64_t boot_now = read_boot_ns(client);
    uint64_t at;

    for (size_t i = 0; i < n; i++) {
        const char *word = strsep(&text, ",");

        if (!word)
            return false;
        ret_at[i] = RL_LONG_AGO;
        if (strcmp(word, "-") == 0)
            continue;
        if (!rl_transfer_read_number(word, INT64_MAX, &at) || (int64_t)at - boot_now > rl_ms(longest_ttl_ms).ns)
            return false;
        ret_at[i] = (struct rl_instant){now.ns + (int64_t)at - boot_now};
    }
    return !text;
}

/* In place. */
static bool read_hex(char *hex, struct rl_slice *ret_bytes)
{
    size_t size = strlen(hex) / 2;

    for (size_t i = 0; i < size; i++) {
        char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        char *end;

        hex[i] = (char)strtoul(digits, &end, 16);
        if (*end)
            return false;
    }
    *ret_bytes = (struct rl_slice){hex, size};
    return size > 0;
}

static bool read_plain_list(struct redlock_client *client, const char *id, struct rl_host_origin *origin)
{
    const struct rl_member_list *list = rl_client_configured(client);

    if (!list || !rl_host_knows_list(&client->host, id, origin))
        return false;
    if (strcmp(list->id, id) != 0)
        list = client->host.trust.view ? &client->host.trust.view->list : list;
    order_by_name(client, list, &origin->order);
    return strcmp(list->id, id) == 0;
}

/* "ID", or "ID/UNGREETED/NEWCOMERS/STANDING/VIEW". */
bool rl_transfer_read_list(struct redlock_client *client, char *text, uint32_t longest_ttl_ms,
                           struct rl_host_origin *ret_origin)
{
    const char *id = strsep(&text, "/");
    char *words[4] = {NULL};
    struct rl_slice view;

    ret_origin->ungreeted = ret_origin->newcomers = 0;
    ret_origin->standing = RL_LONG_AGO;
    if (!text)
        return read_plain_list(client, id, ret_origin);
    for (size_t i = 0; i < 4; i++)
        words[i] = strsep(&text, "/");
    return !text && words[3] && rl_transfer_read_u32(words[0], UINT32_MAX, &ret_origin->ungreeted) &&
           rl_transfer_read_u32(words[1], UINT32_MAX, &ret_origin->newcomers) && read_hex(words[3], &view) &&
           rl_host_go_by(&client->host, id, view, ret_origin) &&
           rl_transfer_read_instants(client, words[2], longest_ttl_ms, &ret_origin->standing, 1);
}
