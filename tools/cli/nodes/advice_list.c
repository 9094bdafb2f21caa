#include "cli/nodes/advice_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/target.h"
#include "cli/term.h"
#include "options/message.h"
#include "options/tls.h"
#include "options/value.h"

enum { SHELL_SIZE = 480, WORD_SIZE = 160, SENTENCE_SIZE = 1024 };

void advice_set(char *text, size_t size, const char *format, ...)
{
    char whole[SENTENCE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(whole, sizeof whole, format, arguments);
    va_end(arguments);
    shown_whole_words(whole, text, size);
}

struct advice *advice_add(struct advice_list *list, bool serious, const char *what, const char *mend)
{
    struct advice *item = list->n < ADVICE_MOST ? &list->items[list->n++] : NULL;

    if (!item)
        return NULL;
    memset(item, 0, sizeof *item);
    item->serious = serious;
    advice_set(item->what, sizeof item->what, "%s", what);
    advice_set(item->mend, sizeof item->mend, "%s", mend);
    return item;
}

static void option(char ret_text[SHELL_SIZE], const char *name, const char *word)
{
    size_t length = strlen(ret_text);
    char buffer[WORD_SIZE];

    if (word)
        snprintf(ret_text + length, SHELL_SIZE - length, " %s %s", name, shown_word(word, buffer, sizeof buffer));
}

static void flag(char ret_text[SHELL_SIZE], const char *name, bool is_set)
{
    size_t length = strlen(ret_text);

    if (is_set)
        snprintf(ret_text + length, SHELL_SIZE - length, " %s", name);
}

static void tls_options(const struct cli_tls *tls, char ret_text[SHELL_SIZE])
{
    flag(ret_text, "--tls", true);
    flag(ret_text, "--insecure", tls->insecure_skip_verify);
    option(ret_text, "--cacert", tls->ca);
    option(ret_text, "--cacertdir", tls->ca_dir);
    option(ret_text, "--cert", tls->cert);
    option(ret_text, "--key", tls->key);
    option(ret_text, "--sni", tls->server_name);
}

/* A master that a change of the list has brought has its name alone. */
static const char *url_of(const struct advice_list *list)
{
    const struct cli_masters *masters = &advice_common(list)->masters;

    return list->node < masters->count ? masters->urls[list->node] : list->look->infos[list->node].name;
}

/* "redis-cli -h HOST -p PORT", to go on with, as the user of the URL, whose password is asked for, or as another. */
static void shell(const struct cli_common *common, const char *url, bool as_user, char ret_text[SHELL_SIZE])
{
    const char *user = common->masters.password.user;
    struct target target;
    char port[16];

    strcpy(ret_text, "redis-cli");
    if (target_parse(url, &target)) {
        snprintf(port, sizeof port, "%d", target.port);
        option(ret_text, "-s", target.path);
        option(ret_text, "-h", target.host);
        option(ret_text, "-p", target.host ? port : NULL);
        if (target.tls)
            tls_options(&common->masters.tls, ret_text);
    }
    if (target.user)
        user = target.user;
    option(ret_text, "--user", as_user ? user : NULL);
    flag(ret_text, "--askpass", as_user && (target.password || user));
    target_fini(&target);
}

void advice_command(const struct advice_list *list, struct advice *item, const char *words)
{
    char start[SHELL_SIZE];

    if (!item)
        return;
    shell(advice_common(list), url_of(list), true, start);
    snprintf(item->command, sizeof item->command, "%s %s", start, words);
}

void advice_grant_at(const struct cli_common *common, const char *url, const char *rights,
                     char ret_command[ADVICE_COMMAND_SIZE])
{
    const char *given = common->masters.password.user;
    const char *user = given ? given : "default";
    char start[SHELL_SIZE], word[WORD_SIZE];
    struct target target;

    shell(common, url, false, start);
    target_parse(url, &target);
    snprintf(ret_command, ADVICE_COMMAND_SIZE, "%s ACL SETUSER %s %s", start,
             shown_word(target.user ? target.user : user, word, sizeof word), rights);
    target_fini(&target);
}

void advice_grant(const struct advice_list *list, struct advice *item, const char *rights)
{
    if (item)
        advice_grant_at(advice_common(list), url_of(list), rights, item->command);
}

void advice_put_pattern(char buffer[ADVICE_RIGHTS_SIZE], char kind, const char *prefix, const char *rest)
{
    char word[3 * ADVICE_RIGHTS_SIZE];
    size_t length = 0, begin = strlen(buffer);

    for (; *prefix != '\0' && length < ADVICE_RIGHTS_SIZE; prefix++) {
        const char *form = *prefix == '\'' ? "'\\%c'" : strchr("*?[]\\", *prefix) ? "\\%c" : "%c";

        length += (size_t)sprintf(word + length, form, *prefix);
    }
    word[length] = '\0';
    snprintf(buffer + begin, ADVICE_RIGHTS_SIZE - begin, "'%c%s%s' ", kind, word, rest);
}

const char *advice_missing_rights(const struct advice_list *list, char buffer[ADVICE_RIGHTS_SIZE])
{
    const struct probe_rights *rights = &list->look->rights[list->node];
    const char *prefix = advice_common(list)->prefix;

    buffer[0] = '\0';
    if (rights->keys)
        advice_put_pattern(buffer, '~', prefix, "redlock:*");
    if (rights->channels)
        advice_put_pattern(buffer, '&', prefix, "redlock:*");
    snprintf(buffer + strlen(buffer), ADVICE_RIGHTS_SIZE - strlen(buffer), "%s", rights->missing);
    if (*buffer != '\0' && buffer[strlen(buffer) - 1] == ' ')
        buffer[strlen(buffer) - 1] = '\0';
    return buffer;
}

/* --- Masters that do not answer as a client needs it: with an error, or not at all -------------------------------- */

static const char *server_says(const struct advice_list *list)
{
    const struct probe *probe = &list->look->probes[list->node];

    return probe->refused ? probe->why : list->look->infos[list->node].last_error;
}

void advise_on_cluster(struct advice_list *list)
{
    advice_add(list, true, "a node of a Redis Cluster, which moves and fails over keys by itself",
               "Start a server of its own for the locks, with 'cluster-enabled no'.");
}

/* What a server says, by a word of it; what that means; and the cure, which a command may be a part of. */
static const struct refusal {
    const char *word;
    const char *meaning;
    const char *mend;
    const char *command;
} refusals[] = {
    {"OOM", "its memory is full: it takes no new lock, and keeps those that are held",
     "Give it more memory, or delete what is no lock. What it has and uses is shown by:", "INFO memory"},
    {"MISCONF", "it cannot write its data to its disk, so it takes no writes",
     "Mend what its log names, a full disk for example; it writes again by itself. It tells more by:",
     "INFO persistence"},
    {"NOREPLICAS", "it takes no writes without replicas", "Let it write without them, in its redis.conf as well:",
     "CONFIG SET min-replicas-to-write 0"},
    {"BUSY", "a script or function of another program keeps it busy",
     "Wait for its end, or end it (with FUNCTION in place of SCRIPT if it is a function):", "SCRIPT KILL"},
    {"no answer to", "it answers, but not to a write: it is paused, is failing over, or has too much to do",
     "Wait for the end of that. A pause is ended by:", "CLIENT UNPAUSE"},
    {"LOADING", "it is still reading its data", "Wait for the end of that.", NULL},
    {"MASTERDOWN", "a replica without its master",
     "Put its master in its place, for all clients, or make it independent:", "REPLICAOF NO ONE"},
    {"READONLY", "a replica, or a server that takes no writes",
     "Put its master in its place, for all clients, or make it independent:", "REPLICAOF NO ONE"},
    {"DENIED", "protected mode: it takes nobody from another machine as long as it wants no password",
     "Give its user a password (requirepass, or ACL SETUSER) and name that here. In a network that you trust, name its "
     "address by 'bind' in its redis.conf, or set 'protected-mode no'.", NULL},
    {"called without any password", "it wants no password, and is given one",
     "Leave the password out, for all clients, or give its user one.", NULL},
    {"NOAUTH", "it wants a password",
     "Give the right user and password, in its URL or by --user and --password-file.", NULL},
    {"WRONGPASS", "the user or the password is wrong",
     "Give the right user and password, in its URL or by --user and --password-file.", NULL},
    {"invalid password", "the password is wrong",
     "Give the right user and password, in its URL or by --user and --password-file.", NULL},
    {"max number of clients", "all of its connections are taken",
     ADVICE_CROWD, NULL},
    {"DB index", "it has no database of that number",
     "Write another number at the end of its URL, for all clients alike, or raise 'databases' in its redis.conf.",
     NULL},
    {"NOPERM", "the user lacks a right", "Have its administrator grant what redlock(7) names under \"Rights\".", NULL},
};

static const struct refusal *refusal_of(const char *says)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (strstr(says, refusals[i].word))
            return &refusals[i];
    return NULL;
}

