/* Reads orders, runs them in threads, answers. What it knows of locks is a list of holds, each of which has one thread
 * at work at most, besides its renewal. */
#include "engine.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "line.h"
#include "pool.h"

#define ID_MAX 64
#define TICK_MS 10

enum state {
    ACQUIRING,
    HELD,
    RELEASING,
    ENDED,
};

struct hold {
    struct engine_hold shown;
    struct hold *next;
    char id[ID_MAX + 1];
    char *key;
    enum state state;
    unsigned users; /* threads that are at work on it, and the list */
    bool is_lost;
    bool renewing;
    int64_t deadline_ns; /* 0: not known */
    int64_t renew_ns;    /* the interval; 0: none */
    int64_t renew_at_ns;
};

static const struct engine *engine;
static struct engine_settings settings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all holds */
static struct hold *holds;

static _Thread_local char reason[512];

int64_t engine_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void engine_say(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    reason[strcspn(reason, "\n")] = '\0';
}

void engine_address(const char *node, char *ret_address, size_t size)
{
    const char *place = strstr(node, "://");
    const char *at;
    size_t length;

    place = place ? place + strlen("://") : node;
    length = strcspn(place, "/?");
    at = memchr(place, '@', length);
    if (at) {
        length -= (size_t)(at + 1 - place);
        place = at + 1;
    }
    snprintf(ret_address, size, "%.*s", (int)length, place);
}

static struct hold *hold_of(struct engine_hold *shown)
{
    return (struct hold *)((char *)shown - offsetof(struct hold, shown));
}

void engine_hold_until(struct engine_hold *shown, int64_t deadline_ns)
{
    pthread_mutex_lock(&lock);
    hold_of(shown)->deadline_ns = deadline_ns;
    if (hold_of(shown)->state == HELD && !hold_of(shown)->is_lost)
        line_print("renewed %s %lld until=%lld", hold_of(shown)->id, (long long)engine_now_ns(),
                   (long long)deadline_ns);
    pthread_mutex_unlock(&lock);
}

void engine_renew_every(struct engine_hold *shown, int64_t interval_ms)
{
    struct hold *hold = hold_of(shown);

    pthread_mutex_lock(&lock);
    hold->renew_ns = interval_ms * 1000000;
    hold->renew_at_ns = engine_now_ns() + hold->renew_ns;
    pthread_mutex_unlock(&lock);
}

static void lose(struct hold *hold)
{
    if (hold->state == HELD && !hold->is_lost)
        line_print("lost %s %lld", hold->id, (long long)engine_now_ns());
    hold->is_lost = true;
}

void engine_hold_lost(struct engine_hold *shown)
{
    pthread_mutex_lock(&lock);
    lose(hold_of(shown));
    pthread_mutex_unlock(&lock);
}

/* --- The list. */

static struct hold *find(const char *id)
{
    struct hold *hold = holds;

    while (hold && strcmp(hold->id, id) != 0)
        hold = hold->next;
    return hold;
}

static struct hold *add(const char *id, const char *key, int64_t ttl_ms, int64_t timeout_ms)
{
    struct hold *hold = calloc(1, sizeof *hold);

    if (!hold || asprintf(&hold->key, "%s%s", settings.prefix, key) < 0) {
        free(hold);
        return NULL;
    }
    hold->shown.key = hold->key;
    hold->shown.ttl_ms = ttl_ms;
    hold->shown.timeout_ms = timeout_ms;
    snprintf(hold->id, sizeof hold->id, "%s", id);
    hold->users = 1;
    hold->next = holds;
    holds = hold;
    return hold;
}

/* The last one to leave frees it. */
static void leave(struct hold *hold)
{
    if (--hold->users > 0)
        return;
    if (engine->forget)
        engine->forget(&hold->shown);
    free(hold->key);
    free(hold);
}

/* By a job, which is a user of the hold still. */
static void take_out(struct hold *hold)
{
    struct hold **place = &holds;

    while (*place != hold)
        place = &(*place)->next;
    *place = hold->next;
    hold->state = ENDED;
    hold->users--;
}

/* Its renewal must be over before the engine's state goes. */
static void quiesce(struct hold *hold)
{
    hold->renew_ns = 0;
    while (hold->renewing) {
        pthread_mutex_unlock(&lock);
        usleep(1000);
        pthread_mutex_lock(&lock);
    }
}

/* --- Jobs: each in a thread, as a user of the hold. */

static void answer_refused(const struct hold *hold, int64_t since_ns, enum engine_verdict verdict)
{
    static const char *const words[] = {
        [ENGINE_HELD] = "held",
        [ENGINE_DEADLINE] = "deadline",
        [ENGINE_UNREACHABLE] = "unreachable",
        [ENGINE_ERROR] = "error",
    };
    char text[1024];

    line_encode(reason, text, sizeof text);
    line_print("refused %s %lld %lld %s %s", hold->id, (long long)since_ns, (long long)engine_now_ns(), words[verdict],
               text);
}

