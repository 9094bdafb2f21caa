/* The tiny worlds of locks that share and convert which are explored. */
#ifndef SIM_HOLDERS_SETUPS_H
#define SIM_HOLDERS_SETUPS_H

#include "holders.h"

enum holders_setup_number {
    HOLDERS_BOTH_WAIT,
    HOLDERS_LOWERED,
    HOLDERS_LOWERED_BESIDE,
    HOLDERS_LOWERED_EXTENDED,
    HOLDERS_UPGRADED,
    HOLDERS_UPGRADED_RELEASED,
    HOLDERS_UPGRADED_CANCELED,
    HOLDERS_UPGRADED_BESIDE,
    HOLDERS_UP_AND_DOWN,
    HOLDERS_DOWN_AND_UP,
    HOLDERS_ENDS,
    HOLDERS_ENDS_LONG,
    HOLDERS_ENDS_WAITING,
    HOLDERS_ENDS_LOWERED,
    HOLDERS_ENDS_UPGRADED,
    HOLDERS_ENDS_TRIED,
    HOLDERS_SETUP_COUNT,
};

extern const struct holders_setup holders_setups[HOLDERS_SETUP_COUNT];

/* One search, from masters without memory on. True if it has come to what is expected. */
bool holders_explore(struct lua_host *lua, const struct holders_setup *setup, const char *name, bool violated);

#endif
