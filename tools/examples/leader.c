/* A singleton service: of all its instances one works at a time, for a while, and then lets another one lead.
 *
 *     leader NAME URL... */
#include <event2/event.h>
#include <redlock/election.h>
#include <stdio.h>

#define TURNS 5

struct instance {
    struct event_base *base;
    struct redlock_client *client;
    struct redlock_election *election;
    struct event *timer;
    const char *name;
    int turns;
    int failed;
};

/* The term would go with each order that the leader gives, and who gets the order would refuse smaller ones. */
static void work(evutil_socket_t fd, short what, void *argument)
{
    struct instance *self = argument;

    (void)fd;
    (void)what;
    if (redlock_election_remaining_ns(self->election) <= 0)
        return; /* not now */
    printf("%s works, turn %d of term %llu\n", self->name, ++self->turns,
           (unsigned long long)redlock_election_term(self->election));
    fflush(stdout);
    if (self->turns == TURNS && redlock_election_resign(self->election) != 0)
        event_base_loopbreak(self->base);
}

static void on_event(struct redlock_election *election, const struct redlock_election_event *event, void *data)
{
    struct instance *self = data;

    (void)election;
    switch (event->kind) {
    case REDLOCK_ELECTION_ELECTED:
        printf("%s leads, term %llu\n", self->name, (unsigned long long)event->term);
        break;
    case REDLOCK_ELECTION_AT_RISK:
        printf("%s may lose its leadership in %lld ms\n", self->name, (long long)event->remaining_ms);
        break;
    case REDLOCK_ELECTION_LOST:
        printf("%s does not lead any more: %s\n", self->name, redlock_loss_text(event->loss));
        break;
    case REDLOCK_ELECTION_RESIGNED:
    case REDLOCK_ELECTION_FAILED:
        printf("%s has ended: %s\n", self->name, redlock_strerror(event->status));
        self->failed = self->turns < TURNS;
        event_base_loopbreak(self->base);
        break;
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct timeval pause = {.tv_usec = 50000};
    struct instance self = {.failed = 1};
    struct redlock_options options;
    struct redlock_error error;

    if (argc < 3)
        return fprintf(stderr, "usage: leader NAME URL...\n"), 2;
    self.name = argv[1];
    self.base = event_base_new();
    redlock_options_init(&options);
    options.label = self.name;
    if (!self.base ||
        redlock_client_create(self.base, (const char *const *)argv + 2, (size_t)argc - 2, &options, &self.client,
                              &error) < 0)
        return fprintf(stderr, "%s\n", self.base ? error.text : "no event loop"), 1;
    self.timer = event_new(self.base, -1, EV_PERSIST, work, &self);
    if (!self.timer || redlock_election_create(self.client, REDLOCK_KEY("scheduler"), &self.election) != 0 ||
        redlock_election_campaign(self.election, NULL, on_event, &self) != 0)
        fprintf(stderr, "the election cannot begin\n");
    else if (event_add(self.timer, &pause) == 0)
        event_base_dispatch(self.base);
    redlock_election_destroy(self.election);
    redlock_client_destroy(self.client);
    if (self.timer)
        event_free(self.timer);
    event_base_free(self.base);
    return self.failed;
}
