/* Without a fuzzing engine: runs a target on every file of a directory, and on variants of each with one byte changed
 * or cut off. Usage: replay TARGET DIRECTORY. */
#include <dirent.h>
#include <string.h>

#include "fuzz.h"

#define INPUT_MAX 4096

static size_t load(const char *dir, const char *name, uint8_t *data)
{
    char path[4096];
    size_t size;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "rb");
    HOLDS(file != NULL);
    size = fread(data, 1, INPUT_MAX, file);
    fclose(file);
    return size;
}

static void run_variants(fuzz_target target, const uint8_t *data, size_t size)
{
    static const uint8_t changes[] = {1, 0x10, 0x80, '\n' ^ '0', '%'};
    uint8_t *variant = malloc(size + 1);

    HOLDS(variant != NULL);
    target(data, size);
    for (size_t i = 0; i < size; i++) {
        memcpy(variant, data, size);
        variant[i] ^= changes[i % sizeof changes];
        target(variant, size);
        target(data, i);
    }
    free(variant);
}

int main(int argc, char **argv)
{
    static uint8_t data[INPUT_MAX];
    fuzz_target target = argc == 3 ? fuzz_find(argv[1]) : NULL;
    DIR *dir = target ? opendir(argv[2]) : NULL;
    unsigned files = 0;

    HOLDS(dir != NULL);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (entry->d_name[0] == '.')
            continue;
        run_variants(target, data, load(argv[2], entry->d_name, data));
        files++;
    }
    closedir(dir);
    HOLDS(files > 0);
    return 0;
}
