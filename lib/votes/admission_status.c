#include "votes/admission_status.h"

#include <stddef.h>

static const char *const fault_texts[RL_FAULT_COUNT] = {
#define RL_FAULT_TEXT(name, text) [RL_FAULT_##name] = (text),
    RL_FAULT_MAP(RL_FAULT_TEXT)
#undef RL_FAULT_TEXT
};

const char *rl_fault_text(enum rl_fault fault)
{
    return (size_t)fault < RL_FAULT_COUNT ? fault_texts[fault] : "";
}
