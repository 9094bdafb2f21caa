/* What is behind every opaque handle of a client: locks, sets, elections, latches; and looks, which have none.
 *
 * The client knows its objects by this alone: it tells them that it is shut down or destroyed, runs the callbacks that
 * are due, and gives memory back. An object that a callback destroys is freed when the outermost callback has returned.
 * An object that belongs to another one (a lock of a set) is ended by that one. */
#ifndef RL_API_OBJECT_H
#define RL_API_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

struct redlock_client;
struct rl_object;

enum rl_object_kind {
    RL_OBJECT_LOCK,
    RL_OBJECT_SET,
    RL_OBJECT_ELECTION,
    RL_OBJECT_LATCH,
    RL_OBJECT_LOOK,
    RL_OBJECT_CHANGE,
    RL_OBJECT_KINDS,
};

struct rl_object_type {
    enum rl_object_kind kind;

    /* The object is being destroyed: it leaves the host, and the callbacks of its calls run at once, with CANCELED. In
     * a forked child nothing is sent and no callback runs. */
    void (*destroy)(struct rl_object *object);

    /* The client is shut down: what the object holds is released, what it waits for is canceled. true: something can
     * only be ended when a callback has run, and another call must follow. NULL: there is nothing to end. */
    bool (*end)(struct rl_object *object);

    /* Must a shutdown wait for a callback of this object? NULL: never. */
    bool (*is_busy)(const struct rl_object *object);

    /* Runs the callbacks that are due. They may destroy the object, whose memory is kept meanwhile. NULL: others do. */
    void (*deliver)(struct rl_object *object);

    /* Gives the memory back. */
    void (*free)(struct rl_object *object);
};

struct rl_object {
    struct rl_list link; /* in the client's list of objects, and later in that of what is to be freed; or in none */
    struct rl_object *next_listed; /* in the client's list of those whose callbacks were due in this turn */
    struct redlock_client *client;
    const struct rl_object_type *type;
    uint16_t depth;      /* callbacks on the stack, and calls under way, that need the memory; and that list does */
    bool listed;
    bool due;            /* callbacks are */
    bool destroyed;
    uint8_t alarms;      /* of a lock: those that are due, a set of enum redlock_alarm_kind */
    uint8_t key_class;   /* of a lock: its key's (api/usage.h) */
};

/* The object is the client's from now on. */
void rl_object_init(struct rl_object *object, struct redlock_client *client, const struct rl_object_type *type);

/* The object belongs to another one, which destroys and ends it. */
void rl_object_give_away(struct rl_object *object);

/* What each call on an object checks first. 0, REDLOCK_E_ARGUMENT (NULL), REDLOCK_E_FORKED or REDLOCK_E_CLOSING (it is
 * destroyed). */
int rl_object_check(const struct rl_object *object);

/* The same for a call that a client which is closing does not begin any more. */
int rl_object_check_new(const struct rl_object *object);

/* The memory is kept between these two: for what comes later, ... */
void rl_object_keep(struct rl_object *object);
void rl_object_drop(struct rl_object *object);

/* ... and while callbacks run, which the client's memory outlives, too. */
void rl_object_enter(struct rl_object *object);
void rl_object_leave(struct rl_object *object);

/* A callback is due: it runs at the end of this turn of the loop. Or none is any more. */
void rl_object_due(struct rl_object *object);
void rl_object_not_due(struct rl_object *object);

/* NULL, and an object that is destroyed, are fine. */
void rl_object_destroy(struct rl_object *object);

/* For the client. Callbacks may destroy it. */
void rl_objects_init(struct redlock_client *client);
void rl_objects_deliver(struct redlock_client *client);
bool rl_objects_end(struct redlock_client *client); /* true: to be called again, when callbacks have run */
bool rl_objects_are_busy(const struct redlock_client *client);
void rl_objects_destroy(struct redlock_client *client);

/* Frees what has been destroyed, and the client if it has been; not while a callback is running. */
void rl_objects_free(struct redlock_client *client);

#endif
