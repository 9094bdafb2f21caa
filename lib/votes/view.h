/* Views: which masters vote, and what has become of the list since the program was configured (rules 15).
 *
 * A list is masters with a quorum. A client goes by one list at a time. An operator changes it by a chain of views:
 * each is a list with an epoch, and each of its quorums meets each quorum of the list before it. Markers store views,
 * and JOIN carries them. The list that a program is configured with has epoch zero and no text. */
#ifndef RL_VOTES_VIEW_H
#define RL_VOTES_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/slice.h"
#include "votes/votes.h"

#define RL_ID_SIZE 37          /* a UUID and its terminator */
#define RL_NAME_MAX 272        /* host, port and database */
#define RL_HISTORY_MAX 16      /* lists that a view remembers */
#define RL_VIEW_TEXT_MAX 24576 /* bytes of the longest text */

/* Compared in this order. A run is one execution of the operator's command. */
struct rl_epoch {
    uint64_t turn;     /* one more than any that the run has seen; below 2^53 */
    char run[17];      /* 64 random bits, in hexadecimal */
    uint32_t step;     /* counts the views that the run makes */
};

struct rl_member {
    char node_id[RL_ID_SIZE];
    char name[RL_NAME_MAX + 1];
};

struct rl_member_list {
    char id[RL_ID_SIZE];
    uint8_t n;       /* 0: there is no list */
    uint8_t quorum;
    struct rl_member members[RL_MAX_NODES];
};

struct rl_view {
    struct rl_epoch epoch;
    uint64_t lead_us;  /* how far its clients' proposals of fencing tokens are ahead of their clocks (rule 15.13) */
    size_t n_history;
    char history[RL_HISTORY_MAX][RL_ID_SIZE]; /* of the lists that led here, the view's own first */
    struct rl_member_list list;
    struct rl_member_list before; /* not over yet, perhaps: the view may go back to it */
};

/* Negative, 0 or positive, as a is before b, the same, or after it. */
int rl_epoch_compare(const struct rl_epoch *a, const struct rl_epoch *b);

/* Does each quorum of one list share a master with each quorum of the other? Masters are the same if their node ids
 * are. */
bool rl_lists_meet(const struct rl_member_list *a, const struct rl_member_list *b);

/* Where the list has the master; -1: it has not. */
int rl_list_find(const struct rl_member_list *list, const char *node_id);

/* The same by its name. */
int rl_list_find_name(const struct rl_member_list *list, const char *name);

/* The same masters with the same quorum, under whatever names. */
bool rl_lists_have_same(const struct rl_member_list *a, const struct rl_member_list *b);

/* Is the list with this id one of those that led to the view? */
bool rl_view_remembers(const struct rl_view *view, const char *list_id);

/* Can a view have the name? It is printable, has nothing that separates, nor, in a path, what means more in a URL, and
 * ends with the number of a database. */
bool rl_view_is_name(struct rl_slice name);

/* How much of a name is shown: its database if it is not 0. */
size_t rl_name_shown_size(const char *name);

/* As markers and JOIN have it: words with a space between them. kinds/scripts/join.lua reads the first six.
 *
 *     turn run step list-id before-id|- id,id,... lead-us  quorum id=name,...  quorum id=name,...|0 -
 *
 * The size, or 0: there is no room. */
size_t rl_view_format(const struct rl_view *view, char *buffer, size_t size);

/* false: the text is no view. Nothing of it is believed unchecked: names and ids are of the characters that they may
 * have, and a list has at least its quorum, which is a majority. */
bool rl_view_parse(struct rl_slice text, struct rl_view *ret_view);

#endif
