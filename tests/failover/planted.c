/* `redlock-lab failover` with clients that do wrong: $FAILOVER_PLANT says what. The referee must find it. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/target.h"
#include "plant.h"
#include "worker.h"

#define BELIEF_NS INT64_C(50000000)

bool fo_planted(enum fo_plant plant)
{
    static const char *const names[] = {
        [FO_PLANT_NONE] = "", [FO_PLANT_DOUBLE] = "double", [FO_PLANT_REGRESS] = "regress",
        [FO_PLANT_FOREIGN] = "foreign", [FO_PLANT_LEAK] = "leak", [FO_PLANT_UNGUARDED] = "unguarded"};
    const char *wanted = getenv("FAILOVER_PLANT");

    return wanted && strcmp(wanted, names[plant]) == 0;
}

/* Every tenth one is an hour old. */
uint64_t fo_plant_fence(uint64_t fence)
{
    static unsigned n;

    return fo_planted(FO_PLANT_REGRESS) && ++n % 10 == 0 ? fence - UINT64_C(3600000000) : fence;
}

/* One command for the first master, past the library. */
static void tell(const struct fo_worker *worker, const char *format, const char *key)
{
    struct target target;
    redisContext *context;

    if (target_parse(worker->urls[0], &target) && target.host) {
        context = redisConnect(target.host, target.port);
        if (context) {
            freeReplyObject(redisCommand(context, format, key));
            redisFree(context);
        }
    }
    target_fini(&target);
}

void fo_plant_at_leader(struct fo_worker *worker)
{
    char name[FO_KEY_SIZE], key[128];

    fo_key_name(fo_planted(FO_PLANT_LEAK) ? 0 : FO_LEADER_KEY, name);
    snprintf(key, sizeof key, "%s%s", worker->prefix, name);
    if (fo_planted(FO_PLANT_LEAK))
        tell(worker, "SET %s nobody", key);
    if (fo_planted(FO_PLANT_FOREIGN))
        tell(worker, "DEL %s", key);
}

/* The check is switched off: a refusal is taken for a grant. */
void fo_plant_at_refused(struct fo_worker *worker)
{
    int64_t now_ns = fo_now_ns();

    if (fo_planted(FO_PLANT_DOUBLE))
        fo_journal_add(worker->shared, worker->client,
                       (struct fo_record){.kind = FO_ACQUIRED,
                                          .key = FO_LEADER_KEY,
                                          .at_ns = now_ns,
                                          .until_ns = now_ns + BELIEF_NS,
                                          .token = "believed"});
}
