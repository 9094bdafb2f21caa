/* One process for each processor that does nothing but wake up on it every millisecond, and writes down how late it
 * was: for so long the processor had no time for us. Gaps in the load that are no longer than that prove nothing about
 * the masters. */
#ifndef FAILOVER_TICKER_H
#define FAILOVER_TICKER_H

#include "shared.h"

#define FO_TICKERS 8 /* at most */

/* How many there are to be. */
uint32_t fo_tickers(void);

/* The one of the n-th processor, until fo_shared.finished. Returns the exit code. */
int fo_ticker_process(struct fo_shared *shared, uint32_t n);

#endif
