/* pes: 1 2 4 */
/* The end of main is the end of the library: what was put before arrives. */
#include "check.h"

static long words[16];

int main(void)
{
    begin();
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&words[me], me + 1, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        EQUAL("shmem_long_p", "value", pe + 1, words[pe]);
    if (failures)
        shmem_global_exit(1);
    return 0;
}
