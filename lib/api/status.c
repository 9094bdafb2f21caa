/* The words for status codes, operations, votes, states, links, admission, events and versions. */
#include <redlock/look.h>
#include <redlock/redlock.h>

struct word {
    int number;
    bool retryable;
    const char *name;
    const char *text;
};

static const struct word statuses[] = {
#define STATUS_WORD(name, number, retryable, text) {number, retryable, "REDLOCK_" #name, text},
    REDLOCK_STATUS_MAP(STATUS_WORD)
#undef STATUS_WORD
};

static const struct word *find(int status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        if (statuses[i].number == status)
            return &statuses[i];
    }
    return NULL;
}

const char *redlock_strerror(int status)
{
    const struct word *word = find(status);

    return word ? word->text : "unknown status";
}

const char *redlock_status_name(int status)
{
    const struct word *word = find(status);

    return word ? word->name : "REDLOCK_UNKNOWN";
}

bool redlock_status_retryable(int status)
{
    const struct word *word = find(status);

    return word && word->retryable;
}

const char *redlock_op_name(enum redlock_op op)
{
    static const char *const names[] = {
        [REDLOCK_OP_ACQUIRE] = "acquire", [REDLOCK_OP_EXTEND] = "extend", [REDLOCK_OP_RELEASE] = "release",
        [REDLOCK_OP_CONVERT] = "convert"};

    return op >= REDLOCK_OP_ACQUIRE && op <= REDLOCK_OP_CONVERT ? names[op] : "?";
}

const char *redlock_mode_name(enum redlock_mode mode)
{
    static const char *const names[] = {[REDLOCK_EXCLUSIVE] = "exclusive", [REDLOCK_UPGRADEABLE] = "upgradeable",
                                        [REDLOCK_SHARED] = "shared"};

    return (unsigned)mode <= REDLOCK_SHARED ? names[mode] : "?";
}

const char *redlock_look_verdict_name(enum redlock_look_verdict verdict)
{
    static const char *const names[] = {
        [REDLOCK_LOOK_FREE] = "free",           [REDLOCK_LOOK_EXCLUSIVE] = "exclusive",
        [REDLOCK_LOOK_SHARED] = "shared",       [REDLOCK_LOOK_UPGRADING] = "upgrading",
        [REDLOCK_LOOK_UNSETTLED] = "unsettled", [REDLOCK_LOOK_UNKNOWN] = "unknown"};

    return verdict >= REDLOCK_LOOK_FREE && verdict <= REDLOCK_LOOK_UNKNOWN ? names[verdict] : "?";
}

const char *redlock_vote_name(enum redlock_vote vote)
{
    static const char *const names[] = {
        [REDLOCK_VOTE_NONE] = "none",       [REDLOCK_VOTE_PENDING] = "pending", [REDLOCK_VOTE_GRANTED] = "granted",
        [REDLOCK_VOTE_REFUSED] = "refused", [REDLOCK_VOTE_FAILED] = "failed",   [REDLOCK_VOTE_UNKNOWN] = "unknown",
        [REDLOCK_VOTE_QUEUED] = "queued"};

    return (unsigned)vote <= REDLOCK_VOTE_QUEUED ? names[vote] : "?";
}

const char *redlock_state_name(enum redlock_state state)
{
    static const char *const names[] = {
        [REDLOCK_STATE_IDLE] = "idle",           [REDLOCK_STATE_ACQUIRING] = "acquiring",
        [REDLOCK_STATE_BACKING_OFF] = "backing off", [REDLOCK_STATE_HELD] = "held",
        [REDLOCK_STATE_EXTENDING] = "extending", [REDLOCK_STATE_RELEASING] = "releasing",
        [REDLOCK_STATE_LOST] = "lost",           [REDLOCK_STATE_WAITING] = "waiting"};

    return state >= REDLOCK_STATE_IDLE && state <= REDLOCK_STATE_WAITING ? names[state] : "?";
}

const char *redlock_link_name(enum redlock_link link)
{
    static const char *const names[] = {
        [REDLOCK_LINK_JOINING] = "joining", [REDLOCK_LINK_READY] = "ready", [REDLOCK_LINK_LATE] = "late",
        [REDLOCK_LINK_DOWN] = "down"};

    return (unsigned)link <= REDLOCK_LINK_DOWN ? names[link] : "?";
}

