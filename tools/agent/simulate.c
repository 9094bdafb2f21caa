/* Masters without servers, for the tests of programs. Time goes on as the system's does, and sim.advance lets more of
 * it pass for the agent and its masters. Programs are told of deadlines on their own clock: each is told anew after
 * that, and is earlier by as much, unless the lock has been renewed. */
#include <stdio.h>
#include <string.h>

#ifdef HAVE_SIMULATION
#include <redlock/simulation.h>
#endif

#include "agent/agent.h"
#include "agent/fields.h"

#ifdef HAVE_SIMULATION

enum { N_MASTERS = 3, STEAL_MS = 60000 };

bool simulate_begin(struct agent_options *options)
{
    struct cli_masters *masters = &options->common.masters;
    struct redlock_error error;

    if (masters->count > 0)
        cli_error("agent", "--simulate has masters of its own: leave out --node, --nodes and --nodes-file");
    else if (options->state)
        cli_error("agent", "--state and --simulate exclude each other: these masters end with the agent");
    else if (redlock_simulation_create(N_MASTERS, &simulation, &error) < 0)
        cli_error("agent", "--simulate: %s", error.text);
    if (!simulation)
        return false;
    for (masters->count = 0; masters->count < N_MASTERS; masters->count++)
        masters->urls[masters->count] = redlock_simulation_masters(simulation)[masters->count];
    cli_error("agent", "--simulate: this is for tests, and its locks exclude the programs of this agent alone");
    return true;
}

void simulate_end(void)
{
    redlock_simulation_destroy(simulation);
    simulation = NULL;
}

/* --- sim.advance -------------------------------------------------------------------------------------------------- */

static void on_advanced(void *data);

/* Up to the end of the next thing that lingers, which makes room for others. */
static void advance(struct agent *agent)
{
    uint64_t next_ms = things_next_ms(agent);
    uint64_t ms = agent->advance_ms < next_ms ? agent->advance_ms : next_ms;

    agent->advance_ms -= ms;
    redlock_simulation_begin(simulation, ms, on_advanced, agent);
}

static void on_advanced(void *data)
{
    struct agent *agent = data;
    struct request *request = agent->advance;

    things_pass(agent);
    if (agent->advance_ms > 0) {
        advance(agent);
        return;
    }
    held_tell_all(agent);
    candidates_tell(agent, true);
    agent->advance = NULL;
    answer(request->peer, answer_ok(request->id));
    request_end(request);
}

static void op_advance(struct peer *peer, int64_t id, json_t *words)
{
    uint32_t by_ms = 0;
    const struct field fields[] = {{"by", FIELD_DURATION, &by_ms, true}, {0}};
    char why[FIELDS_WHY_SIZE];
    struct agent *agent = peer->agent;

    if (!fields_read(words, fields, why)) {
        answer_wrong(peer, id, why);
    } else if (agent->advance) {
        answer_refused(peer, id, "REDLOCK_E_BUSY", "the time is being advanced: wait for that answer");
    } else if ((agent->advance = request_begin(peer, id, NULL))) {
        agent->advance_ms = by_ms;
        advance(agent);
    }
}

/* --- What becomes of locks, and of masters ------------------------------------------------------------------------ */

/* As the masters have it. False, after the answer. */
static bool full_key(struct peer *peer, int64_t id, const char *key, char ret_key[REDLOCK_MAX_KEY_BYTES + 1])
{
    const char *prefix = peer->agent->options->common.prefix;

    if (!peer_may_use(peer, id, key))
        return false;
    if (snprintf(ret_key, REDLOCK_MAX_KEY_BYTES + 1, "%s%s", prefix, key) <= REDLOCK_MAX_KEY_BYTES)
        return true;
    answer_status(peer, id, REDLOCK_E_KEY_TOO_LONG);
    return false;
}

static void op_lose(struct peer *peer, int64_t id, json_t *words)
{
    const char *key = NULL;
    const struct field fields[] = {{"key", FIELD_TEXT, &key, true}, {0}};
    char why[FIELDS_WHY_SIZE], full[REDLOCK_MAX_KEY_BYTES + 1];

    if (!fields_read(words, fields, why))
        answer_wrong(peer, id, why);
    else if (full_key(peer, id, key, full))
        answer_status(peer, id, redlock_simulation_lose(simulation, full));
}

