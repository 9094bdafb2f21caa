/* A waiter's notes on its entries in the masters' wait queues: what the masters say of them, the ticket that follows
 * from that, and the waiter's position (rules 7.1 and 7.5). */
#ifndef RL_ENGINE_ENTRY_H
#define RL_ENGINE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "util/instant.h"
#include "votes/votes.h"

/* The memory is the host's (struct rl_acquire). It needs no initialisation. */
struct rl_entry {
    uint64_t proposal;      /* for the ticket and for fencing tokens: the host's, with the latest claim */
    uint64_t ticket;        /* 0: not known yet */
    uint64_t largest;       /* of the numbers answered in this round ... */
    uint32_t at_largest;    /* ... and the masters that have answered it */
    uint32_t answered;      /* masters that have answered this round */
    uint32_t unequal;       /* masters that have answered another number than the ticket ... */
    uint32_t corrected;     /* ... and those that have been told the ticket in this round */
    uint32_t lower;         /* masters on which a living waiter has a lower ticket */
    uint32_t votes;         /* masters whose votes the waiter had when this round began; they were no quorum */
    uint32_t short_rounds;  /* rounds in which a quorum granted, but for too short a time */
    struct rl_span early;   /* after that, votes that are no quorum are refreshed again; 0: not known yet */
    uint32_t reported_rank; /* the position that the host has been told */
    struct rl_instant in_queue_until; /* until then a quorum keeps the entry: the lease of the latest round that a
                                       * quorum has answered */
    struct rl_instant entered; /* when the first ENQUEUE of this acquisition was sent ... */
    bool enqueued;          /* ... if one has been */
    bool reported;          /* the host has been told a position */
    struct {
        struct rl_instant look;       /* when this master's last answer says that the turn may have come */
        struct rl_instant held_until; /* when the key expires there if nothing is done */
        uint32_t rank;
    } seen[RL_MAX_NODES];   /* of the masters in `answered`; comes last: the host may leave out masters it has not */
};

/* A new acquisition begins; its ticket is known, or 0. */
void rl_entry_init(struct rl_entry *entry, uint64_t ticket);

/* A new round of ENQUEUE begins: the answers to the one before do not count any more. */
void rl_entry_start_round(struct rl_entry *entry);

/* A master has answered the round. */
void rl_entry_note(struct rl_entry *entry, struct rl_instant now, unsigned node, const struct rl_entry_report *report);

/* Fixes the ticket once a quorum has answered. True: it has just been fixed, and fewer than a quorum of masters have
 * this number, so the others must be told by a new round. */
bool rl_entry_fix_ticket(struct rl_entry *entry, size_t quorum);

/* When so many masters may have the key free that the claim can get a quorum. */
struct rl_instant rl_entry_refresh_at(const struct rl_entry *entry, const struct rl_claim *claim, size_t quorum);

/* How many wait in front, and when the key expires, by what a quorum of masters says; UINT32_MAX and RL_NEVER as long
 * as fewer have answered. */
void rl_entry_position(const struct rl_entry *entry, size_t quorum, uint32_t *ret_rank,
                       struct rl_instant *ret_held_until);

#endif
