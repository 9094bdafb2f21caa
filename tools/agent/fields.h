/* The members of a request: each operation lists its own. */
#ifndef AGENT_FIELDS_H
#define AGENT_FIELDS_H

#include <stdbool.h>

#include <jansson.h>

/* What `at` points to. */
enum field_type {
    FIELD_TEXT,     /* const char *, borrowed from the request */
    FIELD_DURATION, /* uint32_t, in ms */
    FIELD_WAIT,     /* int64_t, in ms, or REDLOCK_FOREVER */
    FIELD_NUMBER,   /* uint64_t: a number, or its digits as a string */
    FIELD_FLAG,     /* bool */
    FIELD_ANY,      /* json_t *, borrowed */
};

struct field {
    const char *name; /* NULL behind the last one */
    enum field_type type;
    void *at;         /* stays as it is if the request has no such member */
    bool needed;
};

enum { FIELDS_WHY_SIZE = 300 };

/* False, with a sentence that names the member: it is unknown, missing, or of another type. */
bool fields_read(json_t *request, const struct field *fields, char why[FIELDS_WHY_SIZE]);

#endif