static void op_steal(struct peer *peer, int64_t id, json_t *words)
{
    const char *key = NULL;
    uint32_t ttl_ms = STEAL_MS;
    const struct field fields[] = {{"key", FIELD_TEXT, &key, true}, {"ttl", FIELD_DURATION, &ttl_ms, false}, {0}};
    char why[FIELDS_WHY_SIZE], full[REDLOCK_MAX_KEY_BYTES + 1];

    if (!fields_read(words, fields, why))
        answer_wrong(peer, id, why);
    else if (full_key(peer, id, key, full))
        answer_status(peer, id, redlock_simulation_steal(simulation, full, ttl_ms));
}

/* The masters' names as answers have them. False: no master has such a name. */
static bool read_names(const json_t *names, bool fails[N_MASTERS])
{
    const json_t *name;
    size_t i;
    char number, end;

    json_array_foreach(names, i, name) {
        if (!json_is_string(name) || sscanf(json_string_value(name), "simulated-%c%c", &number, &end) != 1 ||
            number < '1' || number > '0' + N_MASTERS)
            return false;
        fails[number - '1'] = true;
    }
    return json_is_array(names);
}

static void op_fail_masters(struct peer *peer, int64_t id, json_t *words)
{
    const uint64_t none = UINT64_MAX;
    uint64_t n = none;
    json_t *names = NULL;
    bool fails[N_MASTERS] = {false};
    const struct field fields[] = {{"masters", FIELD_NUMBER, &n, false}, {"names", FIELD_ANY, &names, false}, {0}};
    char why[FIELDS_WHY_SIZE];

    if (!fields_read(words, fields, why)) {
        answer_wrong(peer, id, why);
    } else if ((n == none) == !names) {
        answer_wrong(peer, id, "one of 'masters', a number, and 'names' is needed");
    } else if (!names && n > N_MASTERS) {
        answer_wrong(peer, id, "'masters' is how many of the three fail: 0 to 3, and 0 makes all well again");
    } else if (names && !read_names(names, fails)) {
        answer_wrong(peer, id, "'names' is an array of the masters that fail: simulated-1, simulated-2, simulated-3");
    } else {
        for (size_t i = 0; i < N_MASTERS; i++)
            redlock_simulation_fail_master(simulation, i, names ? fails[i] : i < n);
        answer(peer, answer_ok(id));
    }
}

static void op_seed(struct peer *peer, int64_t id, json_t *words)
{
    uint64_t seed = 0;
    const struct field fields[] = {{"seed", FIELD_NUMBER, &seed, true}, {0}};
    char why[FIELDS_WHY_SIZE];

    if (!fields_read(words, fields, why)) {
        answer_wrong(peer, id, why);
        return;
    }
    redlock_simulation_seed(simulation, seed);
    answer(peer, answer_ok(id));
}

static const struct {
    const char *name;
    void (*run)(struct peer *peer, int64_t id, json_t *request);
} operations[] = {
    {"sim.advance", op_advance}, {"sim.lose", op_lose}, {"sim.steal", op_steal},
    {"sim.fail-masters", op_fail_masters}, {"sim.seed", op_seed},
};

static void run(struct peer *peer, int64_t id, json_t *request)
{
    const char *name = json_string_value(json_object_get(request, "op"));

    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (strcmp(name, operations[i].name) == 0) {
            operations[i].run(peer, id, request);
            return;
        }
    }
    answer_wrong(peer, id, "'op' must be sim.advance, sim.lose, sim.steal, sim.fail-masters or sim.seed");
}

#else

bool simulate_begin(struct agent_options *options)
{
    cli_error("agent", "this command was built without --simulate: meson setup -Dsimulation=enabled, with Lua 5.1");
    return false;
}

void simulate_end(void)
{
}

static void run(struct peer *peer, int64_t id, json_t *request)
{
}

#endif

void op_simulate(struct peer *peer, int64_t id, json_t *request)
{
    if (simulation)
        run(peer, id, request);
    else
        answer_wrong(peer, id, "requests that begin with sim. are for an agent that was started with --simulate");
}
