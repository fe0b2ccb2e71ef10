/* pes: 1 3 5 */
/* env: SHMEM_CHECK=0 */
/* Before 1.2, PEs could allocate different sizes at once. They still may here: all get the largest, at one offset. */
#include "check.h"

/* The next PE's block, as long as it asked for, is written; the own one read. */
static void exchange(const char *routine, unsigned char *block, size_t (*size)(int pe))
{
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    unsigned char *mine = malloc(size(to));
    for (size_t i = 0; i < size(to); i++)
        mine[i] = (unsigned char)value_of(me, 1, i);
    TRUE_THAT(routine, block != NULL);
    shmem_barrier_all();
    shmem_putmem(block, mine, size(to), to);
    shmem_barrier_all();
    for (size_t i = 0; i < size(me); i++)
        SAME(unsigned char, routine, i, value_of(from, 1, i), block[i]);
    shmem_barrier_all();
    free(mine);
}

static size_t rising(int pe)
{
    return (size_t)(pe + 1) * 1000;
}

static size_t falling(int pe)
{
    return (size_t)(10 - pe) * 77;
}

int main(void)
{
    begin();
    long *before = (long *)room(sizeof(long));
    *before = me;
    unsigned char *one = shmem_malloc(rising(me)), *other = shmem_calloc(falling(me), 1);
    unsigned char *third = shmem_align(4096, rising(me));
    exchange("shmem_malloc", one, rising);
    exchange("shmem_calloc", other, falling);
    exchange("shmem_align", third, rising);
    one = shmem_realloc(one, rising(npes - 1 - me));
    for (size_t i = 0; i < 1000; i++)
        SAME(unsigned char, "shmem_realloc", i, value_of((me + npes - 1) % npes, 1, i), one[i]);
    exchange("shmem_realloc", one, falling);
    shmem_free(third);
    shmem_free(other);
    shmem_free(one);
    unsigned char *last = (unsigned char *)room(64);
    TRUE_THAT("shmem_malloc", last != NULL);
    EQUAL("shmem_malloc", "another block", me, *before);
    return end();
}
