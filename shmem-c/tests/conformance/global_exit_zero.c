/* pes: 1 3 */
/* shmem_global_exit(0) ends all PEs, silently and well. */
#include "check.h"

static long never;

int main(void)
{
    begin();
    shmem_barrier_all();
    if (me == 0)
        shmem_global_exit(0);
    shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    return 3;
}
