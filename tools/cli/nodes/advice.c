#include "cli/nodes/advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/standings.h"
#include "cli/target.h"
#include "cli/term.h"
#include "options/duration.h"

/* A clock that is further behind than this will be corrected by its time daemon in one step, if that may step. */
enum { CLOCK_BEHIND_US = 1000000, SHELL_SIZE = 256 };

struct list {
    const struct advice_view *view;
    size_t node;
    struct advice *items;
    size_t n;
};

static void set(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void set(char *text, size_t size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
}

/* A new one, with both sentences; NULL if there is no more room. */
static struct advice *add(struct list *list, bool serious, const char *what, const char *mend)
{
    struct advice *item = list->n < ADVICE_MOST ? &list->items[list->n++] : NULL;

    if (item == NULL)
        return NULL;
    memset(item, 0, sizeof(*item));
    item->serious = serious;
    set(item->what, sizeof(item->what), "%s", what);
    set(item->mend, sizeof(item->mend), "%s", mend);
    return item;
}

/* "redis-cli -h HOST -p PORT", to go on with, as the user of the URL, whose password is asked for, or as another. */
static void shell(const struct list *list, bool as_user, char ret_text[SHELL_SIZE])
{
    const char *user = list->view->user;
    struct target target;
    char where[160] = "";

    if (target_parse(list->view->urls[list->node], &target)) {
        if (target.path != NULL)
            set(where, sizeof(where), "-s %s", target.path);
        else
            set(where, sizeof(where), "-h %s -p %d", target.host, target.port);
    }
    if (target.user != NULL)
        user = target.user;
    set(ret_text, SHELL_SIZE, "redis-cli %s%s%s%s", where, as_user && user != NULL ? " --user " : "",
        as_user && user != NULL ? user : "", as_user && (target.password != NULL || user != NULL) ? " --askpass" : "");
    target_fini(&target);
}

static void command(const struct list *list, struct advice *item, const char *words)
{
    char start[SHELL_SIZE];

    if (item == NULL)
        return;
    shell(list, true, start);
    set(item->command, sizeof(item->command), "%s %s", start, words);
}

/* What grants the user of the master these rights. */
static void grant(const struct list *list, struct advice *item, const char *rights)
{
    const char *user = list->view->user != NULL ? list->view->user : "default";
    char start[SHELL_SIZE];
    struct target target;

    if (item == NULL)
        return;
    shell(list, false, start);
    target_parse(list->view->urls[list->node], &target);
    set(item->command, sizeof(item->command), "%s ACL SETUSER %s %s", start, target.user != NULL ? target.user : user,
        rights);
    target_fini(&target);
}

/* "": none, as far as is known. */
static const char *missing_rights(const struct list *list)
{
    return list->view->rights != NULL ? list->view->rights[list->node].missing : "";
}

/* --- What keeps it from voting ----------------------------------------------------------------------------------- */

static bool mentions(const struct redlock_node_info *info, const char *word)
{
    return strstr(info->last_error, word) != NULL;
}

static void on_cluster(struct list *list)
{
    add(list, true, "a node of a Redis Cluster, which moves and fails over keys by itself",
        "Start a server of its own for the locks, with 'cluster-enabled no'.");
}

static void on_down(struct list *list)
{
    const struct redlock_node_info *info = &list->view->infos[list->node];
    char what[240];

    set(what, sizeof(what), "not reached: %s", info->last_error[0] != '\0' ? info->last_error : "no answer");
    if (mentions(info, "CLUSTERDOWN") || mentions(info, "MOVED"))
        on_cluster(list);
    else if (mentions(info, "WRONGPASS") || mentions(info, "NOAUTH") || mentions(info, "invalid password"))
        add(list, true, what, "Give the right user and password, in its URL or by --user and --password-file.");
    else if (mentions(info, "NOPERM") && *missing_rights(list) != '\0')
        grant(list, add(list, true, what, "Have its administrator grant what is missing:"), missing_rights(list));
    else if (mentions(info, "NOPERM"))
        add(list, true, what, "Have its administrator grant what redlock(7) names under \"Rights\".");
    else if (mentions(info, "resolving the name"))
        add(list, true, what, "Correct the name, in all clients alike, or let this machine resolve it.");
    else if (mentions(info, "client certificate"))
        add(list, true, what, "Give one that it accepts, with its key, by --tls-cert and --tls-key.");
    else if (mentions(info, "the server's certificate"))
        add(list, true, what,
            "Give it a certificate that is valid, for its name and of the CA that is trusted here. What is trusted, "
            "and another name than that of its URL, can be told by --tls-ca and --tls-server-name.");
    else if (mentions(info, "LOADING"))
        add(list, true, what, "Wait: it is still reading its data.");
    else
        command(list, add(list, true, what, "Start it, or open the way to it, until this answers PONG:"), "PING");
}

static void on_evicting(struct list *list)
{
    char what[240];

    set(what, sizeof(what), "may evict locks: maxmemory is set, and the policy is %s",
        list->view->infos[list->node].eviction_policy);
    command(list, add(list, true, what, "Let it refuse writes instead of dropping keys, in its redis.conf as well:"),
            "CONFIG SET maxmemory-policy noeviction");
}

static void on_same_server(struct list *list)
{
    const struct redlock_node_info *infos = list->view->infos;
    const char *other = NULL;
    char what[240];

    for (size_t i = 0; i < list->view->n && other == NULL; i++)
        if (i != list->node && infos[i].looked && strcmp(infos[i].run_id, infos[list->node].run_id) == 0)
            other = infos[i].name;
    if (other == NULL) {
        add(list, true, "marked as another master of the list: this name leads to another server than before",
            "Let it lead to its own server again. If it has moved for good, for all clients: restart the server, and "
            "its vote counts max_ttl + 1 s later.");
        return;
    }
    set(what, sizeof(what), "the same server as %s: two votes of one memory", other);
    add(list, true, what, "Put a server of its own in its place, or take it off the list, for all clients.");
}

static void on_no_rights(struct list *list)
{
    char rights[600];

    set(rights, sizeof(rights), "'~%s*' '&%s*' %s", list->view->prefix, list->view->prefix, ADVICE_RIGHTS);
    grant(list, add(list, true, "cannot be judged: the user lacks rights for INFO, TIME, hashes or scripts",
                    "Have its administrator grant them (on Redis 6.0 without the word that begins with &):"), rights);
}

/* Then the deployment is not new. */
static bool somebody_votes(const struct list *list)
{
    for (size_t i = 0; i < list->view->n; i++) {
        if (list->view->infos[i].standing == REDLOCK_STANDING_VOTES)
            return true;
    }
    return false;
}

/* Where nobody votes the deployment may be new, which only the operator knows. */
static void wait_or_declare(struct list *list, const char *what, const char *wait)
{
    struct advice *item = add(list, true, what, wait);

    if (item == NULL || somebody_votes(list))
        return;
    set(item->mend, sizeof(item->mend),
        "%s At once, if this deployment is new and no lock can have been forgotten, by:", wait);
    set(item->command, sizeof(item->command), "redlock nodes --new-deployment");
}

static void on_fault(struct list *list)
{
    switch (list->view->infos[list->node].fault) {
    case REDLOCK_FAULT_NEW_MEMORY:
        wait_or_declare(list, "new memory (restarted, emptied, replaced or first used): locks may be forgotten",
                        "Wait: the vote counts when the quarantine, which begins when a client meets it, is over.");
        break;
    case REDLOCK_FAULT_CLOCK_STEP:
        add(list, true, "clock set forward: locks may have ended early",
            "Wait: the vote counts when the quarantine is over; and let the time daemon slew, not step.");
        break;
    case REDLOCK_FAULT_NOT_MASTER:
        command(list, add(list, true, "a replica: its master overwrites what it is asked to keep",
                          "Put its master in its place, for all clients, or make it independent:"),
                "REPLICAOF NO ONE");
        break;
    case REDLOCK_FAULT_CLUSTER:
        on_cluster(list);
        break;
    case REDLOCK_FAULT_EVICTS:
        on_evicting(list);
        break;
    case REDLOCK_FAULT_SAME_SERVER:
        on_same_server(list);
        break;
    case REDLOCK_FAULT_RING:
        add(list, true, "marked by clients with other masters or another quorum",
            "Give all clients the same list, spelled alike, and the same --quorum. If the deployment has really "
            "changed: stop all clients, wait for max_ttl, then declare it new:");
        set(list->items[list->n - 1].command, sizeof(list->items[0].command), "redlock nodes --new-deployment --force");
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

static void on_persistence(struct list *list)
{
    const struct redlock_node_info *info = &list->view->infos[list->node];
    char mend[400];

    if (info->durable)
        return;
    if (info->append_fsync[0] == '\0') {
        add(list, false, "durability not to be seen: no vote for max_ttl + 1 s after each restart",
            "If it keeps every write, let the user see that: ACL SETUSER ... +config|get");
        return;
    }
    set(mend, sizeof(mend), "To vote at once it must keep every write: CONFIG SET appendonly yes, appendfsync always, "
                            "no-appendfsync-on-rewrite no, and the same in redis.conf.");
    add(list, false, "not durable: no vote for max_ttl + 1 s after each restart", mend);
}

/* Those without which the master cannot be judged are advised already. */
static void on_rights(struct list *list)
{
    const char *missing = missing_rights(list);
    char what[480];

    if (*missing == '\0')
        return;
    set(what, sizeof(what), "the user lacks %s", missing);
    grant(list, add(list, false, what, list->view->rights[list->node].needed
                    ? "Some kinds of locks fail there with NOPERM. Have its administrator grant what is missing:"
                    : "Locks can do without it, at a price that redlock(7) names. Its administrator grants it by:"),
          missing);
}

static void on_replicas(struct list *list)
{
    const struct redlock_node_info *info = &list->view->infos[list->node];
    char what[240];

    if (info->replicas == 0)
        return;
    set(what, sizeof(what), "%" PRId64 " replica%s: one that is promoted in its place lacks the latest locks",
        info->replicas, info->replicas == 1 ? "" : "s");
    add(list, false, what, "Run it without replicas, or see to it that none is ever promoted.");
}

static void on_clock(struct list *list)
{
    const struct redlock_node_info *info = &list->view->infos[list->node];
    char what[240];

    if (info->clock_offset_us < -CLOCK_BEHIND_US) {
        set(what, sizeof(what), "clock %.1f s behind this machine's: setting it right in one step ends locks early",
            (double)-info->clock_offset_us / 1e6);
        add(list, false, what, "Let its time daemon slew: chronyd without makestep, and maxslewrate 5000 or less.");
    }
    if (info->clock_backward_steps > 0)
        add(list, false, "clock set back: locks live longer by that",
            "Let its time daemon slew: chronyd without makestep, and maxslewrate 5000 or less.");
}

/* Of those that have a marker. */
static bool is_behind(const struct advice_view *view, const struct redlock_node_info *info)
{
    for (size_t i = 0; i < view->n; i++)
        if (view->infos[i].declaration_confirmed > info->declaration)
            return true;
    return false;
}

static bool differs(const struct advice_view *view, const struct redlock_node_info *info)
{
    for (size_t i = 0; i < view->n; i++)
        if (view->infos[i].marker_max_ttl_ms > 0 && view->infos[i].marker_max_ttl_ms != info->marker_max_ttl_ms)
            return true;
    return false;
}

static void on_longer_locks(struct list *list, const struct redlock_node_info *info)
{
    char longest[24], wait[24], what[240];

    term_time(info->marker_longest_ms * 1000, longest, sizeof(longest));
    set(what, sizeof(what), "locks of up to %s may be alive: a quarantine that begins lasts so long, and 1 s", longest);
    if (info->marker_falls_ms == 0) {
        add(list, false, what, "A change of max_ttl was cut off. Finish it, with the value that is to hold:");
        set(list->items[list->n - 1].command, sizeof(list->items[0].command), "redlock nodes --max-ttl DUR");
        return;
    }
    term_time(info->marker_falls_ms * 1000, wait, sizeof(wait));
    set(what + strlen(what), sizeof(what) - strlen(what), ", for %s from now", wait);
    add(list, false, what, "max_ttl is smaller already. There is nothing to do.");
}

static void on_max_ttl(struct list *list)
{
    const struct redlock_node_info *info = &list->view->infos[list->node];
    char max_ttl[DURATION_TEXT_SIZE], what[240];

    if (info->marker_max_ttl_ms == 0 || info->fault == REDLOCK_FAULT_RING)
        return;
    duration_text(info->marker_max_ttl_ms * 1000, max_ttl);
    if (is_behind(list->view, info)) {
        add(list, false, "has not heard of the latest declaration of max_ttl",
            "The next client that takes a lock, and reaches another master, tells it.");
    } else if (differs(list->view, info)) {
        set(what, sizeof(what), "max_ttl is %s here, and another value elsewhere: the smallest holds", max_ttl);
        add(list, false, what, "Declare the one that is to hold:");
        set(list->items[list->n - 1].command, sizeof(list->items[0].command), "redlock nodes --max-ttl DUR");
    }
    if (info->marker_longest_ms > info->marker_max_ttl_ms)
        on_longer_locks(list, info);
}

size_t advice_on(const struct advice_view *view, size_t node, struct advice ret_advice[ADVICE_MOST])
{
    struct list list = {.view = view, .node = node, .items = ret_advice};
    const struct redlock_node_info *info = &view->infos[node];

    if (!standings_answers(info)) {
        on_down(&list);
        return list.n;
    }
    on_fault(&list);
    if (!info->looked || info->fault == REDLOCK_FAULT_NOT_MASTER || info->fault == REDLOCK_FAULT_CLUSTER ||
        info->fault == REDLOCK_FAULT_SAME_SERVER)
        return list.n;
    on_rights(&list);
    on_persistence(&list);
    on_replicas(&list);
    on_clock(&list);
    on_max_ttl(&list);
    return list.n;
}
