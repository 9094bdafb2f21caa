#include "util/bytes.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

/* Does the kernel's description of the mapping that has this address have the flag? */
static bool has_flag(const void *address, const char *flag)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    unsigned long begin = 0, end = 0, from, to, at = (unsigned long)address;
    char line[1024], words[8] = "";
    bool found = false;

    ck_assert_ptr_nonnull(maps);
    snprintf(words, sizeof words, " %s", flag);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            begin = from;
            end = to;
        }
        if (strncmp(line, "VmFlags:", 8) == 0 && at >= begin && at < end)
            found = strstr(line, words) != NULL;
    }
    fclose(maps);
    return found;
}

/* An emulator of another processor may keep the wish to itself. */
static bool kernel_hears_of_dumps(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool heard;

    ck_assert_ptr_ne(page, MAP_FAILED);
    ck_assert_int_eq(madvise(page, size, MADV_DONTDUMP), 0);
    heard = has_flag(page, "dd");
    munmap(page, size);
    return heard;
}

GROUP(tc, "secret", NULL, NULL)

TEST(tc, core_dumps_leave_secrets_out)
{
    char *secret = rl_secret_copy("s3cr3t"), *large = rl_secret_create(10000);
    static const char plain[] = "plain";

    ck_assert_str_eq(secret, "s3cr3t");
    if (kernel_hears_of_dumps())
        ck_assert(has_flag(secret, "dd") && has_flag(large, "dd") && has_flag(large + 9999, "dd"));
    ck_assert(!has_flag(plain, "dd"));
    rl_secret_destroy(secret);
    rl_secret_destroy(large);
    rl_secret_destroy(NULL);
}

static bool is_in(const unsigned char *data, size_t size)
{
    return memmem(data, size, "s3cr3t", 6);
}

TEST(tc, a_queue_wipes_what_it_drops)
{
    struct rl_bytes bytes = {0};

    rl_bytes_keep_secret(&bytes);
    ck_assert(rl_bytes_append(&bytes, "s3cr3tbehind", 12));
    ck_assert(is_in(bytes.data, 12));
    rl_bytes_consume(&bytes, 6);
    ck_assert(!is_in(bytes.data, 12));
    ck_assert_mem_eq(rl_bytes_front(&bytes), "behind", 6);
    rl_bytes_consume(&bytes, 6);
    ck_assert(rl_bytes_append(&bytes, "s3cr3t", 6));
    rl_bytes_keep_secret(&bytes);
    rl_bytes_clear(&bytes);
    ck_assert(!is_in(bytes.data, 12));
    ck_assert(!bytes.secret);
    rl_bytes_fini(&bytes);
}

TEST(tc, a_queue_that_moves_its_bytes_wipes_where_they_were)
{
    struct rl_bytes bytes = {0};
    char filler[400];

    memset(filler, '.', sizeof filler);
    rl_bytes_keep_secret(&bytes);
    ck_assert(rl_bytes_append(&bytes, filler, sizeof filler) && rl_bytes_append(&bytes, "s3cr3t", 6));
    rl_bytes_consume(&bytes, sizeof filler);
    ck_assert(rl_bytes_append(&bytes, filler, 200)); /* slides to the start */
    ck_assert_uint_eq(bytes.head, 0);
    ck_assert(is_in(bytes.data, 6));
    ck_assert(!is_in(bytes.data + 206, sizeof filler + 6 - 206)); /* nothing has been written behind that */
    rl_bytes_fini(&bytes);
}

SUITE("secret")
