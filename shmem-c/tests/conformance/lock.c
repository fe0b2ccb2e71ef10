/* pes: 1 2 3 4 5 */
/* Locks: one holds them at a time, what is done under one is seen under the next, and test_lock never waits. */
#include "check.h"

#define ROUNDS 200
#define LOCKS 4

static long locks[LOCKS], counts[LOCKS][3], taken;

int main(void)
{
    begin();
    long *heap = (long *)shmem_calloc(2, sizeof(long));
    /* Plain gets and puts, which lose updates unless the lock excludes others; the words lie on different PEs. */
    for (int round = 0; round < ROUNDS; round++) {
        int at = round % LOCKS, home = at % npes;
        shmem_set_lock(&locks[at]);
        for (int i = 0; i < 3; i++) {
            long count = shmem_long_g(&counts[at][i], home);
            shmem_long_p(&counts[at][i], count + 1 + i, home);
        }
        shmem_quiet();
        shmem_clear_lock(&locks[at]);
    }
    shmem_barrier_all();
    for (int at = 0; at < LOCKS; at++)
        for (int i = 0; i < 3; i++)
            EQUAL("shmem_set_lock", "count", (long)ROUNDS / LOCKS * npes * (1 + i), shmem_long_g(&counts[at][i], at % npes));

    /* test_lock gives 0 to the one who has it then. */
    for (int round = 0; round < 50; round++) {
        while (shmem_test_lock(&heap[0]))
            ;
        long count = shmem_long_g(&heap[1], 0);
        shmem_long_p(&heap[1], count + 1, 0);
        shmem_quiet();
        shmem_clear_lock(&heap[0]);
    }
    shmem_barrier_all();
    EQUAL("shmem_test_lock", "count", 50 * npes, shmem_long_g(&heap[1], 0));
    shmem_barrier_all();
    /* One of all has it; the others are told so at once. */
    int mine = shmem_test_lock(&locks[0]) == 0;
    if (mine)
        shmem_long_atomic_inc(&taken, 0);
    shmem_barrier_all();
    EQUAL("shmem_test_lock", "PEs that have the lock", 1, shmem_long_g(&taken, 0));
    if (!mine)
        EQUAL("shmem_test_lock", "status of a lock that another PE has", 1, shmem_test_lock(&locks[0]));
    shmem_barrier_all();
    if (mine)
        shmem_clear_lock(&locks[0]);
    shmem_barrier_all();
    /* Two at once, in the same order everywhere. */
    for (int round = 0; round < 20; round++) {
        shmem_set_lock(&locks[1]);
        shmem_set_lock(&locks[2]);
        shmem_clear_lock(&locks[1]);
        shmem_clear_lock(&locks[2]);
    }
    /* A lock that nobody has is as it began. */
    shmem_barrier_all();
    if (me == npes - 1) {
        EQUAL("shmem_test_lock", "status of a free lock", 0, shmem_test_lock(&locks[3]));
        shmem_clear_lock(&locks[3]);
    }
    return end();
}
