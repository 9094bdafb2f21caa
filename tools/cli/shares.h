/* Who shares a key, by the votes that the masters have shown. Pure arithmetic. */
#ifndef CLI_SHARES_H
#define CLI_SHARES_H

#include "cli/verdict.h"

/* Where no string has a quorum, votes may: the verdict is then SHARED, UPGRADING, or HELD if the vote is exclusive; or
 * it is FOREIGN. */
void shares_judge(struct verdict *verdict, const struct probe *probes, const struct probe_votes *votes, size_t n);

#endif
