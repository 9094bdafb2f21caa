/* Stories: worlds written by hand, with the transcript that they must give.
 *
 * A story is a text file. First the setting, then what happens at which time (true time, in milliseconds), then a line
 * of three dashes, then the transcript. Lines that begin with # are for readers.
 *
 * A key is k or other. The semaphore s has the keys s#0 to s#3, its slots, and s#gate.
 *
 *     masters N            clients N            quorum N               guard MS
 *     spare N              so many of the masters, the last ones, are in no client's list
 *     node-timeout MS      connect-timeout MS   stall-timeout MS       backoff MIN MAX
 *     drift PPM MS         max-ttl MS           unsafe-restarts
 *     list QUORUM MASTER...                     the first list; those that the operators want
 *     declares-new         each run begins by declaring new members to be new
 *     own-max-ttl CLIENT MS                     another one than the deployment's
 *     wall CLIENT MS       its wall clock is so far ahead
 *     handles CLIENT N     1 if not said otherwise; those of A are A, A' and A''
 *     set CLIENT [KEY...]  its handles are the parts of a set: of k and other, if not said otherwise
 *     permits CLIENT N     so many has the semaphore of its set
 *     left MS              somebody who is gone has left k on all masters, for so long
 *     guarded              undeclared           durability MASTER none|everysec|always
 *     delay CLIENT MASTER UP DOWN               each 1 ms if not said otherwise
 *     calm                 nothing goes wrong: a key that is wanted must not lie idle
 *
 *     T CLIENT acquire KEY ttl=MS [once] [attempts=N] [timeout=MS] [delay=MS] [jitter=MS] [min=MS]
 *                     [fenced] [renew=MS] [risk=MS] [hold=MS] [queue | fifo] [own-token]
 *                     [shared | upgradeable] [limit=N]      limit: of the semaphore, 2 if not said otherwise
 *     T CLIENT acquire ttl=MS [shared=KEY] [upgradeable=KEY] ...              its set; the other parts are exclusive
 *     T CLIENT reenter [min=MS]
 *     T CLIENT extend [ttl=MS]          T CLIENT release          T CLIENT cancel          T CLIENT destroy
 *     T CLIENT lower                    T CLIENT share            to upgradeable; to shared
 *     T CLIENT upgrade [once]           to exclusive
 *     T CLIENT export                   T CLIENT adopt            what was exported last goes to this one
 *     T CLIENT release VALUE            one that somebody has been told, and that another handle may have
 *     T HANDLE HANDLE... acquire ...    the handles of one client do the same, in one turn
 *     T CLIENT campaign KEY ttl=MS [once] [renew=MS] [hold=MS]     T CLIENT resign
 *     T CLIENT look KEY                 T CLIENT observe KEY interval=MS      who leads
 *     T CLIENT arrive GENERATION party=N [parties=N] [once] [timeout=MS]       at the latch, as the party pN
 *     T CLIENT await GENERATION [party=N] [parties=N] [once] [timeout=MS]
 *     T CLIENT forget GENERATION [party=N]                                     destroys its handle
 *     T CLIENT shutdown [timeout=MS]    T CLIENT quit             shuts its client down; destroys it, and is gone
 *     T pause CLIENT MS                 T kill CLIENT             T start CLIENT
 *     T partition CLIENT MASTER [up|down]                         T heal CLIENT MASTER [up|down]
 *     T break CLIENT MASTER [silently] [requests=N] [replies=N]   so many of those in flight still arrive
 *     T slow CLIENT MASTER up|down MS           T lead CLIENT MASTER OTHER   the name of one leads to another
 *     T hang MASTER        T resume MASTER      T forget-scripts MASTER
 *     T crash MASTER kept|second|lost [silently]                  T restart MASTER
 *     T flush MASTER       T demote MASTER [SOURCE]               T promote MASTER
 *     T refuse MASTER before|writes|memory|obscure                T accept MASTER
 *     T stand CLIENT MS    its machine is paused, with its clocks
 *     T freeze MASTER      T thaw MASTER        its clock nearly stands still; it runs again
 *     T step MASTER MS     T declare MS         the operator declares this max_ttl
 *     T change OPERATOR    a run of the first or of the second one begins
 *     T reach OPERATOR [MASTER...]              it reaches these and no others; all, if none is named
 *     T back OPERATOR      the run goes back to the list before
 *     T abandon OPERATOR   the run is over, wherever it is
 *     T note TEXT
 *     T end
 *
 * Worlds are classic unless they are guarded; then the markers are there from the beginning unless they are undeclared.
 * The connections are up after 4 ms, 6 ms if guarded. */
#ifndef SIM_STORY_H
#define SIM_STORY_H

#include <stdbool.h>

struct lua_host;
struct world;

enum story_aim {
    STORY_CHECK,  /* false, with the difference printed, if the transcript is another one */
    STORY_RECORD, /* prints the transcript instead, to be put into the file after reading it well */
    STORY_EXPECT, /* false, with the transcript printed, if no oracle was violated: for planted bugs */
};

/* Runs the story of a file. */
bool story_run(struct lua_host *lua, const char *path, enum story_aim aim);

void story_start(struct world *world);
void story_on_line(struct world *world, unsigned line);

#endif
