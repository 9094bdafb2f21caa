/* The Lua scripts of lib/kinds/scripts, embedded at build time with their SHA1. */
#ifndef RL_CODEC_SCRIPT_H
#define RL_CODEC_SCRIPT_H

#include <stddef.h>

#include "kinds/command.h"

struct rl_script_text {
    const char *name; /* the file's name without ".lua" */
    const char *text;
    size_t size;
    const char *sha1; /* 40 lower-case hexadecimal digits, as SCRIPT LOAD answers */
};

/* The text of a script, which must not be RL_SCRIPT_NONE. */
const struct rl_script_text *rl_script_text(enum rl_script script);

#endif
