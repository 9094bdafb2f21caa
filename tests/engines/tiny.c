/* A lock engine for the tests alone: locks are files in the folder of `nodes=`, which end with their process. As
 * redlock-engine-tiny it does all as it should; $TINY_FAULT plants one fault into it. With $TINY_FOLDER it pretends to
 * use a Redis, which the benchmark and the failover run can start, and keeps its locks in that folder, and in the file
 * "ttls" for how long they were wanted. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "lab/engines/line.h"

#define MOST 256
#define POLL_MS 3

struct attempt {
    char id[65];
    char key[200];
    int64_t since_ns;
    int64_t deadline_ns;
    int64_t ttl_ms;
    int fd;      /* locked, -1: not yet */
    bool in_use;
};

static struct attempt attempts[MOST];
static char folder[256];
static const char *planted;

static bool is_planted(const char *fault)
{
    return strcmp(planted, fault) == 0;
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static struct attempt *find(const char *id)
{
    for (size_t i = 0; i < MOST; i++)
        if (attempts[i].in_use && strcmp(attempts[i].id, id) == 0)
            return &attempts[i];
    return NULL;
}

/* The token is counted in the file itself. */
static long long next_token(int fd)
{
    char text[32] = "";
    long long token;

    if (pread(fd, text, sizeof text - 1, 0) < 0)
        exit(1);
    token = atoll(text) + 1;
    if (is_planted("fence"))
        return 7;
    snprintf(text, sizeof text, "%lld\n", token);
    if (pwrite(fd, text, strlen(text), 0) < 0)
        exit(1);
    return token;
}

static bool lock(struct attempt *attempt)
{
    char path[600];

    snprintf(path, sizeof path, "%s/%s", folder, attempt->key);
    attempt->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (attempt->fd >= 0 && (flock(attempt->fd, LOCK_EX | LOCK_NB) == 0 || is_planted("two")))
        return true;
    close(attempt->fd);
    attempt->fd = -1;
    return false;
}

static void answer_acquired(const struct attempt *attempt)
{
    int64_t t0_ns = is_planted("clock") ? attempt->since_ns - INT64_C(5000000000) : attempt->since_ns;

    if (is_planted("malformed"))
        line_print("acquired %s soon", attempt->id);
    if (is_planted("dies"))
        exit(9);
    line_print("acquired %s %lld %lld until=%lld fence=%lld", attempt->id, (long long)t0_ns, (long long)now_ns(),
               (long long)(attempt->since_ns + attempt->ttl_ms * 1000000), next_token(attempt->fd));
    if (is_planted("twice"))
        line_print("acquired %s %lld %lld fence=1000000", attempt->id, (long long)t0_ns, (long long)now_ns());
}

static void try_all(void)
{
    for (size_t i = 0; i < MOST; i++) {
        struct attempt *attempt = &attempts[i];

        if (!attempt->in_use || attempt->fd >= 0)
            continue;
        if (lock(attempt)) {
            answer_acquired(attempt);
        } else if (now_ns() >= attempt->deadline_ns && !is_planted("late")) {
            line_print("refused %s %lld %lld held -", attempt->id, (long long)attempt->since_ns, (long long)now_ns());
            attempt->in_use = false;
        }
    }
}

static void record_ttl(const char *ttl)
{
    char path[600];
    FILE *file;

    snprintf(path, sizeof path, "%s/ttls", folder);
    file = fopen(path, "ae");
    if (!file || fprintf(file, "%s\n", ttl) < 0 || fclose(file) != 0)
        exit(1);
}

static void acquire(char **words)
{
    struct attempt *attempt = attempts;
    int64_t timeout_ms;

    while (attempt->in_use)
        attempt++;
    *attempt = (struct attempt){.since_ns = now_ns(), .fd = -1, .in_use = true};
    if (!line_decode(words[2]) || !line_number(words[3], &attempt->ttl_ms) || !line_number(words[4], &timeout_ms))
        exit(1);
    if (getenv("TINY_FOLDER"))
        record_ttl(words[3]);
    snprintf(attempt->id, sizeof attempt->id, "%s", words[1]);
    snprintf(attempt->key, sizeof attempt->key, "%s", words[2]);
    attempt->deadline_ns = attempt->since_ns + timeout_ms * 1000000;
}

static void release(const char *id)
{
    struct attempt *attempt = find(id);
    int64_t since_ns = now_ns();

    if (!attempt)
        exit(1);
    close(attempt->fd);
    attempt->in_use = false;
    if (is_planted("mute"))
        return;
    line_print("released %s %lld %lld ok", id, (long long)since_ns, (long long)now_ns());
}

/* What the protocol says is always there. */
static void want_settings(char **words, size_t n)
{
    static const char *const always[] = {"nodes=", "system=", "ttl_ms=", "prefix="};

    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        size_t j = 1;

        while (j < n && strncmp(words[j], always[i], strlen(always[i])) != 0)
            j++;
        if (j == n) {
            line_print("failed there%%20is%%20no%%20%s", always[i]);
            exit(1);
        }
    }
}

static void open_folder(char **words, size_t n)
{
    const char *instead = getenv("TINY_FOLDER");

    want_settings(words, n);
    if (instead)
        snprintf(folder, sizeof folder, "%s", instead);
    for (size_t i = 1; i < n && !instead; i++)
        if (strncmp(words[i], "nodes=", 6) == 0 && line_decode(words[i] + 6))
            snprintf(folder, sizeof folder, "%s", words[i] + 6);
    if (is_planted("refuses"))
        line_print("failed there%%20is%%20no%%20such%%20folder");
    else
        line_print("opened");
}

static void obey(char *line)
{
    char *words[LINE_WORDS_MAX];
    size_t n = line_split(line, words);

    if (n == 0)
        exit(1);
    if (strcmp(words[0], "hello") == 0) {
        line_print("hello 1 %s 1.0 can=fence on=%s ttl=%s", is_planted("name") ? "etcd" : "tiny",
                   getenv("TINY_FOLDER") ? "redis:1" : "folder", is_planted("ttl") ? "long" : "700");
    } else if (strcmp(words[0], "open") == 0) {
        open_folder(words, n);
    } else if (strcmp(words[0], "acquire") == 0 && n == 5) {
        acquire(words);
    } else if (strcmp(words[0], "valid") == 0 && n == 2) {
        int64_t at_ns = now_ns();

        if (is_planted("order"))
            line_print("released %s %lld %lld ok", words[1], (long long)at_ns, (long long)at_ns);
        line_print("valid %s %lld %lld 1000", words[1], (long long)at_ns, (long long)now_ns());
    } else if (strcmp(words[0], "release") == 0 && n == 2) {
        release(words[1]);
    } else if (strcmp(words[0], "bye") == 0) {
        if (!is_planted("silent"))
            line_print("bye");
        if (!is_planted("silent"))
            exit(0);
    }
}

int main(void)
{
    static char input[LINE_SIZE_MAX + 1];
    size_t length = 0;

    planted = getenv("TINY_FAULT") ? getenv("TINY_FAULT") : "";
    for (;;) {
        struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
        char *end;
        ssize_t n = 0;

        if (poll(&in, 1, POLL_MS) > 0) {
            n = read(STDIN_FILENO, input + length, LINE_SIZE_MAX - length);
            if (n <= 0 && !is_planted("immortal"))
                return 0;
            if (n <= 0)
                pause();
        }
        length += (size_t)n;
        while ((end = memchr(input, '\n', length))) {
            *end = '\0';
            obey(input);
            length -= (size_t)(end + 1 - input);
            memmove(input, end + 1, length);
        }
        try_all();
    }
}
