#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/status.h"

/* What is different at each look although nothing has happened. */
static void drop_times(json_t *value)
{
    static const char *const times[] = {"pttl_ms", "lease_ms", "latency_us"};
    json_t *member;
    const char *name;
    size_t i;

    for (i = 0; json_is_object(value) && i < sizeof times / sizeof times[0]; i++)
        json_object_del(value, times[i]);
    json_object_foreach(value, name, member)
        drop_times(member);
    json_array_foreach(value, i, member)
        drop_times(member);
}

/* NULL: no memory. */
static char *without_times(status_write write_json, const void *picture)
{
    char *text = NULL, *rest = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_t *document;

    if (!out)
        return NULL;
    write_json(out, picture);
    fclose(out);
    document = json_loads(text, 0, NULL);
    drop_times(document);
    if (document)
        rest = json_dumps(document, JSON_COMPACT);
    json_decref(document);
    free(text);
    return rest;
}

static bool has_changed(struct status_watch *watch, status_write write_json, const void *picture)
{
    char *now = without_times(write_json, picture);
    bool changed = !now || !watch->shown || strcmp(now, watch->shown) != 0;

    free(watch->shown);
    watch->shown = now;
    return changed;
}

static void print_time(void)
{
    time_t now = time(NULL);
    struct tm local;
    char text[32];

    strftime(text, sizeof text, "%H:%M:%S", localtime_r(&now, &local));
    printf("%s\n", text);
}

void status_print(const struct status_request *request, status_write write_json, status_write write_table,
                  const void *picture)
{
    if (request->watch && !has_changed(request->watch, write_json, picture))
        return;
    if (request->watch && !request->common.json)
        print_time();
    (request->common.json ? write_json : write_table)(stdout, picture);
    if (request->watch)
        fflush(stdout);
}
