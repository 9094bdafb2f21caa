/* Every order of events for votes with modes at one master (modes.h), and planted bugs in its scripts that must be
 * found so. */
#include "modes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/script.h"
#include "script_words.h"
#include "seen.h"

#define MAX_DEPTH 64

enum setup {
    SETUP_READERS,
    SETUP_WRITERS,
    SETUP_LOWERED,
    SETUP_UPGRADE,
    SETUP_TWO_UPGRADES,
    SETUP_COPIES,
    SETUP_VANISH,
    SETUP_NUMBERS,
    SETUP_COUNT,
};

#define R RL_SHARED
#define U RL_UPGRADEABLE
#define X RL_EXCLUSIVE

static const struct modes_setup setups[SETUP_COUNT] = {
    [SETUP_READERS] = {.name = "two readers and a writer", .modes = {R, R, X}, .ttl = {2, 1, 1}, .last_tick = 2},
    [SETUP_WRITERS] = {.name = "a reader and two writers", .modes = {R, X, X}, .ttl = {1, 2, 1}, .last_tick = 2},
    [SETUP_LOWERED] = {.name = "a writer that becomes a reader", .modes = {X, R, X}, .ttl = {1, 1, 1},
                       .last_tick = 0, .lowers = true},
    [SETUP_UPGRADE] = {.name = "an upgrade beside a reader and a writer", .modes = {U, R, X}, .ttl = {1, 1, 1},
                       .last_tick = 0, .upgrades = true},
    [SETUP_TWO_UPGRADES] = {.name = "two that upgrade, and take weaker modes", .modes = {U, U, R}, .ttl = {1, 1, 0},
                            .last_tick = 0, .lowers = true, .upgrades = true, .tries = true},
    [SETUP_COPIES] = {.name = "claims that come late", .modes = {U, X, R}, .ttl = {2, 2, 0}, .last_tick = 0,
                      .lowers = true, .upgrades = true, .copies = true},
    [SETUP_VANISH] = {.name = "clients that vanish", .modes = {U, X, R}, .ttl = {1, 2, 0}, .last_tick = 2,
                      .vanish = true},
    [SETUP_NUMBERS] = {.name = "numbers for fencing tokens", .modes = {R, X, U}, .ttl = {2, 2, 2}, .last_tick = 1,
                       .fenced = true, .tries = true},
};

/* Bugs: other words in all scripts that have these. */
static const struct {
    const char *name;
    enum setup setup;
    const char *old;
    const char *new;
} bugs[] = {
    {"a writer is admitted beside readers", SETUP_READERS, "return members == ", "return true or members == "},
    {"readers pass a writer that waits", SETUP_NUMBERS, "mode == 'u' and stays.u or stays.x", "nil"},
    {"one release takes all votes", SETUP_READERS, "remove(value, ARGV[1])", "redis.call('DEL', KEYS[1])"},
    {"all votes end with the latest", SETUP_READERS, "math.max(tonumber(last[2]), least or 0)", "(least or now)"},
    {"readers get their votes one at a time", SETUP_READERS, "granted == 64", "granted == 1"},
    {"votes that have ended stay", SETUP_READERS, "if tonumber(first[2]) < now then", "if false then"},
    {"a reader whose lease has ended stays in front", SETUP_WRITERS,
     "if not ends and left_of((entry or ''):match(with_mode)) then",
     "if not ends and entry and entry:find('^%a') then"},
    {"an entry stays when its value is released", SETUP_WRITERS, "redis.pcall('HDEL', KEYS[3], ARGV[1])", "0"},
    {"waiters hear nothing of a weaker mode", SETUP_LOWERED, "if KEYS[2] then", "if false then"},
    {"an extension does not tell the weaker mode", SETUP_LOWERED, "strength[mode] >= strength[own]", "true"},
    {"an upgrade does not wait for readers", SETUP_UPGRADE, "own == 'r' and 1 or own and 2 or 0",
     "own and members or 0"},
    {"a late claim makes a vote stronger", SETUP_COPIES, "renew(own, me, ends)", "vote(mode, me, ends)"},
    {"the vote that is replaced stays beside a weaker one", SETUP_TWO_UPGRADES, "if member:find('^u ') then",
     "if false then"},
    {"readers count", SETUP_NUMBERS, "mode == 'x' and count_up(proposal, idle) or read_counter(proposal, idle)",
     "read_counter(proposal, idle)"},
};

