#include "faults.h"

#include "world.h"

const char *const fault_names[FAULT_COUNT] = {
#define FAULT_NAME(name, text) #name,
    FAULT_MAP(FAULT_NAME)
#undef FAULT_NAME
};

const char *const fault_texts[FAULT_COUNT] = {
#define FAULT_TEXT(name, text) text,
    FAULT_MAP(FAULT_TEXT)
#undef FAULT_TEXT
};

static void strike_later(struct world *world, enum fault fault)
{
    int64_t interval = world->plan.fault_interval[fault];

    world_event(world, world->now + rng_between(&world->fate, interval / 8, 2 * interval), EVENT_STRIKE, fault, 0, 0);
}

void faults_start(struct world *world)
{
    for (unsigned i = 0; i < MAX_ONGOING; i++)
        world->ongoing[i].active = 0;
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        if (!plan_has(&world->plan, (enum fault)i) || i == FAULT_HICCUP || i == FAULT_NO_MEMORY)
            continue; /* those happen where they happen */
        if (i == FAULT_DRIFT || i == FAULT_LATE_TIMERS)
            world->coverage->faults[i]++;
        else
            strike_later(world, (enum fault)i);
    }
}

static int64_t length_of(struct world *world, enum fault fault)
{
    return rng_scaled(&world->fate, RL_NS_PER_MS, world->plan.fault_length[fault]);
}

/* --- Faults that last --------------------------------------------------------------------------------------------- */

static void change_block(struct world *world, const struct ongoing *ongoing, enum direction direction, bool on)
{
    if (on)
        network_block(world, ongoing->client, ongoing->master, direction);
    else
        network_unblock(world, ongoing->client, ongoing->master, direction);
}

static void isolate(struct world *world, const struct ongoing *ongoing, bool on)
{
    struct ongoing pair = *ongoing;

    for (pair.master = 0; pair.master < world->plan.n_masters; pair.master++) {
        change_block(world, &pair, UP, on);
        change_block(world, &pair, DOWN, on);
    }
}

static void change_error(struct world *world, const struct ongoing *ongoing, enum master_error error, bool on)
{
    struct master *master = &world->masters[ongoing->master];

    master->error = (uint8_t)(on ? error : ERROR_NONE);
    master->error_choice = (uint8_t)rng_below(&world->fate, 256);
}

/* The bytes that the kernel would not take go out with the next turn: here. */
static void change_stuck(struct world *world, const struct ongoing *ongoing, bool on)
{
    const struct client *client = &world->clients[ongoing->client];
    struct path *path = network_path(world, ongoing->client, ongoing->master);

    path->stuck = (uint8_t)(path->stuck + (on ? 1 : -1));
    if (!on)
        world_event(world, world->now, EVENT_WIRE, ongoing->client, ongoing->master,
                    client->wires[ongoing->master].timer_generation);
}

static void change_slow(struct world *world, const struct ongoing *ongoing, bool on)
{
    struct path *path = network_path(world, ongoing->client, ongoing->master);

    path->slow[ongoing->amount & 1] += on ? ongoing->amount : -ongoing->amount;
}

static void apply(struct world *world, const struct ongoing *ongoing, bool on)
{
    struct master *master = &world->masters[ongoing->master];

    switch ((enum fault)ongoing->fault) {
    case FAULT_PARTITION:
        change_block(world, ongoing, UP, on);
        change_block(world, ongoing, DOWN, on);
        break;
    case FAULT_PARTITION_UP:
        change_block(world, ongoing, UP, on);
        break;
    case FAULT_PARTITION_DOWN:
        change_block(world, ongoing, DOWN, on);
        break;
    case FAULT_ISOLATE:
        isolate(world, ongoing, on);
        break;
    case FAULT_HANG:
        if (on)
            master_hang(world, master);
        else
            master_resume(world, master);
        break;
    case FAULT_SLOW:
        change_slow(world, ongoing, on);
        break;
    case FAULT_STUCK:
        change_stuck(world, ongoing, on);
        break;
    case FAULT_ERROR_BEFORE:
        change_error(world, ongoing, ERROR_BEFORE, on);
        break;
    case FAULT_ERROR_WRITES:
        change_error(world, ongoing, ERROR_WRITES, on);
        break;
    case FAULT_ERROR_MEMORY:
        change_error(world, ongoing, ERROR_MEMORY, on);
        break;
    case FAULT_ERROR_OBSCURE:
        change_error(world, ongoing, ERROR_OBSCURE, on);
        break;
    default:
        break;
    }
}

