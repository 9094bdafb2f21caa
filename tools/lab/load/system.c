#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "system.h"

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

double system_cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
}

uint64_t system_open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    uint64_t n = 0;

    if (!dir)
        return 0;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n - 1;
}

uint64_t system_rss_kb(void)
{
    unsigned long long total, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f)
        return 0;
    if (fscanf(f, "%llu %llu", &total, &resident) != 2)
        resident = 0;
    fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

uint64_t system_rss_peak_kb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss;
}

static bool split(cpu_set_t *ret_first, cpu_set_t *ret_others)
{
    cpu_set_t allowed;
    size_t first = 0;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return false;
    while (!CPU_ISSET(first, &allowed))
        first++;
    CPU_ZERO(ret_first);
    CPU_SET(first, ret_first);
    CPU_CLR(first, &allowed);
    *ret_others = allowed;
    return true;
}

/* sched_setaffinity() takes one thread, and a server has several. */
static bool pin_threads(pid_t pid, const cpu_set_t *cpus)
{
    char path[64];
    DIR *dir;
    bool ok = true;

    snprintf(path, sizeof path, "/proc/%d/task", (int)(pid ? pid : getpid()));
    dir = opendir(path);
    if (!dir)
        return false;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        if (entry->d_name[0] != '.')
            ok = sched_setaffinity((pid_t)strtol(entry->d_name, NULL, 10), sizeof *cpus, cpus) == 0 && ok;
    closedir(dir);
    return ok;
}

bool system_pin_first(pid_t pid)
{
    cpu_set_t first, others;

    return split(&first, &others) && pin_threads(pid, &first);
}

bool system_pin_others(pid_t pid)
{
    cpu_set_t first, others;

    return split(&first, &others) && pin_threads(pid, &others);
}

void system_cpu_model(char *ret_text, size_t size)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");

    snprintf(ret_text, size, "unknown processor");
    while (f && fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');

        if (value && strncmp(line, "model name", 10) == 0) {
            value[strcspn(value, "\n")] = '\0';
            snprintf(ret_text, size, "%s", value + 2);
            break;
        }
    }
    if (f)
        fclose(f);
}

void system_kernel(char *ret_text, size_t size)
{
    struct utsname name;

    if (uname(&name) == 0)
        snprintf(ret_text, size, "%s %s %s", name.sysname, name.release, name.machine);
    else
        snprintf(ret_text, size, "unknown kernel");
}
