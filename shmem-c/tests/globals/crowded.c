/* A transposition of rows that are 4096 bytes apart: columns are written, and read. */
#include <shmem.h>

static double rows[64][512], turned[64][512];

int main(void)
{
    shmem_init();
    for (int row = 0; row < 64; row++) {
        shmem_double_iput(&turned[0][row], rows[row], 512, 1, 64, 0);
        shmem_double_iget(rows[row], &turned[0][row], 1, 512, 64, 0);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
