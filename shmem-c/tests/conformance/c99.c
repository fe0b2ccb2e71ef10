/* pes: 1 2 */
/* flags: -std=c99 -D_GNU_SOURCE */
/* C99: typed routines, and no generic ones. */
#include "check.h"

#ifdef __STDC_VERSION__
#if __STDC_VERSION__ >= 201112L
#error "this is no C99"
#endif
#endif

static long word;
static double values[3];
static long sync_array[SHMEM_BARRIER_SYNC_SIZE];

int main(void)
{
    begin();
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        sync_array[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    double mine[3] = {1, 2, me};
    int to = (me + 1) % npes;
    shmem_long_p(&word, me + 3, to);
    shmem_double_put(values, mine, 3, to);
    shmem_barrier(0, 0, npes, sync_array);
    /* The deprecated names that C11 has as generic ones are functions of longs here. */
    shmem_wait_until(&word, SHMEM_CMP_GT, 2);
    shmem_sync(0, 0, npes, sync_array);
    EQUAL("shmem_long_p", "value", (me + npes - 1) % npes + 3, word);
    EQUAL("shmem_double_put", "value", (me + npes - 1) % npes, values[2]);
    return end();
}
