/* Notifications: what is taken apart is what was there, and what is put together again is the same.
 *
 * Input: the payload. */
#include <inttypes.h>
#include <string.h>

#include "kinds/wait_queue.h"
#include "fuzz.h"

static bool is_inside(struct rl_slice slice, const uint8_t *data, size_t size)
{
    const uint8_t *begin = slice.data;

    return begin >= data && slice.size > 0 && begin + slice.size <= data + size;
}

static bool has_space(struct rl_slice slice)
{
    return memchr(slice.data, ' ', slice.size) != NULL;
}

/* Numbers may have had zeros in front: then it is longer. */
static void put_together(const struct rl_notification *notification, struct rl_slice value, struct rl_slice incarnation,
                         size_t size)
{
    static const char *const kinds[] = {
        [RL_TOLD_GRANTED] = "granted", [RL_TOLD_LOWER] = "lower", [RL_TOLD_LOOK] = "look",
        [RL_TOLD_FIRST] = "first"};
    int n = snprintf(NULL, 0, " %" PRIu32 " %s  %" PRIu64 " %" PRIu64, notification->round, kinds[notification->kind],
                     notification->time_us, notification->fence);

    HOLDS(value.size + incarnation.size + (size_t)n <= size);
}

static void take(const uint8_t *data, size_t size)
{
    struct rl_slice value = {NULL, 0}, incarnation = {NULL, 0};
    struct rl_notification notification = {.round = 77};

    if (!rl_notification_read((struct rl_slice){data, size}, &value, &incarnation, &notification)) {
        HOLDS(!value.data && !incarnation.data && notification.round == 77 && notification.kind == RL_TOLD_GRANTED);
        return;
    }
    HOLDS(is_inside(value, data, size) && is_inside(incarnation, data, size));
    HOLDS(!has_space(value) && !has_space(incarnation));
    HOLDS((const uint8_t *)value.data == data);
    HOLDS(notification.time_us < UINT64_C(1000000000000000000) && notification.fence < UINT64_C(1000000000000000000));
    put_together(&notification, value, incarnation, size);
}

/* In memory of exactly that size, so that a look beyond the end is seen. */
void fuzz_notification(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);

    HOLDS(exact != NULL);
    if (size)
        memcpy(exact, data, size);
    take(exact, size);
    free(exact);
}
