/* pes: 1 2 */
/* env: SHMEM_SYMMETRIC_PARTITION1=size=24M SHMEM_DYNAMIC_SIZE=0 */
/* says: no room for 20M */
/* The default heap may be described as partition 1, and nothing is written into the environment. The variables of the
 * program need no room for memory that is made later. */
#include "check.h"

static long words[1000];

int main(void)
{
    begin();
    TRUE_THAT("shmem_init", getenv("SHMEM_SYMMETRIC_SIZE") == NULL);
    TRUE_THAT("shmem_malloc", shmem_malloc((size_t)20 << 20) != NULL);
    TRUE_THAT("shmem_malloc", shmem_malloc((size_t)20 << 20) == NULL);
    shmem_long_p(&words[999], me + 3, (me + 1) % npes);
    shmem_barrier_all();
    EQUAL("shmem_long_p", "value", (me + npes - 1) % npes + 3, words[999]);
    return end();
}
