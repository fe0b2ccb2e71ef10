/* pes: 1 2 */
/* since: 1.5 */
/* env: SHMEM_SYMMETRIC_SIZE=0 */
/* says: shmem_malloc: no room for 1 byte: the heap has 0 */
/* The symmetric heap may have no bytes: variables are enough for many programs. */
#include "check.h"

static long word;

int main(void)
{
    begin();
    TRUE_THAT("shmem_malloc", shmem_malloc(1) == NULL);
    shmem_long_p(&word, me + 3, (me + 1) % npes);
    shmem_barrier_all();
    EQUAL("shmem_long_p", "value", (me + npes - 1) % npes + 3, word);
    return end();
}
