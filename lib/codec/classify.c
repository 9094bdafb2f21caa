#include "codec/classify.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "kinds/mutex.h"

static const char *const detail_texts[] = {
#define RL_DETAIL_TEXT(name, text) [RL_DETAIL_##name] = (text),
    RL_DETAIL_MAP(RL_DETAIL_TEXT)
#undef RL_DETAIL_TEXT
};

const char *rl_detail_text(enum rl_detail detail)
{
    if ((size_t)detail >= sizeof detail_texts / sizeof detail_texts[0])
        return "";
    return detail_texts[detail];
}

/* The text of an error, without what servers put around one that a script has met. */
struct error_text {
    struct rl_slice text;
    bool from_script; /* certainly: it was wrapped */
};

static bool skip(struct rl_slice *text, const char *phrase)
{
    size_t size = strlen(phrase);

    if (text->size < size || memcmp(text->data, phrase, size) != 0)
        return false;
    text->data = (const char *)text->data + size;
    text->size -= size;
    return true;
}

/* At least one character of the set. */
static bool skip_all_of(struct rl_slice *text, const char *set)
{
    const char *bytes = text->data;
    size_t n = 0;

    while (n < text->size && bytes[n] && strchr(set, bytes[n]))
        n++;
    text->data = bytes + n;
    text->size -= n;
    return n > 0;
}

/* Redis up to 6.2 wraps the error of a call that a script makes by redis.call():
 *
 *     ERR Error running script (call to f_SHA1): @user_script:LINE: TEXT
 *
 * TEXT is what the command would have said by itself. If the server refuses the call without trying the command, as a
 * replica and one without memory do, TEXT is "@user_script: LINE: -READONLY ..."; and a script that hands on the error
 * of redis.pcall() answers that part alone. Errors of Lua itself follow as "user_script:LINE: ...", whose first word is
 * never one that is listed. */
static struct error_text unwrapped(struct rl_slice text)
{
    struct rl_slice rest = text;
    struct error_text error = {text, false};

    if (skip(&rest, "ERR Error running script (call to f_") && skip_all_of(&rest, "0123456789abcdef") &&
        skip(&rest, "): @user_script:") && skip_all_of(&rest, "0123456789") && skip(&rest, ": "))
        error = (struct error_text){rest, true};
    rest = error.text;
    if (skip(&rest, "@user_script: ") && skip_all_of(&rest, "0123456789") && skip(&rest, ": ")) {
        skip(&rest, "-");
        error = (struct error_text){rest, true};
    }
    return error;
}

static struct rl_slice first_word(struct rl_slice text)
{
    const char *space = text.size ? memchr(text.data, ' ', text.size) : NULL;

    if (space)
        text.size = (size_t)(space - (const char *)text.data);
    return text;
}

/* "ERR unknown command 'X', ..." is how a server refuses a command that it does not have. Versions differ in quotes
 * and forks in letter case. "ERR Unknown Redis command called from script" is another thing: it comes from a script
 * that was already running. */
static bool is_unknown_command(struct rl_slice text)
{
    static const char phrase[] = "ERR unknown command";
    const size_t size = sizeof phrase - 1;
    const char *bytes = text.data;

    if (text.size < size || strncasecmp(bytes, phrase, size) != 0)
        return false;
    return text.size == size || bytes[size] == ' ' || bytes[size] == ',';
}

/* How our scripts say that something else has one of the names beside the key. */
static enum rl_detail foreign_name(struct rl_slice text)
{
    if (rl_slice_is(text, "FOREIGN redlock:fence"))
        return RL_DETAIL_FOREIGN_COUNTER;
    if (rl_slice_is(text, "FOREIGN redlock:queue"))
        return RL_DETAIL_FOREIGN_QUEUE;
    return rl_slice_is(text, "FOREIGN redlock:waiters") ? RL_DETAIL_FOREIGN_WAITERS : RL_DETAIL_ERROR;
}

/* How a server says that the user may not do what a script wants, before the call has done anything: since Redis 7.2,
 * and before that. Redis 6 has no "ERR " in front. */
static bool is_forbidden_in_script(struct error_text error)
{
    struct rl_slice text = error.text;

    return (skip(&text, "ERR ") || error.from_script) &&
           (skip(&text, "ACL failure in script: ") || skip(&text, "The user executing the script can't "));
}

