/* Three programs that go through rounds together: none begins a round before all have done the one before. Start it
 * once for each party, on any machines. A run has a name of its own, and the rounds are its generations.
 *
 *     barrier RUN PARTY URL... */
#include <inttypes.h>
#include <redlock/blocking.h>
#include <redlock/latch.h>
#include <stdio.h>
#include <string.h>

#define PARTIES 3
#define ROUNDS 3

static int meet(struct redlock_service_latch *latch)
{
    struct redlock_latch_result *result = NULL;
    int status = redlock_service_latch_arrive(latch, 60000, NULL);

    if (status == REDLOCK_OK)
        status = redlock_service_latch_await(latch, 60000, &result);
    if (status != REDLOCK_OK)
        fprintf(stderr, "not all have come: %s\n", result ? result->why : redlock_strerror(status));
    redlock_latch_result_free(result);
    return status;
}

/* A round's latch is kept until the next one has opened: it brings back what masters lose, for those who are late. */
static int go_through(struct redlock_service *service, const char *run, const char *party)
{
    struct redlock_service_latch *before = NULL;
    int status = REDLOCK_OK;

    for (uint64_t round = 1; round <= ROUNDS && status == REDLOCK_OK; round++) {
        struct redlock_service_latch *latch;

        printf("%s begins round %" PRIu64 "\n", party, round);
        printf("%s has done round %" PRIu64 "\n", party, round);
        status = redlock_service_latch_create(service, run, strlen(run), PARTIES, round, party, NULL, &latch);
        if (status != REDLOCK_OK)
            break;
        status = meet(latch);
        redlock_service_latch_destroy(before);
        before = latch;
    }
    redlock_service_latch_destroy(before);
    return status;
}

int main(int argc, char **argv)
{
    struct redlock_service *service;
    struct redlock_error error;
    int status;

    if (argc < 4)
        return fprintf(stderr, "usage: barrier RUN PARTY URL...\n"), 1;
    if (redlock_service_create((const char *const *)argv + 3, (size_t)argc - 3, NULL, &service, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    setvbuf(stdout, NULL, _IOLBF, 0); /* others may write to the same file */
    status = go_through(service, argv[1], argv[2]);
    if (status != REDLOCK_OK)
        fprintf(stderr, "%s: %s\n", argv[2], redlock_strerror(status));
    redlock_service_destroy(service);
    return status != REDLOCK_OK;
}
