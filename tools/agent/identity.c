/* Who has connected, as the kernel says, and the label that its locks get of it. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/agent.h"
#include "cli/label.h"

static void read_program(pid_t pid, char name[17])
{
    char path[48];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    file = fopen(path, "re");
    if (file && fgets(name, 17, file))
        name[strcspn(name, "\n")] = '\0';
    for (char *c = name; *c != '\0'; c++)
        if (strchr("/@:", *c))
            *c = '_'; /* it is the program's own word, and must not look like another identity */
    if (file)
        fclose(file);
}

void identify_user(struct peer *peer, uid_t uid)
{
    const struct passwd *entry = getpwuid(uid);
    struct identity *ret = &peer->identity;

    ret->uid = uid;
    if (entry)
        snprintf(ret->user, sizeof ret->user, "%s", entry->pw_name);
    else
        snprintf(ret->user, sizeof ret->user, "%lu", (unsigned long)uid);
}

/* Room is left for the time, and a long name of the host is what is cut. */
void identify(struct peer *peer, int fd)
{
    struct identity *ret = &peer->identity;
    struct ucred credentials = {.uid = (uid_t)-1};
    socklen_t size = sizeof credentials;
    char host[REDLOCK_MAX_LABEL_BYTES] = "", program[17] = "", tail[40];
    int room;

    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
    identify_user(peer, credentials.uid);
    ret->pid = credentials.pid;
    if (gethostname(host, sizeof host - 1) != 0)
        strcpy(host, "localhost");
    read_program(ret->pid, program);
    snprintf(tail, sizeof tail, ":%ld%s%s", (long)ret->pid, *program != '\0' ? "/" : "", program);
    room = REDLOCK_MAX_LABEL_BYTES - LABEL_TIME_SIZE - (int)strlen(tail) - 1;
    snprintf(ret->label, sizeof ret->label, "%.*s@%.*s%s", room / 2, ret->user,
             room - (int)strnlen(ret->user, (size_t)room / 2), host, tail);
    label_clean(ret->label);
}

/* Since when the lock is asked for stands at the end; what the request says is cut where there is no room. */
bool peer_label(struct peer *peer, int64_t id, const char *given, char ret_label[REDLOCK_MAX_LABEL_BYTES + 1])
{
    int room = REDLOCK_MAX_LABEL_BYTES - LABEL_TIME_SIZE - (int)strlen(peer->identity.label) - 1;
    bool in_front = given && *given != '\0' && room > 0;
    int length = 0;

    if (given && !label_is_printable(given))
        return answer_wrong(peer, id, "'label' must be printable ASCII characters without a blank");
    if (in_front)
        length = snprintf(ret_label, REDLOCK_MAX_LABEL_BYTES + 1, "%.*s/", room, given);
    snprintf(ret_label + length, (size_t)(REDLOCK_MAX_LABEL_BYTES + 1 - length), "%s", peer->identity.label);
    label_add_time(ret_label);
    return true;
}