void advise_on_refused(struct advice_list *list, bool serious)
{
    const char *says = server_says(list);
    const struct refusal *refusal = refusal_of(says);
    struct advice *item;
    char what[480];

    if (strstr(says, "CLUSTERDOWN") || strstr(says, "MOVED") || strstr(says, "cluster mode")) {
        advise_on_cluster(list);
        return;
    }
    advice_set(what, sizeof what, "%s. It says: %s",
               refusal ? refusal->meaning : "it answers with an error", says);
    item = advice_add(list, serious, what, refusal ? refusal->mend : "See what it says, and its log.");
    if (refusal && refusal->command)
        advice_command(list, item, refusal->command);
}

static bool mentions(const struct redlock_node_info *info, const char *word)
{
    return strstr(info->last_error, word) != NULL;
}

static bool is_closed(const struct redlock_node_info *info)
{
    return mentions(info, "closed") || mentions(info, "reset by peer") || mentions(info, "Broken pipe");
}

static void on_other_tls(struct advice_list *list)
{
    if (cli_url_has_tls(url_of(list)))
        advice_add(list, true, "it speaks no TLS at this port, and its URL begins with rediss://",
                   "Name its port for TLS (tls-port), or write redis://, for all clients alike.");
    else
        advice_add(list, true, "it speaks TLS at this port, and its URL does not begin with rediss://",
                   "Write rediss:// in front of it, for all clients alike, or name its port without TLS.");
}

