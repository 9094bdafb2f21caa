/* Commands of the core on private masters, scripts by their text, and the replies as the codec would hand them on. */
#ifndef TESTS_SCRIPTED_H
#define TESTS_SCRIPTED_H

#include "kinds/command.h"
#include "masters.h"

/* The reply borrows from the text; scripted_free() when done. */
struct scripted {
    char *text;
    struct rl_reply reply;
};

/* Error replies are replies like others; a master that does not answer fails the test. */
struct scripted scripted_run(struct masters *masters, size_t i, const struct rl_command *command);
struct scripted scripted_run_many(struct masters *masters, size_t i, const struct rl_command *command,
                                  const struct rl_joins *followers);
struct scripted scripted_run_refresh(struct masters *masters, size_t i, const struct rl_command *command,
                                  const struct rl_refresh_many *refreshes);
void scripted_free(struct scripted *scripted);

#endif
