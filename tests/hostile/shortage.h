/* Allocations, descriptors and threads that run short on demand. The linker puts these functions between the library
 * and the system: see the --wrap options in meson.build. */
#ifndef TESTS_SHORTAGE_H
#define TESTS_SHORTAGE_H

#include <stdbool.h>

struct shortage {
    bool armed;
    unsigned count; /* requests since it was armed */
    unsigned first; /* this one fails ... */
    unsigned burst; /* ... and so many in all */
};

extern struct shortage shortage;

/* libevent's allocations, too; before its first one. */
void shortage_hook_libevent(void);

#endif
