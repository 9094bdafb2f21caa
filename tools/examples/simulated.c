/* The test of a worker, without servers: it stops when its lock is another's.
 *
 *     simulated */
#include <redlock/blocking.h>
#include <redlock/simulation.h>
#include <stdio.h>

/* What is tested: one step of the work, if the lock is certain to be held for as long as a step takes. */
static int work(struct redlock_mutex *orders)
{
    if (redlock_mutex_remaining_ms(orders) < 1000)
        return 0;
    /* ... ship an order ... */
    return 1;
}

/* With NDEBUG nothing would be tested. */
#define MUST(claim) ((claim) ? (void)0 : (void)(fprintf(stderr, "not true: %s\n", #claim), exit_code = 1))

int main(void)
{
    struct redlock_simulation *masters;
    struct redlock_service *service;
    struct redlock_mutex *orders;
    int exit_code = 0;

    if (redlock_simulation_create(3, &masters, NULL) < 0 ||
        redlock_service_create(redlock_simulation_masters(masters), 3, NULL, &service, NULL) < 0 ||
        redlock_mutex_create(service, REDLOCK_KEY("orders"), &orders) < 0 || redlock_mutex_lock(orders, 5000) < 0)
        return fprintf(stderr, "no lock\n"), 1;

    redlock_simulation_advance(masters, 3600 * 1000); /* an hour, in which the lock is renewed */
    MUST(work(orders));
    redlock_simulation_steal(masters, "orders", 60 * 1000);
    redlock_simulation_advance(masters, 10 * 1000); /* the lock's ttl */
    MUST(!work(orders));

    redlock_mutex_destroy(orders);
    redlock_service_destroy(service);
    redlock_simulation_destroy(masters);
    return exit_code;
}
