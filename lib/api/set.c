/* Sets: their life, and the keys that are added to them. A set is made of ordinary locks. */
#include "api/set.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/semaphore.h>

#include "api/handle.h"
#include "api/lock.h"
#include "api/lock_state.h"
#include "api/object.h"
#include "api/public.h"
#include "api/set_acquire.h"
#include "api/set_hold.h"

/* --- Life ------------------------------------------------------------------------------------------------------- */

static struct redlock_set *set_of(const struct rl_object *object)
{
    return RL_CONTAINER_OF((struct rl_object *)(uintptr_t)object, struct redlock_set, object);
}

static void destroy(struct rl_object *object)
{
    struct redlock_set *set = set_of(object);

    for (unsigned i = 0; i < set->n; i++)
        rl_object_destroy(&set->parts[i].lock->object);
    rl_set_cancel_all(set);
}

/* The release of all parts begins. The set is not held any more, and no acquisition succeeds, nor goes on to the next
 * key, where the answers that decide it wait to be told. */
static bool end(struct rl_object *object)
{
    struct redlock_set *set = set_of(object);
    bool again = false;

    for (unsigned i = 0; i < set->n; i++)
        again |= rl_lock_type.end(&set->parts[i].lock->object);
    if (set->state == REDLOCK_STATE_HELD)
        set->state = REDLOCK_STATE_IDLE;
    set->core.canceled = set->state == REDLOCK_STATE_ACQUIRING;
    return again;
}

static bool is_busy(const struct rl_object *object)
{
    const struct redlock_set *set = set_of(object);

    for (unsigned i = 0; i < set->n; i++) {
        if (rl_lock_is_busy(set->parts[i].lock))
            return true;
    }
    return false;
}

static void give_memory_back(struct rl_object *object)
{
    free(set_of(object));
}

/* The callbacks of a set run in those of its locks. */
static const struct rl_object_type type = {
    .kind = RL_OBJECT_SET,
    .destroy = destroy,
    .end = end,
    .is_busy = is_busy,
    .free = give_memory_back,
};

int redlock_set_create(struct redlock_client *client, struct redlock_set **ret_set)
{
    struct redlock_set *set;

    if (!client || !ret_set)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    if (client->host.closing)
        return REDLOCK_E_CLOSING;
    set = calloc(1, sizeof *set);
    if (!set)
        return REDLOCK_E_NOMEM;
    rl_object_init(&set->object, client, &type);
    set->state = REDLOCK_STATE_IDLE;
    *ret_set = set;
    return 0;
}

static int add(struct redlock_set *set, const void *key, size_t key_size, int mode)
{
    struct redlock_lock *lock;
    int status = rl_set_check_addition(set, key, key_size);

    if (status == 0)
        status = rl_set_check_room(set, key, key_size, 1, 0);
    if (status == 0)
        status = redlock_lock_create(set->object.client, key, key_size, &lock);
    if (status < 0)
        return status;
    rl_set_insert(set, rl_set_place_for(set, key, key_size),
                  (struct rl_set_member){.lock = lock, .mode = (int8_t)mode});
    return 0;
}

int redlock_set_add(struct redlock_set *set, const void *key, size_t key_size)
{
    return add(set, key, key_size, RL_MODE_OF_OPTIONS);
}

int redlock_set_add_mode(struct redlock_set *set, const void *key, size_t key_size, enum redlock_mode mode)
{
    if (!set || (!key && key_size))
        return REDLOCK_E_ARGUMENT;
    if (!rl_mode_is_valid(mode))
        return REDLOCK_E_MODE;
    return add(set, key, key_size, (int)mode);
}

void redlock_set_destroy(struct redlock_set *set)
{
    rl_object_destroy(set ? &set->object : NULL);
}

int redlock_set_keep_rest(struct redlock_set *set, int keep)
{
    int status = rl_object_check(set ? &set->object : NULL);

    if (status < 0)
        return status;
    set->keeps_rest = keep != 0;
    return 0;
}

int redlock_set_watch(struct redlock_set *set, redlock_set_watch_fn watch, void *user_data)
{
    int status = rl_object_check(set ? &set->object : NULL);

    if (status < 0)
        return status;
    set->watch = watch;
    set->watch_data = user_data;
    return 0;
}

/* Shorter keys come before longer ones that begin with them. */
static int compare(const struct redlock_lock *lock, const void *key, size_t key_size)
{
    size_t size;
    const void *own = redlock_lock_key(lock, &size);
    int order = memcmp(own, key, size < key_size ? size : key_size);

    return order ? order : (size > key_size) - (size < key_size);
}

/* The alarm of a lost part may be still to come. */
void rl_set_insert(struct redlock_set *set, unsigned at, struct rl_set_member part)
{
    if (at <= set->lost_part)
        set->lost_part++;
    memmove(set->parts + at + 1, set->parts + at, (set->n - at) * sizeof set->parts[0]);
    set->parts[at] = part;
    set->n++;
    rl_object_give_away(&part.lock->object);
    redlock_lock_watch(part.lock, rl_set_alarm, set);
}

int rl_set_check_addition(struct redlock_set *set, const void *key, size_t key_size)
{
    int status = !set || key || !key_size ? rl_set_check(set) : REDLOCK_E_ARGUMENT;

    if (status < 0)
        return status;
    if (rl_set_is_busy(set))
        return REDLOCK_E_BUSY;
    return set->state == REDLOCK_STATE_HELD ? REDLOCK_E_ALREADY_HELD : 0;
}

