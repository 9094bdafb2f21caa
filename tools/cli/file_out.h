/* A file that the user has named, and that a command writes: once, or anew from time to time.
 *
 * A regular file is replaced as a whole, by rename(2), so that a reader sees the old one or the new one. A symbolic
 * link stays, and what it leads to is replaced. A device, a pipe, a socket or a descriptor is written into, and stays
 * what it is. A directory is refused, and so is a pipe that nobody reads. Nothing waits for a reader longer than
 * asked. */
#ifndef CLI_FILE_OUT_H
#define CLI_FILE_OUT_H

#include <stdio.h>

#include "cli/target.h"

enum file_rights {
    FILE_PUBLIC,  /* readable as the umask says; the rights and the owner of an older file are kept */
    FILE_SECRET,  /* for its owner alone, whatever was there */
    FILE_RENEWED, /* as FILE_SECRET, but the rights and the owner of an older file are kept */
};

struct file_out {
    const char *command; /* for messages */
    const char *path;    /* as given; borrowed. NULL: not opened */
    enum file_rights rights;
    struct file_target target;
    int fd;              /* to write into; -1: a file is replaced */
    FILE *text;          /* between begin and end */
    char *buffer;
    size_t size;
    bool made;           /* by us, and then it is this file: */
    struct stat written;
};

/* To be called before anything is done whose result the file is for. False after a message: it cannot be written.
 * file_out_close() is due in either case, and does nothing to an object that is all zero. */
bool file_out_open(struct file_out *file, const char *command, const char *path, enum file_rights rights);
void file_out_close(struct file_out *file);

/* Writes a text that is complete: 0 or errno, for file_out_reason(). It waits for a reader that is slow as long as
 * `patience_ms`, and for a disk as long as that takes. One thread at a time; no message. */
int file_out_put(struct file_out *file, const char *text, size_t size, int patience_ms);
const char *file_out_reason(int error);

/* A stream to write to between the two calls, NULL without memory. The second is file_out_put() of what was
 * written, and false after a message. */
FILE *file_out_begin(struct file_out *file);
bool file_out_end(struct file_out *file, int patience_ms);

/* Removes the file if it is still the one that was written. */
void file_out_remove(struct file_out *file);

/* A name for it that other processes understand; NULL: there is none, since it is no regular file. */
const char *file_out_name(const struct file_out *file);

#endif
