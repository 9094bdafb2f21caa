#include "find.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Calls visit() with each folder until it returns true. */
typedef bool (*visit_fn)(const char *folder, void *user_data);

static bool each_of(const char *list, visit_fn visit, void *user_data)
{
    char *copy = list ? strdup(list) : NULL;
    char *rest = NULL;
    bool found = false;

    for (char *folder = copy ? strtok_r(copy, ":", &rest) : NULL; folder && !found;
         folder = strtok_r(NULL, ":", &rest))
        found = visit(folder, user_data);
    free(copy);
    return found;
}

/* Folders are named from the one of this program: beside it, where it is installed, where it is built. */
static bool each_own(visit_fn visit, void *user_data)
{
    static const char *const places[] = {"", "/../libexec/redlock", "/lab/engines"};
    char self[400], folder[440];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (length <= 0)
        return false;
    self[length] = '\0';
    slash = strrchr(self, '/');
    if (!slash)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(folder, sizeof folder, "%s%s", self, places[i]);
        if (visit(folder, user_data))
            return true;
    }
    return false;
}

/* "node-redlock" of "/x/redlock-engine-node-redlock.sh" */
static void name_of(const char *path, char ret_name[ENGINE_NAME_SIZE])
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;

    if (strncmp(base, ENGINE_PREFIX, strlen(ENGINE_PREFIX)) == 0)
        base += strlen(ENGINE_PREFIX);
    snprintf(ret_name, ENGINE_NAME_SIZE, "%.*s", (int)strcspn(base, "."), base);
}

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

static bool look_in(const char *folder, void *user_data)
{
    struct engine_place *place = user_data;
    int length =
        snprintf(place->path, sizeof place->path, "%s/" ENGINE_PREFIX "%s", folder, place->name);

    return length > 0 && (size_t)length < sizeof place->path && is_program(place->path);
}

bool engine_find(const char *word, struct engine_place *ret_place)
{
    *ret_place = (struct engine_place){0};
    if (strchr(word, '/')) {
        if (strlen(word) >= sizeof ret_place->path)
            return false;
        name_of(word, ret_place->name);
        strcpy(ret_place->path, word);
        return is_program(word);
    }
    if (!*word || strlen(word) >= sizeof ret_place->name)
        return false;
    snprintf(ret_place->name, sizeof ret_place->name, "%s", word);
    return each_of(getenv("REDLOCK_ENGINES"), look_in, ret_place) || each_own(look_in, ret_place) ||
           each_of(getenv("PATH"), look_in, ret_place);
}

struct listing {
    struct engine_place *places;
    size_t n;
};

static bool is_known(const struct listing *listing, const char *name)
{
    for (size_t i = 0; i < listing->n; i++)
        if (strcmp(listing->places[i].name, name) == 0)
            return true;
    return false;
}

static void add(struct listing *listing, const char *folder, const char *file)
{
    struct engine_place *place = &listing->places[listing->n];
    int length;

    if (strncmp(file, ENGINE_PREFIX, strlen(ENGINE_PREFIX)) != 0 || strchr(file, '.'))
        return;
    length = snprintf(place->path, sizeof place->path, "%s/%s", folder, file);
    if (length < 0 || (size_t)length >= sizeof place->path || !is_program(place->path))
        return;
    name_of(file, place->name);
    if (!is_known(listing, place->name))
        listing->n++;
}

static bool add_all(const char *folder, void *user_data)
{
    struct listing *listing = user_data;
    DIR *dir = opendir(folder);

    for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry && listing->n < ENGINES_MAX;
         entry = readdir(dir))
        add(listing, folder, entry->d_name);
    if (dir)
        closedir(dir);
    return false;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct engine_place *)left)->name, ((const struct engine_place *)right)->name);
}

size_t engine_list(struct engine_place ret_places[ENGINES_MAX])
{
    struct listing listing = {.places = ret_places};

    each_of(getenv("REDLOCK_ENGINES"), add_all, &listing);
    each_own(add_all, &listing);
    qsort(ret_places, listing.n, sizeof *ret_places, by_name);
    return listing.n;
}
