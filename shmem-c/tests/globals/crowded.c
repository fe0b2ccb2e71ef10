/* Columns of an array whose rows are 4096 bytes apart. */
#include <shmem.h>

static double field[64 * 512], column[64];

int main(void)
{
    shmem_init();
    for (int round = 0; round < 3; round++)
        shmem_double_iput(field, column, 512, 1, 64, 0);
    shmem_double_iget(column, field, 1, 512, 64, 0);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
