/* OpenSHMEM: shmem_double_iput, and a loop of shmem_putmem, each completed by shmem_quiet; and
 * shmem_double_iget, and a loop of shmem_getmem.
 *
 *     oshcc -O2 oshmem.c -o oshmem
 *     echo "column/128 iput 1000 1 128 128 4416 20 5" |
 *         oshrun -np 2 --bind-to none --mca memory ^patcher ./oshmem 0 1
 *
 * Open MPI's OSHMEM with UCX ends with a segmentation fault unless it leaves the memory hooks alone
 * (`--mca memory ^patcher`). Its other settings make no difference, except for worse: the symmetric
 * heap has to come from UCX, as it does by default (`--mca sshmem mmap` and `sysv` are 15 to 60 times
 * slower, and hang at the end). The operations of blocks without completion (`_nbi`), and those of contexts,
 * are as fast as these within the noise. */
#define _GNU_SOURCE
#include <shmem.h>

#include "peer.h"

/* Whether the second process may go. On the heap: only there does a put arrive while its target sleeps. */
static int *done;
static struct peer peer;
static double *destination;
/* A copy of what the other process has. */
static double *copy;

static void iput(const struct request *request)
{
    const double *from = here(&peer, request);
    for (size_t j = 0; j < request->block; j++)
        shmem_double_iput(destination + j, from + j, (ptrdiff_t)request->to,
                          (ptrdiff_t)request->from, request->blocks, 1);
    shmem_quiet();
}

static void putmem(const struct request *request)
{
    const double *from = here(&peer, request);
    size_t bytes = request->block * sizeof(double);
    for (size_t i = 0; i < request->blocks; i++)
        shmem_putmem(destination + i * request->to, from + i * request->from, bytes, 1);
    shmem_quiet();
}

static void iget(const struct request *request)
{
    double *to = here(&peer, request);
    for (size_t j = 0; j < request->block; j++)
        shmem_double_iget(to + j, destination + j, (ptrdiff_t)request->to, (ptrdiff_t)request->from,
                          request->blocks, 1);
}

static void getmem(const struct request *request)
{
    double *to = here(&peer, request);
    size_t bytes = request->block * sizeof(double);
    for (size_t i = 0; i < request->blocks; i++)
        shmem_getmem(to + i * request->to, destination + i * request->from, bytes, 1);
}

static const struct {
    const char *name;
    void (*transfer)(const struct request *);
    int gets;
} operations[] = {{"iput", iput, 0}, {"putmem", putmem, 0}, {"iget", iget, 1}, {"getmem", getmem, 1}};

static const char *prepare(const struct request *request)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(request->operation, operations[i].name) == 0) {
            peer.transfer = operations[i].transfer;
            peer.gets = operations[i].gets;
            return NULL;
        }
    return "no such operation";
}

static void release(void)
{
}

static void set(const double *numbers)
{
    memcpy(copy, numbers, SIDE_BYTES);
    shmem_putmem(destination, copy, SIDE_BYTES, 1);
    shmem_quiet();
}

static const double *written(void)
{
    shmem_getmem(copy, destination, SIDE_BYTES, 1);
    return copy;
}

int main(int argc, char **argv)
{
    shmem_init();
    int process = shmem_my_pe();
    if (shmem_n_pes() != 2) {
        fprintf(stderr, "this runs as two processes, not %d\n", shmem_n_pes());
        shmem_global_exit(2);
    }
    settle(process, argc, argv);

    char *place = shmem_align(PAGES, SIDE_BYTES + START), *memory = shmem_align(PAGES, SIDE_BYTES);
    destination = (double *)(place + START);
    done = shmem_calloc(1, sizeof *done);
    copy = malloc(SIDE_BYTES);
    if (place == NULL || memory == NULL || done == NULL || copy == NULL) {
        fprintf(stderr, "no memory for %zu bytes on each side\n", SIDE_BYTES);
        shmem_global_exit(3);
    }
    memset(destination, 0, SIDE_BYTES);
    shmem_barrier_all();
    if (process == 0) {
        peer = (struct peer){"oshmem", prepare, iput, release, set, written, memory, 0};
        serve(&peer, LIBRARY);
        shmem_int_p(done, 1, 1);
        shmem_quiet();
    } else {
        while (!shmem_int_test(done, SHMEM_CMP_EQ, 1))
            doze();
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