static void answer_acquired(const struct hold *hold, int64_t since_ns)
{
    char fence[32] = "", until[32] = "";

    if (hold->shown.has_fence)
        snprintf(fence, sizeof fence, " fence=%llu", (unsigned long long)hold->shown.fence);
    if (hold->deadline_ns)
        snprintf(until, sizeof until, " until=%lld", (long long)hold->deadline_ns);
    line_print("acquired %s %lld %lld%s%s", hold->id, (long long)since_ns, (long long)engine_now_ns(), until, fence);
}

static void acquire_job(void *user_data)
{
    struct hold *hold = user_data;
    int64_t since_ns = engine_now_ns();
    enum engine_verdict verdict;

    reason[0] = '\0';
    verdict = engine->acquire(&hold->shown);
    pthread_mutex_lock(&lock);
    if (verdict == ENGINE_ACQUIRED) {
        hold->state = HELD;
        answer_acquired(hold, since_ns);
        if (hold->is_lost) {
            hold->is_lost = false;
            lose(hold);
        }
    } else {
        quiesce(hold);
        answer_refused(hold, since_ns, verdict);
        take_out(hold);
    }
    leave(hold);
    pthread_mutex_unlock(&lock);
}

static void valid_job(void *user_data)
{
    struct hold *hold = user_data;
    int64_t since_ns = engine_now_ns();
    int64_t remaining_ms = engine->remaining_ms ? engine->remaining_ms(&hold->shown) : 0;
    char text[24] = "-";

    pthread_mutex_lock(&lock);
    if (!engine->remaining_ms && hold->deadline_ns > since_ns)
        remaining_ms = (hold->deadline_ns - since_ns) / 1000000;
    if (hold->is_lost)
        remaining_ms = 0;
    if (remaining_ms != ENGINE_NO_END)
        snprintf(text, sizeof text, "%lld", (long long)remaining_ms);
    line_print("valid %s %lld %lld %s", hold->id, (long long)since_ns, (long long)engine_now_ns(), text);
    leave(hold);
    pthread_mutex_unlock(&lock);
}

static void release_job(void *user_data)
{
    static const char *const words[] = {
        [ENGINE_RELEASED] = "ok",
        [ENGINE_LOST] = "lost",
        [ENGINE_UNCONFIRMED] = "unconfirmed",
        [ENGINE_FAILED] = "error",
    };
    struct hold *hold = user_data;
    int64_t since_ns = engine_now_ns();
    enum engine_release outcome;

    pthread_mutex_lock(&lock);
    quiesce(hold);
    pthread_mutex_unlock(&lock);
    outcome = engine->release(&hold->shown);
    pthread_mutex_lock(&lock);
    line_print("released %s %lld %lld %s", hold->id, (long long)since_ns, (long long)engine_now_ns(), words[outcome]);
    take_out(hold);
    leave(hold);
    pthread_mutex_unlock(&lock);
}

