#include "story_line.h"

#include "client_calls.h"
#include "client_elections.h"
#include "client_latches.h"
#include "client_looks.h"
#include "client_observers.h"
#include "client_process.h"
#include "client_sets.h"
#include "client_shutdown.h"
#include "kinds/mutex.h"
#include "kinds/permit.h"
#include "kinds/shared.h"
#include "world.h"

/* --- What clients do ---------------------------------------------------------------------------------------------- */

static struct rl_acquire read_request(const struct client *client, const struct words *words)
{
    uint32_t timeout_ms = word_value(words, "timeout", 0);

    return (struct rl_acquire){
        .ttl_ms = word_value(words, "ttl", 1000),
        .max_attempts = word_value(words, "attempts", 0),
        .retry_delay = rl_ms(word_value(words, "delay", 20)),
        .retry_jitter = rl_ms(word_value(words, "jitter", 0)),
        .min_validity = rl_ms(word_value(words, "min", 1)),
        .deadline = timeout_ms ? rl_after(client->host.now, rl_ms(timeout_ms)) : RL_NEVER,
        .once = word_present(words, "once"),
        .wait = word_present(words, "fifo")    ? RL_WAIT_FIFO
                : word_present(words, "queue") ? RL_WAIT_QUEUE
                                               : RL_WAIT_SPIN,
        .kind = word_present(words, "fenced") ? &rl_fenced_kind : &rl_mutex_kind,
        .mode = word_present(words, "shared")        ? RL_SHARED
                : word_present(words, "upgradeable") ? RL_UPGRADEABLE
                                                     : RL_EXCLUSIVE,
        .renew_ms = word_value(words, "renew", 0),
        .at_risk_ms = word_value(words, "risk", 0),
        .own_token = word_present(words, "own-token"),
        .max_hold_ms = word_value(words, "hold", 0),
    };
}

static bool acquire(struct client *client, struct handle *handle, const struct words *words)
{
    struct rl_acquire request = read_request(client, words);

    if ((handle->host.core.state != RL_LOCK_IDLE && handle->host.core.state != RL_LOCK_LOST) || client->host.closing)
        return false;
    handle->permit = word_is(words, 2, "s");
    word_key(words, 2, &handle->key);
    if (handle->permit)
        request.kind = word_present(words, "fenced") ? &rl_fenced_permit_kind : &rl_permit_kind;
    client->world->plan.limits[client->index] = (uint8_t)word_value(words, "limit", 2);
    if (request.mode != RL_EXCLUSIVE)
        request.kind = rl_shared_form(request.kind);
    client_rename_handle(client, handle);
    client_acquire(client, handle, &request);
    return true;
}

static bool campaign(struct client *client, struct handle *handle, const struct words *words)
{
    struct rl_acquire request = read_request(client, words);
    bool once = request.once;

    if ((handle->host.core.state != RL_LOCK_IDLE && handle->host.core.state != RL_LOCK_LOST) || client->host.closing ||
        !word_key(words, 2, &handle->key))
        return false;
    request.once = false;
    request.wait = RL_WAIT_FIFO;
    request.kind = &rl_fenced_kind;
    handle->candidate = true;
    client_rename_handle(client, handle);
    client_campaign(client, handle, &request, once);
    return true;
}

static bool act_on_candidate(struct client *client, struct handle *handle, const struct words *words)
{
    enum rl_candidate_state state = handle->election.state;

    if (word_is(words, 1, "campaign") && state == RL_CANDIDATE_IDLE)
        return campaign(client, handle, words);
    if (!word_is(words, 1, "resign") || state == RL_CANDIDATE_IDLE || state == RL_CANDIDATE_RESIGNING)
        return false;
    client_resign(client, handle);
    return true;
}

/* One lock at a time is on its way from one handle to another. */
static bool adopt(struct client *client, struct handle *handle)
{
    struct parcel parcel = client->world->parcels[0];
    struct rl_acquire request = {.kind = &rl_mutex_kind, .ttl_ms = parcel.exported.state.ttl_ms, .deadline = RL_NEVER};

    if (parcel.box == BOX_NONE || (handle->host.core.state != RL_LOCK_IDLE && handle->host.core.state != RL_LOCK_LOST))
        return false;
    client->world->parcels[0].box = BOX_NONE;
    handle->key = parcel.key;
    handle->permit = false;
    client_rename_handle(client, handle);
    client_adopt(client, handle, &parcel, &request);
    return handle->host.core.state == RL_LOCK_HELD;
}

static bool shut_down(struct client *client, const struct words *words)
{
    if (client->host.closing)
        return false;
    client_shutdown(client, rl_ms(word_value(words, "timeout", 1000)));
    return true;
}

