/* What must hold of one master's votes and of its wait queue (rules 9.1, 9.2 and 9.5). Nothing here knows the
 * scripts. */
#include "kinds/names.h"
#include "modes.h"

/* --- Modes -------------------------------------------------------------------------------------------------------- */

static bool modes_agree(enum rl_mode one, enum rl_mode other)
{
    return (one == RL_SHARED && other != RL_EXCLUSIVE) || (other == RL_SHARED && one != RL_EXCLUSIVE);
}

static void check_votes(struct modes *world, const struct modes_view *view)
{
    for (unsigned one = 0; one < MODES_VALUES; one++) {
        const struct modes_value *own = &world->values[one];
        const struct script_vote *vote = &view->votes[one];

        for (unsigned other = 0; other < one; other++) {
            if (vote->is_there && view->votes[other].is_there && other != modes_other(one) &&
                !modes_agree(vote->mode, view->votes[other].mode))
                world->wrong = "two votes do not agree";
        }
        if (own->phase == MODES_VOTED && world->now < own->counts_until &&
            (!vote->is_there || vote->mode > (enum rl_mode)own->mode))
            world->wrong = "a vote that counts is not there, or is weaker";
        if (own->phase == MODES_ENDED && vote->is_there)
            world->wrong = "a vote is left of a value that was released";
    }
}

static void check_places(struct modes *world, const struct modes_view *view)
{
    for (size_t i = 0; i < view->n_places; i++) {
        if (view->places[i].value == MODES_VALUES || world->values[view->places[i].value].phase == MODES_ENDED)
            world->wrong = "an entry is left of a value that was released";
    }
}

void modes_view(struct modes *world, struct modes_view *ret_view)
{
    const char *wrong = script_view_votes(&world->keys, modes_now_ms(world), "k", ret_view->votes);

    if (wrong)
        world->wrong = wrong;
    ret_view->n_places = script_view_queue(&world->keys, modes_now_ms(world), RL_QUEUE_NAME "k", RL_WAITERS_NAME "k",
                                           ret_view->places);
    check_votes(world, ret_view);
    check_places(world, ret_view);
}

/* --- Turns -------------------------------------------------------------------------------------------------------- */

static enum rl_mode mode_of(const struct modes *world, unsigned value)
{
    return (enum rl_mode)world->values[value].mode;
}

/* Does one who waits in front keep this value from being given a vote? */
static bool is_blocked(const struct modes *world, const struct modes_view *view, unsigned value, double ticket)
{
    for (size_t i = 0; i < view->n_places; i++) {
        const struct script_place *place = &view->places[i];

        if (place->lives && place->value != value && place->ticket < ticket &&
            !modes_agree(mode_of(world, place->value), mode_of(world, value)))
            return true;
    }
    return false;
}

/* The vote that an upgrade is to replace does not count, unless it is exclusive itself. */
static bool is_admitted(const struct modes *world, const struct modes_view *view, unsigned value)
{
    for (unsigned other = 0; other < MODES_VALUES; other++) {
        const struct script_vote *vote = &view->votes[other];
        bool replaced = modes_is_upgrade(value) && other == modes_other(value) && vote->mode != RL_EXCLUSIVE;

        if (vote->is_there && !replaced && !modes_agree(vote->mode, mode_of(world, value)))
            return false;
    }
    return true;
}

/* Where a value waited, with the ticket that it had before or has been given by this action. */
static double ticket_of(const struct modes *world, unsigned value)
{
    return modes_is_upgrade(value) ? 1 : world->values[value].ticket;
}

/* A plain attempt to set the key exclusively knows no queue, and an upgrade that is tried has the key already; other
 * attempts are behind all that wait. */
static void check_turn(struct modes *world, const struct modes_view *after, unsigned value, struct search_action action)
{
    bool tries = action.kind == MODES_TRY && action.a == value;
    double ticket = tries ? UINT32_MAX : ticket_of(world, value);

    if (tries && world->values[value].claimed == RL_EXCLUSIVE)
        return;
    if (is_blocked(world, after, value, ticket))
        world->wrong = "a value was given a vote before one that waited in front of it";
}

/* An extension of a vote that is missing does nothing. */
static bool looks_at_queue(const struct modes *world, const struct modes_view *after, struct search_action action)
{
    bool mutex = mode_of(world, action.a) == RL_EXCLUSIVE && !modes_is_upgrade(action.a);

    switch ((enum modes_kind)action.kind) {
    case MODES_JOIN:
    case MODES_RELEASE:
    case MODES_LOWER:
    case MODES_LOWER_MORE:
        return true;
    case MODES_TRY:
        return !mutex;
    case MODES_EXTEND:
        return !mutex && after->votes[action.a].is_there;
    default:
        return false;
    }
}

/* What a client says of its mode is what its vote is from then on. */
static void check_mode(struct modes *world, const struct modes_view *after, struct search_action action)
{
    const struct script_vote *vote = &after->votes[action.a];
    bool tells = action.kind == MODES_EXTEND || action.kind == MODES_LOWER || action.kind == MODES_LOWER_MORE;

    if (tells && vote->is_there && vote->mode != mode_of(world, action.a))
        world->wrong = "a master has been told of a weaker mode, and the vote is as strong as before";
}

void modes_check(struct modes *world, const struct modes_view *before, const struct modes_view *after,
                 struct search_action action)
{
    for (unsigned value = 0; value < MODES_VALUES; value++) {
        if (!after->votes[value].is_there || before->votes[value].is_there)
            continue;
        check_turn(world, after, value, action);
        if (value != action.a && !(world->told & 1u << value))
            world->wrong = "a value was given a vote, and nobody was told";
    }
    check_mode(world, after, action);
    for (size_t i = 0; i < after->n_places && looks_at_queue(world, after, action); i++) {
        const struct script_place *place = &after->places[i];

        if (place->lives && !is_blocked(world, after, place->value, place->ticket) &&
            is_admitted(world, after, place->value))
            world->wrong = "a value waits though its turn has come";
    }
}
