/* MPI and SHMEM in one program, started and ended in any order. The argument has a letter for each step: M and m are MPI_Init and
 * MPI_Finalize, S and s shmem_init and shmem_finalize, W is shmemx_init_with over a communicator, c communicates by both,
 * d waits, each rank longer than the one before. */
#include <unistd.h>
#define main example
#include "../../../examples/c/with-mpi.c"
#undef main

static void communicate(int rank, int size)
{
    long sum = 0, expected = (long)size * (size - 1) / 2;
    shmem_long_p(&inbox, rank, (rank + 1) % size);
    shmem_barrier_all();
    MPI_Allreduce(&inbox, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (sum != expected || shmem_my_pe() != rank || shmem_n_pes() != size || inbox != (rank + size - 1) % size) {
        fprintf(stderr, "rank %d of %d is PE %d of %d: inbox %ld, sum %ld, not %ld\n", rank, size, shmem_my_pe(),
                shmem_n_pes(), inbox, sum, expected);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    struct exchange x = { 0 };
    int rank = -1, size = 0;
    for (const char *step = argc == 2 ? argv[1] : ""; *step; step++) {
        switch (*step) {
        case 'M':
            MPI_Init(NULL, NULL);
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            MPI_Comm_size(MPI_COMM_WORLD, &size);
            break;
        case 'm': MPI_Finalize(); break;
        case 'S': shmem_init(); break;
        case 's': shmem_finalize(); break;
        case 'd': usleep(100000 * rank); break;
        case 'c': communicate(rank, size); break;
        case 'W':
            x = (struct exchange){ .counts = calloc(size, sizeof(int)), .starts = calloc(size, sizeof(int)) };
            MPI_Comm_dup(MPI_COMM_WORLD, &x.comm);
            shmemx_init_with(&(shmemx_bootstrap_t){ &x, rank, size, put, fence, get, stop }, SHMEM_THREAD_SINGLE, NULL);
            break;
        }
    }
    return 0;
}
