/* The state of the connection to one master, as far as the engine cares. Header only. */
#ifndef RL_UTIL_LINK_H
#define RL_UTIL_LINK_H

enum rl_link {
    RL_LINK_JOINING, /* the first connection is on its way: attempts may have to wait for it, briefly */
    RL_LINK_READY,   /* may be asked */
    RL_LINK_LATE,    /* connected, but overdue with a reply: not asked for votes, not waited for */
    RL_LINK_DOWN,    /* nothing can be sent */
};

#endif
