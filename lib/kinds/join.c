#include "kinds/join.h"

#include <assert.h>
#include <string.h>

#include "kinds/command.h"

/* The script makes a quarantine a second longer than the longest lock (rule 5.4). */
#define QUARANTINE_MARGIN_MS INT64_C(1000)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* --- The question ------------------------------------------------------------------------------------------------- */

static const char *const mode_words[] = {
    [RL_JOIN_VOTE] = "vote",         [RL_JOIN_READ] = "look",       [RL_JOIN_DECLARE] = "declare",
    [RL_JOIN_ANNOUNCE] = "announce", [RL_JOIN_CONFIRM] = "confirm", [RL_JOIN_ALLOW] = "allow",
    [RL_JOIN_BEGIN] = "begin",       [RL_JOIN_TELL] = "tell",
};

static const char *const durability_words[] = {
    [RL_DURABILITY_UNKNOWN] = "unknown",
    [RL_DURABILITY_NONE] = "none",
    [RL_DURABILITY_ALWAYS] = "always",
};

void rl_join_command(const struct rl_join_question *question, struct rl_command *ret_command)
{
    assert((size_t)question->mode < COUNT_OF(mode_words));
    assert((size_t)question->durability < COUNT_OF(durability_words));
    rl_command_init(ret_command, RL_SCRIPT_JOIN, 1);
    rl_push(ret_command, question->marker);
    rl_push_word(ret_command, mode_words[question->mode]);
    rl_push(ret_command, question->incarnation);
    rl_push(ret_command, question->list_id);
    rl_push_number(ret_command, 0, question->max_ttl_ms);
    rl_push_word(ret_command, durability_words[question->durability]);
    rl_push(ret_command, question->node_id);
    rl_push_number(ret_command, 1, (uint64_t)question->known.number);
    rl_push_number(ret_command, 2, question->known.max_ttl_ms);
    rl_push_number(ret_command, 3, question->known.longest_ms);
    rl_push(ret_command, question->view);
    rl_push(ret_command, question->told);
    rl_push(ret_command, question->configured);
}

/* --- The answer --------------------------------------------------------------------------------------------------- */

/* The elements of the script's array, in order. */
enum {
    AT_EVENT,
    AT_INCARNATION,
    AT_RUN_ID,
    AT_REPLICATION_ID,
    AT_ROLE,
    AT_VERSION,
    AT_POLICY,
    AT_LEFT,
    AT_MAX_TTL,
    AT_MAXMEMORY,
    AT_REPLICAS,
    AT_TIME,
    AT_CLUSTER,
    AT_APPEND_ONLY,
    AT_PROMOTED,
    AT_LONGEST,
    AT_FALLS,
    AT_ANNOUNCED,
    AT_CONFIRMED,
    AT_AGE,
    AT_TURN,
    AT_LIST_AGE,
    AT_STALE,
    AT_VIEW,
    N_ELEMENTS,
};

static const char *const event_words[RL_JOIN_EVENT_COUNT] = {
    [RL_JOIN_KEPT] = "KEPT",         [RL_JOIN_NEW] = "NEW",           [RL_JOIN_RESTARTED] = "RESTARTED",
    [RL_JOIN_RESUMED] = "RESUMED",   [RL_JOIN_DECLARED] = "DECLARED", [RL_JOIN_ABSENT] = "ABSENT",
    [RL_JOIN_MISMATCH] = "MISMATCH", [RL_JOIN_MISPLACED] = "MISPLACED", [RL_JOIN_OUTDATED] = "OUTDATED",
    [RL_JOIN_OVERRULED] = "OVERRULED", [RL_JOIN_BEHIND] = "BEHIND",   [RL_JOIN_OTHER] = "OTHER",
};

static bool take_event(const struct rl_reply_item *item, enum rl_join_event *ret_event)
{
    for (int i = 0; i < RL_JOIN_EVENT_COUNT; i++) {
        if (item->type == RL_REPLY_STRING && rl_slice_is(item->text, event_words[i])) {
            *ret_event = (enum rl_join_event)i;
            return true;
        }
    }
    return false;
}

/* The script sends no text that does not fit, or that would end early as a C string. */
static bool take_text(const struct rl_reply_item *item, char *ret_text, size_t max)
{
    if (item->type != RL_REPLY_STRING || item->text.size > max)
        return false;
    for (size_t i = 0; i < item->text.size; i++) {
        ret_text[i] = ((const char *)item->text.data)[i];
        if (!ret_text[i])
            return false;
    }
    ret_text[item->text.size] = '\0';
    return true;
}

static bool take_number(const struct rl_reply_item *item, int64_t max, int64_t *ret_number)
{
    *ret_number = item->integer;
    return item->type == RL_REPLY_INTEGER && item->integer >= 0 && item->integer <= max;
}

