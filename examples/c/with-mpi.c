/* A program of MPI whose processes become PEs: what they exchange to begin with goes over a communicator. So it does not matter
 * what has started them, nor whether that speaks with this library; a PE has the number of its rank.
 *
 *     OSHCC_CC=mpicc oshcc with-mpi.c -o with-mpi
 *     mpiexec -n 4 ./with-mpi
 *
 * Compiler and launcher must be of one MPI (Debian: mpicc.mpich and mpiexec.hydra, or mpicc.openmpi and mpirun.openmpi). */
#include <mpi.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What this process has put, and, since the last fence, what all have: records of a key, a length and a value, rank by rank. */
struct exchange {
    MPI_Comm comm;
    char *mine, *all;
    int bytes, *counts, *starts;
};

static int put(void *state, const char *key, const void *value, size_t bytes)
{
    struct exchange *x = state;
    size_t name = strlen(key) + 1;
    x->mine = realloc(x->mine, x->bytes + name + sizeof bytes + bytes);
    char *to = x->mine + x->bytes;
    memcpy(to, key, name);
    memcpy(to + name, &bytes, sizeof bytes);
    memcpy(to + name + sizeof bytes, value, bytes);
    x->bytes += name + sizeof bytes + bytes;
    return 0;
}

static int fence(void *state)
{
    struct exchange *x = state;
    int size, total = 0;
    MPI_Comm_size(x->comm, &size);
    MPI_Allgather(&x->bytes, 1, MPI_INT, x->counts, 1, MPI_INT, x->comm);
    for (int rank = 0; rank < size; rank++) {
        x->starts[rank] = total;
        total += x->counts[rank];
    }
    x->all = realloc(x->all, total + 1);
    return MPI_Allgatherv(x->mine, x->bytes, MPI_CHAR, x->all, x->counts, x->starts, MPI_CHAR, x->comm);
}

static long get(void *state, int pe, const char *key, void *value, size_t room)
{
    struct exchange *x = state;
    const char *at = x->all + x->starts[pe], *end = at + x->counts[pe];
    while (at < end) {
        const char *behind = at + strlen(at) + 1;
        size_t bytes;
        memcpy(&bytes, behind, sizeof bytes);
        if (strcmp(at, key) == 0) {
            memcpy(value, behind + sizeof bytes, bytes < room ? bytes : room);
            return bytes;
        }
        at = behind + sizeof bytes + bytes;
    }
    return -1;
}

static void stop(void *state, int status)
{
    MPI_Abort(((struct exchange *)state)->comm, status);
}

static long inbox = -1;

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct exchange x = { .counts = calloc(size, sizeof(int)), .starts = calloc(size, sizeof(int)) };
    MPI_Comm_dup(MPI_COMM_WORLD, &x.comm);
    shmemx_bootstrap_t over_mpi = { &x, rank, size, put, fence, get, stop };
    shmemx_init_with(&over_mpi, SHMEM_THREAD_SINGLE, NULL);

    /* A put between PEs, and a sum of what arrived by MPI. */
    shmem_long_p(&inbox, rank, (rank + 1) % size);
    shmem_barrier_all();
    long sum = 0;
    MPI_Allreduce(&inbox, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    printf("PE %d of %d is rank %d: PE %ld wrote here, all inboxes together are %ld\n", shmem_my_pe(), shmem_n_pes(), rank,
           inbox, sum);

    shmem_finalize();
    MPI_Comm_free(&x.comm);
    MPI_Finalize();
    return 0;
}
