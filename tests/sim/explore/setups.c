#include "setups.h"

const struct tiny_setup setups[SETUP_COUNT] = {
    [SETUP_ONE_QUIET] = {
        .name = "one master, nothing fails",
        .masters = 1, .quorum = 1, .ttl = 2, .last_tick = 3, .attempts = 2, .extends = 1, .cancel = true,
        .release = true,
    },
    [SETUP_ONE_BREAKS] = {
        .name = "one master, connections are lost",
        .masters = 1, .quorum = 1, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 1, .breaks = 2,
        .release = true,
    },
    [SETUP_ONE_SHORTER] = {
        .name = "one master, a shorter extension",
        .masters = 1, .quorum = 1, .ttl = 3, .extend_ttl = 1, .last_tick = 4, .attempts = 1, .extends = 2,
        .breaks = 1, .prompt_rival = true,
    },
    [SETUP_ONE_EXTENDED] = {
        .name = "one master, extended twice",
        .masters = 1, .quorum = 1, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 2, .cancel = true,
        .release = true,
    },
    [SETUP_ONE_CRASH] = {
        .name = "one master, restarts with its keys",
        .masters = 1, .quorum = 1, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 1, .crashes = 1,
        .release = true,
    },
    [SETUP_ONE_LATE] = {
        .name = "one master, a claim that comes late",
        .masters = 1, .quorum = 1, .ttl = 2, .last_tick = 6, .attempts = 1, .breaks = 1, .prompt_rival = true,
    },
    [SETUP_TWO_QUIET] = {
        .name = "two masters, nothing fails",
        .masters = 2, .quorum = 2, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 1, .release = true,
        .prompt_rival = true,
    },
    [SETUP_TWO_BREAK] = {
        .name = "two masters, a connection is lost",
        .masters = 2, .quorum = 2, .ttl = 2, .last_tick = 3, .attempts = 1, .breaks = 1, .release = true,
        .prompt_rival = true, .large = true,
    },
    [SETUP_THREE_QUIET] = {
        .name = "three masters, nothing fails",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .release = true, .prompt_rival = true,
    },
    [SETUP_THREE_BREAK] = {
        .name = "three masters, a connection is lost",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .breaks = 1, .prompt_rival = true,
        .large = true,
    },
    [SETUP_THREE_CRASH] = {
        .name = "three masters, one restarts with its keys",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .crashes = 1, .prompt_rival = true,
        .large = true,
    },
    [SETUP_THREE_LOSS] = {
        .name = "three masters, one restarts empty after ttl",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 4, .attempts = 1, .losses = 1, .prompt_rival = true,
        .late_return = true, .large = true,
    },
    [SETUP_THREE_LOSS_AT_ONCE] = {
        .name = "three masters, one restarts empty at once",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .losses = 1, .prompt_rival = true,
        .violated = true,
    },
};
