/* The operator of a mixed world, who changes the deployment's max_ttl: what tools/cli/nodes/max_ttl.c does, by hand at
 * the masters. */
#ifndef SIM_OPERATOR_H
#define SIM_OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

struct world;

struct declaration {
    int64_t number;     /* of the declaration under way, or of the latest */
    int64_t heard;      /* of the latest that all masters have heard */
    uint32_t declared_ms;
    uint32_t wanted_ms;
    uint32_t done;      /* set of masters that have taken the step, or will learn later */
    uint32_t intact;    /* ... without the latter: a quorum of them must have */
    uint8_t step;       /* 0: nothing is under way; announce, confirm, allow */
};

void operator_start(struct world *world);
void operator_on_event(struct world *world);

/* After the healing: everybody must be served, so the longest max_ttl is declared once more. */
void operator_on_heal(struct world *world);

/* May this master lose its memory now? Not if a quorum would be without any that has heard of the declaration: what the
 * rule in votes/max_ttl.h leaves to assumption A1. */
bool operator_lets_forget(struct world *world, unsigned master);

/* A story's: begins a declaration, and takes all its steps at once. */
void operator_declare(struct world *world, uint32_t max_ttl_ms);

#endif
