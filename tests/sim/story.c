#include "story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "votes/quorum.h"
#include "run.h"
#include "story_line.h"
#include "world.h"

#define MAX_LINES 100

struct line {
    int64_t at;
    char *text;
    unsigned number; /* in the file */
};

struct story {
    char *content;
    const char *expected;
    struct line lines[MAX_LINES];
    unsigned n_lines;
    unsigned setting_line;
    const char *path;
};

static void complain(const struct story *story, unsigned number, const char *what)
{
    fprintf(stderr, "sim: %s:%u: %s\n", story->path, number, what);
    exit(2);
}

/* --- The setting -------------------------------------------------------------------------------------------------- */

static void default_setting(struct plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->n_masters = 3;
    plan->n_clients = 2;
    plan->n_keys = LOCK_KEYS;
    plan->permits = MAX_PERMITS;
    plan->config.drift.ppm = 10000;
    plan->config.drift.fixed = rl_ms(2);
    plan->config.node_timeout = rl_ms(50);
    plan->connect_timeout = rl_ms(100);
    plan->stall_timeout = rl_ms(500);
    plan->backoff_min = rl_ms(1);
    plan->backoff_max = rl_ms(20);
    plan->max_ttl_ms = 10000;
    plan->declared = true;
    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        plan->n_handles[c] = 1;
        plan->client_rate[c] = CLOCKWORK_PAR;
        plan->wall_offset[c] = INT64_C(1000000) * RL_NS_PER_MS;
        for (unsigned m = 0; m < MAX_MASTERS; m++)
            plan->paths[c][m] = (struct path){.delay = {RL_NS_PER_MS, RL_NS_PER_MS}};
    }
    for (unsigned m = 0; m < MAX_MASTERS; m++)
        plan->master_rate[m] = CLOCKWORK_PAR;
}

static bool set_delay(struct plan *plan, const struct words *words)
{
    unsigned client;
    unsigned master;

    if (words->count != 5 || !word_client(words, 1, &client) || !word_master(words, 2, &master))
        return false;
    plan->paths[client][master].delay[UP] = word_ns(words, 3);
    plan->paths[client][master].delay[DOWN] = word_ns(words, 4);
    return true;
}

static bool set_durability(struct plan *plan, const struct words *words)
{
    unsigned master;

    if (words->count != 3 || !word_master(words, 1, &master))
        return false;
    plan->durability[master] = word_is(words, 2, "always")     ? DURABILITY_ALWAYS
                               : word_is(words, 2, "everysec") ? DURABILITY_EVERYSEC
                                                               : DURABILITY_NONE;
    return true;
}

static bool apply_span(struct plan *plan, const struct words *words)
{
    const struct {
        const char *name;
        struct rl_span *span;
    } spans[] = {
        {"node-timeout", &plan->config.node_timeout}, {"connect-timeout", &plan->connect_timeout},
        {"stall-timeout", &plan->stall_timeout},      {"guard", &plan->config.guard},
    };

    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        if (words->count == 2 && word_is(words, 0, spans[i].name)) {
            spans[i].span->ns = word_ns(words, 1);
            return true;
        }
    }
    return false;
}

/* The client's handles are the parts of a set: of both keys of mutexes, or as the words name them, in their order. */
static bool set_set(struct plan *plan, const struct words *words)
{
    static const uint8_t both[] = {0, 1};
    unsigned client;
    uint8_t size = (uint8_t)(words->count - 2);

    if (words->count < 2 || size > MAX_HANDLES || !word_client(words, 1, &client))
        return false;
    if (!size)
        memcpy(plan->handle_keys[client], both, sizeof both);
    for (unsigned i = 0; i < size; i++) {
        plan->handle_keys[client][i] = PERMIT;
        if (!word_is(words, i + 2, "s") && !word_key(words, i + 2, &plan->handle_keys[client][i]))
            return false;
    }
    plan->set_sizes[client] = plan->n_handles[client] = size ? size : sizeof both;
    return true;
}

/* The first list of masters, and those that operators want. */
static bool set_list(struct plan *plan, const struct words *words)
{
    struct member_list *list = &plan->lists[plan->n_lists++];

    if (words->count < 3 || plan->n_lists > MAX_LISTS)
        return false;
    list->quorum = (uint8_t)word_number(words, 1);
    for (unsigned i = 2; i < words->count; i++) {
        unsigned master;

        if (!word_master(words, i, &master))
            return false;
        list->members |= (uint16_t)(1u << master);
    }
    return true;
}

