/* One line of an engine, taken apart. Pure: what it means for the locks is runner_answers.c's business. */
#ifndef ENGINES_RUN_ANSWER_H
#define ENGINES_RUN_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

enum answer_word {
    ANSWER_HELLO,
    ANSWER_OPENED,
    ANSWER_ACQUIRED,
    ANSWER_REFUSED,
    ANSWER_VALID,
    ANSWER_RELEASED,
    ANSWER_RENEWED,
    ANSWER_LOST,
    ANSWER_FAILED,
    ANSWER_BYE,
};

enum runner_reason { RUNNER_HELD, RUNNER_DEADLINE, RUNNER_UNREACHABLE, RUNNER_ERROR };
enum runner_outcome { RUNNER_RELEASED, RUNNER_LOST, RUNNER_UNCONFIRMED, RUNNER_NOT_RELEASED };

/* What an engine can do: bits. */
enum runner_can {
    RUNNER_LEASE = 1,
    RUNNER_RENEWAL = 2,
    RUNNER_FENCE = 4,
    RUNNER_FIFO = 8,
    RUNNER_ALARM = 16,
};

#define RUNNER_TTL_MS_MAX 86400000 /* one day */
#define RUNNER_NO_END INT64_MAX /* of a lock whose engine knows no end of it */

/* Texts are parts of the line, decoded. What the line does not have is 0 or NULL. */
struct answer {
    enum answer_word word;
    const char *id;
    int64_t t0_ns, t1_ns;   /* of renewed and lost: t1_ns */
    int64_t until_ns;       /* RUNNER_NO_END if it is not told */
    bool has_fence;
    uint64_t fence;
    enum runner_reason reason;
    enum runner_outcome outcome;
    int64_t remaining_ms;   /* RUNNER_NO_END for "-" */
    const char *text;
    const char *name, *version, *systems;
    unsigned can;
    int64_t ttl_ms;         /* of hello */
};

/* Changes the line. False: *ret_why is a clause. */
bool answer_parse(char *line, struct answer *ret_answer, const char **ret_why);

#endif
