#include "scenario.h"

#include <string.h>

const struct bench_scenario bench_scenarios[BENCH_SCENARIOS] = {
    {.name = "seq", .concurrency = 1, .text = "one task: a fresh key each time"},
    {.name = "conc", .concurrency = 64, .text = "N tasks, fresh keys"},
    {.name = "blocking", .threads = true, .concurrency = 64, .reps = 9,
     .text = "a key for each task: blocking calls, compared with asynchronous"},
    {.name = "hammer", .contended = true, .concurrency = 16,
     .text = "N tasks on one key, each wanting it again at once"},
    {.name = "herd", .contended = true, .rounds = true, .concurrency = 16,
     .text = "rounds in which N tasks want one key at once, once each"},
    {.name = "hung1", .fault = BENCH_HANG, .n_faulty = 1, .concurrency = 1,
     .text = "fresh keys; then one master is stopped (SIGSTOP)"},
    {.name = "hung2", .fault = BENCH_HANG, .n_faulty = 2, .concurrency = 1, .text = "... two masters are stopped"},
    {.name = "killed1", .fault = BENCH_KILL, .n_faulty = 1, .concurrency = 1,
     .text = "fresh keys; then one master is killed (SIGKILL)"},
    {.name = "killed2", .fault = BENCH_KILL, .n_faulty = 2, .concurrency = 1, .text = "... two masters are killed"},
    {.name = "shared", .mode = REDLOCK_SHARED, .concurrency = 1, .text = "as seq, but the locks are shared"},
    {.name = "readers", .work = BENCH_READERS, .rounds = true, .concurrency = 65,
     .text = "one key: one task writes, and all others read behind it"},
    {.name = "mixed", .work = BENCH_READERS, .concurrency = 65,
     .text = "one key: one writes from time to time, the others read always"},
    {.name = "reenter", .work = BENCH_REENTER, .concurrency = 1,
     .text = "one task: it holds a key, and enters it again each time"},
    {.name = "latch", .work = BENCH_LATCH, .concurrency = 16,
     .text = "rounds in which N tasks arrive at a latch and wait for all"},
    {.name = "election", .work = BENCH_ELECTION, .contended = true, .concurrency = 16,
     .text = "N candidates for one key: who is elected resigns"},
    {.name = "hold", .work = BENCH_HOLD, .concurrency = 1000,
     .text = "one client holds many locks: what their renewal costs"},
    {.name = "fence", .work = BENCH_FENCE, .concurrency = 16, .procs = 4,
     .text = "N clients on a few keys: fencing tokens must grow"},
    {.name = "set2", .work = BENCH_SETS, .set_keys = 2, .concurrency = 1, .text = "one task: two fresh keys at once"},
    {.name = "set5", .work = BENCH_SETS, .set_keys = 5, .concurrency = 1, .text = "... five"},
    {.name = "set8", .work = BENCH_SETS, .set_keys = 8, .concurrency = 1, .text = "... eight"},
};

const struct bench_scenario *bench_scenario_find(const char *name)
{
    for (size_t i = 0; i < BENCH_SCENARIOS; i++)
        if (strcmp(bench_scenarios[i].name, name) == 0)
            return &bench_scenarios[i];
    return NULL;
}