static bool apply_setting(struct plan *plan, const struct words *words)
{
    unsigned client;

    if (apply_span(plan, words))
        return true;
    if (word_is(words, 0, "delay"))
        return set_delay(plan, words);
    if (word_is(words, 0, "unsafe-restarts"))
        return plan->unsafe_restarts = true;
    if (word_is(words, 0, "calm"))
        return plan->calm = true;
    if (word_is(words, 0, "guarded"))
        return plan->guarded = true;
    if (word_is(words, 0, "undeclared"))
        return !(plan->declared = false);
    if (word_is(words, 0, "declares-new"))
        return plan->declares_new = true;
    if (words->count == 3 && word_is(words, 0, "wall") && word_client(words, 1, &client)) {
        plan->wall_offset[client] += word_ns(words, 2);
        return true;
    }
    if (words->count == 3 && word_is(words, 0, "own-max-ttl") && word_client(words, 1, &client)) {
        plan->own_ttl_ms[client] = word_number(words, 2);
        return true;
    }
    if (words->count == 3 && word_is(words, 0, "handles") && word_client(words, 1, &client)) {
        plan->n_handles[client] = (uint8_t)word_number(words, 2);
        return plan->n_handles[client] >= 1 && plan->n_handles[client] <= MAX_HANDLES;
    }
    if (word_is(words, 0, "set"))
        return set_set(plan, words);
    if (word_is(words, 0, "list"))
        return set_list(plan, words);
    if (words->count == 3 && word_is(words, 0, "permits") && word_client(words, 1, &client)) {
        plan->limits[client] = (uint8_t)word_number(words, 2);
        return plan->limits[client] >= 1 && plan->limits[client] <= MAX_PERMITS;
    }
    if (word_is(words, 0, "durability"))
        return set_durability(plan, words);
    if (words->count == 3 && word_is(words, 0, "drift")) {
        plan->config.drift.ppm = word_number(words, 1);
        plan->config.drift.fixed.ns = word_ns(words, 2);
        return true;
    }
    if (words->count == 3 && word_is(words, 0, "backoff")) {
        plan->backoff_min.ns = word_ns(words, 1);
        plan->backoff_max.ns = word_ns(words, 2);
        return true;
    }
    if (words->count != 2)
        return false;
    if (word_is(words, 0, "masters"))
        plan->n_masters = (uint8_t)word_number(words, 1);
    else if (word_is(words, 0, "spare"))
        plan->n_spare = (uint8_t)word_number(words, 1);
    else if (word_is(words, 0, "clients"))
        plan->n_clients = (uint8_t)word_number(words, 1);
    else if (word_is(words, 0, "quorum"))
        plan->config.quorum = word_number(words, 1);
    else if (word_is(words, 0, "left"))
        plan->left_ms = word_number(words, 1);
    else if (word_is(words, 0, "max-ttl"))
        plan->max_ttl_ms = word_number(words, 1);
    else
        return false;
    return true;
}

static void finish_setting(struct plan *plan, const struct story *story)
{
    plan->config.n_nodes = (size_t)(plan->n_masters - plan->n_spare);
    if (plan->n_lists) {
        plan->config.n_nodes = (size_t)__builtin_popcount(plan->lists[0].members);
        plan->config.quorum = plan->lists[0].quorum;
    }
    plan->config.max_ttl_ms = plan->max_ttl_ms;
    plan->declared_ms = plan->max_ttl_ms;
    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        if (!plan->own_ttl_ms[c])
            plan->own_ttl_ms[c] = plan->max_ttl_ms;
    }
    if (!plan->config.quorum)
        plan->config.quorum = rl_majority(plan->n_masters);
    if (plan->n_masters < 1 || plan->n_masters > MAX_MASTERS || plan->n_clients < 1 || plan->n_clients > MAX_CLIENTS)
        complain(story, 1, "too many masters or clients");
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *content = NULL;
    size_t room = 0;

    if (!file || getdelim(&content, &room, '\0', file) < 0) {
        fprintf(stderr, "sim: cannot read %s\n", path);
        exit(2);
    }
    fclose(file);
    return content;
}

