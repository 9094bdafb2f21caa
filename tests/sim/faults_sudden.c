/* Faults of the moment. */
#include "faults_parts.h"

#include <stdlib.h>

#include "client_host.h"
#include "client_process.h"
#include "world.h"

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
    unsigned place = client_find_place(&world->clients[client], master);
    uint16_t conn = place == NO_PLACE ? CONN_NONE : world->clients[client].wires[place].conn;

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
    int64_t until = world->now + fault_length(world, FAULT_PAUSE);

    TRACE(world, name_of_client(index), "paused until %.3f", (double)until / 1e6);
    if (client->busy_until < until)
        client->busy_until = until;
    client->stopped_until = client->busy_until;
    world->coverage->faults[FAULT_PAUSE]++;
}

/* A3: where there is no quarantine, who may have lost keys stays away until they have ended everywhere. */
void faults_crash(struct world *world, unsigned index, enum master_loss loss, bool silent, int64_t restart_after)
{
    struct master *master = &world->masters[index];
    int64_t away = rl_ms(world->plan.max_ttl_ms).ns + RL_NS_PER_MS;

    if (!master->up)
        return;
    master_crash(world, master, loss, silent);
    if (master->loss != LOSS_NONE && !world->plan.guarded && !world->plan.unsafe_restarts && restart_after < away)
        restart_after = away;
    master->restart_at = world->now + restart_after;
    world_event(world, master->restart_at, EVENT_RESTART, index, 0, 0);
}

/* In guarded worlds what is lost depends on the master's settings, and a clean shutdown keeps everything. */
static enum master_loss loss_of(const struct world *world, enum fault fault, unsigned master)
{
    static const uint8_t losses[] = {LOSS_ALL, LOSS_LAST_SECOND, LOSS_NONE};

    if (fault == FAULT_CRASH_KEEP)
        return LOSS_NONE;
    if (world->plan.guarded)
        return (enum master_loss)losses[world->masters[master].durability];
    return fault == FAULT_CRASH_SECOND ? LOSS_LAST_SECOND : LOSS_ALL;
}

static void crash(struct world *world, enum fault fault, unsigned master)
{
    int64_t away = fault_length(world, fault);

    if (!world->masters[master].up ||
        (loss_of(world, fault, master) != LOSS_NONE && !operator_lets_forget(world, master)))
        return;
    if (world->plan.guarded && rng_chance(&world->fate, 300))
        away = RL_NS_PER_MS;
    faults_crash(world, master, loss_of(world, fault, master), rng_chance(&world->fate, 300), away);
    world->coverage->faults[fault]++;
}

/* Any number of masters may lose their memory at once: the quarantine must do. */
static void strike_memory(struct world *world, enum fault fault, unsigned master)
{
    uint32_t others = world->plan.guarded && rng_chance(&world->fate, 250) ? rng_below(&world->fate, 1000) : 0;

    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        if (m != master && !rng_chance(&world->fate, others))
            continue;
        if (fault != FAULT_FLUSH) {
            crash(world, fault, m);
        } else if (world->masters[m].up && operator_lets_forget(world, m)) {
            master_flush(world, &world->masters[m]);
            world->coverage->faults[fault]++;
        }
    }
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
    client->revive_at = world->now + fault_length(world, FAULT_CLIENT_CRASH);
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

/* The counters of fencing tokens live for a day by their master's clock, and have to survive (rule 1.2): between two
 * readings of one clock its steps amount to less. */
#define FARTHEST_NS (INT64_C(12) * 3600 * 1000 * RL_NS_PER_MS)

static void step_clock(struct world *world, enum fault fault, unsigned master)
{
    int64_t by = rng_scaled(&world->fate, RL_NS_PER_MS, rl_ms(2 * world->plan.max_ttl_ms).ns);
    int64_t step = fault == FAULT_STEP_BACK ? -by : by;
    int64_t reading = clockwork_read(&world->masters[master].clock, world->now);

    if (llabs(reading + step - world->plan.master_offset[master]) > FARTHEST_NS)
        return;
    master_step_clock(world, &world->masters[master], step);
    world->coverage->faults[fault]++;
}

void fault_strike(struct world *world, enum fault fault, unsigned client, unsigned master)
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
    case FAULT_FLUSH:
        strike_memory(world, fault, master);
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
