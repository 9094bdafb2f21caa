#include "api/transfer_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/members.h"
#include "host/trust/view.h"
#include "votes/quorum.h"
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

static void begin_order(const struct rl_member_list *list, struct rl_transfer_order *ret_order)
{
    ret_order->n = list->n;
    ret_order->quorum = list->quorum;
    for (size_t i = 0; i < list->n; i++)
        ret_order->places[i] = -1;
}

/* By name: clients may list them in different orders. */
static void order_by_name(const struct redlock_client *client, const struct rl_member_list *list,
                          struct rl_transfer_order *ret_order)
{
    begin_order(list, ret_order);
    for (size_t i = 0; i < list->n; i++) {
        size_t rank = 0;

        for (size_t j = 0; j < list->n; j++)
            rank += compare_hosts(list->members[j].name, list->members[i].name) < 0;
        ret_order->places[rank] = rl_trust_place_of(&client->host, list->members[i].node_id);
    }
}

/* As the view has them, which is in the text. */
static void order_as_listed(const struct redlock_client *client, const struct rl_member_list *list,
                            struct rl_transfer_order *ret_order)
{
    begin_order(list, ret_order);
    for (size_t i = 0; i < list->n; i++)
        ret_order->places[i] = rl_trust_place_of(&client->host, list->members[i].node_id);
}

bool rl_transfer_find_order(struct redlock_client *client, struct rl_transfer_order *ret_order)
{
    const struct rl_member_list *configured;

    if (rl_trust_view(&client->host).size) {
        order_as_listed(client, &client->host.trust.view->list, ret_order);
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
static void put_instants(FILE *out, struct redlock_client *client, const struct rl_instant *at, size_t n)
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

void rl_transfer_put_bounds(FILE *out, struct redlock_client *client, const struct rl_transfer_order *order,
                       const struct rl_instant *bounds)
{
    struct rl_instant ordered[RL_MAX_NODES];

    for (size_t i = 0; i < order->n; i++)
        ordered[i] = order->places[i] < 0 ? RL_LONG_AGO : bounds[order->places[i]];
    put_instants(out, client, ordered, order->n);
}

uint32_t rl_transfer_in_order(const struct rl_transfer_order *order, uint32_t nodes)
{
    uint32_t mask = 0;

    for (size_t i = 0; i < order->n; i++)
        mask |= order->places[i] >= 0 && (nodes & rl_bit((size_t)order->places[i])) ? rl_bit(i) : 0;
    return mask;
}

void rl_transfer_put_hex(FILE *out, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%02x", bytes[i]);
}

void rl_transfer_put_list(FILE *out, struct redlock_client *client, const struct rl_transfer_order *order,
                     const struct rl_exported_state *state)
{
    struct rl_slice view = rl_trust_view(&client->host);

    fputs(client->host.trust.names.list_id, out);
    if (!view.size)
        return;
    fprintf(out, "/%" PRIu32 "/%" PRIu32 "/", rl_transfer_in_order(order, state->ungreeted),
            rl_transfer_in_order(order, state->newcomers));
    put_instants(out, client, &state->standing, 1);
    fputc('/', out);
    rl_transfer_put_hex(out, view.data, view.size);
}

/* --- From which list a text comes --------------------------------------------------------------------------------- */

uint32_t rl_transfer_by_node(const struct rl_transfer_order *order, uint32_t mask)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < order->n; i++)
        nodes |= order->places[i] >= 0 && (mask & rl_bit(i)) ? rl_bit((size_t)order->places[i]) : 0;
    return nodes;
}

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

/* Does the client go by this list, or by one that has followed it? */
static bool is_past_list(const struct redlock_client *client, const char *id, struct rl_transfer_origin *origin)
{
    const struct rl_trust *trust = &client->host.trust;

    origin->older = strcmp(trust->names.list_id, id) != 0;
    return !origin->older || (rl_trust_view(&client->host).size && rl_view_remembers(trust->view, id));
}

static bool read_plain_list(struct redlock_client *client, const char *id, struct rl_transfer_origin *origin)
{
    const struct rl_member_list *list = rl_client_configured(client);

    if (!list || !is_past_list(client, id, origin))
        return false;
    if (strcmp(list->id, id) != 0)
        list = client->host.trust.view ? &client->host.trust.view->list : list;
    order_by_name(client, list, &origin->order);
    return strcmp(list->id, id) == 0;
}

/* rule 15.11: "An importer that knows less adopts first." */
static bool go_by_view(struct redlock_client *client, const char *id, struct rl_slice text,
                       struct rl_transfer_origin *origin)
{
    struct rl_view *view = malloc(sizeof *view);
    bool known = view && rl_view_parse(text, view) && strcmp(view->list.id, id) == 0;

    known = known && (is_past_list(client, id, origin) ||
                      (client->host.trust.guarded && !rl_host_follow(&client->host, text) &&
                       is_past_list(client, id, origin)));
    if (known)
        order_as_listed(client, &view->list, &origin->order);
    free(view);
    return known;
}

/* "ID", or "ID/UNGREETED/NEWCOMERS/STANDING/VIEW". */
bool rl_transfer_read_list(struct redlock_client *client, char *text, uint32_t longest_ttl_ms,
                           struct rl_transfer_origin *ret_origin)
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
           go_by_view(client, id, view, ret_origin) &&
           rl_transfer_read_instants(client, words[2], longest_ttl_ms, &ret_origin->standing, 1);
}

/* The deadline that the text's list gives. */
static struct rl_instant deadline_of(const struct rl_transfer_origin *origin)
{
    int64_t bounds[RL_MAX_NODES];

    for (size_t i = 0; i < origin->order.n; i++)
        bounds[i] = origin->ungreeted & rl_bit(i) ? RL_LONG_AGO.ns : origin->bounds[i].ns;
    return rl_later(origin->standing,
                    (struct rl_instant){rl_kth_largest(bounds, origin->order.n, origin->order.quorum)});
}

/* By a newer list it is as if the client had held the lock when it adopted that one (rule 15.9). */
void rl_transfer_take_ledger(const struct redlock_client *client, const struct rl_transfer_origin *origin,
                             struct rl_host_exported *ret)
{
    const struct rl_host *host = &client->host;
    uint32_t members = host->engine.votes.members;
    uint32_t all = rl_bit(origin->order.n) - 1;
    uint32_t ungreeted = origin->older ? members : rl_transfer_by_node(&origin->order, origin->ungreeted);

    for (unsigned i = 0; i < host->engine.votes.config.n_nodes; i++)
        ret->bounds[i] = RL_LONG_AGO;
    for (size_t i = 0; i < origin->order.n; i++) {
        if (origin->order.places[i] >= 0)
            ret->bounds[origin->order.places[i]] = origin->bounds[i];
    }
    ret->state.ungreeted = ungreeted & ~rl_trust_greeted_members(host);
    ret->state.newcomers = rl_transfer_by_node(&origin->order, origin->newcomers) |
                           (members & ~rl_transfer_by_node(&origin->order, all));
    ret->state.standing = origin->older ? deadline_of(origin) : origin->standing;
    ret->state.bounds = ret->bounds;
}

