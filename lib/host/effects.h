/* The engine's effects. */
#ifndef RL_HOST_EFFECTS_H
#define RL_HOST_EFFECTS_H

struct rl_host;

/* Carries out all effects. It follows every event that the engine is told. */
void rl_host_run(struct rl_host *host);

#endif
