/* pes: 1 2 4 */
/* The oldest names: begun by start_pes, more than once, and ended by the end of main. */
#include "check.h"

static long told[64];

int main(void)
{
    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    EQUAL("_my_pe", "PE", shmem_my_pe(), me);
    EQUAL("_num_pes", "PEs", shmem_n_pes(), npes);
    long *heap = (long *)shmalloc(64 * sizeof(long));
    TRUE_THAT("shmalloc", heap != NULL);
    start_pes(npes);
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&told[me], me + 10, pe);
    for (int i = 0; i < 64; i++)
        heap[i] = me * 100 + i;
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        EQUAL("start_pes", "values of all", pe + 10, told[pe]);
    EQUAL("shmem_long_g", "heap", ((me + 1) % npes) * 100 + 7, shmem_long_g(&heap[7], (me + 1) % npes));
    shmem_barrier_all();
    heap = (long *)shrealloc(heap, 128 * sizeof(long));
    TRUE_THAT("shrealloc", heap != NULL && heap[63] == me * 100 + 63);
    shfree(heap);
    void *aligned = shmemalign(4096, 100);
    TRUE_THAT("shmemalign", aligned != NULL && (uintptr_t)aligned % 4096 == 0);
    shfree(aligned);
    return failures != 0;
}