static void take_line(struct story *story, struct plan *plan, char *text, unsigned number)
{
    char *end;
    double at = strtod(text, &end);
    struct words words;

    if (text[0] == '#' || text[strspn(text, " ")] == '\0')
        return;
    if (end == text) {
        words_split(&words, text);
        if (!apply_setting(plan, &words))
            complain(story, number, "not a setting");
        return;
    }
    if (story->n_lines == MAX_LINES)
        complain(story, number, "too long a story");
    story->lines[story->n_lines++] = (struct line){(int64_t)(at * 1e6), end, number};
}

static void parse(struct story *story, struct plan *plan)
{
    unsigned number = 0;
    char *at = story->content;

    default_setting(plan);
    while (*at) {
        char *line = at;
        char *end = strchrnul(at, '\n');

        at = *end ? end + 1 : end;
        *end = '\0';
        number++;
        if (strcmp(line, "---") == 0) {
            story->expected = at;
            finish_setting(plan, story);
            return;
        }
        take_line(story, plan, line, number);
    }
    complain(story, number, "no transcript: a line of three dashes must come before it");
}

/* --- Running ------------------------------------------------------------------------------------------------------ */

void story_start(struct world *world)
{
    world->keep[UP] = UINT32_MAX - 1;
    world->keep[DOWN] = 0;
    for (unsigned i = 0; i < world->story->n_lines; i++)
        world_event(world, world->story->lines[i].at, EVENT_STORY, i, 0, 0);
}

static void print_vote(struct world *world, struct box *box, unsigned master, int64_t gone)
{
    if (gone > world->now)
        TRACE(world, name_of_master(master), "has %s = %s, shared, for %.3f ms", name_of_key(box->key), box->token,
              (double)(gone - world->now) / 1e6);
}

static void print_keys(struct world *world)
{
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        const struct keyspace *keys = &world->masters[m].keys;

        for (uint32_t i = 0; i < keys->count; i++) {
            const struct entry *entry = &keys->entries[i];

            if (entry->gone > world->now && entry->writer)
                TRACE(world, name_of_master(m), "has %.*s = %.*s for %.3f ms", (int)entry->key.size,
                      entry->key.bytes, (int)entry->value.size, entry->value.bytes,
                      (double)(entry->gone - world->now) / 1e6);
        }
        votes_each(world, m, print_vote);
    }
}

void story_on_line(struct world *world, unsigned index)
{
    const struct line *line = &world->story->lines[index];
    struct words words;

    words_split(&words, line->text);
    if (words.count == 1 && word_is(&words, 0, "end")) {
        print_keys(world);
        world->phase = PHASE_OVER;
    } else if (words.count && word_is(&words, 0, "note")) {
        TRACE(world, "--", "%s", line->text + strspn(line->text, " ") + 5);
    } else {
        int64_t later = line_perform(world, &words);

        if (later < 0)
            complain(world->story, line->number, "not understood, or not possible at that time");
        if (later > 0)
            world_event(world, later, EVENT_STORY, index, 0, 0);
    }
}

static char *tell(struct lua_host *lua, struct story *story, struct plan *plan, bool *ret_violated)
{
    static struct coverage ignored;
    struct world *world = world_create(lua, &ignored);
    char *transcript = NULL;
    size_t size = 0;

    world->plan = *plan;
    world->story = story;
    world->trace = open_memstream(&transcript, &size);
    *ret_violated = !world_run(world);
    fclose(world->trace);
    world_destroy(world);
    return transcript;
}

bool story_run(struct lua_host *lua, const char *path, enum story_aim aim)
{
    static struct plan plan;
    struct story story = {.path = path, .content = read_file(path)};
    bool violated;
    char *transcript;
    bool good;

    parse(&story, &plan);
    transcript = tell(lua, &story, &plan, &violated);
    good = aim == STORY_RECORD || (aim == STORY_EXPECT ? violated : strcmp(transcript, story.expected) == 0);
    if (aim == STORY_RECORD || (aim == STORY_EXPECT && !good))
        fputs(transcript, stdout);
    else if (!good)
        text_difference(story.expected, transcript);
    free(transcript);
    free(story.content);
    return good;
}