/* Whoever has been told a value may release it. */
static bool release_value(struct client *client, struct handle *handle, const char *value)
{
    struct box *box = box_of_token(&client->world->boxes, value, strlen(value));

    if (!box || handle->host.core.state != RL_LOCK_IDLE || client_is_busy(handle) || client->host.closing)
        return false;
    handle->key = box->key;
    handle->permit = false;
    client_rename_handle(client, handle);
    client_release_value(client, handle, box);
    return true;
}

/* The parts that the words name by shared=KEY or upgradeable=KEY have that mode; the others are exclusive. */
static void acquire_set(struct client *client, const struct words *words)
{
    struct rl_acquire request = read_request(client, words);
    uint8_t modes[MAX_HANDLES] = {RL_EXCLUSIVE};

    for (unsigned i = 0; i < client->set.core.n; i++) {
        const char *key = name_of_key(client->handles[i].key);

        modes[i] = word_pair(words, "shared", key)        ? RL_SHARED
                   : word_pair(words, "upgradeable", key) ? RL_UPGRADEABLE
                                                          : RL_EXCLUSIVE;
    }
    client_acquire_set(client, &request, modes);
}

static bool act_on_set(struct client *client, const struct words *words)
{
    uint8_t state = client->set.state;

    if (word_is(words, 1, "acquire") && (state == SET_IDLE || state == SET_LOST))
        acquire_set(client, words);
    else if (word_is(words, 1, "release") && (state == SET_HELD || state == SET_LOST))
        client_release_set(client);
    else if (word_is(words, 1, "cancel") && state == SET_ACQUIRING)
        client_cancel_set(client);
    else if (word_is(words, 1, "destroy"))
        client_destroy_set(client);
    else
        return false;
    return true;
}

static bool look(struct client *client, const struct words *words)
{
    uint8_t key;

    if (!word_key(words, 2, &key) || client->host.closing)
        return false;
    client_look(client, key);
    return true;
}

static bool observe(struct client *client, const struct words *words)
{
    uint8_t key;

    if (!word_key(words, 2, &key) || client->host.closing || client->observer.name)
        return false;
    client_observe(client, key, rl_ms(word_value(words, "interval", 1000)));
    return true;
}

/* The handle for what the line says of the latch. */
static struct client_latch *find_latch(struct client *client, const struct words *words)
{
    uint8_t generation = words->count > 2 ? (uint8_t)word_number(words, 2) : 0;
    uint8_t party = (uint8_t)(word_value(words, "party", NO_PARTY + 1) - 1);
    uint8_t parties = (uint8_t)word_value(words, "parties", 2);

    for (unsigned i = 0; i < MAX_LATCHES; i++) {
        struct client_latch *latch = &client->latches[i];

        if (latch->number && latch->generation == generation && latch->party == party && latch->parties == parties)
            return latch;
    }
    if (generation < 1 || generation >= LATCH_GENERATIONS || party > NO_PARTY || client->host.closing)
        return NULL;
    return client_add_latch(client, parties, generation, party);
}

static bool act_at_latch(struct client *client, const struct words *words)
{
    enum rl_latch_op op = word_is(words, 1, "arrive") ? RL_LATCH_ARRIVE : RL_LATCH_AWAIT;
    struct client_latch *latch = find_latch(client, words);
    uint32_t timeout_ms = word_value(words, "timeout", 0);

    if (!latch)
        return false;
    if (word_is(words, 1, "forget")) {
        client_destroy_latch(client, latch);
        return true;
    }
    if (client_latch_is_busy(latch, op) || (op == RL_LATCH_ARRIVE && latch->party == NO_PARTY))
        return false;
    client_start_latch(client, latch, op,
                       timeout_ms                    ? rl_ms(timeout_ms)
                       : word_present(words, "once") ? rl_ms(0)
                                                     : (struct rl_span){INT64_MAX});
    return true;
}

