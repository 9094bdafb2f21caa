#include "nested.h"
#include "suite.h"

struct redlock_client *mine, *theirs;
struct redlock_lock *reported, *neighbour, *permit, *foreign;
struct redlock_set *set;
struct outcome bystander;

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
}

static void destroy_reported(void)
{
    redlock_lock_destroy(reported);
    redlock_lock_destroy(reported); /* still borrowed: the second time does nothing */
}

/* Some are still borrowed: the second time does nothing. */
static void destroy_neighbours(void)
{
    for (int i = 0; i < 2; i++) {
        redlock_lock_destroy(neighbour);
        redlock_lock_destroy(permit);
        redlock_set_destroy(set);
    }
}

static void destroy_mine(void)
{
    redlock_client_destroy(mine);
    redlock_client_destroy(mine);
    mine = NULL;
}

static void destroy_theirs(void)
{
    redlock_client_destroy(theirs);
    theirs = NULL;
}

static void destroy_all(void)
{
    destroy_neighbours();
    destroy_theirs();
    redlock_lock_destroy(reported);
    destroy_mine();
}

static void shut_both_down(void)
{
    (void)redlock_client_shutdown(mine, 1000, on_shutdown, NULL);
    ck_assert_int_eq(redlock_client_shutdown(theirs, 1000, on_shutdown, NULL), 0);
}

static void shut_down_and_destroy(void)
{
    shut_both_down();
    destroy_theirs();
    destroy_mine();
}

static void note_set(struct redlock_set *of, const struct redlock_set_result *result, void *user_data)
{
}

static void call_everything_of_the_set(void)
{
    (void)redlock_set_cancel(set);
    (void)redlock_set_extend(set, 0, note_set, NULL);
    (void)redlock_set_release(set, note_set, NULL);
    (void)redlock_set_detach(set);
    (void)redlock_set_release(set, NULL, NULL);
    (void)redlock_set_add(set, "further", 7);
    suite_any(redlock_set_acquire(set, NULL, note_set, NULL));
}

/* Whatever each call answers: it must leave everything in order. */
static void call_everything(void)
{
    struct redlock_lock *locks[] = {reported, neighbour, permit, foreign};

    call_everything_of_the_set();
    for (size_t i = 0; i < sizeof locks / sizeof locks[0]; i++) {
        (void)redlock_convert(locks[i], REDLOCK_EXCLUSIVE, 0, outcome_record, &bystander);
        (void)redlock_convert(locks[i], REDLOCK_SHARED, 0, outcome_record, &bystander);
        (void)redlock_cancel(locks[i]);
        suite_any(redlock_reenter(locks[i], 0));
        suite_any(redlock_reenter(locks[i], 1));
        (void)redlock_release(locks[i], outcome_record, &bystander);
        (void)redlock_lock_detach(locks[i]);
        (void)redlock_release(locks[i], NULL, NULL);
        (void)redlock_release(locks[i], NULL, NULL);
        (void)redlock_lock_detach(locks[i]);
        (void)redlock_release_token(locks[i], "somebody", NULL, NULL);
        (void)redlock_extend(locks[i], 0, outcome_record, &bystander);
        suite_any(redlock_acquire(locks[i], NULL, outcome_record, &bystander));
    }
}

static void call_everything_and_destroy(void)
{
    call_everything();
    destroy_all();
}

static void do_nothing(void)
{
}

void (*const deeds[N_DEEDS])(void) = {
    do_nothing,      destroy_reported, destroy_neighbours,    destroy_mine,    destroy_theirs,
    destroy_all,     shut_both_down,   shut_down_and_destroy, call_everything, call_everything_and_destroy,
};
