#include "sessions.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *idle;

const char *session_host_and_port(const struct engine_settings *settings, char *ret_host, size_t size)
{
    char *colon;

    engine_address(settings->nodes[0], ret_host, size);
    colon = strrchr(ret_host, ':');
    if (!colon)
        return NULL;
    *colon = '\0';
    return colon + 1;
}

struct session *session_take_idle(void)
{
    struct session *session;

    pthread_mutex_lock(&lock);
    session = idle;
    if (session)
        idle = session->next;
    pthread_mutex_unlock(&lock);
    return session;
}

void session_give_back(struct session *session)
{
    pthread_mutex_lock(&lock);
    session->next = idle;
    idle = session;
    pthread_mutex_unlock(&lock);
}

void session_check(struct engine_hold *hold, bool (*has_ended)(struct session *session))
{
    struct session *session = hold->state;

    if (session && !session->ended && has_ended(session)) {
        session->ended = true;
        engine_hold_lost(hold);
    }
}

static int64_t remaining_ms(struct engine_hold *hold)
{
    const struct session *session = hold->state;

    return session->ended ? 0 : ENGINE_NO_END;
}

int session_engine_main(struct engine engine)
{
    engine.systems = engine.name;
    engine.remaining_ms = remaining_ms;
    return engine_main(&engine);
}
