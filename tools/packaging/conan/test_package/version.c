/* The package links, and its header belongs to its library. A service needs no master to be created. */
#include <redlock/blocking.h>
#include <redlock/version.h>
#include <stdio.h>

int main(void)
{
    const char *const masters[] = {"redis://127.0.0.1:1"};
    struct redlock_service *service;
    struct redlock_error error;

    if (redlock_version_num() != REDLOCK_VERSION_NUM)
        return fprintf(stderr, "library %s, header %s\n", redlock_version(), REDLOCK_VERSION), 1;
    if (redlock_service_create(masters, 1, NULL, &service, &error) != REDLOCK_OK)
        return fprintf(stderr, "%s\n", error.text), 1;
    redlock_service_destroy(service);
    printf("redlock %s\n", redlock_version());
    return 0;
}
