/* The deployment id stands for all that the clients of a deployment must agree on. The names of the masters are part of
 * it, so all clients must write them alike; the order of the masters does not matter. */
#include "api/deployment_id.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

#include <redlock/options.h>

#include "codec/text.h"

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* No name has a line feed, and the prefix is last, so no two deployments have the same text. */
static int describe(const char *prefix, unsigned quorum, const char *const *names, size_t n, char *text, size_t size)
{
    int length = snprintf(text, size, "%zu\n%u\n", n, quorum);

    for (size_t i = 0; i < n; i++)
        length += snprintf(text + length, size - (size_t)length, "%s\n", names[i]);
    length += snprintf(text + length, size - (size_t)length, "%s", prefix);
    assert((size_t)length < size);
    return length;
}

static void make_uuid(const void *name, size_t size, char ret_text[RL_ID_SIZE])
{
    /* A name space of our own, drawn once. */
    static const uuid_t name_space = {0xc6, 0xfb, 0x83, 0xfe, 0xb7, 0x46, 0x41, 0x5a,
                                      0xa6, 0xd2, 0x66, 0xb5, 0xee, 0xe8, 0x68, 0x32};
    uuid_t uuid;

    uuid_generate_sha1(uuid, name_space, name, size);
    uuid_unparse_lower(uuid, ret_text);
}

void rl_deployment_name_list(const char *prefix, struct rl_member_list *list)
{
    char text[RL_MAX_NODES * (RL_NAME_MAX + 1) + REDLOCK_MAX_PREFIX_BYTES + 64];
    const char *names[RL_MAX_NODES];

    for (size_t i = 0; i < list->n; i++)
        names[i] = list->members[i].name;
    qsort(names, list->n, sizeof names[0], compare_names);
    make_uuid(text, (size_t)describe(prefix, list->quorum, names, list->n, text, sizeof text), list->id);
}

/* The name includes the database, since each database of a server has its own marker, and SWAPDB exchanges them. Letter
 * case means nothing in host names. */
void rl_deployment_add_member(struct rl_member_list *list, const struct rl_master *master)
{
    struct rl_member *member = &list->members[list->n++];
    int size = snprintf(member->name, sizeof member->name, "%s/%u", master->name, (unsigned)master->db);

    assert(size > 0 && (size_t)size < sizeof member->name);
    for (char *at = member->name; !master->path && *at; at++)
        *at = rl_text_lower(*at);
    make_uuid(member->name, (size_t)size, member->node_id);
}

char *rl_deployment_url(const char *member_name)
{
    const char *db = strrchr(member_name, '/');
    char *url = NULL;

    if (member_name[0] != '/')
        return strdup(member_name);
    return asprintf(&url, "%.*s?db=%s", (int)(db - member_name), member_name, db + 1) < 0 ? NULL : url;
}
