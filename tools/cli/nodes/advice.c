#include "cli/nodes/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/nodes/advice_list.h"
#include "cli/quorum_status.h"
#include "cli/term.h"
#include "options/value.h"

/* A clock that is further behind than this will be corrected by its time daemon in one step, if that may step. */
enum { CLOCK_BEHIND_US = 1000000, NEARLY_FULL_PERCENT = 90 };

static const struct probe_rights *rights_of(const struct advice_list *list)
{
    return &list->look->rights[list->node];
}

/* --- What keeps it from voting ----------------------------------------------------------------------------------- */

static void on_evicting(struct advice_list *list)
{
    char what[240];

    advice_set(what, sizeof what, "may evict locks: maxmemory is set, and the policy is %s",
               list->look->infos[list->node].eviction_policy);
    advice_command(list,
                   advice_add(list, true, what,
                              "Let it refuse writes instead of dropping keys, in its redis.conf as well:"),
                   "CONFIG SET maxmemory-policy noeviction");
}

static void on_same_server(struct advice_list *list)
{
    const struct redlock_node_info *infos = list->look->infos;
    const char *other = NULL;
    char what[240];

    for (size_t i = 0; i < list->look->sum.n && !other; i++)
        if (i != list->node && infos[i].looked && strcmp(infos[i].run_id, infos[list->node].run_id) == 0)
            other = infos[i].name;
    if (!other) {
        advice_add(list, true, "marked as another master of the list: this name leads to another server than before",
                   "Let it lead to its own server again. If it has moved for good, for all clients: restart the "
                   "server, and its vote counts max_ttl + 1 s later.");
        return;
    }
    advice_set(what, sizeof what, "the same server as %s: two votes of one memory", other);
    advice_add(list, true, what, "Put a server of its own in its place, or take it off the list, for all clients.");
}

/* A prefix that was forgotten looks the same as a right that is missing. */
static const char *mend_of_keys(const struct advice_list *list)
{
    return *advice_common(list)->prefix == '\0' && rights_of(list)->keys
        ? "If the clients have a prefix, name it by --prefix. Otherwise have its administrator grant this, and the "
          "keys of the locks:"
        : "Have its administrator grant what is missing:";
}

static void on_no_rights(struct advice_list *list)
{
    char rights[ADVICE_RIGHTS_SIZE], what[480];

    if (*advice_missing_rights(list, rights) != '\0') {
        advice_set(what, sizeof what, "cannot be judged: the user lacks %s", rights);
        advice_grant(list, advice_add(list, true, what, mend_of_keys(list)), rights);
        return;
    }
    rights[0] = '\0';
    advice_put_pattern(rights, '~', advice_common(list)->prefix, "*");
    advice_put_pattern(rights, '&', advice_common(list)->prefix, "*");
    snprintf(rights + strlen(rights), sizeof rights - strlen(rights), "%s", ADVICE_RIGHTS);
    advice_grant(list,
                 advice_add(list, true, "cannot be judged: the user lacks rights for INFO, TIME, hashes or scripts",
                            "Have its administrator grant them (on Redis 6.0 without the word that begins with &):"),
                 rights);
}

static void on_not_master(struct advice_list *list)
{
    if (list->look->infos[list->node].role[0] == '\0')
        advice_add(list, true, list->look->infos[list->node].fault_text,
                   "Put a server in its place: Redis 6.0 or later, or Valkey.");
    else
        advice_command(list, advice_add(list, true, "a replica: its master overwrites what it is asked to keep",
                                        "Put its master in its place, for all clients, or make it independent:"),
                       "REPLICAOF NO ONE");
}

/* Then the deployment is not new. */
static bool somebody_votes(const struct advice_list *list)
{
    for (size_t i = 0; i < list->look->sum.n; i++) {
        if (list->look->infos[i].standing == REDLOCK_STANDING_VOTES)
            return true;
    }
    return false;
}

