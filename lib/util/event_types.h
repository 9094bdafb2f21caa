/* Which events a hook is called for. */
#ifndef RL_UTIL_EVENT_TYPES_H
#define RL_UTIL_EVENT_TYPES_H

#include <stdint.h>

#include <redlock/observe.h>
#include <redlock/options.h>

/* What the options say, without the default. */
static inline uint32_t rl_event_types(const struct redlock_options *options)
{
    if (!options->on_event)
        return 0;
    return options->event_types ? options->event_types : ~REDLOCK_EVENT_BIT(REDLOCK_EVENT_VALIDITY);
}

#endif
