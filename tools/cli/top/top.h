/* redlock top: what its files share. Frames are taken one after the other; the latest whole one is on the screen while
 * the next is being taken, and keys are obeyed between the steps of that. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "cli/ls/ls.h"
#include "cli/session.h"

struct top_master {
    int64_t answer_us; /* of one question; -1: there was no answer */
    int64_t commands;  /* a second, by its own count; -1: it does not tell */
    int64_t notices;   /* messages to waiters since it was started; -1: it does not tell */
    int64_t asked_us;  /* when that was so */
};

struct top_frame {
    struct ls ls;
    struct top_master masters[REDLOCK_MAX_MASTERS];
};

enum { TOP_FILTER_SIZE = 64 };

struct top {
    struct ls_request request;
    uint32_t every_ms;
    bool watch;              /* print one frame behind the other, and read no keys */
    struct session *session;
    struct redlock_client *client;
    struct event *typed, *resized; /* NULL with watch */
    struct top_frame *shown; /* NULL: none has been taken yet */
    struct top_frame *next;
    double hand_overs[REDLOCK_MAX_MASTERS]; /* messages to waiters a second, between two frames; -1: unknown */
    size_t chosen;           /* of the rows */
    size_t from;             /* the first row on the screen */
    char filter[TOP_FILTER_SIZE];
    bool typing;             /* the filter */
    char *key;               /* that is looked at in place of the list; NULL: none is */
    char *picture;           /* ... and what was seen, as text */
    bool due;                /* another frame is wanted now */
    bool ended;
};

/* --- screen.c */

void top_begin(void);
void top_end(void);
void top_draw(struct top *top);

/* A frame without a screen. */
void top_print(const struct top *top);

/* So many rows of the list have room. */
size_t top_rows(const struct top *top);

/* --- keyboard.c */

/* Obeys what has been typed. */
void top_obey(struct top *top, const char *typed, size_t size);

#endif