/* The details from READONLY to NOSCRIPT are named by the word with which servers send them. */
static enum rl_detail detail_of(struct error_text error)
{
    struct rl_slice word = first_word(error.text);

    if (!word.size)
        return RL_DETAIL_ERROR;
    for (int detail = RL_DETAIL_READONLY; detail <= RL_DETAIL_NOSCRIPT; detail++) {
        if (rl_slice_is(word, detail_texts[detail]))
            return (enum rl_detail)detail;
    }
    if (is_forbidden_in_script(error))
        return RL_DETAIL_NOPERM;
    if (!error.from_script && is_unknown_command(error.text))
        return RL_DETAIL_UNKNOWN_COMMAND;
    return foreign_name(error.text);
}

enum rl_detail rl_classify_error(struct rl_slice text)
{
    return detail_of(unwrapped(text));
}

bool rl_says_noscript(const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ERROR && rl_classify_error(reply->root.text) == RL_DETAIL_NOSCRIPT;
}

/* Calls inside a script raise the listed words, too (OOM, READONLY, NOPERM, ...), and what the script did before that
 * call is done. The words may count as "not applied" because of how the scripts are made: each reads, and then makes
 * one write, or two (GRANT, RAISE, REPAIR), the fencing counter first and the key last. So an error means that the key
 * was not touched; a counter that was lifted all the same only leaves numbers out. RAISE writes nothing but the
 * counter, and without its acknowledgement a token is not handed out. ENQUEUE writes several things, so only the words
 * count that say that it was not begun. RELEASE writes several things, too, but a rollback that failed is sent again
 * whatever the word.
 *
 * Kinds that write several things in a step are treated like ENQUEUE there.
 *
 * EXTEND_MANY makes many writes, but no error of its own after the first.
 *
 * WRONGTYPE comes from the first read of the key: it is somebody else's, of another type, and untouched. Reads of
 * counters and markers do not raise it, and neither do SET NX and GRANT. ENQUEUE says FOREIGN of the queue's own names,
 * before its first write; so does whatever counts of the counter. */
static bool says_not_begun(bool writes_several, enum rl_detail detail, bool from_script)
{
    if (!writes_several)
        return detail != RL_DETAIL_ERROR;
    if (from_script)
        return false;
    return detail == RL_DETAIL_NOSCRIPT || detail == RL_DETAIL_UNKNOWN_COMMAND || detail == RL_DETAIL_LOADING ||
           detail == RL_DETAIL_BUSY || detail == RL_DETAIL_NOAUTH;
}

static struct rl_answer classify_error(enum rl_step step, bool writes_several, struct rl_slice text)
{
    struct error_text error = unwrapped(text);
    enum rl_detail detail = detail_of(error);

    if (detail == RL_DETAIL_FOREIGN_QUEUE || detail == RL_DETAIL_FOREIGN_WAITERS)
        return (struct rl_answer){RL_REFUSED, detail, 0};
    if (says_not_begun(writes_several, detail, error.from_script))
        return (struct rl_answer){RL_FAILED, detail, 0};
    if (step != RL_STEP_CLAIM && rl_slice_is(first_word(error.text), "WRONGTYPE"))
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_FOREIGN, 0};
    return (struct rl_answer){RL_UNKNOWN, detail, 0};
}

struct rl_answer rl_classify_many(enum rl_step step, const struct rl_reply *reply, size_t i, size_t n)
{
    struct rl_answer answer;

    if (reply->root.type != RL_REPLY_ERROR)
        return rl_many_answer(step, reply, i, n);
    answer = classify_error(step, false, reply->root.text);
    if (answer.detail == RL_DETAIL_FOREIGN) /* one of them: which? */
        answer = (struct rl_answer){RL_UNKNOWN, RL_DETAIL_ERROR, 0};
    return answer;
}

struct rl_answer rl_classify(const struct rl_kind *kind, enum rl_step step, const struct rl_reply *reply)
{
    bool sets_vote = step == RL_STEP_CLAIM || step == RL_STEP_EXTEND || step == RL_STEP_REPAIR;

    if (reply->root.type == RL_REPLY_ERROR)
        return classify_error(step, step == RL_STEP_ENQUEUE || (kind->writes_several && sets_vote), reply->root.text);
    return kind->answer(step, reply);
}