/* Where nobody votes the deployment may be new, which only the operator knows. */
static void wait_or_declare(struct advice_list *list, const char *what, const char *wait)
{
    struct advice *item = advice_add(list, true, what, wait);

    if (!item || list->look->request->declare || somebody_votes(list))
        return;
    advice_set(item->mend, sizeof item->mend,
               "%s At once, if this deployment is new and no lock can have been forgotten, by:", wait);
    advice_set(item->command, sizeof item->command, "redlock nodes --new-deployment");
}

static void on_clock_slow(struct advice_list *list)
{
    const char *version = list->look->infos[list->node].version;
    bool is_known = strstr(version, "9.1.0") || strstr(version, "9.1.1");

    advice_add(list, true, "its clock stands still, or nearly so: locks do not end there by themselves",
               is_known ? "Restart the server, and update it: Valkey 9.1.0 and 9.1.1 can start with such a clock."
                        : "Restart the server. If that does not help, look at the clock of its machine.");
}

static void on_fault(struct advice_list *list)
{
    switch (list->look->infos[list->node].fault) {
    case REDLOCK_FAULT_NEW_MEMORY:
        wait_or_declare(list, "new memory (restarted, emptied, replaced or first used): locks may be forgotten",
                        "Wait: the vote counts when the quarantine, which begins when a client meets it, is over.");
        break;
    case REDLOCK_FAULT_CLOCK_STEP:
        advice_add(list, true, "clock set forward: locks may have ended early",
                   "Wait: the vote counts when the quarantine is over; and let the time daemon slew, not step.");
        break;
    case REDLOCK_FAULT_TWO_SERVERS:
        advice_add(list, true, list->look->infos[list->node].fault_text,
                   "Let the name lead to one of them, stop the other, wait max_ttl and 1 s, and restart the one that "
                   "stays.");
        break;
    case REDLOCK_FAULT_CLOCK_SLOW:
        on_clock_slow(list);
        break;
    case REDLOCK_FAULT_NOT_MASTER:
        on_not_master(list);
        break;
    case REDLOCK_FAULT_CLUSTER:
        advise_on_cluster(list);
        break;
    case REDLOCK_FAULT_EVICTS:
        on_evicting(list);
        break;
    case REDLOCK_FAULT_SAME_SERVER:
        on_same_server(list);
        break;
    case REDLOCK_FAULT_RING:
        advice_add(list, true, "marked by clients with other masters or another quorum",
                   "Give all clients the same list, spelled alike, and the same --quorum. 'redlock nodes' changes a "
                   "list by --replace, --add and --remove. To begin anew without locks: stop all clients, wait for "
                   "max_ttl, then declare it new:");
        advice_set(list->items[list->n - 1].command, sizeof list->items[0].command,
                   "redlock nodes --new-deployment --force");
        break;
    case REDLOCK_FAULT_NO_MEMBER:
        advice_add(list, false, "it has left the list of masters, which an operator has changed",
                   "Stop it for good, and name the masters to all clients as they are now.");
        break;
    case REDLOCK_FAULT_OVERRULED:
        advice_add(list, true, "it has an older list of masters, or one of a change that another one has overruled",
                   "The next client brings it the present one. If it stays so, repeat the latest change of the "
                   "masters: it tells this one, too.");
        break;
    case REDLOCK_FAULT_NO_RIGHTS:
        on_no_rights(list);
        break;
    case REDLOCK_FAULT_NO_MARKER:
        wait_or_declare(list, "no marker: never met by a guarded client, or emptied since",
                        "Wait: the first client writes one, and the vote counts max_ttl + 1 s later.");
        break;
    case REDLOCK_FAULT_NONE:
    case REDLOCK_FAULT_UNJUDGED:
    default:
        break;
    }
}

/* --- What will be trouble one day -------------------------------------------------------------------------------- */

