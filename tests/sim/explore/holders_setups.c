#include "holders_setups.h"

#define R RL_SHARED
#define U RL_UPGRADEABLE
#define X RL_EXCLUSIVE

/* First every order of all that is on its way, within one tick; then with locks that end, where each reply comes as
 * soon as its command has been carried out. */
const struct holders_setup holders_setups[HOLDERS_SETUP_COUNT] = {
    [HOLDERS_BOTH_WAIT] = {
        .search.name = "a reader and a writer, both wait",
        .ttl = 2,
        .wishes = {{.mode = R, .waits = true, .releases = true}, {.mode = X, .waits = true, .releases = true}},
    },
    [HOLDERS_LOWERED] = {
        .search.name = "a writer that becomes weaker, and a reader",
        .ttl = 2,
        .wishes = {{.mode = X, .lowers = 1, .releases = true}, {.mode = R, .releases = true}},
    },
    [HOLDERS_LOWERED_BESIDE] = {
        .search.name = "... and one who wants to be upgradeable",
        .ttl = 2,
        .wishes = {{.mode = X, .waits = true, .lowers = 1}, {.mode = U, .waits = true}},
    },
    [HOLDERS_LOWERED_EXTENDED] = {
        .search.name = "... that extends before or after that",
        .ttl = 2,
        .wishes = {{.mode = X, .lowers = 1, .extends = 1}, {.mode = R, .releases = true, .prompt = true}},
    },
    [HOLDERS_UPGRADED] = {
        .search.name = "an upgrade, and a reader",
        .ttl = 2,
        .wishes = {{.mode = U, .upgrades = 1}, {.mode = R, .releases = true}},
    },
    [HOLDERS_UPGRADED_RELEASED] = {
        .search.name = "an upgrade that is released at any time",
        .ttl = 2,
        .wishes = {{.mode = U, .upgrades = 1, .releases = true}, {.mode = R, .releases = true, .prompt = true}},
    },
    [HOLDERS_UPGRADED_CANCELED] = {
        .search.name = "an upgrade that is canceled at any time",
        .ttl = 2,
        .wishes = {{.mode = U, .upgrades = 1, .cancels = 1}, {.mode = R, .releases = true, .prompt = true}},
    },
    [HOLDERS_UPGRADED_BESIDE] = {
        .search.name = "an upgrade, and a writer that waits",
        .ttl = 2,
        .wishes = {{.mode = U, .upgrades = 1}, {.mode = X, .waits = true, .prompt = true}},
    },
    [HOLDERS_UP_AND_DOWN] = {
        .search.name = "an upgrade, and a weaker mode after it",
        .ttl = 2,
        .wishes = {{.mode = U, .lowers = 1, .upgrades = 1}, {.mode = R, .releases = true, .prompt = true}},
    },
    [HOLDERS_DOWN_AND_UP] = {
        .search.name = "a weaker mode, and an upgrade after it",
        .ttl = 2,
        .wishes = {{.mode = X, .lowers = 1, .upgrades = 1}, {.mode = R, .releases = true, .prompt = true}},
    },
    [HOLDERS_ENDS] = {
        .search.name = "a reader and a writer, until they end",
        .ttl = 2, .last_tick = 2,
        .wishes = {{.mode = R, .releases = true, .prompt = true}, {.mode = X, .releases = true, .prompt = true}},
    },
    [HOLDERS_ENDS_LONG] = {
        .search.name = "a reader and a writer, longer than they last",
        .ttl = 2, .last_tick = 3,
        .wishes = {{.mode = R, .releases = true, .prompt = true}, {.mode = X, .releases = true, .prompt = true}},
        .search.large = true,
    },
    [HOLDERS_ENDS_WAITING] = {
        .search.name = "a reader and a writer, both wait, until they end",
        .ttl = 1, .last_tick = 1,
        .wishes = {{.mode = R, .waits = true, .releases = true, .prompt = true},
                   {.mode = X, .waits = true, .releases = true, .prompt = true}},
    },
    [HOLDERS_ENDS_LOWERED] = {
        .search.name = "a writer that becomes weaker, and a reader, until ...",
        .ttl = 1, .last_tick = 2,
        .wishes = {{.mode = X, .lowers = 1, .prompt = true}, {.mode = R, .releases = true, .prompt = true}},
    },
    [HOLDERS_ENDS_UPGRADED] = {
        .search.name = "an upgrade, and a reader, until they end",
        .ttl = 1, .last_tick = 1,
        .wishes = {{.mode = U, .upgrades = 1, .prompt = true}, {.mode = R, .releases = true, .prompt = true}},
    },
    [HOLDERS_ENDS_TRIED] = {
        .search.name = "an upgrade that does not wait, until ...",
        .ttl = 1, .last_tick = 1,
        .wishes = {{.mode = U, .tries = 1, .prompt = true}, {.mode = R, .prompt = true}},
    },
};
