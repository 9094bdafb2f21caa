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

SUITE("script")
