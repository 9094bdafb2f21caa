/* Masters that do not answer as a client needs it: with an error, or not at all. */
#ifndef CLI_NODES_REFUSAL_H
#define CLI_NODES_REFUSAL_H

#include "cli/nodes/advice_list.h"

/* It answers, and says no; not serious: to others only. */
void advise_on_refused(struct advice_list *list, bool serious);

/* It is not reached. */
void advise_on_down(struct advice_list *list);

/* It is something else, or not a whole server. */
void advise_on_cluster(struct advice_list *list);
void advise_on_sentinel(struct advice_list *list);
void advise_on_unknown_commands(struct advice_list *list);

#endif
