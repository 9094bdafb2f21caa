/* The world's event queue: a binary heap in the stable order of (time, sequence). */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an event means is the world's business; it names its objects by index, and by a generation that has moved on
 * when the event has become meaningless. */
struct event {
    int64_t at;
    uint32_t sequence;
    uint32_t generation;
    uint16_t kind;
    uint16_t a;
    uint16_t b;
};

struct queue {
    struct event *heap;
    size_t size;
    size_t capacity;
    uint32_t sequence;
};

void queue_fini(struct queue *queue);
void queue_clear(struct queue *queue); /* keeps the memory */

/* The sequence number is given here. */
void queue_push(struct queue *queue, struct event event);
bool queue_pop(struct queue *queue, struct event *ret_event);

#endif
