/* pes: 1 3 */
/* Finalising more often than was initialised: what suites of old do, and what nobody forbids. */
#include "check.h"

static uint64_t word;

int main(void)
{
    begin();
    uint64_t value = (uint64_t)me + 7;
    shmem_put64(&word, &value, 1, (me + 1) % npes);
    shmem_finalize();
    EQUAL("shmem_finalize", "what was put before", (me + npes - 1) % npes + 7, word);
    shmem_finalize();
    shmem_finalize();
    return failures != 0;
}
