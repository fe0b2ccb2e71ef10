/* pes: 1 2 3 */
/* since: 1.6 */
/* shmem_query_initialized, and beginning more than once: the last end is the end, and those before are barriers. */
#include "check.h"

#include <unistd.h>

static long word, late;

static int initialized(void)
{
    int value = -1;
    shmem_query_initialized(&value);
    return value;
}

int main(void)
{
    EQUAL("shmem_query_initialized", "before", 0, initialized());
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    TRUE_THAT("shmem_query_initialized", initialized() != 0);
    shmem_init();
    int provided = -1;
    EQUAL("shmem_init_thread", "status", 0, shmem_init_thread(SHMEM_THREAD_SINGLE, &provided));
    TRUE_THAT("shmem_init_thread", provided >= SHMEM_THREAD_SINGLE);
    TRUE_THAT("shmem_query_initialized", initialized() != 0);
    EQUAL("shmem_my_pe", "number", me, shmem_my_pe());
    EQUAL("shmem_n_pes", "number", npes, shmem_n_pes());
    long value = 77;
    if (me == 0) {
        usleep(100000);
        shmem_long_put_nbi(&late, &value, 1, npes - 1);
    }
    shmem_finalize();
    if (me == npes - 1)
        EQUAL("shmem_finalize", "what was put before", 77, late);
    TRUE_THAT("shmem_query_initialized", initialized() != 0);
    shmem_finalize();
    TRUE_THAT("shmem_query_initialized", initialized() != 0);
    shmem_long_p(&word, 5, (me + 1) % npes);
    shmem_barrier_all();
    EQUAL("shmem_long_p", "value", 5, word);
    shmem_finalize();
    EQUAL("shmem_query_initialized", "after", 0, initialized());
    return failures != 0;
}
