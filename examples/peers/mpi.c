/* MPI-3 one-sided communication: MPI_Put and MPI_Get with vector types and a shared window, in a passive
 * epoch that stays open, completed by MPI_Win_flush; and a loop of them, a call for each block.
 *
 * This is the fastest way that was found for Open MPI: a window of shared memory (one that is made
 * of ordinary memory is a thousand times slower), the same type on both sides where the shape is the
 * same (two equal ones take twice as long), the source in the window, too (ordinary memory in huge
 * pages has more conflicts at power-of-two strides).
 *
 *     mpicc -O2 mpi.c -o mpi
 *     echo "column/128 put 1000 1 128 128 4416 20 5" | mpirun -np 2 --bind-to none ./mpi 0 1 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>

#include "peer.h"

static MPI_Win window;
/* The destination, as it lies here, and where it begins in the window of the other process. */
static double *destination;
static MPI_Aint skip;

/* One side of a transfer. */
struct side {
    MPI_Datatype type;
    int count;
};
static struct side to, from;

static struct peer peer;

static struct side side(size_t blocks, size_t block, size_t stride)
{
    if (blocks == 1 || stride == block)
        return (struct side){MPI_DOUBLE, (int)(blocks * block)};
    struct side strided = {MPI_DATATYPE_NULL, 1};
    MPI_Type_vector((int)blocks, (int)block, (int)stride, MPI_DOUBLE, &strided.type);
    MPI_Type_commit(&strided.type);
    return strided;
}

static void put(const struct request *request)
{
    MPI_Put(here(&peer, request), from.count, from.type, 1, skip, to.count, to.type, window);
    MPI_Win_flush(1, window);
}

static void get(const struct request *request)
{
    MPI_Get(here(&peer, request), to.count, to.type, 1, skip, from.count, from.type, window);
    MPI_Win_flush(1, window);
}

static void put_each(const struct request *request)
{
    int block = (int)request->block;
    for (size_t i = 0; i < request->blocks; i++)
        MPI_Put(here(&peer, request) + i * request->from, block, MPI_DOUBLE, 1,
                skip + (MPI_Aint)(i * request->to * sizeof(double)), block, MPI_DOUBLE, window);
    MPI_Win_flush(1, window);
}

static void get_each(const struct request *request)
{
    int block = (int)request->block;
    for (size_t i = 0; i < request->blocks; i++)
        MPI_Get(here(&peer, request) + i * request->to, block, MPI_DOUBLE, 1,
                skip + (MPI_Aint)(i * request->from * sizeof(double)), block, MPI_DOUBLE, window);
    MPI_Win_flush(1, window);
}

static const struct {
    const char *name;
    void (*transfer)(const struct request *);
    int gets;
} operations[] = {{"put", put, 0}, {"get", get, 1}, {"put-each", put_each, 0}, {"get-each", get_each, 1}};

static const char *prepare(const struct request *request)
{
    peer.transfer = NULL;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(request->operation, operations[i].name) == 0) {
            peer.transfer = operations[i].transfer;
            peer.gets = operations[i].gets;
        }
    if (peer.transfer == NULL)
        return "no such operation";
    to = side(request->blocks, request->block, request->to);
    from = request->from == request->to ? to : side(request->blocks, request->block, request->from);
    return NULL;
}

static void release(void)
{
    if (from.type != to.type && from.type != MPI_DOUBLE)
        MPI_Type_free(&from.type);
    if (to.type != MPI_DOUBLE)
        MPI_Type_free(&to.type);
}

static void set(const double *numbers)
{
    memcpy(destination, numbers, SIDE_BYTES);
    MPI_Win_sync(window);
}

static const double *written(void)
{
    MPI_Win_sync(window);
    return destination;
}

/* Bytes to the next multiple of two pages. */
static MPI_Aint to_pages(const char *address)
{
    return (MPI_Aint)((PAGES - (uintptr_t)address % PAGES) % PAGES);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int process, processes;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (processes != 2) {
        fprintf(stderr, "this runs as two processes, not %d\n", processes);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    settle(process, argc, argv);

    char *memory;
    MPI_Win_allocate_shared((MPI_Aint)(SIDE_BYTES + PAGES), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, SIDE_BYTES + PAGES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (process == 0) {
        MPI_Aint bytes;
        int unit;
        char *start;
        MPI_Win_shared_query(window, 1, &bytes, &unit, &start);
        /* A window does not even begin with a page. */
        skip = to_pages(start) + (MPI_Aint)START;
        destination = (double *)(start + skip);
        peer = (struct peer){"mpi", prepare, put, release, set, written, memory + to_pages(memory), 0};
        MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, window);
        char library[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Get_library_version(library, &length);
        serve(&peer, library);
        MPI_Win_unlock(1, window);
    }
    /* A barrier in which the other process sleeps. */
    MPI_Request arrival;
    MPI_Ibarrier(MPI_COMM_WORLD, &arrival);
    for (int complete = 0; MPI_Test(&arrival, &complete, MPI_STATUS_IGNORE), !complete;)
        doze();
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