enum { STEP_MS = 100 };

/* A handshake has the time for connecting and that of an answer: twice --node-timeout, and so does its whole time fit
 * twice. */
static void on_slow(struct advice_list *list)
{
    const char *error = list->look->infos[list->node].last_error;
    int64_t slow_ms = list->look->slow_ms[list->node];
    int64_t enough_ms = (slow_ms + STEP_MS - 1) / STEP_MS * STEP_MS;
    int64_t least_ms = 2 * (int64_t)advice_common(list)->node_timeout_ms;
    char what[240], time[24], enough[DURATION_TEXT_SIZE];
    struct advice *item;

    if (slow_ms == 0) {
        advice_set(what, sizeof what, "slow: %s", error);
        advice_add(list, true, what, "Look at the load of its machine, and at the way to it. Much more time "
                                     "(--node-timeout) was not enough.");
        return;
    }
    if (enough_ms < least_ms)
        enough_ms = least_ms;
    duration_text(enough_ms * 1000, enough);
    term_time(slow_ms * 1000, time, sizeof time);
    advice_set(what, sizeof what, "slow: its handshake takes about %s, and had too little time (%s)", time, error);
    item = advice_add(list, true, what, "Give it more, in all clients alike (in programs by node_timeout_ms and "
                                        "connect_timeout_ms):");
    if (item)
        advice_set(item->command, sizeof item->command, "redlock nodes --node-timeout %s", enough);
}

void advise_on_down(struct advice_list *list)
{
    const struct redlock_node_info *info = &list->look->infos[list->node];
    char what[240], rights[ADVICE_RIGHTS_SIZE];
    struct advice *item = NULL;

    advice_set(what, sizeof what, "not reached: %s", info->last_error[0] != '\0' ? info->last_error : "no answer");
    if (list->look->probes[list->node].other_tls)
        on_other_tls(list);
    else if (nodes_is_slow(list->look, list->node))
        on_slow(list);
    else if (mentions(info, "NOPERM") && *advice_missing_rights(list, rights) != '\0')
        advice_grant(list, advice_add(list, true, what, "Have its administrator grant what is missing:"), rights);
    else if (refusal_of(info->last_error))
        advise_on_refused(list, true);
    else if (mentions(info, "resolving the name"))
        advice_add(list, true, what, "Correct the name, in all clients alike, or let this machine resolve it.");
    else if (mentions(info, "client certificate"))
        advice_add(list, true, what, "Give one that it accepts, with its key, by --tls-cert and --tls-key.");
    else if (mentions(info, "the server's certificate"))
        advice_add(list, true, what,
                   "Give it a certificate that is valid, for its name and of the CA that is trusted here. What is "
                   "trusted, and another name than that of its URL, can be told by --tls-ca and --tls-server-name.");
    else if (mentions(info, "protocol: "))
        advice_add(list, true, what,
                   "What listens there is no Redis and no Valkey. Name the host and port of one, for all clients.");
    else if (is_closed(info))
        item = advice_add(list, true, what,
                          "What listens there ends the connection without a word: a proxy without a server behind it, "
                          "or a server that takes no more clients. Look at its log, until this answers PONG:");
    else if (mentions(info, "no answer within"))
        item = advice_add(list, true, what,
                          "It takes connections and answers nothing: it hangs, is stopped, or is not reached by what "
                          "forwards its port. Look at its machine, until this answers PONG:");
    else
        item = advice_add(list, true, what,
                          "If it is gone for good, another one takes its place: 'redlock nodes --replace OLD=NEW'. "
                          "Else start it, or open the way to it, until this answers PONG:");
    advice_command(list, item, "PING");
}

void advise_on_sentinel(struct advice_list *list)
{
    advice_add(list, true, "a Sentinel, which keeps no data",
               "Name the port of a server that is a master of its own; see redlock(7) about Sentinel.");
}

void advise_on_unknown_commands(struct advice_list *list)
{
    char what[480];

    advice_set(what, sizeof what, "it does not know: %s", list->look->rights[list->node].unknown);
    advice_add(list, true, what,
               "Leave the commands their names (rename-command in its redis.conf), or put a server that has them in "
               "its place: Redis 6.0 or later, or Valkey.");
}
