/* pes: 1 3 */
/* since: 1.5 */
/* No elements: nothing is moved, and pointers may be null. */
#include "check.h"

static long sync_array[SHMEM_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], word = 7;
static uint64_t flag;

int main(void)
{
    begin();
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync_array[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int to = (me + 1) % npes;
    long *none = NULL;
    shmem_long_put(none, none, 0, to);
    shmem_long_get(none, none, 0, to);
    shmem_long_put_nbi(none, none, 0, to);
    shmem_long_get_nbi(none, none, 0, to);
    shmem_ctx_long_put(SHMEM_CTX_DEFAULT, none, none, 0, to);
    shmem_putmem(none, none, 0, to);
    shmem_getmem_nbi(none, none, 0, to);
    shmem_put128(none, none, 0, to);
    shmem_long_iput(none, none, 1, 1, 0, to);
    shmem_long_iget(none, none, 2, 3, 0, to);
    shmem_iput64(none, none, 1, 1, 0, to);
    shmem_long_put(&word, &word, 0, to);
    shmem_long_put_signal(none, none, 0, &flag, 3, SHMEM_SIGNAL_ADD, to);
    EQUAL("shmem_signal_wait_until", "signal of an empty put", 3, shmem_signal_wait_until(&flag, SHMEM_CMP_NE, 0));
    EQUAL("shmem_long_broadcast", "status", 0, shmem_long_broadcast(SHMEM_TEAM_WORLD, none, none, 0, 0));
    EQUAL("shmem_long_collect", "status", 0, shmem_long_collect(SHMEM_TEAM_WORLD, none, none, 0));
    EQUAL("shmem_long_fcollect", "status", 0, shmem_long_fcollect(SHMEM_TEAM_WORLD, none, none, 0));
    EQUAL("shmem_long_alltoall", "status", 0, shmem_long_alltoall(SHMEM_TEAM_WORLD, none, none, 0));
    EQUAL("shmem_long_alltoalls", "status", 0, shmem_long_alltoalls(SHMEM_TEAM_WORLD, none, none, 1, 1, 0));
    EQUAL("shmem_long_sum_reduce", "status", 0, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, none, none, 0));
    EQUAL("shmem_broadcastmem", "status", 0, shmem_broadcastmem(SHMEM_TEAM_WORLD, none, none, 0, 0));
    shmem_broadcast64(none, none, 0, 0, 0, 0, npes, sync_array);
    shmem_barrier_all();
    shmem_collect64(none, none, 0, 0, 0, npes, sync_array);
    shmem_barrier_all();
    shmem_fcollect32(none, none, 0, 0, 0, npes, sync_array);
    shmem_barrier_all();
    shmem_alltoall64(none, none, 0, 0, 0, npes, sync_array);
    shmem_barrier_all();
    shmem_long_sum_to_all(none, none, 0, 0, 0, npes, work, sync_array);
    shmem_barrier_all();
    EQUAL("shmem_long_put", "word", 7, word);
    return end();
}
