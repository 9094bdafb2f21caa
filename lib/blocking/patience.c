#include "blocking/patience.h"

#define LONGEST_SPELL 1023

void rl_patience_init(struct rl_patience *patience)
{
    patience->spell = 0;
    patience->left = 0;
}

bool rl_patience_try(struct rl_patience *patience)
{
    if (patience->left == 0)
        return true;
    patience->left--;
    return false;
}

void rl_patience_learn(struct rl_patience *patience, bool all_came)
{
    if (all_came) {
        patience->spell -= (patience->spell + 3) / 4;
        return;
    }
    patience->spell = patience->spell * 2 + 2 < LONGEST_SPELL ? patience->spell * 2 + 2 : LONGEST_SPELL;
    patience->left = patience->spell;
}