static void on_persistence(struct advice_list *list)
{
    const struct redlock_node_info *info = &list->look->infos[list->node];

    if (info->durable)
        return;
    if (info->append_fsync[0] == '\0') {
        advice_add(list, false, "durability not to be seen: no vote for max_ttl + 1 s after each restart",
                   "If it keeps every write, let the user see that: ACL SETUSER ... +config|get");
        return;
    }
    advice_add(list, false, "not durable: no vote for max_ttl + 1 s after each restart",
               "To vote at once it must keep every write: CONFIG SET appendonly yes, appendfsync always, "
               "no-appendfsync-on-rewrite no, from Redis 8.4 on aof-load-corrupt-tail-max-size 0, and the same in "
               "redis.conf.");
}

static void on_rights(struct advice_list *list)
{
    const struct probe_rights *rights = rights_of(list);
    char missing[ADVICE_RIGHTS_SIZE], what[480];
    const char *mend = mend_of_keys(list);

    if (*advice_missing_rights(list, missing) == '\0' || list->look->infos[list->node].fault == REDLOCK_FAULT_NO_RIGHTS)
        return;
    advice_set(what, sizeof what, "the user lacks %s", missing);
    if (!rights->needed && !rights->keys)
        mend = "Locks can do without it, at a price that redlock(7) names. Its administrator grants it by:";
    else if (!rights->vital && !rights->keys)
        mend = "Some kinds of locks fail there with NOPERM. Have its administrator grant what is missing:";
    advice_grant(list, advice_add(list, rights->vital, what, mend), missing);
}

/* What will make it refuse writes if it goes on. */
static void on_health(struct advice_list *list)
{
    const struct probe_rights *rights = rights_of(list);
    char what[240];

    if (rights->memory_percent >= NEARLY_FULL_PERCENT) {
        advice_set(what, sizeof what, "its memory is full to %u %%: it takes no lock when all of it is used",
                   rights->memory_percent);
        advice_command(list,
                       advice_add(list, false, what,
                                  "Give it more memory, or delete what is no lock. What it has and uses is shown by:"),
                       "INFO memory");
    }
    if (rights->crowded)
        advice_add(list, false, "it has refused one of a few connections: almost all of those that it allows are taken",
                   ADVICE_CROWD);
    if (rights->save_failed)
        advice_command(list,
                       advice_add(list, false, "its latest write to its disk has failed: it may soon take no writes",
                                  "Mend what its log names, a full disk for example. It tells more by:"),
                       "INFO persistence");
}

static void on_replicas(struct advice_list *list)
{
    const struct redlock_node_info *info = &list->look->infos[list->node];
    char what[240];

    if (info->replicas == 0)
        return;
    advice_set(what, sizeof what, "%" PRId64 " replica%s: one that is promoted in its place lacks the latest locks",
               info->replicas, info->replicas == 1 ? "" : "s");
    advice_add(list, false, what, "Run it without replicas, or see to it that none is ever promoted.");
}

static void on_clock(struct advice_list *list)
{
    const struct redlock_node_info *info = &list->look->infos[list->node];
    char what[240];

    if (info->clock_offset_us < -CLOCK_BEHIND_US) {
        advice_set(what, sizeof what,
                   "clock %.1f s behind this machine's: setting it right in one step ends locks early",
                   (double)-info->clock_offset_us / 1e6);
        advice_add(list, false, what,
                   "Let its time daemon slew: chronyd without makestep, and maxslewrate 5000 or less.");
    }
    if (info->clock_backward_steps > 0)
        advice_add(list, false, "clock set back: locks live longer by that",
                   "Let its time daemon slew: chronyd without makestep, and maxslewrate 5000 or less.");
}

/* Of those that have a marker. */
static bool is_behind(const struct nodes_look *look, const struct redlock_node_info *info)
{
    for (size_t i = 0; i < look->sum.n; i++)
        if (look->infos[i].declaration_confirmed > info->declaration)
            return true;
    return false;
}

