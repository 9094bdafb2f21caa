#include "setups.h"

const struct tiny_setup setups[SETUP_COUNT] = {
    [SETUP_ONE_QUIET] = {
        .search.name = "one master, nothing fails",
        .masters = 1, .quorum = 1, .ttl = 2, .last_tick = 3, .attempts = 2, .extends = 1, .cancel = true,
        .release = true,
    },
    [SETUP_ONE_BREAKS] = {
        .search.name = "one master, connections are lost",
        .masters = 1, .quorum = 1, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 1, .breaks = 2,
        .release = true,
    },
    [SETUP_ONE_SHORTER] = {
        .search.name = "one master, a shorter extension",
        .masters = 1, .quorum = 1, .ttl = 3, .extend_ttl = 1, .last_tick = 4, .attempts = 1, .extends = 2,
        .breaks = 1, .prompt_rival = true,
    },
    [SETUP_ONE_EXTENDED] = {
        .search.name = "one master, extended twice",
        .masters = 1, .quorum = 1, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 2, .cancel = true,
        .release = true,
    },
    [SETUP_ONE_CRASH] = {
        .search.name = "one master, restarts with its keys",
        .masters = 1, .quorum = 1, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 1, .crashes = 1,
        .release = true,
    },
    [SETUP_ONE_LATE] = {
        .search.name = "one master, a claim that comes late",
        .masters = 1, .quorum = 1, .ttl = 2, .last_tick = 6, .attempts = 1, .breaks = 1, .prompt_rival = true,
    },
    [SETUP_TWO_QUIET] = {
        .search.name = "two masters, nothing fails",
        .masters = 2, .quorum = 2, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 1, .release = true,
        .prompt_rival = true,
    },
    [SETUP_TWO_BREAK] = {
        .search.name = "two masters, a connection is lost",
        .masters = 2, .quorum = 2, .ttl = 2, .last_tick = 3, .attempts = 1, .breaks = 1, .release = true,
        .prompt_rival = true, .search.large = true,
    },
    [SETUP_THREE_QUIET] = {
        .search.name = "three masters, nothing fails",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .release = true, .prompt_rival = true,
    },
    [SETUP_THREE_BREAK] = {
        .search.name = "three masters, a connection is lost",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .breaks = 1, .prompt_rival = true,
        .search.large = true,
    },
    [SETUP_THREE_CRASH] = {
        .search.name = "three masters, one restarts with its keys",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .crashes = 1, .prompt_rival = true,
        .search.large = true,
    },
    [SETUP_THREE_LOSS] = {
        .search.name = "three masters, one restarts empty after ttl",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 4, .attempts = 1, .losses = 1, .prompt_rival = true,
        .late_return = true, .search.large = true,
    },
    [SETUP_THREE_LOSS_AT_ONCE] = {
        .search.name = "three masters, one restarts empty at once",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .losses = 1, .prompt_rival = true,
        .search.violated = true,
    },
    [SETUP_GUARDED_LOSS] = {
        .search.name = "three guarded masters, one restarts empty at once",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .losses = 1, .quarantine = 2,
        .prompt = true, .exclusion = true,
    },
    [SETUP_GUARDED_REPAIR] = {
        .search.name = "three guarded masters, repair after a restart",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 1, .losses = 1,
        .quarantine = 2, .prompt = true, .exclusion = true,
    },
    [SETUP_GUARDED_FLUSH] = {
        .search.name = "three guarded masters, one is flushed",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .flushes = 1, .quarantine = 2,
        .prompt = true, .exclusion = true,
    },
    [SETUP_GUARDED_REPAIR_AFTER_FLUSH] = {
        .search.name = "three guarded masters, repair after a flush",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 2, .flushes = 1,
        .quarantine = 2, .prompt = true, .exclusion = true, .search.large = true,
    },
    [SETUP_GUARDED_TWICE] = {
        .search.name = "three guarded masters, two memories are lost",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .extends = 1, .losses = 1,
        .flushes = 1, .quarantine = 2, .prompt = true, .exclusion = true, .search.large = true,
    },
    [SETUP_GUARDED_LATE_REPAIR] = {
        .search.name = "three guarded masters, a repair meant for a lost memory",
        .masters = 3, .quorum = 2, .ttl = 3, .last_tick = 4, .attempts = 1, .extends = 2, .losses = 1,
        .flushes = 1, .quarantine = 3, .late_from = 3, .same_again = true, .prompt = true, .exclusion = true,
    },
    [SETUP_GUARDED_RESTARTS] = {
        .search.name = "three guarded masters, repair after two restarts",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 1, .losses = 2,
        .quarantine = 2, .prompt = true, .exclusion = true,
    },
    [SETUP_GUARDED_BREAK] = {
        .search.name = "three guarded masters, repair on a connection that is lost",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 1, .breaks = 1, .losses = 1,
        .quarantine = 2, .prompt = true, .exclusion = true, .search.large = true,
    },
    [SETUP_GUARDED_SHORTER] = {
        .search.name = "three guarded masters, repair with a shorter ttl",
        .masters = 3, .quorum = 2, .ttl = 3, .extend_ttl = 1, .last_tick = 4, .attempts = 1, .extends = 2,
        .losses = 1, .quarantine = 3, .prompt = true, .exclusion = true,
    },
    [SETUP_GUARDED_REPAIR_SLOW] = {
        .search.name = "three guarded masters, repair, slow replies",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 3, .attempts = 1, .extends = 1, .losses = 1,
        .quarantine = 2, .prompt_rival = true, .exclusion = true, .search.large = true,
    },
    [SETUP_GUARDED_FLUSH_SLOW] = {
        .search.name = "three guarded masters, one is flushed, slow replies",
        .masters = 3, .quorum = 2, .ttl = 2, .last_tick = 2, .attempts = 1, .flushes = 1, .quarantine = 2,
        .prompt_rival = true, .exclusion = true, .search.large = true,
    },
};
