/* Intrusive circular lists; sys/queue.h is not everywhere. A node that is in no list points at itself. */
#ifndef PORTABLE_LIST_H
#define PORTABLE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *prev;
    struct list *next;
};

/* The structure that has the node as this member. */
#define LIST_OWNER(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

/* Also makes a node one that is in no list. */
static inline void list_init(struct list *head)
{
    head->prev = head;
    head->next = head;
}

static inline bool list_is_empty(const struct list *head)
{
    return head->next == head;
}

static inline void list_append(struct list *head, struct list *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

static inline void list_remove(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

#endif
