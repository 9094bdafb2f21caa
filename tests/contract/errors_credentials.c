/* What the answer to a request for credentials may not be, and when there must be none. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors.h"

static struct redlock_credentials_request *kept;

static void refuse_forms(struct redlock_credentials_request *request)
{
    static char name[REDLOCK_MAX_USER_BYTES + 2], password[REDLOCK_MAX_PASSWORD_BYTES + 2];
    struct redlock_credentials answer;

    redlock_credentials_init(&answer);
    ck_assert(answer.size == sizeof answer && !answer.user && !answer.password && !answer.good_for_ms);
    errors_expect(redlock_credentials_answer(NULL, &answer), REDLOCK_E_ARGUMENT, "no request");
    errors_expect(redlock_credentials_answer(request, NULL), REDLOCK_E_ARGUMENT, "no answer");
    errors_expect(redlock_credentials_fail(NULL, "why"), REDLOCK_E_ARGUMENT, "no request that fails");
    answer.size = 0;
    errors_expect(redlock_credentials_answer(request, &answer), REDLOCK_E_OPTIONS_SIZE, "an answer without a size");
    redlock_credentials_init(&answer);
    answer.user = "me";
    errors_expect(redlock_credentials_answer(request, &answer), REDLOCK_E_CREDENTIALS, "a user without a password");
    memset(password, 'p', sizeof password - 1);
    answer.password = password;
    errors_expect(redlock_credentials_answer(request, &answer), REDLOCK_E_CREDENTIALS, "a long password");
    memset(name, 'u', sizeof name - 1);
    answer.password = "short";
    answer.user = name;
    errors_expect(redlock_credentials_answer(request, &answer), REDLOCK_E_CREDENTIALS, "a long user");
}

/* The first request is refused as being in a child, kept, and never answered; the others are answered. */
static void on_credentials(struct redlock_credentials_request *request,
                           const struct redlock_credentials_wanted *wanted, void *user_data)
{
    struct redlock_credentials none;

    redlock_credentials_init(&none);
    if (!kept) {
        kept = request;
        redlock_credentials_keep(request);
        refuse_forms(request);
        return;
    }
    errors_expect(redlock_credentials_answer(request, &none), 0, "no password");
    errors_expect(redlock_credentials_answer(request, &none), REDLOCK_E_NOT_ASKED, "a second answer");
    errors_expect(redlock_credentials_fail(request, NULL), REDLOCK_E_NOT_ASKED, "a failure behind the answer");
}

static bool is_kept(void *argument)
{
    return kept;
}

static void answer_in_child(void)
{
    struct redlock_credentials none;
    pid_t pid = fork();
    int status = 0;

    redlock_credentials_init(&none);
    if (pid == 0)
        _exit(redlock_credentials_answer(kept, &none) == REDLOCK_E_FORKED &&
                      redlock_credentials_fail(kept, "why") == REDLOCK_E_FORKED
                  ? 0
                  : 1);
    ck_assert(waitpid(pid, &status, 0) == pid && status == 0);
}

void errors_of_credentials(struct rig *rig)
{
    struct redlock_options options = rig->options;
    struct redlock_client *client = NULL;
    struct redlock_credentials none;
    const char *user_alone = "redis://user@127.0.0.1:1";

    kept = NULL;
    errors_expect(redlock_client_create(rig->base, &user_alone, 1, &options, &client, NULL), REDLOCK_E_URL,
                  "a user whose password nobody has");
    options.on_credentials = on_credentials;
    ck_assert_int_eq(redlock_client_create(rig->base, rig->urls, rig->n, &options, &client, NULL), 0);
    rig_wait(rig, is_kept, NULL, "a request");
    answer_in_child();
    redlock_client_destroy(client);
    redlock_credentials_init(&none);
    errors_expect(redlock_credentials_answer(kept, &none), REDLOCK_E_NOT_ASKED, "an answer after the end");
    redlock_credentials_drop(kept);
    redlock_credentials_keep(NULL);
    redlock_credentials_drop(NULL);
}
