/* What the engine wants done. */
#ifndef RL_HOST_EFFECTS_H
#define RL_HOST_EFFECTS_H

struct rl_host;

/* After every event: does everything that the engine wants done. */
void rl_host_run(struct rl_host *host);

#endif
