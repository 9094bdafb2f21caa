#include "program.h"

#include <glob.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static char *find_in_path(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];

    while (path && *path) {
        size_t length = strcspn(path, ":");

        if (snprintf(file, sizeof(file), "%.*s/%s", (int)length, path, name) < (int)sizeof(file) &&
            access(file, X_OK) == 0)
            return strdup(file);
        path += length + (path[length] == ':');
    }
    return NULL;
}

/* Of several versions the last one, as the names are sorted. */
static char *find_in_places(const char *name, const char *places)
{
    char pattern[PATH_MAX];
    char *found = NULL;
    glob_t files;

    snprintf(pattern, sizeof(pattern), "%s/%s", places, name);
    if (glob(pattern, 0, NULL, &files) == 0) {
        found = strdup(files.gl_pathv[files.gl_pathc - 1]);
        globfree(&files);
    }
    return found;
}

char *program_find(const char *name, const char *places)
{
    char *found = strchr(name, '/') ? strdup(name) : find_in_path(name);

    if (!found && places)
        found = find_in_places(name, places);
    if (!found)
        fail("there is no program \"%s\"", name);
    return found;
}

bool program_user_find(const char *name, struct program_user *ret_user)
{
    const struct passwd *entry;

    memset(ret_user, 0, sizeof(*ret_user));
    if (!name || geteuid() != 0)
        return true;
    entry = getpwnam(name);
    if (!entry)
        return fail("there is no user \"%s\", whom the server runs as", name);
    *ret_user = (struct program_user){.other = true, .uid = entry->pw_uid, .gid = entry->pw_gid};
    return true;
}
