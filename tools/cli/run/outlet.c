#include "cli/run/outlet.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/clock.h"

enum { ROOM = 65536 /* bytes that may wait */, US_PER_MS = 1000 };

struct text {
    struct text *next;
    char *bytes;
    size_t size;
};

struct outlet {
    enum outlet_kind kind;
    outlet_write_fn write;
    outlet_told_fn told;
    void *data;
    struct event *on_idle;
    int idle; /* an event counter: readable when the outlet has become idle */
    pthread_t thread;
    pthread_mutex_t mutex; /* of all that follows; never held during a write */
    pthread_cond_t wanted;
    struct text *first;
    struct text **last;
    size_t waiting; /* bytes */
    uint64_t missed;
    bool busy;
    bool closing;
    int error;
};

/* A text may have a token in it. */
static void text_free(struct text *text)
{
    if (text->bytes)
        explicit_bzero(text->bytes, text->size);
    free(text->bytes);
    free(text);
}

/* --- The thread -------------------------------------------------------------------------------------------------- */

static struct text *take_first(struct outlet *outlet)
{
    struct text *text = outlet->first;

    outlet->first = text->next;
    if (!outlet->first)
        outlet->last = &outlet->first;
    outlet->waiting -= text->size;
    return text;
}

/* With the mutex, which is given back meanwhile. */
static void write_first(struct outlet *outlet)
{
    struct text *text = take_first(outlet);
    int error;

    outlet->busy = true;
    pthread_mutex_unlock(&outlet->mutex);
    error = outlet->write(outlet->data, text->bytes, text->size);
    text_free(text);
    pthread_mutex_lock(&outlet->mutex);
    if (error != 0)
        outlet->error = error;
    outlet->busy = false;
    if (!outlet->first)
        eventfd_write(outlet->idle, 1);
}

static void *work(void *data)
{
    struct outlet *outlet = data;

    pthread_mutex_lock(&outlet->mutex);
    for (;;) {
        if (outlet->first)
            write_first(outlet);
        else if (outlet->closing)
            break;
        else
            pthread_cond_wait(&outlet->wanted, &outlet->mutex);
    }
    pthread_mutex_unlock(&outlet->mutex);
    return NULL;
}

/* --- The loop ---------------------------------------------------------------------------------------------------- */

static void on_idle(evutil_socket_t fd, short what, void *data)
{
    const struct outlet *outlet = data;
    eventfd_t times;

    eventfd_read(fd, &times);
    if (outlet->told)
        outlet->told(outlet->data);
}

static void outlet_free(struct outlet *outlet)
{
    if (outlet->on_idle)
        event_free(outlet->on_idle);
    if (outlet->idle >= 0)
        close(outlet->idle);
    pthread_mutex_destroy(&outlet->mutex);
    pthread_cond_destroy(&outlet->wanted);
    free(outlet);
}

struct outlet *outlet_open(struct event_base *base, enum outlet_kind kind, outlet_write_fn write, outlet_told_fn told,
                           void *data)
{
    struct outlet *outlet = calloc(1, sizeof *outlet);
    int error = ENOMEM;

    if (!outlet)
        return NULL;
    *outlet = (struct outlet){.kind = kind, .write = write, .told = told, .data = data, .last = &outlet->first,
                              .mutex = PTHREAD_MUTEX_INITIALIZER, .wanted = PTHREAD_COND_INITIALIZER};
    outlet->idle = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (outlet->idle < 0)
        error = errno;
    else
        outlet->on_idle = event_new(base, outlet->idle, EV_READ | EV_PERSIST, on_idle, outlet);
    if (outlet->on_idle && event_add(outlet->on_idle, NULL) == 0 &&
        (error = pthread_create(&outlet->thread, NULL, work, outlet)) == 0)
        return outlet;
    outlet_free(outlet);
    errno = error;
    return NULL;
}

/* With the mutex. */
static void append(struct outlet *outlet, struct text *text)
{
    while (outlet->kind == OUTLET_LATEST && outlet->first)
        text_free(take_first(outlet));
    *outlet->last = text;
    outlet->last = &text->next;
    outlet->waiting += text->size;
    pthread_cond_signal(&outlet->wanted);
}

bool outlet_put(struct outlet *outlet, char *bytes, size_t size)
{
    struct text *text = malloc(sizeof *text);
    bool fits;

    pthread_mutex_lock(&outlet->mutex);
    fits = text && (outlet->kind == OUTLET_LATEST || outlet->waiting == 0 || outlet->waiting + size <= ROOM);
    if (fits) {
        *text = (struct text){.bytes = bytes, .size = size};
        append(outlet, text);
    } else {
        outlet->missed++;
    }
    pthread_mutex_unlock(&outlet->mutex);
    if (!fits) {
        free(text);
        free(bytes);
    }
    return fits;
}

uint64_t outlet_take_missed(struct outlet *outlet)
{
    uint64_t missed;

    pthread_mutex_lock(&outlet->mutex);
    missed = outlet->waiting < ROOM / 2 ? outlet->missed : 0;
    if (missed > 0)
        outlet->missed = 0;
    pthread_mutex_unlock(&outlet->mutex);
    return missed;
}

bool outlet_is_idle(struct outlet *outlet)
{
    bool idle;

    pthread_mutex_lock(&outlet->mutex);
    idle = !outlet->first && !outlet->busy;
    pthread_mutex_unlock(&outlet->mutex);
    return idle;
}

int outlet_error(struct outlet *outlet)
{
    int error;

    pthread_mutex_lock(&outlet->mutex);
    error = outlet->error;
    pthread_mutex_unlock(&outlet->mutex);
    return error;
}

bool outlet_drain(struct outlet *outlet, int patience_ms)
{
    int64_t end_us = clock_now_us() + (int64_t)patience_ms * US_PER_MS;
    int64_t left_us = end_us - clock_now_us();
    bool idle;

    while (!(idle = outlet_is_idle(outlet)) && left_us > 0) {
        struct pollfd fd = {.fd = outlet->idle, .events = POLLIN};
        eventfd_t times;

        if (poll(&fd, 1, (int)(left_us / US_PER_MS) + 1) == 1)
            eventfd_read(outlet->idle, &times);
        left_us = end_us - clock_now_us();
    }
    return idle;
}

bool outlet_close(struct outlet *outlet)
{
    bool idle = outlet_is_idle(outlet);

    pthread_mutex_lock(&outlet->mutex);
    outlet->closing = true;
    pthread_cond_signal(&outlet->wanted);
    pthread_mutex_unlock(&outlet->mutex);
    if (!idle) {
        pthread_detach(outlet->thread);
        event_free(outlet->on_idle); /* the base goes; the thread has the rest */
        return false;
    }
    pthread_join(outlet->thread, NULL);
    outlet_free(outlet);
    return true;
}
