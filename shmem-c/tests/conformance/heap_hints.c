/* pes: 1 3 */
/* since: 1.5 */
/* shmem_malloc_with_hints with each hint, all of them, and none. */
#include "check.h"

int main(void)
{
    begin();
    const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                          SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};
    uint64_t *places[4];
    for (int i = 0; i < 4; i++) {
        places[i] = (uint64_t *)shmem_malloc_with_hints(100 * sizeof(uint64_t), hints[i]);
        TRUE_THAT("shmem_malloc_with_hints", places[i] != NULL);
        for (int j = 0; j < 100; j++)
            places[i][j] = 0;
    }
    shmem_barrier_all();
    for (int i = 0; i < 4; i++)
        for (int pe = 0; pe < npes; pe++) {
            shmem_uint64_atomic_add(&places[i][3], (uint64_t)(i + me), pe);
            shmem_uint64_p(&places[i][10 + me], (uint64_t)(i * 100 + me), pe);
        }
    shmem_barrier_all();
    for (int i = 0; i < 4; i++) {
        EQUAL("shmem_malloc_with_hints", "sum", i * npes + npes * (npes - 1) / 2, places[i][3]);
        for (int pe = 0; pe < npes; pe++)
            EQUAL("shmem_malloc_with_hints", "puts", i * 100 + pe, places[i][10 + pe]);
        shmem_free(places[i]);
    }
    TRUE_THAT("shmem_malloc_with_hints", shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL);
    return end();
}
