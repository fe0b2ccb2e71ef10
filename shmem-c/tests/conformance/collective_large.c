/* pes: 1 2 3 4 */
/* since: 1.5 */
/* Collectives of megabytes, and many small ones in a row without anything between them. */
#include "check.h"

#define COUNT ((size_t)1 << 17)

static double small[64], sums[64];
static long collected[16 * 8], mine[8];

int main(void)
{
    begin();
    uint64_t *source = (uint64_t *)room(COUNT * sizeof(uint64_t)), *dest = (uint64_t *)room(COUNT * (size_t)npes * sizeof(uint64_t));
    for (size_t i = 0; i < COUNT; i++)
        source[i] = value_of(me, 1, i);
    shmem_barrier_all();
    for (int root = 0; root < npes; root++) {
        EQUAL("shmem_uint64_broadcast", "status", 0, shmem_uint64_broadcast(SHMEM_TEAM_WORLD, dest, source, COUNT, root));
        for (size_t i = 0; i < COUNT; i += 101)
            SAME(uint64_t, "shmem_uint64_broadcast", i, value_of(root, 1, i), dest[i]);
        shmem_barrier_all();
    }
    EQUAL("shmem_uint64_fcollect", "status", 0, shmem_uint64_fcollect(SHMEM_TEAM_WORLD, dest, source, COUNT));
    for (size_t i = 0; i < COUNT * (size_t)npes; i += 101)
        SAME(uint64_t, "shmem_uint64_fcollect", i, value_of((int)(i / COUNT), 1, i % COUNT), dest[i]);
    shmem_barrier_all();
    EQUAL("shmem_uint64_sum_reduce", "status", 0, shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, dest, source, COUNT));
    for (size_t i = 0; i < COUNT; i += 101) {
        uint64_t sum = 0;
        for (int pe = 0; pe < npes; pe++)
            sum += value_of(pe, 1, i);
        SAME(uint64_t, "shmem_uint64_sum_reduce", i, sum, dest[i]);
    }
    shmem_barrier_all();
    size_t each = COUNT / (size_t)npes;
    EQUAL("shmem_uint64_alltoall", "status", 0, shmem_uint64_alltoall(SHMEM_TEAM_WORLD, dest, source, each));
    for (size_t i = 0; i < each * (size_t)npes; i += 101)
        SAME(uint64_t, "shmem_uint64_alltoall", i, value_of((int)(i / each), 1, (size_t)me * each + i % each), dest[i]);
    shmem_barrier_all();

    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 64; i++)
            small[i] = me + i + round;
        EQUAL("shmem_double_sum_reduce", "status", 0, shmem_double_sum_reduce(SHMEM_TEAM_WORLD, sums, small, 64));
        for (int i = 0; i < 64; i += 9)
            EQUAL("shmem_double_sum_reduce", "sum", npes * (npes - 1) / 2 + npes * (i + round), sums[i]);
        for (int i = 0; i < 8; i++)
            mine[i] = me * 1000 + round;
        EQUAL("shmem_long_fcollect", "status", 0, shmem_long_fcollect(SHMEM_TEAM_WORLD, collected, mine, 8));
        for (int pe = 0; pe < npes; pe++)
            EQUAL("shmem_long_fcollect", "value", pe * 1000 + round, collected[pe * 8 + 7]);
    }
    return end();
}
