#include "client.h"

#include <stdio.h>

#include <event2/event.h>

#include "contender.h"
#include "lab/load/message.h"
#include "locker.h"
#include "relay/relays.h"
#include "requests.h"

#define METER_US 20000

struct process {
    struct fo_worker *worker;
    struct event_base *base;
    struct fo_locker *locker;
    struct fo_requests *requests;
    struct fo_contender *contender;
    struct event *control;
    struct event *meter;
    bool ok;
};

static void end_loop(struct process *process, bool ok)
{
    process->ok = ok;
    event_base_loopbreak(process->base);
}

static void on_ready(void *user_data)
{
    load_send(((struct process *)user_data)->worker->control, LOAD_READY, 0);
}

static void on_shut_down(bool ok, void *user_data)
{
    end_loop(user_data, ok);
}

/* What has been counted since the last time belongs to the phase of now. */
static void on_meter(evutil_socket_t fd, short what, void *user_data)
{
    struct process *process = user_data;

    process->locker->type->count(process->locker);
}

static void on_requests_done(void *user_data)
{
    struct process *process = user_data;

    process->locker->type->shut_down(process->locker);
}

static void on_control(evutil_socket_t fd, short what, void *user_data)
{
    struct process *process = user_data;
    struct load_message message;

    if (!load_receive(fd, &message)) {
        end_loop(process, false);
    } else if (message.word == LOAD_START) {
        process->locker->type->started(process->locker);
        fo_requests_start(process->requests);
        fo_contender_start(process->contender);
    } else if (message.word == LOAD_QUIT) {
        fo_contender_stop(process->contender);
        fo_requests_stop(process->requests, on_requests_done, process);
    }
}

static bool create_events(struct process *process)
{
    process->control = event_new(process->base, process->worker->control, EV_READ | EV_PERSIST, on_control, process);
    process->meter = event_new(process->base, -1, EV_PERSIST, on_meter, process);
    return process->control && process->meter && event_add(process->control, NULL) == 0 &&
           event_add(process->meter, &(struct timeval){.tv_usec = METER_US}) == 0;
}

static bool set_up(struct process *process)
{
    static const struct fo_locker_calls calls = {on_ready, on_shut_down};
    struct fo_worker *worker = process->worker;
    const struct fo_locker_type *type = worker->options->engine ? &fo_engine_locker : &fo_library_locker;

    process->base = relay_precise_base();
    if (!process->base || !create_events(process)) {
        fo_worker_fail(worker, "no event loop");
        return false;
    }
    process->locker = type->create(worker, process->base, &calls, process);
    if (!process->locker)
        return false;
    process->requests = fo_requests_create(worker, process->base, process->locker);
    process->contender = fo_contender_create(worker, process->base, process->locker);
    if (process->requests && process->contender)
        return true;
    fo_worker_fail(worker, "out of memory");
    return false;
}

static void tear_down(struct process *process)
{
    fo_contender_destroy(process->contender);
    fo_requests_destroy(process->requests);
    if (process->locker)
        process->locker->type->destroy(process->locker);
    if (process->control)
        event_free(process->control);
    if (process->meter)
        event_free(process->meter);
    if (process->base)
        event_base_free(process->base);
}

int fo_client_process(struct fo_worker *worker)
{
    struct process process = {.worker = worker};

    if (set_up(&process))
        event_base_dispatch(process.base);
    tear_down(&process);
    return process.ok ? 0 : 1;
}
