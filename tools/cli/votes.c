#include "cli/votes.h"

#include <string.h>

#include "options/message.h"

enum { NAME_MOST = 26, NAME_LEAST = 12, BAR_MOST = 24, BAR_LEAST = 6, OTHER_COLUMNS = 40, ROOM_FOR_NAME = 32 };
enum { NOTE_SIZE = 512 };

int votes_wider(int width, const char *name)
{
    size_t length = strlen(name);

    length = length > NAME_MOST ? NAME_MOST : length < NAME_LEAST ? NAME_LEAST : length;
    return width > (int)length ? width : (int)length;
}

int votes_name_width(const struct redlock_client *client)
{
    int width = NAME_LEAST;

    for (size_t i = 0; i < redlock_client_node_count(client); i++)
        width = votes_wider(width, session_node_name(client, i));
    return width;
}

size_t votes_count(const struct outcome *outcome, enum redlock_vote vote)
{
    size_t n = 0;

    for (size_t i = 0; i < outcome->n_nodes; i++)
        n += outcome->votes[i].vote == vote;
    return n;
}

static enum term_style style_of(enum redlock_vote vote)
{
    switch (vote) {
    case REDLOCK_VOTE_GRANTED:
        return TERM_GREEN;
    case REDLOCK_VOTE_REFUSED:
        return TERM_YELLOW;
    case REDLOCK_VOTE_FAILED:
    case REDLOCK_VOTE_UNKNOWN:
        return TERM_RED;
    case REDLOCK_VOTE_NONE:
    case REDLOCK_VOTE_PENDING:
    default:
        return TERM_DIM;
    }
}

/* Which reply made the majority: the one with `quorum` grants up to it. 0 if none did. */
static unsigned deciding_reply(const struct outcome *outcome)
{
    uint32_t granted = 0;

    for (unsigned order = 1; order <= outcome->replies; order++)
        for (size_t i = 0; i < outcome->n_nodes; i++)
            if (outcome->votes[i].order == order && outcome->votes[i].vote == REDLOCK_VOTE_GRANTED &&
                ++granted == outcome->quorum)
                return order;
    return 0;
}

static int64_t slowest(const struct outcome *outcome)
{
    int64_t most = 1;

    for (size_t i = 0; i < outcome->n_nodes; i++)
        if (outcome->votes[i].latency_us > most)
            most = outcome->votes[i].latency_us;
    return most;
}

static void print_row(const struct term *term, const char *name, int name_width, const struct vote *vote,
                      int64_t full_us, const char *note)
{
    char short_name[ROOM_FOR_NAME];
    char time[16] = "-";
    char safe[NOTE_SIZE];
    int cells = term->width - name_width - OTHER_COLUMNS;

    cells = cells > BAR_MOST ? BAR_MOST : cells < BAR_LEAST ? BAR_LEAST : cells;
    if (vote->latency_us >= 0)
        term_time(vote->latency_us, time, sizeof time);
    fprintf(term->out, "  %-*s  ", name_width, term_fit(name, name_width, short_name, sizeof short_name));
    term_print(term, style_of(vote->vote), "%-7s",
               vote->vote == REDLOCK_VOTE_NONE ? "unasked" : redlock_vote_name(vote->vote));
    fputs("  ", term->out);
    term_bar(term, style_of(vote->vote), (double)vote->latency_us, (double)full_us, cells);
    fprintf(term->out, "  %8s", time);
    if (*note != '\0') {
        fputs("  ", term->out);
        term_print(term, vote->vote == REDLOCK_VOTE_GRANTED ? TERM_BOLD : TERM_DIM, "%s",
                   shown(note, safe, sizeof safe));
    }
    putc('\n', term->out);
}

static const char *note_on(const struct term *term, const struct vote *vote, unsigned deciding)
{
    if (deciding != 0 && vote->order == deciding)
        return term->unicode ? "◀ quorum" : "<- quorum";
    return vote->vote == REDLOCK_VOTE_PENDING ? "not awaited" : vote->detail;
}

void votes_print(const struct term *term, const struct outcome *outcome)
{
    int name_width = NAME_LEAST;
    int64_t full_us = slowest(outcome);
    unsigned deciding = outcome->op == REDLOCK_OP_ACQUIRE ? deciding_reply(outcome) : 0;

    for (size_t i = 0; i < outcome->n_nodes; i++)
        name_width = votes_wider(name_width, outcome->votes[i].name);
    for (size_t i = 0; i < outcome->n_nodes; i++)
        print_row(term, outcome->votes[i].name, name_width, &outcome->votes[i], full_us,
                  note_on(term, &outcome->votes[i], deciding));
}

void votes_json(struct cli_json *json, const struct outcome *outcome)
{
    cli_json_begin(json, "masters", '[');
    for (size_t i = 0; i < outcome->n_nodes; i++) {
        const struct vote *vote = &outcome->votes[i];

        cli_json_begin(json, NULL, '{');
        cli_json_string(json, "name", vote->name);
        cli_json_string(json, "vote", redlock_vote_name(vote->vote));
        cli_json_string(json, "detail", vote->detail);
        cli_json_int_or_null(json, "latency_us", vote->latency_us);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}
