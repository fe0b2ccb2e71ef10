/* pes: 1 2 4 */
/* since: 1.5 */
/* Threads of THREAD_MULTIPLE, each with collectives of a team of its own and a context of its own. */
#include "check.h"

#include <pthread.h>

#define THREADS 3
#define ROUNDS 40

static shmem_team_t teams[THREADS];
static long source[THREADS][16], dest[THREADS][16], gathered[THREADS][64];

static void *thread(void *argument)
{
    int number = (int)(intptr_t)argument;
    shmem_team_t team = teams[number];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 16; i++)
            source[number][i] = me * 100 + number + round + i;
        shmem_team_sync(team);
        EQUAL("shmem_long_sum_reduce", "status", 0, shmem_long_sum_reduce(team, dest[number], source[number], 16));
        for (int i = 0; i < 16; i += 5)
            EQUAL("shmem_long_sum_reduce", "sum in a thread", npes * (npes - 1) * 50 + npes * (number + round + i), dest[number][i]);
        EQUAL("shmem_long_fcollect", "status", 0, shmem_long_fcollect(team, gathered[number], source[number], 4));
        for (int pe = 0; pe < npes; pe++)
            EQUAL("shmem_long_fcollect", "value in a thread", pe * 100 + number + round + 3, gathered[number][pe * 4 + 3]);
    }
    return NULL;
}

int main(void)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int i = 0; i < THREADS; i++)
        EQUAL("shmem_team_split_strided", "status", 0, shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[i]));
    if (provided == SHMEM_THREAD_MULTIPLE) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, thread, (void *)(intptr_t)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++)
        shmem_team_destroy(teams[i]);
    return end();
}