static bool act(struct client *client, struct handle *handle, const struct words *words)
{
    uint8_t state = handle->host.core.state;

    if (client_is_part(client, handle))
        return act_on_set(client, words);
    if (word_is(words, 1, "arrive") || word_is(words, 1, "await") || word_is(words, 1, "forget"))
        return act_at_latch(client, words);
    if (word_is(words, 1, "look"))
        return look(client, words);
    if (word_is(words, 1, "observe"))
        return observe(client, words);
    if (word_is(words, 1, "shutdown"))
        return shut_down(client, words);
    if (word_is(words, 1, "campaign") || word_is(words, 1, "resign"))
        return act_on_candidate(client, handle, words);
    if (word_is(words, 1, "acquire"))
        return acquire(client, handle, words);
    if (word_is(words, 1, "cancel"))
        return client_cancel(client, handle);
    if (word_is(words, 1, "adopt"))
        return adopt(client, handle);
    if (word_is(words, 1, "quit"))
        client_quit(client);
    else if (word_is(words, 1, "destroy"))
        client_destroy(client, handle);
    else if (word_is(words, 1, "extend") && state == RL_LOCK_HELD)
        client_extend(client, handle, word_value(words, "ttl", 0));
    else if (word_is(words, 1, "reenter"))
        client_reenter(client, handle, rl_ms(word_value(words, "min", 0)));
    else if (word_is(words, 1, "share") && state == RL_LOCK_HELD)
        client_lower(client, handle, RL_SHARED);
    else if (word_is(words, 1, "lower") && state == RL_LOCK_HELD)
        client_lower(client, handle, RL_UPGRADEABLE);
    else if (word_is(words, 1, "upgrade") && state == RL_LOCK_HELD && !client_is_busy(handle))
        client_upgrade(client, handle, RL_NEVER, word_present(words, "once"));
    else if (word_is(words, 1, "export") && state == RL_LOCK_HELD)
        return client_export(client, handle, &client->world->parcels[0]);
    else if (word_is(words, 1, "release") && words->count > 2)
        return release_value(client, handle, words->text[2]);
    else if (word_is(words, 1, "release") &&
             (state == RL_LOCK_HELD || state == RL_LOCK_EXTENDING || state == RL_LOCK_LOST))
        client_release(client, handle);
    else
        return false;
    return true;
}

static struct handle *word_handle(const struct words *words, unsigned index, struct client *client)
{
    for (unsigned h = 0; h < client->n_handles; h++) {
        if (word_is(words, index, name_of_handle(client, &client->handles[h])))
            return &client->handles[h];
    }
    return NULL;
}

/* The handles that the line begins with do the same, in one turn of their client. */
static bool act_together(struct client *client, const struct words *words)
{
    struct handle *handles[MAX_HANDLES];
    struct words own = *words;
    unsigned n = 0;
    bool done = true;

    while (n < MAX_HANDLES && (handles[n] = word_handle(words, n, client)))
        n++;
    words_drop(&own, n - 1);
    for (unsigned i = 0; i < n && done; i++)
        done = act(client, handles[i], &own);
    return done;
}

static int64_t perform_client(struct world *world, struct client *client, const struct words *words)
{
    bool done;

    if (!client->alive)
        return -1;
    if (client->busy_until > world->now)
        return client->busy_until;
    client_begin(client);
    done = act_together(client, words);
    client_end(client);
    return done ? 0 : -1;
}

static bool perform_process(struct world *world, unsigned index, const struct words *words)
{
    struct client *client = &world->clients[index];

    if (word_is(words, 0, "pause") && words->count == 3) {
        client->busy_until = world->now + word_ns(words, 2);
        client->stopped_until = client->busy_until;
        TRACE(world, name_of_client(index), "is paused");
    } else if (word_is(words, 0, "stand") && words->count == 3 && client->alive) {
        world_event(world, world->now + word_ns(words, 2), EVENT_RECOVER,
                    faults_begin(world, FAULT_STANDSTILL, index, 0, word_ns(words, 2)), 0, 0);
    } else if (word_is(words, 0, "kill") && client->alive) {
        client_kill(world, client);
    } else if (word_is(words, 0, "start") && !client->alive) {
        faults_on_revive(world, index);
    } else {
        return false;
    }
    return true;
}

/* --- What happens to connections ---------------------------------------------------------------------------------- */

static void partition(struct world *world, unsigned client, unsigned master, const struct words *words, bool on)
{
    for (unsigned direction = UP; direction <= DOWN; direction++) {
        if (word_present(words, direction == UP ? "down" : "up"))
            continue;
        if (on)
            network_block(world, client, master, (enum direction)direction);
        else
            network_unblock(world, client, master, (enum direction)direction);
    }
}

static void break_connection(struct world *world, unsigned client, unsigned master, const struct words *words)
{
    uint32_t before[2] = {world->keep[UP], world->keep[DOWN]};
    uint16_t conn = world->clients[client].wires[master].conn;

    world->keep[UP] = word_value(words, "requests", 0);
    world->keep[DOWN] = word_value(words, "replies", 0);
    if (conn != CONN_NONE)
        network_cut(world, conn, word_present(words, "silently") ? -1 : 0);
    world->keep[UP] = before[UP];
    world->keep[DOWN] = before[DOWN];
}

static void lead(struct world *world, unsigned client, unsigned node, const struct words *words)
{
    unsigned master;

    if (word_master(words, 3, &master))
        network_lead(world, client, node, master);
}

