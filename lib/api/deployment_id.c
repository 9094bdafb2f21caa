/* The deployment id stands for all that the clients of a deployment must agree on. The names of the masters are part of
 * it, so all clients must write them alike; the order of the masters does not matter. */
#include "api/deployment_id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

#include "codec/text.h"
#include "util/slice.h"

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool append_line(struct rl_bytes *text, const char *line)
{
    return rl_bytes_append(text, line, strlen(line)) && rl_bytes_append(text, "\n", 1);
}

static bool append_number(struct rl_bytes *text, uint64_t number)
{
    char digits[RL_DECIMAL_MAX + 1];

    digits[rl_decimal(number, digits)] = '\0';
    return append_line(text, digits);
}

/* No name has a line feed, and the prefix is last, so no two deployments have the same text. */
static bool describe_deployment(const struct redlock_options *options, char *const *names, size_t n,
                                struct rl_bytes *text)
{
    bool done = append_number(text, n) && append_number(text, options->quorum);

    for (size_t i = 0; i < n; i++)
        done = done && append_line(text, names[i]);
    return done && rl_bytes_append(text, options->key_prefix, strlen(options->key_prefix));
}

/* The name includes the database, since each database of a server has its own marker, and SWAPDB exchanges them. Letter
 * case means nothing in host names. */
static char *name_of(const struct rl_master *master)
{
    char *name = NULL;

    if (asprintf(&name, "%s/%u", master->name, (unsigned)master->db) < 0)
        return NULL;
    for (char *at = name; !master->path && *at; at++)
        *at = rl_text_lower(*at);
    return name;
}

static void make_uuid(const void *name, size_t size, char ret_text[RL_UUID_SIZE])
{
    /* A name space of our own, drawn once. */
    static const uuid_t name_space = {0xc6, 0xfb, 0x83, 0xfe, 0xb7, 0x46, 0x41, 0x5a,
                                      0xa6, 0xd2, 0x66, 0xb5, 0xee, 0xe8, 0x68, 0x32};
    uuid_t uuid;

    uuid_generate_sha1(uuid, name_space, name, size);
    uuid_unparse_lower(uuid, ret_text);
}

bool rl_deployment_names_make(const struct redlock_options *options, const struct rl_master *masters, size_t n,
                              struct rl_deployment_names *ret_names)
{
    char *names[REDLOCK_MAX_MASTERS];
    struct rl_bytes text = {0};
    bool done = true;

    for (size_t i = 0; i < n; i++) {
        names[i] = name_of(&masters[i]);
        done = done && names[i];
        if (names[i])
            make_uuid(names[i], strlen(names[i]), ret_names->node_ids[i]);
    }
    if (done)
        qsort(names, n, sizeof names[0], compare_names);
    done = done && describe_deployment(options, names, n, &text);
    if (done)
        make_uuid(rl_bytes_front(&text), rl_bytes_length(&text), ret_names->deployment_id);
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    rl_bytes_fini(&text);
    return done;
}
