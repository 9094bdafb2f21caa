#include "codec/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

/* The file that Meson has made of the sources, and hashed. */
static size_t read_source(const char *name, char *buffer, size_t size)
{
    const char *dir = getenv("REDLOCK_SCRIPTS_DIR");
    char path[4096];
    FILE *file;
    size_t n;

    ck_assert_ptr_nonnull(dir);
    snprintf(path, sizeof path, "%s/%s.lua", dir, name);
    file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    n = fread(buffer, 1, size, file);
    fclose(file);
    return n;
}

GROUP(tc, "embedded", NULL, NULL)

TEST(tc, the_embedded_text_is_the_file_byte_for_byte)
{
    for (int i = RL_SCRIPT_NONE + 1; i < RL_SCRIPT_COUNT; i++) {
        const struct rl_script_text *script = rl_script_text((enum rl_script)i);
        char source[65536];
        size_t size = read_source(script->name, source, sizeof source);

        ck_assert_uint_eq(script->size, size);
        ck_assert_mem_eq(script->text, source, size);
        ck_assert_uint_eq(script->size, strlen(script->text));
    }
}

/* Whether it is the right digest is for the tests with a server: there it is compared with SCRIPT LOAD's answer. */
TEST(tc, digests_are_40_lower_case_hexadecimal_digits)
{
    for (int i = RL_SCRIPT_NONE + 1; i < RL_SCRIPT_COUNT; i++) {
        const char *sha1 = rl_script_text((enum rl_script)i)->sha1;

        ck_assert_uint_eq(strlen(sha1), 40);
        ck_assert_uint_eq(strspn(sha1, "0123456789abcdef"), 40);
    }
}

/* An EVAL shows up in SLOWLOG and MONITOR: whoever reads it there must learn what it is. */
TEST(tc, every_script_begins_by_saying_what_it_is)
{
    for (int i = RL_SCRIPT_NONE + 1; i < RL_SCRIPT_COUNT; i++)
        ck_assert_mem_eq(rl_script_text((enum rl_script)i)->text, "-- ", 3);
}

static bool is_sent_with_its_text(enum rl_script script)
{
    return script == RL_SCRIPT_LOOK || script == RL_SCRIPT_LATCH || script == RL_SCRIPT_JOIN ||
           script == RL_SCRIPT_ENQUEUE_PERMIT;
}

/* A script that is missing costs an EVAL with its text on every new connection, and nobody would notice. */
TEST(tc, every_other_script_is_loaded_once)
{
    unsigned loaded[RL_SCRIPT_COUNT] = {0};
    const struct rl_script_text *script;

    for (size_t i = 0; (script = rl_script_to_load(i)); i++) {
        for (int j = RL_SCRIPT_NONE + 1; j < RL_SCRIPT_COUNT; j++)
            loaded[j] += rl_script_text((enum rl_script)j) == script;
    }
    for (int j = RL_SCRIPT_NONE + 1; j < RL_SCRIPT_COUNT; j++)
        ck_assert_uint_eq(loaded[j], is_sent_with_its_text((enum rl_script)j) ? 0 : 1);
}

/* What Redis takes from a connection before it has given its password: it ends one that sends longer words. */
TEST(tc, what_is_loaded_may_be_sent_without_a_password)
{
    const struct rl_script_text *script;

    for (size_t i = 0; (script = rl_script_to_load(i)); i++)
        ck_assert_msg(script->size <= 16384, "%s", script->name);
}

SUITE("script")
