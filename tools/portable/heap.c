/* What malloc() has given out. */
#ifdef PORTABLE_HAVE_MALLINFO2
#include <malloc.h>
#endif

#include "portable.h"

uint64_t portable_heap_bytes(void)
{
#ifdef PORTABLE_HAVE_MALLINFO2
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}
