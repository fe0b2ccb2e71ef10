/* MPI-3 one-sided communication: the operations of micro.h into a shared window, in a passive epoch that stays open,
 * completed by MPI_Win_flush; and MPI's collectives. A shared window: as mpi.c says.
 *
 *     mpicc -O2 mpi-micro.c -o mpi-micro
 *     echo "put/8 put 8 1000 5" | mpirun -np 2 --bind-to none ./mpi-micro 0 1 */
#define _GNU_SOURCE
#include <mpi.h>

#include "micro.h"

/* Bytes from the start of a window to its word. */
#define WORD ((MPI_Aint)ROOM)

static MPI_Win target_window;
static char *memory;
static double *sent, *received;

static inline void put(size_t at, const char *from, size_t bytes)
{
    MPI_Put(from, (int)bytes, MPI_BYTE, 1 - process, (MPI_Aint)at, (int)bytes, MPI_BYTE, target_window);
}

static inline void put_later(size_t at, const char *from, size_t bytes)
{
    put(at, from, bytes);
}

static inline void quiet(void)
{
    MPI_Win_flush(1 - process, target_window);
}

static inline void get(char *into, size_t at, size_t bytes)
{
    MPI_Get(into, (int)bytes, MPI_BYTE, 1 - process, (MPI_Aint)at, (int)bytes, MPI_BYTE, target_window);
    MPI_Win_flush(1 - process, target_window);
}

static const char *written(void)
{
    MPI_Win_sync(target_window);
    return memory;
}

static inline uint64_t fetch_and(MPI_Op operation, uint64_t value)
{
    uint64_t before = 0;
    MPI_Fetch_and_op(&value, &before, MPI_UINT64_T, 1 - process, WORD, operation, target_window);
    MPI_Win_flush(1 - process, target_window);
    return before;
}

static inline uint64_t fetch_add(uint64_t more)
{
    return fetch_and(MPI_SUM, more);
}

static inline void add(uint64_t more)
{
    MPI_Accumulate(&more, 1, MPI_UINT64_T, 1 - process, WORD, 1, MPI_UINT64_T, MPI_SUM, target_window);
    /* Before that, the number may not change. */
    MPI_Win_flush_local(1 - process, target_window);
}

static inline uint64_t swap(uint64_t value)
{
    return fetch_and(MPI_REPLACE, value);
}

static inline uint64_t compare_swap(uint64_t expected, uint64_t value)
{
    uint64_t before = 0;
    MPI_Compare_and_swap(&value, &expected, &before, MPI_UINT64_T, 1 - process, WORD, target_window);
    MPI_Win_flush(1 - process, target_window);
    return before;
}

static inline uint64_t fetch(void)
{
    return fetch_and(MPI_NO_OP, 0);
}

static inline void count_at(int target, size_t at)
{
    static const uint64_t one = 1;
    MPI_Accumulate(&one, 1, MPI_UINT64_T, target, (MPI_Aint)at, 1, MPI_UINT64_T, MPI_SUM, target_window);
}

static inline void read_at(uint64_t *into, int target, size_t at)
{
    MPI_Get(into, 1, MPI_UINT64_T, target, (MPI_Aint)at, 1, MPI_UINT64_T, target_window);
}

static inline void quiet_all(void)
{
    MPI_Win_flush_all(target_window);
}

static inline void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static double *contribution(void)
{
    return sent;
}

static double *result(void)
{
    return received;
}

static inline void collective(enum operation operation, size_t words, int root)
{
    int count = (int)words;
    if (operation == BROADCAST)
        MPI_Bcast(process == root ? sent : received, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
    else if (operation == SUM)
        MPI_Allreduce(sent, received, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (operation == FCOLLECT)
        MPI_Allgather(sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, MPI_COMM_WORLD);
    else
        MPI_Alltoall(sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void pass_on(const struct order *order)
{
    long words[4] = {order->operation, order->bytes, order->times, order->samples};
    MPI_Send(words, 4, MPI_LONG, 1, 0, MPI_COMM_WORLD);
}

static struct order await_order(void)
{
    for (int there = 0; MPI_Iprobe(0, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE), !there;)
        doze();
    long words[4];
    MPI_Recv(words, 4, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return (struct order){words[0], words[1], words[2], words[3]};
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int processes;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (processes != 2) {
        fprintf(stderr, "this runs as two processes, not %d\n", processes);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    settle(process, argc, argv);

    MPI_Aint bytes = (MPI_Aint)(ROOM + sizeof(uint64_t));
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &target_window);
    memset(memory, 0, (size_t)bytes);
    sent = aligned_alloc(PAGES, 2 * MOST);
    received = aligned_alloc(PAGES, 2 * MOST);
    if (sent == NULL || received == NULL || !own_memory()) {
        fprintf(stderr, "no memory for %zu bytes\n", 2 * ROOM + 4 * MOST);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, target_window);
    if (process == 0) {
        char library[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Get_library_version(library, &length);
        serve_micro("mpi-micro", library);
    } else
        follow();
    MPI_Win_unlock_all(target_window);
    MPI_Win_free(&target_window);
    MPI_Finalize();
    return 0;
}