static bool differs(const struct nodes_look *look, const struct redlock_node_info *info)
{
    for (size_t i = 0; i < look->sum.n; i++)
        if (look->infos[i].marker_max_ttl_ms > 0 && look->infos[i].marker_max_ttl_ms != info->marker_max_ttl_ms)
            return true;
    return false;
}

static void on_longer_locks(struct advice_list *list, const struct redlock_node_info *info)
{
    char longest[24], wait[24], what[240];

    term_time(info->marker_longest_ms * 1000, longest, sizeof longest);
    advice_set(what, sizeof what, "locks of up to %s may be alive: a quarantine that begins lasts 1 s longer",
               longest);
    if (info->marker_falls_ms == 0) {
        advice_add(list, false, what, "A change of max_ttl was cut off. Finish it, with the value that is to hold:");
        advice_set(list->items[list->n - 1].command, sizeof list->items[0].command, "redlock nodes --max-ttl DUR");
        return;
    }
    term_time(info->marker_falls_ms * 1000, wait, sizeof wait);
    advice_set(what + strlen(what), sizeof what - strlen(what), ", for %s from now", wait);
    advice_add(list, false, what, "max_ttl is smaller already. There is nothing to do.");
}

static void on_max_ttl(struct advice_list *list)
{
    const struct redlock_node_info *info = &list->look->infos[list->node];
    char max_ttl[DURATION_TEXT_SIZE], what[240];

    if (info->marker_max_ttl_ms == 0 || info->fault == REDLOCK_FAULT_RING)
        return;
    duration_text(info->marker_max_ttl_ms * 1000, max_ttl);
    if (is_behind(list->look, info)) {
        advice_add(list, false, "has not heard of the latest declaration of max_ttl",
                   "The next client that takes a lock, and reaches another master, tells it.");
    } else if (differs(list->look, info)) {
        advice_set(what, sizeof what, "max_ttl is %s here, and another value elsewhere: the smallest holds", max_ttl);
        advice_add(list, false, what, "Declare the one that is to hold:");
        advice_set(list->items[list->n - 1].command, sizeof list->items[0].command, "redlock nodes --max-ttl DUR");
    }
    if (info->marker_longest_ms > info->marker_max_ttl_ms)
        on_longer_locks(list, info);
}

size_t advice_on(const struct nodes_look *look, size_t node, struct advice ret_advice[ADVICE_MOST])
{
    struct advice_list list = {.look = look, .node = node, .items = ret_advice};
    const struct redlock_node_info *info = &look->infos[node];

    if (info->fault == REDLOCK_FAULT_NO_MEMBER) {
        on_fault(&list);
        return list.n;
    }
    if (rights_of(&list)->sentinel)
        advise_on_sentinel(&list);
    else if (info->fault != REDLOCK_FAULT_NOT_MASTER && look->probes[node].refused)
        advise_on_refused(&list, !quorum_status_answers(info) || !strstr(look->probes[node].why, "max number"));
    else if (!quorum_status_answers(info))
        advise_on_down(&list);
    else if (rights_of(&list)->unknown[0] != '\0' && info->fault != REDLOCK_FAULT_NOT_MASTER)
        advise_on_unknown_commands(&list);
    if (!quorum_status_answers(info) || rights_of(&list)->sentinel)
        return list.n;
    if (info->fault != REDLOCK_FAULT_NO_RIGHTS || rights_of(&list)->unknown[0] == '\0')
        on_fault(&list);
    if (!info->looked || info->fault == REDLOCK_FAULT_NOT_MASTER || info->fault == REDLOCK_FAULT_CLUSTER ||
        info->fault == REDLOCK_FAULT_SAME_SERVER || info->fault == REDLOCK_FAULT_TWO_SERVERS)
        return list.n;
    on_rights(&list);
    on_persistence(&list);
    if (!look->probes[node].refused)
        on_health(&list);
    on_replicas(&list);
    on_clock(&list);
    on_max_ttl(&list);
    return list.n;
}
