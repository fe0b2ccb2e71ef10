/* pes: 1 2 4 */
/* status: 7 */
/* shmem_global_exit ends all PEs with its status: also those that wait for it in vain. */
#include "check.h"

#include <unistd.h>

static long never;

int main(void)
{
    begin();
    shmem_barrier_all();
    if (me == npes - 1)
        shmem_global_exit(7);
    shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    return 3;
}
