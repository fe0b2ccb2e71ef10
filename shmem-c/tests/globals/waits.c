/* Nobody goes on: it is told what each waits for. */
#include <shmem.h>

static long flag;

int main(void)
{
    static int flags[4] = {1, 0, 0, 0};
    shmem_init();
    long *block = shmem_calloc(4, sizeof(long));
    switch (shmem_my_pe()) {
    case 0:
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        break;
    case 1:
        shmem_long_wait_until(block + 2, SHMEM_CMP_GT, 7);
        break;
    default:
        shmem_int_wait_until_all(flags, 4, NULL, SHMEM_CMP_NE, 0);
    }
    shmem_finalize();
    return 0;
}
