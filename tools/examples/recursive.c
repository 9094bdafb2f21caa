/* Functions that lock call each other: a recursive mutex whose owners are orders, not threads. An order goes on with
 * whatever thread is free, and stays the owner.
 *
 *     recursive URL... */
#include <pthread.h>
#include <redlock/blocking.h>
#include <stdio.h>

#define ORDERS 4

struct order {
    int number;
    int lines;
    int status;
};

static struct redlock_mutex *stock;
static int on_stock = 100; /* guarded by the lock alone */

static int lock(const struct order *order)
{
    struct redlock_acquire_options options;
    struct redlock_result *result;
    int status;

    redlock_acquire_options_init(&options);
    options.timeout_ms = 10000;
    options.min_validity_ms = 500; /* also when the order holds it already */
    status = redlock_mutex_acquire_as(stock, order, &options, &result);
    if (status != REDLOCK_OK)
        fprintf(stderr, "order %d: not locked: %s\n", order->number, result ? result->why : redlock_strerror(status));
    redlock_result_free(result);
    return status;
}

/* Called with the lock or without it. */
static int take(struct order *order, int pieces)
{
    int status = lock(order);

    if (status != REDLOCK_OK)
        return status;
    on_stock -= pieces;
    order->lines++;
    return redlock_mutex_unlock_as(stock, order);
}

/* Both lines or none: the lock is held in between. */
static void *fulfil(void *argument)
{
    struct order *order = argument;

    order->status = lock(order);
    if (order->status != REDLOCK_OK)
        return NULL;
    if (on_stock < 5 || take(order, 3) != REDLOCK_OK || take(order, 2) != REDLOCK_OK)
        fprintf(stderr, "order %d: not fulfilled\n", order->number);
    else
        printf("order %d: %d lines, depth %u\n", order->number, order->lines, redlock_mutex_depth(stock));
    order->status = redlock_mutex_unlock_as(stock, order);
    return NULL;
}

int main(int argc, char **argv)
{
    struct redlock_service *service;
    struct order orders[ORDERS];
    pthread_t threads[ORDERS];
    struct redlock_error error;
    int failed = 0;

    if (redlock_service_create((const char *const *)argv + 1, (size_t)argc - 1, NULL, &service, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    if (redlock_mutex_create_recursive(service, REDLOCK_KEY("stock"), REDLOCK_OWNERS_NAMED, &stock) < 0)
        return 1;
    for (int i = 0; i < ORDERS; i++) {
        orders[i] = (struct order){.number = i + 1};
        if (pthread_create(&threads[i], NULL, fulfil, &orders[i]) != 0)
            return 1;
    }
    for (int i = 0; i < ORDERS; i++) {
        pthread_join(threads[i], NULL);
        failed += orders[i].status != REDLOCK_OK;
    }
    redlock_mutex_destroy(stock);
    redlock_service_shutdown(service, 1000);
    redlock_service_destroy(service);
    printf("%d on stock\n", on_stock);
    return failed != 0;
}
