/* pes: 1 2 3 */
/* Large alignments, of blocks that are moved and given back, and those that are no power of two: taken for the next one. */
#include "check.h"

#define MOST ((size_t)2 << 20)

int main(void)
{
    begin();
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    for (size_t alignment = 8; alignment <= MOST; alignment *= 2) {
        unsigned char *place = shmem_align(alignment, 257);
        TRUE_THAT("shmem_align", place != NULL && (uintptr_t)place % alignment == 0);
        if (!place)
            continue;
        unsigned char mine[257];
        for (int i = 0; i < 257; i++)
            mine[i] = (unsigned char)value_of(me, alignment, (uint64_t)i);
        shmem_barrier_all();
        shmem_putmem(place, mine, 257, to);
        shmem_barrier_all();
        for (int i = 0; i < 257; i++)
            SAME(unsigned char, "shmem_align", i, value_of(from, alignment, (uint64_t)i), place[i]);
        if (alignment % 3 == 1)
            place = shmem_realloc(place, 100000);
        for (int i = 0; i < 257; i++)
            SAME(unsigned char, "shmem_realloc", i, value_of(from, alignment, (uint64_t)i), place[i]);
        shmem_free(place);
    }
    /* All of it was given back. */
    for (int i = 0; i < 40; i++) {
        void *place = shmem_align((size_t)2 << 20, 1000);
        TRUE_THAT("shmem_align", place != NULL);
        shmem_free(place);
    }
    for (size_t alignment = 9; alignment < 10000; alignment = 2 * alignment + 3) {
        void *place = shmem_align(alignment, 63);
        TRUE_THAT("shmem_align", place != NULL && (uintptr_t)place % 8 == 0);
        shmem_free(place);
    }
    return end();
}
