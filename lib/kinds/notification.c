#include "kinds/notification.h"

#include "kinds/text.h"

/* "value round what incarnation time counter" */
#define N_WORDS 6

static bool split(struct rl_slice payload, struct rl_slice words[N_WORDS])
{
    for (size_t i = 0; i < N_WORDS; i++) {
        if (!rl_text_take_word(&payload, &words[i]))
            return false;
    }
    return !payload.data;
}

static bool read_kind(struct rl_slice word, enum rl_notice_kind *ret_kind)
{
    static const char *const words[] = {
        [RL_TOLD_GRANTED] = "granted", [RL_TOLD_LOWER] = "lower", [RL_TOLD_LOOK] = "look",
        [RL_TOLD_FIRST] = "first"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        *ret_kind = (enum rl_notice_kind)i;
        if (rl_slice_is(word, words[i]))
            return true;
    }
    return false;
}

bool rl_notification_read(struct rl_slice payload, struct rl_slice *ret_value, struct rl_slice *ret_incarnation,
                           struct rl_notification *ret_notification)
{
    struct rl_slice words[N_WORDS];
    struct rl_notification notification = {0};
    uint64_t round;

    if (!payload.size || !split(payload, words) || !rl_text_read_number(words[1], &round) || round > UINT32_MAX ||
        !rl_text_read_number(words[4], &notification.time_us) || !rl_text_read_number(words[5], &notification.fence))
        return false;
    if (!read_kind(words[2], &notification.kind))
        return false;
    notification.round = (uint32_t)round;
    *ret_value = words[0];
    *ret_incarnation = words[3];
    *ret_notification = notification;
    return true;
}

bool rl_notification_counts(const struct rl_notification *notification, struct rl_slice incarnation,
                                  struct rl_slice admitted)
{
    if (notification->kind != RL_TOLD_GRANTED)
        return true;
    if (!admitted.size)
        return rl_slice_is(incarnation, "-");
    return rl_slice_equals(admitted, incarnation);
}
