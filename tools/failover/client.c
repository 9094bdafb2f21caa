#include "client.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "load/message.h"
#include "load/system.h"
#include "relay/relays.h"

#define METER_US 20000
#define GOODBYE_TIMEOUT_MS 1500

struct process {
    struct fo_seat *seat;
    struct event_base *base;
    struct redlock_client *client;
    struct fo_requests *requests;
    struct fo_contender *contender;
    struct event *control;
    struct event *meter;
    uint32_t voting; /* masters, as a mask */
    uint64_t commands_before;
    uint64_t acquired_before;
    bool ready;
    bool ok;
};

void fo_seat_fail(struct fo_seat *seat, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    load_fail(seat->control, seat->shared->errors[seat->client], FO_ERROR_SIZE, format, args);
    va_end(args);
}

/* A master's silence is noticed early, and a silent connection given up soon: an outage is to be short. */
void fo_client_options(const struct fo_options *options, const struct cli_tls *tls, const char *prefix,
                       struct redlock_options *ret_options)
{
    redlock_options_init(ret_options);
    cli_tls_apply(tls, ret_options);
    ret_options->client_name = "redlock-failover";
    ret_options->key_prefix = prefix;
    ret_options->max_ttl_ms = options->max_ttl_ms;
    ret_options->node_timeout_ms = 200;
    ret_options->connect_timeout_ms = 500;
    ret_options->stall_timeout_ms = 1000;
}

static void end_loop(struct process *process, bool ok)
{
    process->ok = ok;
    event_base_loopbreak(process->base);
}

static void note_view(struct process *process, enum fo_kind kind, const struct redlock_event *event, uint8_t detail)
{
    fo_journal_add(process->seat->shared, process->seat->client,
                   (struct fo_record){
                       .kind = (uint8_t)kind, .at_ns = fo_now_ns(), .node = (uint8_t)event->node, .detail = detail});
}

static void note_standing(struct process *process, const struct redlock_event *event)
{
    uint32_t node = UINT32_C(1) << event->node;

    note_view(process, FO_STANDING, event, (uint8_t)event->standing);
    if (event->standing == REDLOCK_STANDING_VOTES)
        process->voting |= node;
    else
        process->voting &= ~node;
    if (process->ready || process->voting != (UINT32_C(1) << process->seat->n_urls) - 1)
        return;
    process->ready = true;
    load_send(process->seat->control, LOAD_READY, 0);
}

static void on_event(const struct redlock_event *event, void *user_data)
{
    struct process *process = user_data;

    if (event->type == REDLOCK_EVENT_NODE)
        note_view(process, FO_LINK, event, (uint8_t)event->link);
    else if (event->type == REDLOCK_EVENT_STANDING)
        note_standing(process, event);
    else if (event->type == REDLOCK_EVENT_CLOCK)
        note_view(process, FO_CLOCK, event, 0);
    else if (event->type == REDLOCK_EVENT_RENEWED)
        fo_contender_renewed(process->contender, event);
}

/* What has been counted since the last time belongs to the phase of now. */
static void on_meter(evutil_socket_t fd, short what, void *user_data)
{
    struct process *process = user_data;
    struct fo_meter *meter = &process->seat->shared->meters[process->seat->client];
    uint32_t phase = atomic_load(&process->seat->shared->phase);
    struct redlock_stats stats;

    if (redlock_client_stats(process->client, &stats, sizeof(stats)) != REDLOCK_OK)
        return;
    meter->commands[phase] += stats.commands - process->commands_before;
    meter->acquired[phase] += stats.acquired - process->acquired_before;
    meter->cpu_s = system_cpu_s();
    process->commands_before = stats.commands;
    process->acquired_before = stats.acquired;
}

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    if (status != REDLOCK_CANCELED)
        end_loop(user_data, true);
}

static void on_requests_done(void *user_data)
{
    struct process *process = user_data;

    if (redlock_client_shutdown(process->client, GOODBYE_TIMEOUT_MS, on_shut_down, process) != REDLOCK_OK)
        end_loop(process, false);
}

static void note_versions(const struct process *process)
{
    struct fo_version *version = &process->seat->shared->version;
    struct redlock_node_info info;

    if (process->seat->client != 0 ||
        redlock_client_node_info(process->client, 0, &info, sizeof(info)) != REDLOCK_OK || !info.looked)
        return;
    snprintf(version->server, sizeof(version->server), "%s", info.version);
    snprintf(version->fsync, sizeof(version->fsync), "%s", info.append_fsync);
}

static void on_control(evutil_socket_t fd, short what, void *user_data)
{
    struct process *process = user_data;
    struct load_message message;

    if (!load_receive(fd, &message)) {
        end_loop(process, false);
    } else if (message.word == LOAD_START) {
        note_versions(process);
        fo_requests_start(process->requests);
        fo_contender_start(process->contender);
    } else if (message.word == LOAD_QUIT) {
        fo_contender_stop(process->contender);
        fo_requests_stop(process->requests, on_requests_done, process);
    }
}

static bool create_events(struct process *process)
{
    process->control = event_new(process->base, process->seat->control, EV_READ | EV_PERSIST, on_control, process);
    process->meter = event_new(process->base, -1, EV_PERSIST, on_meter, process);
    return process->control && process->meter && event_add(process->control, NULL) == 0 &&
           event_add(process->meter, &(struct timeval){.tv_usec = METER_US}) == 0;
}

static bool create_client(struct process *process)
{
    struct fo_seat *seat = process->seat;
    struct redlock_options options;
    struct redlock_error error;

    fo_client_options(seat->options, seat->tls, seat->prefix, &options);
    options.on_event = on_event;
    options.event_data = process;
    if (redlock_client_create(process->base, seat->urls, seat->n_urls, &options, &process->client, &error) ==
        REDLOCK_OK)
        return true;
    fo_seat_fail(seat, "%s", error.text);
    return false;
}

static bool set_up(struct process *process)
{
    struct fo_seat *seat = process->seat;

    process->base = relay_precise_base();
    if (!process->base || !create_events(process)) {
        fo_seat_fail(seat, "no event loop");
        return false;
    }
    if (!create_client(process))
        return false;
    process->requests = fo_requests_create(seat, process->base, process->client);
    process->contender = fo_contender_create(seat, process->base, process->client);
    if (process->requests && process->contender)
        return true;
    fo_seat_fail(seat, "out of memory");
    return false;
}

static void tear_down(struct process *process)
{
    fo_contender_destroy(process->contender);
    process->contender = NULL;
    fo_requests_destroy(process->requests);
    redlock_client_destroy(process->client);
    if (process->control)
        event_free(process->control);
    if (process->meter)
        event_free(process->meter);
    if (process->base)
        event_base_free(process->base);
}

int fo_client_process(struct fo_seat *seat)
{
    struct process process = {.seat = seat};

    if (set_up(&process))
        event_base_dispatch(process.base);
    tear_down(&process);
    return process.ok ? 0 : 1;
}