struct frame {
    struct modes state;
    struct modes_view view;
    struct modes_action actions[MODES_MAX_ACTIONS];
    size_t n_actions;
    size_t next;
};

struct search {
    const struct modes_setup *setup;
    struct lua_host *lua;
    struct frame *frames;
    size_t depth;
    struct seen seen;
    const char *wrong;
};

/* Of the keys only what is there. */
static void copy(struct modes *to, const struct modes *from)
{
    memcpy(to, from, offsetof(struct modes, keys));
    keyspace_copy(&to->keys, &from->keys);
}

static void enter(struct search *search, const struct modes *world, const struct modes_view *view)
{
    struct frame *frame = &search->frames[search->depth++];

    if (search->depth == MAX_DEPTH) {
        fputs("explore-modes: too deep\n", stderr);
        exit(2);
    }
    copy(&frame->state, world);
    frame->view = *view;
    frame->n_actions = modes_actions(world, search->setup, frame->actions);
    frame->next = 0;
}

static void print_path(const struct search *search)
{
    char text[120];

    for (size_t i = 0; i < search->depth; i++) {
        const struct frame *frame = &search->frames[i];

        modes_describe(frame->actions[frame->next - 1], text, sizeof text);
        printf("    %3zu  tick %u  %s\n", i + 1, frame->state.now, text);
    }
}

/* Depth first; until something is wrong, with the path to it on the stack. */
static void search_all(struct search *search)
{
    static struct modes world;
    struct modes_view view;

    modes_init(&world, search->setup);
    modes_view(&world, &view);
    seen_add(&search->seen, modes_hash(&world));
    enter(search, &world, &view);
    while (search->depth && !search->wrong) {
        struct frame *frame = &search->frames[search->depth - 1];

        if (frame->next == frame->n_actions) {
            search->depth--;
            continue;
        }
        copy(&world, &frame->state);
        modes_perform(&world, search->setup, search->lua, frame->actions[frame->next++]);
        modes_view(&world, &view);
        modes_check(&world, &frame->view, &view, frame->actions[frame->next - 1]);
        search->wrong = world.wrong;
        if (!search->wrong && seen_add(&search->seen, modes_hash(&world)))
            enter(search, &world, &view);
    }
}

static bool explore(struct lua_host *lua, const struct modes_setup *setup, const char *bug)
{
    struct search search = {.setup = setup, .lua = lua, .frames = seen_take(MAX_DEPTH, sizeof(struct frame))};
    bool good;

    search_all(&search);
    good = (search.wrong != NULL) == (bug != NULL);
    printf("%-50s %9" PRIu64 " states  %s\n", bug ? bug : setup->name, search.seen.count,
           search.wrong ? search.wrong : "nothing wrong");
    if (!good && !bug)
        print_path(&search);
    fflush(stdout);
    seen_fini(&search.seen);
    free(search.frames);
    return good;
}

/* Puts the bug into all scripts that have its words; at least one must. */
static void plant(struct lua_host *lua, const char *old, const char *new)
{
    static char text[SCRIPT_WORDS_ROOM];
    bool planted = false;

    for (int script = RL_SCRIPT_NONE + 1; script < RL_SCRIPT_COUNT; script++) {
        snprintf(text, sizeof text, "%s", rl_script_text((enum rl_script)script)->text);
        if (old && script_replace_words(text, old, new)) {
            lua_host_replace(lua, (enum rl_script)script, text);
            planted = true;
        } else {
            lua_host_replace(lua, (enum rl_script)script, NULL);
        }
    }
    if (old && !planted) {
        fprintf(stderr, "explore-modes: no script has \"%s\"\n", old);
        exit(2);
    }
}

/* explore-modes [--all | PART-OF-A-NAME]: with --all each setup lasts a tick longer, which takes minutes. */
int main(int argc, char **argv)
{
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    const char *wanted = argc > 1 && !all ? argv[1] : "";
    struct lua_host *lua = lua_host_create();
    bool good = true;

    for (size_t i = 0; i < SETUP_COUNT; i++) {
        struct modes_setup setup = setups[i];

        setup.last_tick += all;
        if (strstr(setup.name, wanted))
            good &= explore(lua, &setup, NULL);
    }
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        if (!strstr(bugs[i].name, wanted))
            continue;
        plant(lua, bugs[i].old, bugs[i].new);
        good &= explore(lua, &setups[bugs[i].setup], bugs[i].name);
    }
    lua_host_destroy(lua);
    return good ? 0 : 1;
}