static bool take_flag(const struct rl_reply_item *item, bool *ret_flag)
{
    *ret_flag = item->integer == 1;
    return item->type == RL_REPLY_INTEGER && (item->integer == 0 || item->integer == 1);
}

static bool take_texts(const struct rl_reply_item *items, struct rl_join_report *report)
{
    return take_text(&items[AT_INCARNATION], report->incarnation, RL_INCARNATION_MAX) &&
           take_text(&items[AT_RUN_ID], report->run_id, RL_RUN_ID_MAX) &&
           take_text(&items[AT_REPLICATION_ID], report->replication_id, RL_RUN_ID_MAX) &&
           take_text(&items[AT_ROLE], report->role, RL_WORD_MAX) &&
           take_text(&items[AT_VERSION], report->version, RL_WORD_MAX) &&
           take_text(&items[AT_POLICY], report->policy, RL_WORD_MAX);
}

static bool take_numbers(const struct rl_reply_item *items, struct rl_join_report *report)
{
    int64_t max_ttl_ms = 0;
    int64_t longest_ms = 0;
    int64_t turn = 0;
    bool valid = take_number(&items[AT_LONGEST], UINT32_MAX, &longest_ms) &&
                 take_number(&items[AT_MAX_TTL], longest_ms, &max_ttl_ms) &&
                 take_number(&items[AT_LEFT], longest_ms + QUARANTINE_MARGIN_MS, &report->left_ms) &&
                 take_number(&items[AT_FALLS], longest_ms + QUARANTINE_MARGIN_MS, &report->falls_ms) &&
                 take_number(&items[AT_ANNOUNCED], INT64_MAX, &report->announced) &&
                 take_number(&items[AT_CONFIRMED], INT64_MAX, &report->confirmed) &&
                 take_number(&items[AT_AGE], INT64_MAX, &report->age_ms) &&
                 take_number(&items[AT_TURN], INT64_MAX, &turn) &&
                 take_number(&items[AT_LIST_AGE], INT64_MAX, &report->list_age_ms) &&
                 take_number(&items[AT_STALE], INT64_MAX, &report->stale_ms) &&
                 take_number(&items[AT_MAXMEMORY], INT64_MAX, &report->maxmemory) &&
                 take_number(&items[AT_REPLICAS], INT64_MAX, &report->replicas) &&
                 take_number(&items[AT_TIME], INT64_MAX, &report->time_us);

    report->max_ttl_ms = (uint32_t)max_ttl_ms;
    report->longest_ms = (uint32_t)longest_ms;
    report->turn = (uint64_t)turn;
    return valid;
}

bool rl_join_parse(const struct rl_reply *reply, struct rl_join_report *ret_report, struct rl_slice *ret_view)
{
    const struct rl_reply_item *items = reply->elements;
    struct rl_join_report report = {0};

    if (reply->root.type != RL_REPLY_ARRAY || reply->n_elements != N_ELEMENTS)
        return false;
    if (!take_event(&items[AT_EVENT], &report.event) || !take_texts(items, &report) || !take_numbers(items, &report))
        return false;
    if (!take_flag(&items[AT_CLUSTER], &report.cluster) || !take_flag(&items[AT_APPEND_ONLY], &report.append_only) ||
        !take_flag(&items[AT_PROMOTED], &report.promoted))
        return false;
    if (items[AT_VIEW].type != RL_REPLY_STRING)
        return false;
    if (ret_view)
        *ret_view = items[AT_VIEW].text;
    *ret_report = report;
    return true;
}

/* --- Refusals ----------------------------------------------------------------------------------------------------- */

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool has_at(struct rl_slice text, size_t at, const char *phrase)
{
    const char *bytes = text.data;
    size_t i = 0;

    while (phrase[i] && at + i < text.size && folded(bytes[at + i]) == folded(phrase[i]))
        i++;
    return !phrase[i];
}

static bool has(struct rl_slice text, const char *phrase)
{
    for (size_t at = 0; at < text.size; at++) {
        if (has_at(text, at, phrase))
            return true;
    }
    return false;
}

/* NOPERM comes first when the user may not run EVAL or not use the marker's key. The rest comes from inside the
 * script, in words that differ: up to 6.x behind "ERR Error running script", in 7.0 "The user executing ...", since
 * 7.2 "ACL failure". Commands that were renamed or switched off are unknown, EVAL at the front and others inside. */
bool rl_join_is_refusal(struct rl_slice error_text)
{
    static const char *const inside[] = {
        "ACL failure in script",
        "the user executing the script can't",
        "unknown redis command called from",
        "unknown command called from",
        "command is not allowed from script",
    };

    if (has_at(error_text, 0, "NOPERM") || has_at(error_text, 0, "ERR unknown command") ||
        has_at(error_text, 0, "ERR unknown subcommand"))
        return true;
    for (size_t i = 0; has_at(error_text, 0, "ERR ") && i < COUNT_OF(inside); i++) {
        if (has(error_text, inside[i]))
            return true;
    }
    return false;
}
