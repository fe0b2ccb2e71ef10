/* pes: 1 2 */
/* The headers' older places. */
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include <shmem.h>
#include <shmemx.h>

#include <stdio.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me < 0 || me >= npes)
        printf("PE %d of %d\n", me, npes);
    shmem_finalize();
    return 0;
}