const char *redlock_loss_text(enum redlock_loss loss)
{
    static const char *const texts[] = {
        [REDLOCK_LOSS_NONE] = "",
        [REDLOCK_LOSS_EXPIRED] = "its time ran out and no renewal had been tried",
        [REDLOCK_LOSS_UNREACHABLE] = "its time ran out while renewals found too few masters",
        [REDLOCK_LOSS_REFUSED] = "too many masters no longer had the key, or had another's",
        [REDLOCK_LOSS_CLOCK_STEP] = "clocks of masters were set forward, or this client's own stood still",
        [REDLOCK_LOSS_HOLD_LIMIT] = "its time ran out after the hold limit had ended the renewals"};

    return (unsigned)loss <= REDLOCK_LOSS_HOLD_LIMIT ? texts[loss] : "?";
}

const char *redlock_standing_name(enum redlock_standing standing)
{
    static const char *const names[] = {
        [REDLOCK_STANDING_UNJUDGED] = "unjudged", [REDLOCK_STANDING_VOTES] = "votes",
        [REDLOCK_STANDING_QUARANTINED] = "quarantined", [REDLOCK_STANDING_EXCLUDED] = "excluded"};

    return (unsigned)standing <= REDLOCK_STANDING_EXCLUDED ? names[standing] : "?";
}

const char *redlock_fault_name(enum redlock_fault fault)
{
    static const char *const names[] = {
        [REDLOCK_FAULT_NONE] = "none",           [REDLOCK_FAULT_UNJUDGED] = "unjudged",
        [REDLOCK_FAULT_NEW_MEMORY] = "new-memory", [REDLOCK_FAULT_CLOCK_STEP] = "clock-step",
        [REDLOCK_FAULT_NOT_MASTER] = "not-master", [REDLOCK_FAULT_CLUSTER] = "cluster",
        [REDLOCK_FAULT_EVICTS] = "evicts",       [REDLOCK_FAULT_SAME_SERVER] = "same-server",
        [REDLOCK_FAULT_RING] = "ring",           [REDLOCK_FAULT_NO_RIGHTS] = "no-rights",
        [REDLOCK_FAULT_NO_MARKER] = "no-marker", [REDLOCK_FAULT_MAX_TTL] = "max-ttl",
        [REDLOCK_FAULT_TWO_SERVERS] = "two-servers",
        [REDLOCK_FAULT_CLOCK_SLOW] = "clock-slow", [REDLOCK_FAULT_NO_MEMBER] = "no-member",
        [REDLOCK_FAULT_NOT_FOLLOWED] = "not-followed", [REDLOCK_FAULT_OVERRULED] = "overruled"};

    return (unsigned)fault <= REDLOCK_FAULT_OVERRULED ? names[fault] : "?";
}

const char *redlock_event_name(enum redlock_event_type type)
{
    static const char *const names[] = {
        [REDLOCK_EVENT_NODE] = "node",         [REDLOCK_EVENT_ATTEMPT] = "attempt",
        [REDLOCK_EVENT_VOTE] = "vote",         [REDLOCK_EVENT_BACKOFF] = "backoff",
        [REDLOCK_EVENT_ACQUIRED] = "acquired", [REDLOCK_EVENT_EXTENDED] = "extended",
        [REDLOCK_EVENT_RELEASED] = "released", [REDLOCK_EVENT_LOST] = "lost",
        [REDLOCK_EVENT_FAILED] = "failed",     [REDLOCK_EVENT_RENEWED] = "renewed",
        [REDLOCK_EVENT_AT_RISK] = "at-risk",   [REDLOCK_EVENT_STANDING] = "standing",
        [REDLOCK_EVENT_CLOCK] = "clock",       [REDLOCK_EVENT_WAITING] = "waiting",
        [REDLOCK_EVENT_LISTENING] = "listening", [REDLOCK_EVENT_EXTENDING] = "extending",
        [REDLOCK_EVENT_PROVED] = "proved",     [REDLOCK_EVENT_VALIDITY] = "validity",
        [REDLOCK_EVENT_CONVERTED] = "converted", [REDLOCK_EVENT_LATCH_ARRIVED] = "latch-arrived",
        [REDLOCK_EVENT_LATCH_AWAITED] = "latch-awaited", [REDLOCK_EVENT_MEMBERS] = "members"};

    return type >= REDLOCK_EVENT_NODE && type <= REDLOCK_EVENT_MEMBERS ? names[type] : "?";
}

const char *redlock_version(void)
{
    return REDLOCK_VERSION;
}

int redlock_version_num(void)
{
    return REDLOCK_VERSION_NUM;
}
