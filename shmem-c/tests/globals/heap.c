/* Uses the heap, and with an argument a global as well. */
#include "check.h"

static long global = 5;

int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    long *heap = (long *)shmem_malloc(sizeof *heap);
    shmem_long_p(heap, 3, shmem_my_pe());
    shmem_quiet();
    CHECK(*heap == 3 && global == 5);
    if (argc > 1)
        shmem_long_p(&global, 6, shmem_my_pe());
    shmem_finalize();
    return 0;
}
