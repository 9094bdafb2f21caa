/* What the system says of the threads of this process. */
#ifndef TESTS_THREAD_H
#define TESTS_THREAD_H

/* The calling one, as /proc names it. */
long thread_self(void);

/* How often it has left the processor; of its own accord. */
struct thread_switches {
    unsigned long all;
    unsigned long own;
};
struct thread_switches thread_switches(long thread);

/* Until it sleeps: how often it has done so, this time included. */
unsigned long thread_await_sleep(long thread);

#endif
