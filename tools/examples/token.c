/* Tokens that end: each connection to a master is authenticated with the token that a file holds at that moment, and
 * again before it ends. Another process replaces the file in time.
 *
 *     token USER FILE URL... */
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>
#include <string.h>

#define GOOD_FOR_MS (15 * 60 * 1000)

struct tokens {
    const char *user;
    const char *path;
};

static int read_token(const char *path, char *token, int size)
{
    FILE *file = fopen(path, "r");
    int ok;

    if (!file)
        return 0;
    setvbuf(file, NULL, _IONBF, 0);
    ok = fgets(token, size, file) != NULL;
    fclose(file);
    if (ok)
        token[strcspn(token, "\n")] = '\0';
    return ok;
}

/* Runs on the loop, for each connection. To read a small file is quick enough; a request over the network is not, and
 * would be answered later, by a program that keeps the request. */
static void on_credentials(struct redlock_credentials_request *request,
                           const struct redlock_credentials_wanted *wanted, void *user_data)
{
    const struct tokens *tokens = user_data;
    char token[REDLOCK_MAX_PASSWORD_BYTES + 1];
    struct redlock_credentials credentials;

    redlock_credentials_init(&credentials);
    credentials.user = tokens->user;
    credentials.password = token;
    credentials.good_for_ms = GOOD_FOR_MS;
    if (wanted->why == REDLOCK_CREDENTIALS_REFUSED)
        fprintf(stderr, "%s has refused the token\n", wanted->name);
    if (!read_token(tokens->path, token, sizeof token))
        redlock_credentials_fail(request, "the file of the token cannot be read");
    else
        redlock_credentials_answer(request, &credentials);
    explicit_bzero(token, sizeof token);
}

static int locked;

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *base)
{
    printf("%s\n", result->status == REDLOCK_OK ? "released" : result->why);
    event_base_loopbreak(base);
    (void)lock;
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *base)
{
    locked = result->status == REDLOCK_OK;
    if (locked)
        printf("locked\n");
    else
        fprintf(stderr, "not locked: %s\n", result->why);
    if (!locked || redlock_release(lock, on_released, base) != REDLOCK_OK)
        event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct redlock_options options;
    struct redlock_client *client;
    struct redlock_lock *lock;
    struct redlock_error error;
    struct tokens tokens;

    if (argc < 4)
        return fprintf(stderr, "usage: token USER FILE URL...\n"), 2;
    tokens = (struct tokens){argv[1], argv[2]};
    redlock_options_init(&options);
    options.on_credentials = on_credentials;
    options.credentials_data = &tokens;
    if (redlock_client_create(base, (const char *const *)argv + 3, (size_t)argc - 3, &options, &client, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    if (redlock_lock_create(client, REDLOCK_KEY("orders"), &lock) == 0 &&
        redlock_acquire(lock, NULL, on_acquired, base) == 0)
        event_base_dispatch(base);
    redlock_client_destroy(client);
    event_base_free(base);
    return !locked;
}
