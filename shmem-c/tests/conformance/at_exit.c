/* pes: 1 2 3 */
/* since: 1.6 */
/* Handlers of the exit that were registered before the beginning: the library is open until it is finalised. */
#include "check.h"

static long words[8];

static void finish(void)
{
    int open = 0;
    shmem_query_initialized(&open);
    TRUE_THAT("shmem_query_initialized", open != 0);
    shmem_long_p(&words[1], me + 5, (me + 1) % npes);
    shmem_barrier_all();
    EQUAL("shmem_long_p", "value that a handler has put", (me + npes - 1) % npes + 5, words[1]);
    shmem_finalize();
    if (failures)
        _Exit(1);
}

/* Runs after the one above: nothing is left to do. */
static void finish_again(void)
{
    shmem_finalize();
}

int main(void)
{
    atexit(finish_again);
    atexit(finish);
    begin();
    shmem_barrier_all();
    return 0;
}
