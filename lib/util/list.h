/* Intrusive doubly linked circular list. A node that is in no list points at itself, so removal is always allowed. */
#ifndef RL_UTIL_LIST_H
#define RL_UTIL_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct rl_list {
    struct rl_list *prev;
    struct rl_list *next;
};

#define RL_CONTAINER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static inline void rl_list_init(struct rl_list *node)
{
    node->prev = node;
    node->next = node;
}

static inline bool rl_list_empty(const struct rl_list *head)
{
    return head->next == head;
}

static inline void rl_list_remove(struct rl_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    rl_list_init(node);
}

/* Appends a node that is in no list. */
static inline void rl_list_append(struct rl_list *head, struct rl_list *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

/* Moves all nodes of `from` to the end of `to`, in order. */
static inline void rl_list_move_all(struct rl_list *to, struct rl_list *from)
{
    if (rl_list_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    rl_list_init(from);
}

#endif
