#include "kinds/names.h"

_Static_assert(sizeof RL_COUNTER_NAME - 1 <= RL_NAME_MAX_BYTES && sizeof RL_QUEUE_NAME - 1 <= RL_NAME_MAX_BYTES &&
               sizeof RL_WAITERS_NAME - 1 <= RL_NAME_MAX_BYTES && sizeof RL_LEADER_NAME - 1 <= RL_NAME_MAX_BYTES,
               "the longest");

struct rl_slice rl_name_of(struct rl_names *names, struct rl_slice key, const char *own)
{
    unsigned char *name = names->room;
    const unsigned char *bytes = key.data;
    size_t prefix_size = names->prefix_size;
    size_t own_size = strlen(own);

    memcpy(name, bytes, prefix_size);
    memcpy(name + prefix_size, own, own_size);
    memcpy(name + prefix_size + own_size, bytes + prefix_size, key.size - prefix_size);
    names->room += own_size + key.size;
    return (struct rl_slice){name, own_size + key.size};
}

void rl_subject_name_counter(struct rl_subject *subject)
{
    if (!subject->counter.size)
        subject->counter = rl_name_of(subject->names, subject->key, RL_COUNTER_NAME);
}

/* A release may have to give the key to a waiter with a token. */
void rl_subject_name_queue(struct rl_subject *subject, bool brief)
{
    subject->queue = rl_name_of(subject->names, subject->key, RL_QUEUE_NAME);
    if (brief)
        return;
    subject->waiters = rl_name_of(subject->names, subject->key, RL_WAITERS_NAME);
    rl_subject_name_counter(subject);
}