static void trace_ongoing(struct world *world, const struct ongoing *ongoing, bool on)
{
    TRACE(world, "--", "%s: %s (%s, %s)", fault_texts[ongoing->fault], on ? "begins" : "ends",
          name_of_client(ongoing->client), name_of_master(ongoing->master));
}

unsigned faults_begin(struct world *world, enum fault fault, unsigned client, unsigned master, int64_t amount)
{
    for (unsigned slot = 0; slot < MAX_ONGOING; slot++) {
        struct ongoing *ongoing = &world->ongoing[slot];

        if (ongoing->active)
            continue;
        *ongoing = (struct ongoing){(uint8_t)fault, (uint8_t)client, (uint8_t)master, 1, amount};
        trace_ongoing(world, ongoing, true);
        apply(world, ongoing, true);
        world->coverage->faults[fault]++;
        return slot;
    }
    return MAX_ONGOING;
}

void faults_on_recover(struct world *world, unsigned slot)
{
    struct ongoing *ongoing = &world->ongoing[slot];

    if (!ongoing->active)
        return;
    ongoing->active = 0;
    trace_ongoing(world, ongoing, false);
    apply(world, ongoing, false);
}

/* --- Faults of the moment ----------------------------------------------------------------------------------------- */

static void cut_conn(struct world *world, uint16_t index, bool tell)
{
    const struct conn *conn = &world->conns[index];

    TRACE(world, "--", "connection %s-%s breaks%s", name_of_client(conn->client), name_of_master(conn->master),
          tell ? "" : ", silently");
    network_cut(world, index, tell ? rng_scaled(&world->fate, RL_NS_PER_US, 20 * RL_NS_PER_MS) : -1);
    world->coverage->faults[tell ? FAULT_CUT : FAULT_HALF_OPEN]++;
}

static void cut(struct world *world, unsigned client, unsigned master, bool tell)
{
    uint16_t conn = world->clients[client].wires[master].conn;

    if (world->clients[client].alive && conn != CONN_NONE && !world->conns[conn].severed)
        cut_conn(world, conn, tell);
}

void faults_on_send(struct world *world, uint16_t conn, enum rl_step step)
{
    uint32_t permille = step == RL_STEP_EXTEND ? 20 : 4;

    if (world->phase != PHASE_FAULTS)
        return;
    if (plan_has(&world->plan, FAULT_CUT) && rng_chance(&world->fate, permille))
        cut_conn(world, conn, true);
    else if (plan_has(&world->plan, FAULT_HALF_OPEN) && rng_chance(&world->fate, permille / 2))
        cut_conn(world, conn, false);
}

static void pause(struct world *world, unsigned index)
{
    struct client *client = &world->clients[index];
    int64_t until = world->now + length_of(world, FAULT_PAUSE);

    TRACE(world, name_of_client(index), "paused until %.3f", (double)until / 1e6);
    if (client->busy_until < until)
        client->busy_until = until;
    client->stopped_until = client->busy_until;
    world->coverage->faults[FAULT_PAUSE]++;
}

/* A3: while there is no quarantine, who may have lost keys stays away until they have ended everywhere. */
void faults_crash(struct world *world, unsigned index, enum master_loss loss, bool silent, int64_t restart_after)
{
    struct master *master = &world->masters[index];
    int64_t away = rl_ms(world->plan.max_ttl_ms).ns + RL_NS_PER_MS;

    if (!master->up)
        return;
    master_crash(world, master, loss, silent);
    if (master->loss != LOSS_NONE && !world->plan.unsafe_restarts && restart_after < away)
        restart_after = away;
    master->restart_at = world->now + restart_after;
    world_event(world, master->restart_at, EVENT_RESTART, index, 0, 0);
}

static void crash(struct world *world, enum fault fault, unsigned master)
{
    enum master_loss loss = fault == FAULT_CRASH_KEEP     ? LOSS_NONE
                            : fault == FAULT_CRASH_SECOND ? LOSS_LAST_SECOND
                                                          : LOSS_ALL;

    if (!world->masters[master].up)
        return;
    faults_crash(world, master, loss, rng_chance(&world->fate, 300), length_of(world, fault));
    world->coverage->faults[fault]++;
}

void faults_on_restart(struct world *world, unsigned master)
{
    if (!world->masters[master].up)
        master_restart(world, &world->masters[master]);
}

