/* What waiting costs a program that has just begun: barriers, sums of 8 bytes, and a word that goes round.
 *
 *     oshcc -O2 waiting.c -o waiting
 *     oshrun -np 2 ./waiting 0 1
 *
 * prints nanoseconds of each. The arguments are the CPUs of the processes; without them they run where they are put. */
#define _GNU_SOURCE
#include <shmem.h>

#include "peer.h"

enum { FIRST = 100, TIMES = 2000 };

static long word, sync_words[2][SHMEM_REDUCE_SYNC_SIZE];
static double one = 1, sum, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static void barrier(long turn)
{
    (void)turn;
    shmem_barrier_all();
}

static void add(long turn)
{
    shmem_double_sum_to_all(&sum, &one, 1, 0, 0, shmem_n_pes(), work, sync_words[turn % 2]);
}

static void signal_next(long turn)
{
    shmem_long_p(&word, turn, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_long_wait_until(&word, SHMEM_CMP_GE, turn);
}

int main(int argc, char **argv)
{
    void (*const operations[])(long) = {barrier, add, signal_next};
    shmem_init();
    settle(shmem_my_pe(), argc, argv);
    for (size_t k = 0; k < sizeof sync_words / sizeof(long); k++)
        ((long *)sync_words)[k] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int k = 0; k < 3; k++) {
        double start = 0;
        for (long turn = 1; turn <= FIRST + TIMES; turn++) {
            operations[k](turn);
            if (turn == FIRST)
                start = nanoseconds();
        }
        if (shmem_my_pe() == 0)
            printf("%.1f ", (nanoseconds() - start) / TIMES);
    }
    fflush(stdout);
    shmem_finalize();
    return 0;
}