/* A gate stands where its permits do. */
static const struct redlock_lock *orders_by(const struct redlock_set *set, unsigned part)
{
    return set->parts[part + rl_set_is_gate(set, part)].lock;
}

unsigned rl_set_place_for(const struct redlock_set *set, const void *key, size_t key_size)
{
    unsigned at = 0;

    while (at < set->n && compare(orders_by(set, at), key, key_size) < 0)
        at++;
    return at;
}

bool rl_set_has_key(const struct redlock_set *set, const void *key, size_t key_size)
{
    for (unsigned i = 0; i < set->n; i++) {
        if (compare(set->parts[i].lock, key, key_size) == 0)
            return true;
    }
    return false;
}

/* The key is "KEY#s", a slot of this semaphore: whoever holds the permit with that slot holds this key. */
static bool is_slot(const void *key, size_t key_size, const void *semaphore, size_t semaphore_size, uint32_t limit)
{
    const char *at = (const char *)key + semaphore_size;
    const char *end = (const char *)key + key_size;
    uint32_t slot = 0;

    if (key_size < semaphore_size + 2 || memcmp(key, semaphore, semaphore_size) != 0 || *at++ != '#' ||
        (*at == '0' && end - at > 1))
        return false;
    for (; at < end && slot < limit; at++) {
        if (*at < '0' || *at > '9')
            return false;
        slot = slot * 10 + (uint32_t)(*at - '0');
    }
    return slot < limit;
}

/* A set that had a permit, and the key of its slot, would wait for itself. `limit` is 0 for a key that is no
 * semaphore's. */
static bool has_slot(const struct redlock_set *set, const void *key, size_t key_size, uint32_t limit)
{
    for (unsigned i = 0; i < set->n; i++) {
        uint32_t own_limit = redlock_lock_limit(set->parts[i].lock);
        size_t size;
        const void *own = redlock_lock_key(set->parts[i].lock, &size);

        if (limit == 0 ? own_limit != 0 && is_slot(key, key_size, own, size, own_limit)
                       : own_limit == 0 && is_slot(own, size, key, key_size, limit))
            return true;
    }
    return false;
}

int rl_set_check_room(const struct redlock_set *set, const void *key, size_t key_size, uint32_t n, uint32_t limit)
{
    return n > REDLOCK_MAX_SET_KEYS - redlock_set_size(set) || rl_set_has_key(set, key, key_size) ||
                   has_slot(set, key, key_size, limit)
               ? REDLOCK_E_SET_KEYS
               : 0;
}

/* Permits of a semaphore as parts of a set: several of one semaphore have a mutex, their gate, in front of them
 * (rule 10.5). */

int redlock_set_add_permit(struct redlock_set *set, const void *key, size_t key_size, uint32_t limit)
{
    return redlock_set_add_permits(set, key, key_size, 1, limit);
}

#define GATE_SUFFIX "#gate"

static int create_gate(struct redlock_set *set, const void *key, size_t key_size, struct redlock_lock **ret_lock)
{
    size_t size = key_size + sizeof GATE_SUFFIX - 1;
    char *name = malloc(size);
    int status = name ? 0 : REDLOCK_E_NOMEM;

    if (name) {
        memcpy(name, key, key_size);
        memcpy(name + key_size, GATE_SUFFIX, sizeof GATE_SUFFIX - 1);
        status = rl_set_has_key(set, name, size) ? REDLOCK_E_SET_KEYS
                                                 : redlock_lock_create(set->object.client, name, size, ret_lock);
    }
    free(name);
    return status;
}

/* Of several permits the gate comes first. All or none are made. */
static int create_permits(struct redlock_set *set, const void *key, size_t key_size, uint32_t limit,
                          struct redlock_lock **locks, unsigned n)
{
    unsigned made = 0;
    int status = 0;

    if (n > 1)
        status = create_gate(set, key, key_size, &locks[made]);
    made = n > 1 && status == 0;
    while (status == 0 && made < n) {
        status = redlock_permit_create(set->object.client, key, key_size, limit, &locks[made]);
        made += status == 0;
    }
    while (status < 0 && made > 0)
        redlock_lock_destroy(locks[--made]);
    return status;
}

int redlock_set_add_permits(struct redlock_set *set, const void *key, size_t key_size, uint32_t n, uint32_t limit)
{
    struct redlock_lock *locks[REDLOCK_MAX_SET_KEYS + 1];
    int status = rl_set_check_addition(set, key, key_size);
    unsigned parts = n > 1 ? n + 1 : n;
    unsigned at;

    if (status < 0)
        return status;
    if (n == 0 || n > limit || limit > REDLOCK_MAX_PERMITS)
        return REDLOCK_E_PERMITS;
    status = rl_set_check_room(set, key, key_size, n, limit);
    if (status == 0)
        status = create_permits(set, key, key_size, limit, locks, parts);
    if (status < 0)
        return status;
    at = rl_set_place_for(set, key, key_size);
    for (unsigned i = parts; i-- > 0;)
        rl_set_insert(set, at, (struct rl_set_member){.lock = locks[i], .mode = REDLOCK_EXCLUSIVE,
                                                      .is_gate = parts > 1 && i == 0, .is_behind_gate = i > 0});
    return 0;
}
