#include "queue.h"

#include <stdio.h>
#include <stdlib.h>

void queue_fini(struct queue *queue)
{
    free(queue->heap);
    *queue = (struct queue){0};
}

void queue_clear(struct queue *queue)
{
    queue->size = 0;
    queue->sequence = 0;
}

static bool before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->sequence < b->sequence;
}

static void grow(struct queue *queue)
{
    queue->capacity = queue->capacity ? 2 * queue->capacity : 256;
    queue->heap = realloc(queue->heap, queue->capacity * sizeof *queue->heap);
    if (!queue->heap) {
        fputs("sim: out of memory\n", stderr);
        abort();
    }
}

void queue_push(struct queue *queue, struct event event)
{
    size_t at;

    if (queue->size == queue->capacity)
        grow(queue);
    event.sequence = queue->sequence++;
    for (at = queue->size++; at > 0; at = (at - 1) / 2) {
        if (!before(&event, &queue->heap[(at - 1) / 2]))
            break;
        queue->heap[at] = queue->heap[(at - 1) / 2];
    }
    queue->heap[at] = event;
}

bool queue_pop(struct queue *queue, struct event *ret_event)
{
    struct event last;
    size_t at = 0;

    if (!queue->size)
        return false;
    *ret_event = queue->heap[0];
    last = queue->heap[--queue->size];
    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= queue->size)
            break;
        if (child + 1 < queue->size && before(&queue->heap[child + 1], &queue->heap[child]))
            child++;
        if (!before(&queue->heap[child], &last))
            break;
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    queue->heap[at] = last;
    return true;
}
