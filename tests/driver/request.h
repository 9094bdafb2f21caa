/* What a client says: one command, for the scripted server. */
#ifndef TESTS_REQUEST_H
#define TESTS_REQUEST_H

#include <stddef.h>

#define REQUEST_WORDS_MAX 16
#define REQUEST_WORD_MAX 256

struct request {
    size_t n_words;
    char words[REQUEST_WORDS_MAX][REQUEST_WORD_MAX]; /* cut to that length */
};

/* The size of the complete request at the start of the bytes, 0 if there is none. */
size_t request_parse(const char *bytes, size_t size, struct request *request);

#endif
