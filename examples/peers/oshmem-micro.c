/* OpenSHMEM: the operations of micro.h, by the calls that the OSU benchmarks have for them.
 *
 *     oshcc -O2 oshmem-micro.c -o oshmem-micro
 *     echo "put/8 put 8 1000 5" | oshrun -np 2 --bind-to none --mca memory ^patcher ./oshmem-micro 0 1
 *
 * The parameter: as oshmem.c says. */
#define _GNU_SOURCE
#include <shmem.h>

#include "micro.h"

static char *memory;
static unsigned long *target_word;
static double *sent, *received, *work;
static long *sync_words[2];
/* What the second process is to do, and behind it how many orders there were. */
static long *orders, *newest;

static inline void put(size_t at, const char *from, size_t bytes)
{
    shmem_putmem(memory + at, from, bytes, 1 - process);
}

static inline void put_later(size_t at, const char *from, size_t bytes)
{
    shmem_putmem_nbi(memory + at, from, bytes, 1 - process);
}

static inline void quiet(void)
{
    shmem_quiet();
}

static inline void get(char *into, size_t at, size_t bytes)
{
    shmem_getmem(into, memory + at, bytes, 1 - process);
}

static const char *written(void)
{
    return memory;
}

static inline uint64_t fetch_add(uint64_t more)
{
    return shmem_ulong_atomic_fetch_add(target_word, more, 1 - process);
}

static inline void add(uint64_t more)
{
    shmem_ulong_atomic_add(target_word, more, 1 - process);
}

static inline uint64_t swap(uint64_t value)
{
    return shmem_ulong_atomic_swap(target_word, value, 1 - process);
}

static inline uint64_t compare_swap(uint64_t expected, uint64_t value)
{
    return shmem_ulong_atomic_compare_swap(target_word, expected, value, 1 - process);
}

static inline uint64_t fetch(void)
{
    return shmem_ulong_atomic_fetch(target_word, 1 - process);
}

static inline void count_at(int target, size_t at)
{
    shmem_ulong_atomic_add((unsigned long *)(void *)(memory + at), 1, target);
}

static inline void read_at(uint64_t *into, int target, size_t at)
{
    *into = shmem_ulong_g((unsigned long *)(void *)(memory + at), target);
}

static inline void quiet_all(void)
{
    quiet();
}

static inline void barrier(void)
{
    shmem_barrier_all();
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
    /* Two calls in a row have work words of their own. */
    static unsigned calls;
    long *sync = sync_words[calls++ % 2];
    if (operation == BROADCAST)
        shmem_broadcast64(received, sent, words, root, 0, 0, 2, sync);
    else if (operation == SUM)
        shmem_double_sum_to_all(received, sent, (int)words, 0, 0, 2, work, sync);
    else if (operation == FCOLLECT)
        shmem_fcollect64(received, sent, words, 0, 0, 2, sync);
    else
        shmem_alltoall64(received, sent, words, 0, 0, 2, sync);
}

static void pass_on(const struct order *order)
{
    static long last;
    long words[4] = {order->operation, order->bytes, order->times, order->samples};
    shmem_long_put(orders, words, 4, 1);
    shmem_fence();
    shmem_long_p(newest, ++last, 1);
    shmem_quiet();
}

static struct order await_order(void)
{
    static long next;
    for (next++; !shmem_long_test(newest, SHMEM_CMP_EQ, next);)
        doze();
    return (struct order){orders[0], orders[1], orders[2], orders[3]};
}

int main(int argc, char **argv)
{
    shmem_init();
    process = shmem_my_pe();
    if (shmem_n_pes() != 2) {
        fprintf(stderr, "this runs as two processes, not %d\n", shmem_n_pes());
        shmem_global_exit(2);
    }
    settle(process, argc, argv);

    memory = shmem_align(PAGES, ROOM);
    sent = shmem_align(PAGES, 2 * MOST);
    received = shmem_align(PAGES, 2 * MOST);
    work = shmem_malloc(MOST + sizeof(double) * SHMEM_REDUCE_MIN_WRKDATA_SIZE);
    size_t words = SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE;
    for (int k = 0; k < 2; k++) {
        sync_words[k] = shmem_malloc(words * sizeof(long));
        for (size_t i = 0; sync_words[k] != NULL && i < words; i++)
            sync_words[k][i] = SHMEM_SYNC_VALUE;
    }
    target_word = shmem_calloc(1, sizeof *target_word);
    orders = shmem_calloc(4, sizeof *orders);
    newest = shmem_calloc(1, sizeof *newest);
    if (memory == NULL || received == NULL || sent == NULL || work == NULL || sync_words[1] == NULL ||
        target_word == NULL || orders == NULL || newest == NULL || !own_memory()) {
        fprintf(stderr, "no memory for %zu bytes on each side\n", ROOM + 5 * MOST);
        shmem_global_exit(3);
    }
    memset(memory, 0, ROOM);
    shmem_barrier_all();
    if (process == 0)
        serve_micro("oshmem-micro", LIBRARY);
    else
        follow();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
