/* Other words in the place of some in a script's text, for planted bugs. */
#ifndef SIM_SCRIPT_WORDS_H
#define SIM_SCRIPT_WORDS_H

#include <stdbool.h>

#define SCRIPT_WORDS_ROOM 32768

/* In every place. false: the text has no such words, or no room for the new ones. */
bool script_replace_words(char text[SCRIPT_WORDS_ROOM], const char *old, const char *new);

#endif
