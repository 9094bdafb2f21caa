/* The leader lock: every client wants it, whoever has it works for a while in steps of read and write, gives it up, and
 * wants it again. A step that was begun with validity left is finished whatever happens meanwhile, as it would be in a
 * program that stands still between its check and its write: keeping that out is the fencing token's business. */
#ifndef FAILOVER_CONTENDER_H
#define FAILOVER_CONTENDER_H

#include "locker.h"

struct fo_contender;
struct fo_contender *fo_contender_create(struct fo_worker *worker, struct event_base *base, struct fo_locker *locker);
void fo_contender_destroy(struct fo_contender *contender);
void fo_contender_start(struct fo_contender *contender);
void fo_contender_stop(struct fo_contender *contender);

#endif
