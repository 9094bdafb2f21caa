#include "kinds/release.h"

#include "kinds/wait_queue.h"
#include "votes/arguments.h"

/* The keys of release.lua, and of release_short.lua. */
#define N_KEYS 5
#define N_KEYS_SHORT 2

/* protocol 2.3: "EVAL with the script's text for rollbacks (a NOSCRIPT must not eat one)". */
void rl_release_command(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command)
{
    rl_command_init(ret_command, step == RL_STEP_RELEASE ? RL_SEND_EVALSHA : RL_SEND_EVAL,
                    subject->waiters.size ? RL_SCRIPT_RELEASE : RL_SCRIPT_RELEASE_SHORT,
                    subject->waiters.size ? N_KEYS : N_KEYS_SHORT);
    rl_queue_push_keys(subject, ret_command);
    rl_push(ret_command, subject->token);
}

struct rl_answer rl_release_answer(const struct rl_reply *reply)
{
    if (reply->root.type != RL_REPLY_INTEGER)
        return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
    switch (reply->root.integer) {
    case 4:
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_OTHERS_WAIT, 0};
    case 3:
        return (struct rl_answer){RL_FAILED, RL_DETAIL_OTHERS_WAIT, 0};
    case 2:
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_HANDED_OFF, 0};
    case 1:
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, 0};
    case 0:
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_MISSING, 0};
    case -1:
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_FOREIGN, 0};
    default:
        return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
    }
}

struct rl_answer rl_release_repeated(struct rl_answer answer, bool deleted)
{
    if (answer.detail == RL_DETAIL_OTHERS_WAIT)
        return (struct rl_answer){RL_FAILED, RL_DETAIL_OTHERS_WAIT, 0};
    if (deleted && answer.outcome == RL_REFUSED)
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_HANDED_OFF, 0};
    return answer;
}
