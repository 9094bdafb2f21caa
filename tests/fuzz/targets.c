#include <string.h>

#include "fuzz.h"

fuzz_target fuzz_find(const char *name)
{
    static const struct {
        const char *name;
        fuzz_target run;
    } targets[] = {
        {"reply", fuzz_reply},
        {"url", fuzz_url},
        {"command", fuzz_command},
        {"driver", fuzz_driver},
        {"listen", fuzz_listen},
        {"notification", fuzz_notification},
    };

    for (size_t i = 0; name && i < sizeof targets / sizeof targets[0]; i++) {
        if (strcmp(targets[i].name, name) == 0)
            return targets[i].run;
    }
    return NULL;
}
