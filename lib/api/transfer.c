/* Ownership transfer: a held lock as a line of text, to be taken over by another process of the same machine.
 *
 *     redlock1:BOOT:DEPLOYMENT:KEY:TOKEN:FENCE:TTL:LONGEST:SHORTEST:UNRESOLVED:BOUND,BOUND,...:CHECK
 *
 * BOOT names the clock: bounds are instants of CLOCK_BOOTTIME, which mean nothing on another machine, after a reboot or
 * in another time namespace. DEPLOYMENT stands for masters and quorum; where an operator has changed them, what the
 * lock is worth by the new list, and that list, follow behind slashes (transfer_list.c). KEY is in hexadecimal digits,
 * followed by the slot of a permit: "6b6579#3". TTL is "LEASE/TTL" for a lock that was handed off to its holder for a
 * lease, and still needs its full ttl (engine/wait.c). Where masters may have the vote in a set of shared ones, its
 * mode follows, r, u or x: "TTL+r". Bounds are in the order of the masters' names, or of the list that is in the text,
 * and so are the bits of UNRESOLVED; "-" is the bound of a vote that does not count. CHECK finds damage, not forgery:
 * the text is a secret, like the token in it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/transfer.h"

#include "api/handle.h"
#include "api/lock_state.h"
#include "api/options.h"
#include "api/transfer_list.h"
#include "engine/lock.h"
#include "host/operations.h"
#include "kinds/mutex.h"
#include "kinds/permit.h"
#include "kinds/shared.h"
#include "util/clock.h"

#define MAGIC "redlock1"
#define N_FIELDS 12

/* --- Clock and checksum ----------------------------------------------------------------------------------------- */

static void digest(const char *text, size_t size, char ret_digest[RL_UUID_SIZE])
{
    static const uuid_t name_space = {0x9d, 0x0e, 0x51, 0x2a, 0x6c, 0x3b, 0x4f, 0x57,
                                      0x88, 0x21, 0x0f, 0xc4, 0x36, 0xe9, 0x7b, 0x11};
    uuid_t sum;

    uuid_generate_sha1(sum, name_space, text, size);
    uuid_unparse_lower(sum, ret_digest);
}

/* Names the clock that CLOCK_BOOTTIME is. */
static bool boot_identity(char ret_identity[RL_UUID_SIZE])
{
    struct rl_clock_identity identity;
    char text[sizeof identity.boot + sizeof identity.name_space];

    if (!rl_clock_identify(&identity))
        return false;
    snprintf(text, sizeof text, "%s\n%s", identity.boot, identity.name_space);
    digest(text, strlen(text), ret_identity);
    return true;
}

/* --- Export ----------------------------------------------------------------------------------------------------- */

static const char mode_letters[] = {[RL_EXCLUSIVE] = 'x', [RL_UPGRADEABLE] = 'u', [RL_SHARED] = 'r'};

static void put_all(FILE *out, struct redlock_lock *lock, const char *boot, struct rl_host_origin *origin)
{
    struct redlock_client *client = rl_client_of(lock);
    const struct rl_permit *permit = rl_permit_of(&lock->host);
    struct rl_host_exported exported;
    const struct rl_exported_state *state = &exported.state;

    rl_host_export(&lock->host, &exported);
    rl_host_put_ledger(&exported, origin);
    fprintf(out, MAGIC ":%s:", boot);
    rl_transfer_put_list(out, client, origin);
    fputc(':', out);
    rl_transfer_put_hex(out, lock->host.key->bytes, lock->host.key->size);
    if (permit)
        fprintf(out, "#%" PRIu32, permit->slot);
    fprintf(out, ":%s:%" PRIu64 ":%" PRIu32, exported.token, state->fence, state->ttl_ms);
    if (state->full_ttl_ms)
        fprintf(out, "/%" PRIu32, state->full_ttl_ms);
    if (state->kind == rl_shared_form(state->kind))
        fprintf(out, "+%c", mode_letters[state->mode]);
    fprintf(out, ":%" PRIu32 ":%" PRIu32 ":%" PRIu32 ":", state->longest_ttl_ms, state->shortest_extension_ms,
            origin->unresolved);
    rl_transfer_put_instants(out, client, origin->bounds, origin->order.n);
}

/* `text` must be empty, with zeros behind it. Returns the number of characters, or 0. */
static size_t write_text(struct redlock_lock *lock, const char *boot, char *text, size_t size)
{
    struct rl_host_origin origin;
    FILE *out = rl_transfer_find_order(rl_client_of(lock), &origin.order) ? fmemopen(text, size, "w") : NULL;
    char check[RL_UUID_SIZE];
    size_t length;

    if (!out)
        return 0;
    put_all(out, lock, boot, &origin);
    if (fclose(out) != 0)
        return 0;
    length = strlen(text);
    digest(text, length, check);
    length += (size_t)snprintf(text + length, size - length, ":%s", check);
    return length < size ? length : 0;
}