static bool perform_path(struct world *world, const struct words *words)
{
    unsigned client;
    unsigned master;

    if (!word_client(words, 1, &client) || !word_master(words, 2, &master))
        return false;
    if (word_is(words, 0, "partition"))
        partition(world, client, master, words, true);
    else if (word_is(words, 0, "heal"))
        partition(world, client, master, words, false);
    else if (word_is(words, 0, "break"))
        break_connection(world, client, master, words);
    else if (word_is(words, 0, "lead") && words->count == 4)
        lead(world, client, master, words);
    else if (word_is(words, 0, "slow") && words->count == 5)
        network_path(world, client, master)->slow[word_is(words, 3, "up") ? UP : DOWN] = word_ns(words, 4);
    else
        return false;
    TRACE(world, "--", "%s %s %s %s", words->text[0], words->text[1], words->text[2],
          words->count > 3 ? words->text[3] : "");
    return true;
}

/* --- What happens to masters -------------------------------------------------------------------------------------- */

static enum master_error error_of(const struct words *words)
{
    if (word_is(words, 2, "before"))
        return ERROR_BEFORE;
    if (word_is(words, 2, "writes"))
        return ERROR_WRITES;
    if (word_is(words, 2, "memory"))
        return ERROR_MEMORY;
    return ERROR_OBSCURE;
}

static void crash(struct world *world, struct master *master, const struct words *words)
{
    enum master_loss loss = word_is(words, 2, "lost")     ? LOSS_ALL
                            : word_is(words, 2, "second") ? LOSS_LAST_SECOND
                                                          : LOSS_NONE;

    master_crash(world, master, loss, word_present(words, "silently"));
}

static bool perform_master(struct world *world, const struct words *words)
{
    unsigned index;
    unsigned source;
    struct master *master;

    if (!word_master(words, 1, &index))
        return false;
    master = &world->masters[index];
    if (word_is(words, 0, "hang"))
        master_hang(world, master);
    else if (word_is(words, 0, "resume") && master->hung)
        master_resume(world, master);
    else if (word_is(words, 0, "crash") && master->up)
        crash(world, master, words);
    else if (word_is(words, 0, "restart") && !master->up)
        master_restart(world, master);
    else if (word_is(words, 0, "flush") && master->up)
        master_flush(world, master);
    else if (word_is(words, 0, "demote"))
        master_demote(world, master, word_master(words, 2, &source) ? &world->masters[source] : NULL);
    else if (word_is(words, 0, "promote"))
        master_promote(world, master);
    else if (word_is(words, 0, "refuse"))
        master->error = (uint8_t)error_of(words);
    else if (word_is(words, 0, "accept"))
        master->error = ERROR_NONE;
    else if (word_is(words, 0, "forget-scripts"))
        master->scripts = 0;
    else if (word_is(words, 0, "step") && words->count == 3)
        master_step_clock(world, master, word_ns(words, 2));
    else if (word_is(words, 0, "freeze") && words->count == 2)
        master_set_rate(world, master, NEARLY_STILL);
    else if (word_is(words, 0, "thaw") && words->count == 2)
        master_set_rate(world, master, CLOCKWORK_PAR);
    else
        return false;
    return true;
}

/* --- What operators do -------------------------------------------------------------------------------------------- */

static bool perform_operator(struct world *world, const struct words *words)
{
    unsigned index = words->count > 1 ? word_number(words, 1) - 1 : MAX_OPERATORS;
    uint16_t reached = 0;

    if (index + 1 >= world->plan.n_lists)
        return false;
    if (word_is(words, 0, "change"))
        change_begin(world, index);
    else if (word_is(words, 0, "abandon"))
        change_abandon(world, index);
    else if (word_is(words, 0, "back"))
        rl_change_abort(&world->change.operators[index].run);
    else if (!word_is(words, 0, "reach"))
        return false;
    for (unsigned i = 2; i < words->count; i++) {
        unsigned master;

        if (!word_master(words, i, &master))
            return false;
        reached |= (uint16_t)(1u << master);
    }
    if (word_is(words, 0, "reach"))
        change_cut(world, index, reached ? (uint16_t)~reached : 0, INT64_MAX);
    return true;
}

int64_t line_perform(struct world *world, const struct words *words)
{
    unsigned client;

    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        if (word_handle(words, 0, &world->clients[c]))
            return perform_client(world, &world->clients[c], words);
    }
    if (word_client(words, 1, &client) && words->count < 4 && perform_process(world, client, words))
        return 0;
    if (word_is(words, 0, "declare") && words->count == 2) {
        operator_declare(world, word_number(words, 1));
        return 0;
    }
    if (perform_path(world, words) || perform_operator(world, words))
        return 0;
    return perform_master(world, words) ? 0 : -1;
}