static void kill_client(struct world *world, unsigned index)
{
    struct client *client = &world->clients[index];

    if (!client->alive || client->busy_until > world->now)
        return;
    client_kill(world, client);
    client->revive_at = world->now + length_of(world, FAULT_CLIENT_CRASH);
    world_event(world, client->revive_at, EVENT_REVIVE, index, 0, 0);
    world->coverage->faults[FAULT_CLIENT_CRASH]++;
}

void faults_on_revive(struct world *world, unsigned client)
{
    TRACE(world, name_of_client(client), "starts again");
    client_start(world, &world->clients[client]);
    workload_on_revive(world, &world->clients[client]);
}

/* A client in the middle of a turn has read its clock already for the time that is to come: it stays as it is. */
static void slew(struct world *world, unsigned client, unsigned master)
{
    world->coverage->faults[FAULT_SLEW]++;
    if (rng_chance(&world->fate, 500))
        master_set_rate(world, &world->masters[master], plan_master_rate(&world->plan, &world->fate, true));
    else if (world->clients[client].alive && world->clients[client].busy_until <= world->now)
        client_set_rate(&world->clients[client], plan_client_rate(&world->plan, &world->fate, true));
}

static void step_clock(struct world *world, enum fault fault, unsigned master)
{
    int64_t by = rng_scaled(&world->fate, RL_NS_PER_MS, rl_ms(2 * world->plan.max_ttl_ms).ns);

    master_step_clock(world, &world->masters[master], fault == FAULT_STEP_BACK ? -by : by);
    world->coverage->faults[fault]++;
}

static void strike(struct world *world, enum fault fault, unsigned client, unsigned master)
{
    switch (fault) {
    case FAULT_CUT:
    case FAULT_HALF_OPEN:
        cut(world, client, master, fault == FAULT_CUT);
        break;
    case FAULT_PAUSE:
        pause(world, client);
        break;
    case FAULT_CRASH_KEEP:
    case FAULT_CRASH_SECOND:
    case FAULT_CRASH_LOSE:
        crash(world, fault, master);
        break;
    case FAULT_FLUSH_SCRIPTS:
        world->masters[master].scripts = 0;
        world->coverage->faults[fault]++;
        break;
    case FAULT_CLIENT_CRASH:
        kill_client(world, client);
        break;
    case FAULT_SLEW:
        slew(world, client, master);
        break;
    case FAULT_STEP_BACK:
    case FAULT_STEP_FORWARD:
        step_clock(world, fault, master);
        break;
    default:
        break;
    }
}

static bool lasts(enum fault fault)
{
    switch (fault) {
    case FAULT_PARTITION:
    case FAULT_PARTITION_UP:
    case FAULT_PARTITION_DOWN:
    case FAULT_ISOLATE:
    case FAULT_HANG:
    case FAULT_SLOW:
    case FAULT_STUCK:
    case FAULT_ERROR_BEFORE:
    case FAULT_ERROR_WRITES:
    case FAULT_ERROR_MEMORY:
    case FAULT_ERROR_OBSCURE:
        return true;
    default:
        return false;
    }
}

void faults_on_script(struct world *world, struct master *master)
{
    if (world->phase != PHASE_FAULTS || !plan_has(&world->plan, FAULT_FLUSH_SCRIPTS) || !rng_chance(&world->fate, 50))
        return;
    master->scripts = 0;
    world->coverage->faults[FAULT_FLUSH_SCRIPTS]++;
}

void faults_on_strike(struct world *world, enum fault fault)
{
    unsigned client = rng_below(&world->fate, world->plan.n_clients);
    unsigned master = rng_below(&world->fate, world->plan.n_masters);
    int64_t length = length_of(world, fault);

    if (world->phase != PHASE_FAULTS)
        return;
    strike_later(world, fault);
    if (lasts(fault)) {
        unsigned slot = faults_begin(world, fault, client, master, length);

        if (slot < MAX_ONGOING)
            world_event(world, world->now + length, EVENT_RECOVER, slot, 0, 0);
    } else {
        strike(world, fault, client, master);
    }
}

/* Pauses, restarts and new processes that are already under way end in their own time; the rest ends now. */
int64_t faults_heal(struct world *world)
{
    int64_t healed = world->now;

    for (unsigned slot = 0; slot < MAX_ONGOING; slot++)
        faults_on_recover(world, slot);
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        world->masters[m].error = ERROR_NONE;
        if (!world->masters[m].up && world->masters[m].restart_at > healed)
            healed = world->masters[m].restart_at;
    }
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];
        int64_t ready = client->alive ? client->busy_until : client->revive_at;

        if (ready > healed)
            healed = ready;
    }
    return healed;
}