int rl_lock_describe(struct redlock_lock *lock, char *ret_text, size_t size)
{
    char text[REDLOCK_MAX_EXPORT_BYTES] = "";
    char boot[RL_UUID_SIZE];
    size_t length;

    if (!boot_identity(boot))
        return REDLOCK_E_SYSTEM;
    length = write_text(lock, boot, text, sizeof text);
    if (!length)
        return REDLOCK_E_NOMEM;
    if (length >= size)
        return REDLOCK_E_LIMIT;
    memcpy(ret_text, text, length + 1);
    return 0;
}

int redlock_lock_export(struct redlock_lock *lock, char *ret_text, size_t size)
{
    int status = ret_text ? rl_lock_begin(lock) : REDLOCK_E_ARGUMENT;

    if (status == 0)
        status = rl_lock_check_held_once(lock);
    if (status == 0)
        status = rl_lock_describe(lock, ret_text, size);
    if (status == 0) {
        rl_usage_end_hold(lock);
        rl_host_detach(&lock->host);
    }
    return status;
}

/* --- Import ----------------------------------------------------------------------------------------------------- */

enum field { MAGIC_FIELD, BOOT, DEPLOYMENT, KEY, TOKEN, FENCE, TTL, LONGEST, SHORTEST, UNRESOLVED, BOUNDS, CHECK };

/* Cuts the text at its colons, in place. The token may have some of its own, in front of a label and in it: so what
 * follows the token is cut off from behind. */
static bool split(char *text, char *fields[N_FIELDS])
{
    for (size_t i = 0; i < TOKEN; i++) {
        fields[i] = strsep(&text, ":");
        if (!text)
            return false;
    }
    fields[TOKEN] = text;
    for (size_t i = N_FIELDS; --i > TOKEN;) {
        char *colon = strrchr(text, ':');

        if (!colon)
            return false;
        *colon = '\0';
        fields[i] = colon + 1;
    }
    return true;
}

static bool check_matches(const char *text)
{
    const char *colon = strrchr(text, ':');
    char check[RL_UUID_SIZE];

    if (!colon)
        return false;
    digest(text, (size_t)(colon - text), check);
    return strcmp(check, colon + 1) == 0;
}

static bool key_matches(const char *hex, const struct rl_key *key)
{
    char digits[3];

    if (strlen(hex) != (size_t)key->size * 2)
        return false;
    for (size_t i = 0; i < key->size; i++) {
        snprintf(digits, sizeof digits, "%02x", key->bytes[i]);
        if (memcmp(digits, hex + 2 * i, 2) != 0)
            return false;
    }
    return true;
}

/* "KEY", or "KEY#SLOT" for a permit. */
static bool read_key(char *text, const struct rl_host_lock *lock, uint32_t *ret_slot)
{
    const char *hex = strsep(&text, "#");
    const struct rl_permit *permit = rl_permit_of(lock);

    *ret_slot = RL_NO_SLOT;
    if (!key_matches(hex, lock->key) || !text != !permit)
        return false;
    return !permit || rl_transfer_read_u32(text, permit->limit - 1, ret_slot);
}

/* NULL: the kind knows no modes. */
static bool read_mode(const char *word, struct rl_exported_state *state)
{
    state->kind = state->fence ? &rl_fenced_kind : &rl_mutex_kind;
    state->mode = RL_EXCLUSIVE;
    if (!word)
        return true;
    state->kind = rl_shared_form(state->kind);
    while (state->mode < sizeof mode_letters && mode_letters[state->mode] != *word)
        state->mode++;
    return state->mode < sizeof mode_letters && !word[1];
}

static bool read_ttl_ms(const char *text, uint32_t *ret_ttl_ms)
{
    return rl_transfer_read_u32(text, REDLOCK_MAX_TTL_MS, ret_ttl_ms);
}

/* "TTL", or "LEASE/TTL"; the mode may follow. */
static bool read_ttl(char *text, struct rl_exported_state *state)
{
    char *mode = text;
    const char *granted;

    text = strsep(&mode, "+");
    granted = strsep(&text, "/");
    if (!read_mode(mode, state))
        return false;
    if (!read_ttl_ms(granted, &state->ttl_ms) || !state->ttl_ms)
        return false;
    state->full_ttl_ms = 0;
    return !text || (read_ttl_ms(text, &state->full_ttl_ms) && state->full_ttl_ms > state->ttl_ms);
}

