/* The toy master's votes that others may share: CLAIM, ENQUEUE, EXTEND and REPAIR with a mode.
 *
 * All that share a key get their votes at once, however many are upgradeable. One that wants the key for itself gets it
 * when there is no other vote than its own and the one that it is to replace. Nobody is put into the queue: whoever is
 * refused asks again. */
#include <inttypes.h>
#include <stdio.h>

#include "toy_inside.h"

#define FOREIGN ":-1\r\n"
#define MISSING ":0\r\n"

/* Behind the script, its digest or text, and the number of its keys. */
enum { N_KEYS = 2, KEY };

static bool is_mode(struct toy_word word)
{
    return toy_is(word, "r") || toy_is(word, "u") || toy_is(word, "x");
}

/* A vote that has the key for itself may be this value's own, of before it was weaker. */
static bool admits(struct toy *toy, struct toy_word key, struct toy_word value, struct toy_word mode,
                   struct toy_word replaced)
{
    const struct toy_key *holder = toy_find(toy, key);

    return holder ? toy_is(value, holder->value)
                  : !toy_is(mode, "x") || !toy_has_other_votes(toy, key, value, replaced);
}

static void vote(struct toy *toy, struct toy_word key, struct toy_word value, int64_t ttl_ms)
{
    struct toy_key *own = toy_find_vote(toy, key, value);

    if (own)
        own->size = 0;
    toy_store_vote(toy, key, value, ttl_ms);
}

/* Value, ttl, mode, proposal, counter's ttl, the value to be replaced. */
static const char *claim(struct toy *toy, struct toy_word key, const struct toy_word *own)
{
    toy->sets++;
    if (!admits(toy, key, own[0], own[2], own[5]))
        return "*4\r\n:0\r\n:1000\r\n:0\r\n:1\r\n";
    vote(toy, key, own[0], toy_number(own[1]));
    return "*2\r\n:1\r\n:0\r\n";
}

/* The nine of ENQUEUE, of which the first are value, lease, round, ticket, proposed ticket and incarnation; then the
 * mode and the value to be replaced. */
static const char *enqueue(struct toy *toy, struct toy_word key, const struct toy_word *own)
{
    int64_t ticket = toy_number(own[3]) ? toy_number(own[3]) : ++toy->tickets;
    bool granted = admits(toy, key, own[0], own[9], own[10]);

    if (own[5].size && !toy_is(own[5], toy->incarnation))
        return toy_answer_enqueue(toy, -2, 0, 0, -1);
    if (granted)
        vote(toy, key, own[0], toy_number(own[1]));
    return toy_answer_enqueue(toy, granted, ticket, 0, 1000);
}

/* Value, ttl, mode: a vote that is stronger becomes as weak. */
static const char *extend(struct toy *toy, struct toy_word key, const struct toy_word *own)
{
    struct toy_key *exclusive = toy_find(toy, key);

    if (exclusive && !toy_is(own[0], exclusive->value))
        return FOREIGN;
    if (!exclusive && !toy_find_vote(toy, key, own[0]))
        return MISSING;
    if (exclusive)
        exclusive->size = 0;
    vote(toy, key, own[0], toy_number(own[1]));
    return ":1\r\n";
}

/* Value, ttl, incarnation, mode, the value to be replaced. */
static const char *repair(struct toy *toy, struct toy_word key, const struct toy_word *own)
{
    bool missing = !toy_find_vote(toy, key, own[0]);

    if (own[2].size && !toy_is(own[2], toy->incarnation))
        return ":-2\r\n";
    if (missing && !admits(toy, key, own[0], own[3], own[4]))
        return FOREIGN;
    vote(toy, key, own[0], toy_number(own[1]));
    toy->repairs += missing;
    return missing ? ":2\r\n" : ":1\r\n";
}

const char *toy_run_shared(struct toy *toy, const struct toy_word *words, size_t n)
{
    size_t n_keys = (size_t)toy_number(words[N_KEYS]);
    const struct toy_word *own = &words[KEY + n_keys];
    size_t n_own = n - KEY - n_keys;

    if (n < KEY + n_keys)
        return NULL;
    if (n_keys == 5 && n_own == 6 && is_mode(own[2]))
        return claim(toy, words[KEY], own);
    if (n_keys == 5 && n_own == 11 && is_mode(own[9]))
        return enqueue(toy, words[KEY], own);
    if ((n_keys == 1 || n_keys == 5) && n_own == 3 && is_mode(own[2]))
        return extend(toy, words[KEY], own);
    return n_keys == 2 && n_own == 5 && is_mode(own[3]) ? repair(toy, words[KEY], own) : NULL;
}
