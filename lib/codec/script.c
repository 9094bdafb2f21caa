#include "codec/script.h"

#include <assert.h>

#include "kinds/scripts/scripts.h"

/* sizeof counts the literal's terminator. */
#define SCRIPT(script_name, literal, digest)                                                            \
    {                                                                                                   \
        .name = (script_name), .text = (literal), .size = sizeof(literal) - 1, .sha1 = (digest)         \
    }

static const struct rl_script_text texts[RL_SCRIPT_COUNT] = {
    [RL_SCRIPT_RELEASE] = SCRIPT("release", RL_RELEASE_LUA, RL_RELEASE_SHA1),
    [RL_SCRIPT_RELEASE_SHORT] = SCRIPT("release_short", RL_RELEASE_SHORT_LUA, RL_RELEASE_SHORT_SHA1),
    [RL_SCRIPT_ENQUEUE] = SCRIPT("enqueue", RL_ENQUEUE_LUA, RL_ENQUEUE_SHA1),
    [RL_SCRIPT_REFRESH_MANY] = SCRIPT("refresh_many", RL_REFRESH_MANY_LUA, RL_REFRESH_MANY_SHA1),
    [RL_SCRIPT_EXTEND] = SCRIPT("extend", RL_EXTEND_LUA, RL_EXTEND_SHA1),
    [RL_SCRIPT_EXTEND_MANY] = SCRIPT("extend_many", RL_EXTEND_MANY_LUA, RL_EXTEND_MANY_SHA1),
    [RL_SCRIPT_REPAIR] = SCRIPT("repair", RL_REPAIR_LUA, RL_REPAIR_SHA1),
    [RL_SCRIPT_GRANT] = SCRIPT("grant", RL_GRANT_LUA, RL_GRANT_SHA1),
    [RL_SCRIPT_RAISE] = SCRIPT("raise", RL_RAISE_LUA, RL_RAISE_SHA1),
    [RL_SCRIPT_CLAIM_PERMIT] = SCRIPT("claim_permit", RL_CLAIM_PERMIT_LUA, RL_CLAIM_PERMIT_SHA1),
    [RL_SCRIPT_ENQUEUE_PERMIT] = SCRIPT("enqueue_permit", RL_ENQUEUE_PERMIT_LUA, RL_ENQUEUE_PERMIT_SHA1),
    [RL_SCRIPT_RELEASE_PERMIT] = SCRIPT("release_permit", RL_RELEASE_PERMIT_LUA, RL_RELEASE_PERMIT_SHA1),
    [RL_SCRIPT_CLAIM_SHARED] = SCRIPT("claim_shared", RL_CLAIM_SHARED_LUA, RL_CLAIM_SHARED_SHA1),
    [RL_SCRIPT_ENQUEUE_SHARED] = SCRIPT("enqueue_shared", RL_ENQUEUE_SHARED_LUA, RL_ENQUEUE_SHARED_SHA1),
    [RL_SCRIPT_EXTEND_SHARED] = SCRIPT("extend_shared", RL_EXTEND_SHARED_LUA, RL_EXTEND_SHARED_SHA1),
    [RL_SCRIPT_REPAIR_SHARED] = SCRIPT("repair_shared", RL_REPAIR_SHARED_LUA, RL_REPAIR_SHARED_SHA1),
    [RL_SCRIPT_LOOK] = SCRIPT("look", RL_LOOK_LUA, RL_LOOK_SHA1),
    [RL_SCRIPT_LATCH] = SCRIPT("latch", RL_LATCH_LUA, RL_LATCH_SHA1),
    [RL_SCRIPT_JOIN] = SCRIPT("join", RL_JOIN_LUA, RL_JOIN_SHA1),
};

const struct rl_script_text *rl_script_text(enum rl_script script)
{
    assert(script > RL_SCRIPT_NONE && script < RL_SCRIPT_COUNT);
    return &texts[script];
}