/* Whether the ttl fits this client's options is checked by make_request(), which has a status for it. */
static bool read_fields(struct redlock_lock *lock, char *fields[N_FIELDS], const char *boot,
                        struct rl_host_exported *ret)
{
    struct redlock_client *client = rl_client_of(lock);
    struct rl_exported_state *state = &ret->state;
    struct rl_host_origin origin;

    if (strcmp(fields[MAGIC_FIELD], MAGIC) != 0 || strcmp(fields[BOOT], boot) != 0 ||
        !read_key(fields[KEY], &lock->host, &ret->slot))
        return false;
    if (!*fields[TOKEN] || strlen(fields[TOKEN]) > REDLOCK_MAX_TOKEN_BYTES)
        return false;
    memcpy(ret->token, fields[TOKEN], strlen(fields[TOKEN]) + 1);
    if (!rl_transfer_read_number(fields[FENCE], INT64_MAX, &state->fence) || !read_ttl(fields[TTL], state) ||
        !read_ttl_ms(fields[LONGEST], &state->longest_ttl_ms) ||
        !rl_transfer_read_u32(fields[SHORTEST], UINT32_MAX, &state->shortest_extension_ms) ||
        !rl_transfer_read_u32(fields[UNRESOLVED], UINT32_MAX, &origin.unresolved) ||
        !rl_transfer_read_list(client, fields[DEPLOYMENT], state->longest_ttl_ms, &origin) ||
        !rl_transfer_read_instants(client, fields[BOUNDS], state->longest_ttl_ms, origin.bounds, origin.order.n))
        return false;
    rl_host_take_ledger(&client->host, &origin, ret);
    state->kind = rl_lock_kind(lock, state->kind);
    return state->kind != NULL;
}

static bool read_text(struct redlock_lock *lock, const char *text, const char *boot, struct rl_host_exported *ret)
{
    char copy[REDLOCK_MAX_EXPORT_BYTES];
    char *fields[N_FIELDS];

    if (strlen(text) >= sizeof copy || !check_matches(text))
        return false;
    memcpy(copy, text, strlen(text) + 1);
    return split(copy, fields) && read_fields(lock, fields, boot, ret);
}

/* The ttl is the exported one; timeout and retry policy of the options play no part. */
static int make_request(const struct redlock_lock *lock, const struct redlock_acquire_options *options,
                        const struct rl_exported_state *state, struct rl_acquire *ret_request)
{
    struct redlock_acquire_options wanted, given;

    redlock_acquire_options_init(&wanted);
    redlock_acquire_options_init(&given);
    if (options && options->size < RL_SMALLEST_OPTIONS)
        return REDLOCK_E_OPTIONS_SIZE;
    if (options)
        memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
    wanted.renew_ms = given.renew_ms;
    wanted.at_risk_ms = given.at_risk_ms;
    wanted.max_hold_ms = given.max_hold_ms;
    wanted.ttl_ms = state->full_ttl_ms ? state->full_ttl_ms : state->ttl_ms;
    return rl_acquire_options_check(rl_client_of(lock), &wanted, lock->host.host->now, ret_request);
}

/* Reads the text, and the renewal that is asked for. 0, or a caller error. */
static int prepare(struct redlock_lock *lock, const struct redlock_acquire_options *options, const char *text,
                   struct rl_host_exported *ret_exported, struct rl_acquire *ret_request)
{
    char boot[RL_UUID_SIZE];

    if (!boot_identity(boot))
        return REDLOCK_E_SYSTEM; /* the text may be good: it can be adopted when there are descriptors again */
    if (!read_text(lock, text, boot, ret_exported))
        return REDLOCK_E_EXPORT;
    return make_request(lock, options, &ret_exported->state, ret_request);
}

int rl_lock_check_text(struct redlock_lock *lock, const struct redlock_acquire_options *options, const char *text)
{
    struct rl_host_exported exported = {.token = ""};
    struct rl_acquire request;

    return prepare(lock, options, text, &exported, &request);
}

int redlock_lock_adopt(struct redlock_lock *lock, const struct redlock_acquire_options *options, const char *text)
{
    struct rl_host_exported exported = {.token = ""};
    struct rl_acquire request;
    int status = text ? rl_lock_begin(lock) : REDLOCK_E_ARGUMENT;

    if (status < 0)
        return status;
    if (lock->host.host->closing)
        return REDLOCK_E_CLOSING;
    status = prepare(lock, options, text, &exported, &request);
    if (status == 0)
        status = rl_lock_check_free(lock);
    if (status == 0)
        status = rl_host_import(&lock->host, &request, &exported);
    if (status == 0)
        rl_usage_begin_hold(lock);
    return status;
}
