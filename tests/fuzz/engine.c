/* The entry points of libFuzzer; $FUZZ_TARGET names the target. */
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static fuzz_target target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    target = fuzz_find(getenv("FUZZ_TARGET"));
    HOLDS(target != NULL);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target(data, size);
    return 0;
}
