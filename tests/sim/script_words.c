#include "script_words.h"

#include <string.h>

bool script_replace_words(char text[SCRIPT_WORDS_ROOM], const char *old, const char *new)
{
    char rest[SCRIPT_WORDS_ROOM];
    char *at = strstr(text, old);
    bool found = at;

    for (; at; at = strstr(at, old)) {
        if (strlen(text) + strlen(new) >= SCRIPT_WORDS_ROOM)
            return false;
        strcpy(rest, at + strlen(old));
        at = stpcpy(at, new);
        strcpy(at, rest);
    }
    return found;
}
