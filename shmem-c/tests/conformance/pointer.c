/* pes: 1 2 3 5 */
/* shmem_ptr, shmem_addr_accessible, shmem_pe_accessible, and the cache routines, which do nothing. */
#include "check.h"

static long words[8];
static int initialised = 5;

int main(void)
{
    begin();
    long *heap = (long *)room(100 * sizeof(long));
    long on_stack = 0, *private_heap = (long *)malloc(64);
    for (int i = 0; i < 100; i++)
        heap[i] = me * 1000 + i;
    words[3] = me;
    shmem_barrier_all();
    TRUE_THAT("shmem_ptr", shmem_ptr(heap, me) == heap);
    TRUE_THAT("shmem_ptr", shmem_ptr(&heap[99], me) == &heap[99]);
    TRUE_THAT("shmem_ptr", shmem_ptr(words, me) == words);
    for (int pe = 0; pe < npes; pe++) {
        EQUAL("shmem_addr_accessible", "heap", 1, shmem_addr_accessible(heap, pe));
        EQUAL("shmem_addr_accessible", "global", 1, shmem_addr_accessible(&words[7], pe));
        EQUAL("shmem_addr_accessible", "initialised global", 1, shmem_addr_accessible(&initialised, pe));
        EQUAL("shmem_addr_accessible", "stack", 0, shmem_addr_accessible(&on_stack, pe));
        EQUAL("shmem_addr_accessible", "private heap", 0, shmem_addr_accessible(private_heap, pe));
        EQUAL("shmem_pe_accessible", "PE", 1, shmem_pe_accessible(pe));
        long *there = (long *)shmem_ptr(heap, pe), *global = (long *)shmem_ptr(words, pe);
        if (!there || !global)
            continue;
        for (int i = 0; i < 100; i++)
            EQUAL("shmem_ptr", "value on the heap", pe * 1000 + i, there[i]);
        EQUAL("shmem_ptr", "value of a global", pe, global[3]);
        TRUE_THAT("shmem_ptr", shmem_ptr(&heap[7], pe) == &there[7]);
    }
    shmem_barrier_all();
    /* Stores through the pointer. */
    long *next = (long *)shmem_ptr(heap, (me + 1) % npes);
    if (next)
        next[50] = -me;
    else
        shmem_long_p(&heap[50], -me, (me + 1) % npes);
    shmem_barrier_all();
    EQUAL("shmem_ptr", "value that was stored", -((me + npes - 1) % npes), heap[50]);
#ifndef LEGACY
    TRUE_THAT("shmem_ptr", shmem_ptr(&on_stack, (me + 1) % npes) == NULL);
#endif

    shmem_set_cache_inv();
    shmem_set_cache_line_inv(heap);
    shmem_clear_cache_inv();
    shmem_clear_cache_line_inv(heap);
    shmem_udcflush();
    shmem_udcflush_line(heap);
    free(private_heap);
    return end();
}
