/* What an engine writes on its standard output: answers, and what they mean for its locks. */
#ifndef ENGINES_RUN_RUNNER_ANSWERS_H
#define ENGINES_RUN_RUNNER_ANSWERS_H

#include <event2/util.h>

/* user_data: a struct runner. */
void runner_on_answers(evutil_socket_t fd, short what, void *user_data);

#endif
