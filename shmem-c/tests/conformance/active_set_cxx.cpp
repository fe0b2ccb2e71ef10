/* pes: 1 3 */
/* since: 1.5 */
/* One name for two routines: shmem_sync of an active set and of a team; and of the deprecated ones from C++. */
#include "check.h"

static long sync_array[2][SHMEM_SYNC_SIZE], work[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE + 4], word, source[3], dest[3];

int main()
{
    begin();
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync_array[0][i] = sync_array[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int round = 0; round < 10; round++) {
        shmem_long_atomic_inc(&word, (me + 1) % npes);
        shmem_quiet();
        shmem_sync(0, 0, npes, sync_array[0]);
        EQUAL("shmem_sync", "word", round + 1, word);
        EQUAL("shmem_sync", "status", 0, shmem_sync(SHMEM_TEAM_WORLD));
    }
    for (int i = 0; i < 3; i++)
        source[i] = me * 10 + i;
    shmem_long_sum_to_all(dest, source, 3, 0, 0, npes, work[0], sync_array[1]);
    for (int i = 0; i < 3; i++)
        EQUAL("shmem_long_sum_to_all", "sum", npes * (npes - 1) * 5 + i * npes, dest[i]);
    shmem_barrier_all();
    EQUAL("shmem_fadd", "value", 10, shmem_fadd(&word, 5L, me));
    shmem_wait_until(&word, SHMEM_CMP_EQ, 15L);
    shmem_inc(&word, me);
    EQUAL("shmem_swap", "value", 16, shmem_swap(&word, 1L, me));
    return end();
}