static void renew_job(void *user_data)
{
    struct hold *hold = user_data;

    engine->renew(&hold->shown);
    pthread_mutex_lock(&lock);
    hold->renewing = false;
    leave(hold);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static bool start(struct hold *hold, void (*job)(void *user_data))
{
    hold->users++;
    if (pool_run(job, hold))
        return true;
    hold->users--;
    return false;
}

/* --- Time: renewals that are due, holds whose deadline has passed. */

static void look_after(struct hold *hold, int64_t now_ns)
{
    if (hold->deadline_ns && now_ns >= hold->deadline_ns)
        lose(hold);
    if (!hold->renew_ns || hold->renewing || now_ns < hold->renew_at_ns)
        return;
    hold->renewing = true;
    hold->renew_at_ns = now_ns + hold->renew_ns;
    if (!start(hold, renew_job))
        hold->renewing = false;
}

static void *keep_time(void *user_data)
{
    for (;;) {
        usleep(TICK_MS * 1000);
        pthread_mutex_lock(&lock);
        for (struct hold *hold = holds; hold; hold = hold->next)
            look_after(hold, engine_now_ns());
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* --- Orders. False: the line makes no sense, and the reason says so. */

static bool set_nodes(char *list)
{
    settings.n_nodes = 0;
    for (char *rest = NULL, *node = strtok_r(list, ",", &rest); node; node = strtok_r(NULL, ",", &rest)) {
        if (settings.n_nodes == ENGINE_NODES_MAX)
            return false;
        settings.nodes[settings.n_nodes++] = strdup(node);
    }
    return settings.n_nodes > 0;
}

/* Settings that this engine does not know are meant for others. */
static bool set(char *word)
{
    char *value = strchr(word, '=');

    if (!value)
        return false;
    *value++ = '\0';
    if (!line_decode(value))
        return false;
    if (strcmp(word, "nodes") == 0)
        return set_nodes(value);
    if (strcmp(word, "ttl_ms") == 0)
        return line_number(value, &settings.ttl_ms);
    if (strcmp(word, "prefix") == 0)
        settings.prefix = strdup(value);
    if (strcmp(word, "system") == 0)
        settings.system = strdup(value);
    if (strcmp(word, "master") == 0)
        settings.master = strdup(value);
    return true;
}

static bool open_system(char **words, size_t n)
{
    pthread_t thread;
    char text[1024];

    for (size_t i = 1; i < n; i++)
        if (!set(words[i])) {
            engine_say("what is the setting %s?", words[i]);
            return false;
        }
    if (settings.n_nodes == 0) {
        engine_say("open without nodes");
        return false;
    }
    if (!engine->open(&settings) || pthread_create(&thread, NULL, keep_time, NULL) != 0) {
        line_encode(reason, text, sizeof text);
        line_print("failed %s", text);
    } else {
        line_print("opened");
    }
    return true;
}

static bool acquire(char **words)
{
    int64_t ttl_ms, timeout_ms;
    struct hold *hold;

    if (strlen(words[1]) > ID_MAX || find(words[1])) {
        engine_say("the id %.80s is too long, or in use", words[1]);
        return false;
    }
    if (!line_decode(words[2]) || !line_number(words[3], &ttl_ms) || !line_number(words[4], &timeout_ms)) {
        engine_say("acquire ID KEY TTL_MS TIMEOUT_MS");
        return false;
    }
    hold = add(words[1], words[2], ttl_ms, timeout_ms);
    engine_say("too many operations");
    return hold && start(hold, acquire_job);
}

static bool act_on(const char *id, void (*job)(void *user_data))
{
    struct hold *hold = find(id);

    if (!hold || hold->state != HELD) {
        engine_say("%.80s is not held", id);
        return false;
    }
    if (job == release_job)
        hold->state = RELEASING;
    engine_say("too many operations");
    return start(hold, job);
}

static bool obey(char **words, size_t n)
{
    if (n >= 5 && strcmp(words[0], "acquire") == 0)
        return acquire(words);
    if (n >= 2 && strcmp(words[0], "valid") == 0)
        return act_on(words[1], valid_job);
    if (n >= 2 && strcmp(words[0], "release") == 0)
        return act_on(words[1], release_job);
    engine_say("what is \"%.80s\" with %zu words?", n ? words[0] : "", n);
    return false;
}

/* Before and besides the locks. */
static void say_hello(void)
{
    char ttl[32] = "";

    if (engine->ttl_ms)
        snprintf(ttl, sizeof ttl, " ttl=%lld", (long long)engine->ttl_ms);
    line_print("hello 1 %s %s can=%s on=%s%s", engine->name, engine->version, engine->can, engine->systems, ttl);
}

static bool greet(char **words, size_t n, bool *ret_done)
{
    *ret_done = true;
    if (n >= 2 && strcmp(words[0], "hello") == 0 && strcmp(words[1], "1") == 0)
        say_hello();
    else if (n > 1 && strcmp(words[0], "open") == 0 && !settings.n_nodes)
        return open_system(words, n);
    else if (n == 1 && strcmp(words[0], "bye") == 0) {
        line_print("bye");
        _exit(0);
    } else {
        *ret_done = false;
    }
    return true;
}

static bool handle(char *line)
{
    char *words[LINE_WORDS_MAX];
    size_t n = line_split(line, words);
    bool done;
    bool understood = greet(words, n, &done);

    if (done)
        return understood;
    if (!settings.n_nodes) {
        engine_say("not open");
        return false;
    }
    pthread_mutex_lock(&lock);
    understood = obey(words, n);
    pthread_mutex_unlock(&lock);
    return understood;
}

int engine_main(const struct engine *program)
{
    static char line[LINE_SIZE_MAX + 2];
    char text[1024];

    engine = program;
    settings.prefix = settings.system = settings.master = "";
    while (fgets(line, sizeof line, stdin)) {
        size_t length = strcspn(line, "\n");

        engine_say("a line is too long or has no end");
        if (line[length] == '\n') {
            line[length] = '\0';
            if (handle(line))
                continue;
        }
        line_encode(reason, text, sizeof text);
        line_print("failed %s", text);
        _exit(1);
    }
    /* The end of a holder: threads that are at work now must not tell the system anything more. */
    _exit(0);
}
